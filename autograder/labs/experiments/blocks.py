"""More blocks, with and without the way around them: what depth can do, and what holds it open."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from autograder.corpora import Copy
from autograder.labs.bench import Bench
from autograder.labs.data import Data, tokens
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._depths import EVERY, residual_finding, thinned
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, Plot, Report, Series, judge
from autograder.labs.rungs import LanguageModel, build_block, build_rung

PARTS = ("part3", "part4", "part5")
ON_DEVICE = True

RUNGS = {1: "block", 2: "2 blocks", 3: "3 blocks"}
STACKS = ((1, True), (2, True), (3, True), (3, False))  # blocks, and whether they add to what they are given
COPY_STACKS = ((1, True), (2, True), (2, False))
COPY = Ground("copy", 64, 32, 32, 250, 3e-3, warmup=20, late=0.3)
QUICK_STEPS = {on.EMBEDDED: 200, on.CHARACTERS: 150}
TEXT = (("text, byte pairs, 1 block", 18.77, 38.07), ("text, byte pairs, 2 blocks", 14.49, 40.57))
DEEP = 12  # blocks whose gradients are looked at
SOLVED, UNSOLVED = 0.9, 0.6  # of the tokens that follow from earlier ones


def stacked(bench: Bench, blocks: int, residual: bool, seed: int, **ground: Any) -> dict[str, Any]:
    """Train a stack, and judge it on what it has seen and on what it has not."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    sizes = {"vocab_size": data.vocab_size, "d_model": here.width, "block_size": here.context}
    model = build_rung(bench, RUNGS[blocks], positions=here.positions, residual=residual, **sizes)
    losses = on.trained(bench, here, model, seed)
    return {
        "held_out": on.held_out(bench, here, model),
        "seen": on.seen(bench, here, model),
        "losses": thinned(losses),
    }


def copied(bench: Bench, blocks: int, residual: bool, seed: int, **ground: Any) -> dict[str, float]:
    """Train a stack to go on with a segment that repeats, and count how often it is right where it can be."""
    here = Ground(**ground)
    rng = np.random.default_rng(0)  # one set of documents for every seed
    language = Copy()
    docs, (judged, scored) = (
        language.documents(10_000, here.context + 1, rng)[0],
        language.documents(400, here.context + 1, rng),
    )
    data = Data("copy", language.vocab_size, tokens(docs), tokens(judged))
    sizes = {"vocab_size": data.vocab_size, "d_model": here.width, "block_size": here.context}
    model = build_rung(bench, RUNGS[blocks], positions=True, residual=residual, **sizes)
    on.trained(bench, here, model, seed, data=data)
    with torch.no_grad():
        right = model(data.held_out[:, :-1]).argmax(-1) == data.held_out[:, 1:]
    return {"right": right[torch.as_tensor(scored[:, 1:])].float().mean().item()}


def fresh(bench: Bench, residual: bool, seed: int) -> dict[str, list[float]]:
    """Look into twelve blocks before any step: gradient norms, and how alike positions are after each block."""
    generator = bench.generator(seed)
    blocks = [build_block(bench, 64, 4, 32, residual=residual) for _ in range(DEEP)]
    norm = bench.part("part4").LayerNorm(64)
    places = bench.part("part5").LearnedPositions(32, 64)
    model = LanguageModel(32, 64, blocks, positions=places, ln_f=norm)
    idx = torch.randint(32, (16, 33), generator=generator)
    torch.autograd.backward(F.cross_entropy(model(idx[:, :-1]).flatten(0, 1), idx[:, 1:].flatten()))
    alike = []
    with torch.no_grad():
        x = places(model.embed(idx[:, :-1]))
        for block in blocks:
            x = block(x)
            alike.append(F.cosine_similarity(x[:, -1:], x[:, :-1], dim=-1).mean().item())  # the last, and the others
    return {"norms": [float(each) for each in bench.part("part4").block_gradient_norms(blocks)], "alike": alike}


def run(bench: Bench) -> Report:
    """Train stacks on every ground, and on the copy language."""
    chosen = on.grounds(bench)
    if not bench.full:
        chosen = [replace(one, steps=QUICK_STEPS[one.on]) for one in chosen]
    plan = [{"blocks": n, "residual": way, **ground.settings()} for ground in chosen for n, way in STACKS]
    found = bench.measure(stacked, plan, lambda s: s["blocks"] * Ground(**_ground(s)).cost)
    copy_plan = [{"blocks": n, "residual": way, **COPY.settings()} for n, way in COPY_STACKS]
    right = [one["right"] for one in bench.measure(copied, copy_plan, lambda s: s["blocks"] * COPY.cost)]
    with_way, without = bench.measure(fresh, [{"residual": way} for way in (True, False)], lambda s: 1e4)
    stacks = {
        ground.on: dict(zip(STACKS, found[i * len(STACKS) : (i + 1) * len(STACKS)], strict=True))
        for i, ground in enumerate(chosen)
    }
    findings: list[Finding] = []
    for ground in chosen:
        runs = stacks[ground.on]
        findings += on.two_blocks(ground.on, runs[1, True], runs[2, True], on.passes(bench, ground))
        findings.append(residual_finding(ground.on, *(runs[3, way]["held_out"] for way in (True, False))))
    return Report(
        findings=(*findings, *copy_findings(dict(zip(COPY_STACKS, right, strict=True)))),
        grids=(_table(stacks), _copy_table(right)),
        plots=(
            *(_curves(name, runs) for name, runs in stacks.items()),
            *(
                Plot(
                    f"{title} {DEEP} blocks before any step",
                    "block",
                    label,
                    (
                        Series("with the way around", range(1, DEEP + 1), with_way[key]),
                        Series("without", range(1, DEEP + 1), without[key]),
                    ),
                    log_y=key == "norms",
                )
                for key, title, label in (
                    ("norms", "Gradients of", "norm of the gradient"),
                    ("alike", "How alike positions are in", "cosine of two positions"),
                )
            ),
            Plot(
                "Going on with a segment that repeats",
                "",
                "share right, where it can be known",
                (Series("here", [_words(*each) for each in COPY_STACKS], right),),
                kind="bars",
            ),
        ),
        notes=(
            *on.notes_on(chosen),
            "What has a block to do that one before it has not done? The copy language shows it: to go on, a model "
            "must find where the current token stood before, and take the one after it. A first block tells each "
            "token what stood before it, a second looks that up.",
            "What does the way around hold open? Not the size of the gradients: a norm before each sublayer divides by "
            "the size of what came, so before any step the first of twelve blocks has "
            f"{with_way['norms'][0] / with_way['norms'][-1]:.2g} times the last one's gradient with it and "
            f"{without['norms'][0] / without['norms'][-1]:.2g} times without. But attention averages, and where the "
            "average alone goes on, positions become one another: after twelve fresh blocks the cosine of two of them "
            f"is {with_way['alike'][-1]:.2f} with the way around and {without['alike'][-1]:.2f} without. What was lost "
            "on the way no later block can read.",
        ),
        data=f"{on.data_line(chosen)}; copy language: {COPY.steps} steps",
    )


def copy_findings(right: dict[tuple[int, bool], float]) -> tuple[Finding, Finding]:
    """Judge what only a second block can do, and whether it can without a way around."""
    told = f"{right[2, True]:.0%} against {right[1, True]:.0%}"
    bare = f"{right[2, False]:.0%} against {right[2, True]:.0%}"
    return (
        judge(
            "copy: two blocks find what followed, one cannot",
            "two can",
            told,
            reproduced=right[2, True] >= SOLVED and right[1, True] <= UNSOLVED,
            in_direction=right[2, True] > right[1, True] + 0.1,
            why=f"at least {SOLVED:.0%} were due with two blocks and at most {UNSOLVED:.0%} with one",
        ),
        judge(
            "copy: two blocks without the residual",
            "worse (a thought)",
            bare,
            reproduced=right[2, False] < right[2, True] - 0.1,
            why="two blocks are shallow enough to do without, on this language and with this seed",
        ),
    )


def _ground(settings: Any) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key not in ("blocks", "residual", "seed")}


def _words(blocks: int, residual: bool) -> str:
    return f"{blocks} block{'s' if blocks > 1 else ''}{'' if residual else ', no residual'}"


def _table(stacks: dict[str, dict[tuple[int, bool], dict[str, Any]]]) -> Grid:
    rows = [
        (f"{name}, {_words(*each)}", one["seen"], one["held_out"])
        for name, runs in stacks.items()
        for each, one in runs.items()
    ]
    rows = [*TEXT, *rows]
    return Grid("Perplexity", ("stack", "on what was seen", "held out"), tuple(rows), ("", ".2f", ".2f"))


def _copy_table(right: list[float]) -> Grid:
    rows = tuple((_words(*each), share) for each, share in zip(COPY_STACKS, right, strict=True))
    return Grid(
        "Copy language: right where the next token follows from earlier ones", ("stack", "right"), rows, ("", ".0%")
    )


def _curves(name: str, runs: dict[tuple[int, bool], dict[str, Any]]) -> Plot:
    series = tuple(
        Series(_words(*each), [EVERY * (i + 1) for i in range(len(one["losses"]))], one["losses"])
        for each, one in runs.items()
    )
    return Plot(f"Training loss: {name}", "step", "nats", series)
