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

RUNGS = {1: "block", 2: "2 blocks", 3: "3 blocks"}
STACKS = ((1, True), (2, True), (3, True), (3, False))  # blocks, and whether they add to what they are given
COPY_STACKS = ((1, True), (2, True), (2, False))
COPY = Ground("copy", 64, 32, 32, 250, 3e-3, warmup=20, late=0.3)
QUICK_STEPS = {on.EMBEDDED: 300, on.CHARACTERS: 200}
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


def gradients(bench: Bench, residual: bool, seed: int) -> list[float]:
    """Take the gradient norm of each of twelve fresh blocks, by the student's function."""
    generator = bench.generator(seed)
    blocks = [build_block(bench, 64, 4, 32, residual=residual) for _ in range(DEEP)]
    norm = bench.part("part4").LayerNorm(64)
    model = LanguageModel(32, 64, blocks, positions=bench.part("part5").LearnedPositions(32, 64), ln_f=norm)
    idx = torch.randint(32, (16, 33), generator=generator)
    torch.autograd.backward(F.cross_entropy(model(idx[:, :-1]).flatten(0, 1), idx[:, 1:].flatten()))
    return [float(norm) for norm in bench.part("part4").block_gradient_norms(blocks)]


def run(bench: Bench) -> Report:
    """Train stacks on every ground, and on the copy language."""
    chosen = on.grounds(bench)
    if not bench.full:
        chosen = [replace(one, steps=QUICK_STEPS[one.on]) for one in chosen]
    plan = [{"blocks": n, "residual": way, **ground.settings()} for ground in chosen for n, way in STACKS]
    found = bench.measure(stacked, plan, lambda s: s["blocks"] * Ground(**_ground(s)).cost)
    copy_plan = [{"blocks": n, "residual": way, **COPY.settings()} for n, way in COPY_STACKS]
    right = [one["right"] for one in bench.measure(copied, copy_plan, lambda s: s["blocks"] * COPY.cost)]
    norms = bench.measure(gradients, [{"residual": way} for way in (True, False)])
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
            Plot(
                f"Gradients of {DEEP} blocks before any step",
                "block",
                "norm of the gradient",
                tuple(
                    Series(word, range(1, DEEP + 1), each)
                    for word, each in zip(("with the way around", "without"), norms, strict=True)
                ),
                log_y=True,
            ),
            Plot(
                "Going on with a segment that repeats",
                "",
                "right where it can be",
                (Series("here", [_words(*each) for each in COPY_STACKS], right),),
                kind="bars",
            ),
        ),
        notes=(
            *on.notes_on(chosen),
            "What has a block to do that one before it has not done? The copy language shows it: to go on, a model "
            "must find where the current token stood before, and take the one after it. A first block tells each "
            "token what stood before it, a second looks that up. No width replaces the second.",
            "Without the way around, each block must hand on everything that the last one knew, and the gradient must "
            "come back through every matrix on the way.",
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
    text = {(1, True): (18.77, 38.07), (2, True): (14.49, 40.57)}
    rows = tuple(
        (f"{name}, {_words(*each)}", one["seen"], one["held_out"], *text.get(each, (None, None)))
        for name, runs in stacks.items()
        for each, one in runs.items()
    )
    columns = ("stack", "on what was seen", "held out", "text, seen", "text, held out")
    return Grid("Perplexity", columns, rows, ("", *[".2f"] * 4))


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
