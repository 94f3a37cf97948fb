"""Training without the division by sqrt(d): cheap for a narrow head, dear for a wide one."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from autograder.labs.bench import Bench
from autograder.labs.device import device_of
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, Plot, Report, Series, is_near, judge
from autograder.labs.rungs import LanguageModel

if TYPE_CHECKING:
    from torch import Tensor

PARTS = ("part1", "part2", "part3", "part5")
ON_DEVICE = True

WIDTHS = (32, 256, 1024)
QUICK_ELSEWHERE = (32, 256)  # on the second ground of a quick run: the widest head takes longest
TEXT_POINTS = {32: 0.0, 256: 18.0, 1024: 17.0}
TEXT_START, TEXT_END, TEXT_DIVIDED_END, TEXT_FROZEN = 21.0, 5147.0, 3.44, 0.999
FROZEN = 0.99  # a row whose largest weight is above this lets almost no gradient through
QUICK_STEPS = 300
EVERY = 25  # steps
LOOKED_AT = 32  # held-out windows whose scores are looked at


class WideHead(nn.Module):
    """One head of any width around the student's attention, projected back; with or without the division.

    The student's function divides. A query that was multiplied by sqrt(d) beforehand gives the undivided score, and
    undivided gradients.
    """

    mask: "Tensor"

    def __init__(self, bench: Bench, d_model: int, d_head: int, block_size: int, divided: bool) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.proj = nn.Linear(d_head, d_model)
        self.grown = 1.0 if divided else d_head**0.5
        self.attention: Any = bench.part("part3").attention
        self.scores: Any = bench.part("part2").scaled_scores
        self.register_buffer("mask", bench.part("part1").causal_mask(block_size), persistent=False)

    def forward(self, x: "Tensor") -> "Tensor":
        """Attend, and project: (B, T, d_model) to the same."""
        mixed = self.attention(self.q(x) * self.grown, self.k(x), self.v(x), self.mask)[0]
        out: Tensor = self.proj(mixed)
        return out

    def look(self, x: "Tensor") -> "tuple[Tensor, Tensor]":
        """Return scores and weights, both (B, T, T)."""
        q, k = self.q(x) * self.grown, self.k(x)
        return self.scores(q, k), self.attention(q, k, k, self.mask)[1]


def headed(bench: Bench, d_head: int, divided: bool, seed: int, **ground: Any) -> dict[str, Any]:
    """Train one head without a norm, and follow its scores and weights."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    head = WideHead(bench, here.width, d_head, here.context, divided)
    places = bench.part("part5").LearnedPositions(here.context, here.width)
    model = LanguageModel(data.vocab_size, here.width, [head], add=True, positions=places)
    idx = data.held_out_windows(here.context, LOOKED_AT)[0]
    followed: dict[str, list[float]] = {"step": [], "std": [], "frozen": [], "effective": []}

    def follow(step: int) -> None:
        for key, value in {"step": step, **_state(bench, head, places(model.embed(idx.to(device_of(model)))))}.items():
            followed[key].append(value)

    with torch.no_grad():
        follow(0)

    def on_step(step: int, loss: float) -> None:
        if (step + 1) % EVERY == 0 or step + 1 == here.steps:
            with torch.no_grad():
                follow(step + 1)

    on.trained(bench, here, model, seed, on_step=on_step)
    return {"held_out": on.held_out(bench, here, model), **followed}


def _state(bench: Bench, head: WideHead, x: "Tensor") -> dict[str, float]:
    """Measure scores and rows of weights; the first row has one weight, which is 1 whatever is trained."""
    part2 = bench.part("part2")
    scores, weights = head.look(x)
    rows = weights[:, 1:]
    return {
        "std": scores[:, head.mask].std().item(),
        "frozen": float(part2.frozen_fraction(rows, FROZEN)),
        "effective": part2.effective_tokens(rows).mean().item(),
    }


def run(bench: Bench) -> Report:
    """Train with and without the division at several widths."""
    changes = bench.choose({"lr": 3e-3, "steps": QUICK_STEPS}, {"lr": 1e-3})
    chosen = on.grounds(bench, warmup=0, late=1.0, **changes)
    if bench.full:
        chosen = [replace(one, batch=32, steps=1500) if one.on == on.BYTE_PAIRS else one for one in chosen]
    plan = [
        {"d_head": d, "divided": divided, **ground.settings()}
        for i, ground in enumerate(reversed(chosen))  # the last ground is nearest to the text's
        for d in (WIDTHS if bench.full or i == 0 else QUICK_ELSEWHERE)
        for divided in (True, False)
    ]
    found = bench.measure(headed, plan, lambda s: s["steps"] * s["batch"] * s["context"] * (s["d_head"] + 40))
    by_ground: dict[str, dict[tuple[int, bool], dict[str, Any]]] = {}
    for each, one in zip(plan, found, strict=True):
        by_ground.setdefault(each["on"], {})[each["d_head"], each["divided"]] = one
    findings: list[Finding] = []
    for name, heads in by_ground.items():
        findings += judged(name, heads)
    return Report(
        findings=tuple(findings),
        grids=(_table(by_ground),),
        plots=_plots(*next(iter(by_ground.items()))),
        notes=(
            *on.notes_on(chosen),
            "The model is a token and its position, one head beside them, and a last layer: no norm before the head, "
            "for a norm hides half of the trouble. Frozen rows have a largest weight above 0.99: a softmax that is "
            "sure passes no gradient back, so such a row no longer learns where to look.",
        ),
        data=on.data_line(chosen),
    )


def judged(name: str, heads: dict[tuple[int, bool], dict[str, Any]]) -> list[Finding]:
    """Judge the cost of leaving the division out at each width, and what becomes of the widest head."""
    widths = sorted({d for d, _ in heads})
    findings = [_cost(name, d, heads[d, True]["held_out"], heads[d, False]["held_out"]) for d in widths]
    widest = widths[-1]
    if widest != max(WIDTHS):
        return findings
    bare, divided = heads[widest, False], heads[widest, True]
    short = f"the text trains five times as long; here the scores grew from {bare['std'][0]:.0f} in {bare['step'][-1]}"
    return [
        *findings,
        judge(
            f"{name}: standard deviation of undivided scores at the start, d = {widest}",
            TEXT_START,
            bare["std"][0],
            reproduced=is_near(bare["std"][0], TEXT_START, within=0.1),  # by arithmetic 2/3 sqrt(1024) = 21.3
            in_direction=bare["std"][0] > 3 * divided["std"][0],
            why="it depends on how large the embeddings and the first weights are drawn",
            style=".1f",
        ),
        judge(
            f"{name}: the same after training",
            TEXT_END,
            bare["std"][-1],
            reproduced=is_near(bare["std"][-1], TEXT_END, within=0.5),
            in_direction=bare["std"][-1] > 1.5 * bare["std"][0],
            why=f"{short} steps",
            style=".1f",
        ),
        judge(
            f"{name}: undivided rows above 0.99 after training",
            TEXT_FROZEN,
            bare["frozen"][-1],
            reproduced=bare["frozen"][-1] > 0.98,
            in_direction=bare["frozen"][-1] > 0.5,
            why=f"{short} steps",
            style=".1%",
        ),
        judge(
            f"{name}: standard deviation of divided scores after training",
            TEXT_DIVIDED_END,
            divided["std"][-1],
            reproduced=is_near(divided["std"][-1], TEXT_DIVIDED_END, within=0.25),
            in_direction=divided["std"][-1] < 0.2 * bare["std"][-1],
            why="it stays far below the undivided one's; how large it gets depends on data and steps",
            style=".2f",
        ),
    ]


def _cost(name: str, d: int, divided: float, bare: float) -> Finding:
    points, share = bare - divided, bare / divided - 1
    if TEXT_POINTS[d] == 0:
        is_same, is_alike = share <= on.TIE, share <= 4 * on.TIE
        why = f"the text's narrow head lost nothing; here, at other settings, the perplexity moves by {share:+.1%}"
    else:
        is_same, is_alike = is_near(points, TEXT_POINTS[d], within=0.25), share > on.TIE
        why = "points are of the text's perplexities, around 50; here the scale is another: see the table"
    return judge(
        f"{name}: points that leaving the division out costs, d = {d}",
        TEXT_POINTS[d],
        points,
        reproduced=is_same,
        in_direction=is_alike,
        why=why,
        style="+.2f",
    )


def _table(by_ground: dict[str, dict[tuple[int, bool], dict[str, Any]]]) -> Grid:
    rows = tuple(
        (
            f"{name}, d = {d}, {'divided' if divided else 'not divided'}",
            one["held_out"],
            one["std"][0],
            one["std"][-1],
            one["frozen"][0],
            one["frozen"][-1],
            one["effective"][-1],
        )
        for name, heads in by_ground.items()
        for (d, divided), one in heads.items()
    )
    columns = (
        "head",
        "perplexity",
        "score std, start",
        "end",
        "rows above 0.99, start",
        "end",
        "effective tokens, end",
    )
    return Grid("One head with and without the division", columns, rows, ("", ".2f", ".2f", ".1f", ".1%", ".1%", ".2f"))


def _plots(name: str, heads: dict[tuple[int, bool], dict[str, Any]]) -> tuple[Plot, ...]:
    widths = sorted({d for d, _ in heads})
    ways = {True: "divided", False: "not divided"}
    words = [f"d = {d}" for d in widths]
    bars = tuple(Series(word, words, [heads[d, way]["held_out"] for d in widths]) for way, word in ways.items())

    def curves(key: str) -> tuple[Series, ...]:
        shown = [(d, way) for d in widths[1:] for way in ways]
        return tuple(Series(f"d = {d}, {ways[w]}", heads[d, w]["step"], heads[d, w][key]) for d, w in shown)

    return (
        Plot(f"What the division is worth: {name}", "", "held-out perplexity", bars, kind="bars"),
        Plot(f"Spread of the scores: {name}", "step", "standard deviation", curves("std"), log_y=True),
        Plot(f"Rows with a weight above 0.99: {name}", "step", "share of rows", curves("frozen")),
        Plot(f"How many tokens a row attends to: {name}", "step", "effective tokens", curves("effective")),
    )
