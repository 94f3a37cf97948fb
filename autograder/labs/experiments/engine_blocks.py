"""On your own engine: three blocks with and without the residual."""

import math
from typing import Any

import numpy as np

from autograder.labs.bench import Bench
from autograder.labs.data import skip_induction
from autograder.labs.experiments import _engine as own
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._depths import EVERY, residual_finding, thinned
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Grid, Plot, Report, Series

PARTS = ("part9",)

STACKS = ((1, True), (3, True), (3, False))
QUICK = {"batch": 8, "steps": 250}
DEEP = 12  # blocks whose gradients are looked at


def stacked(bench: Bench, blocks: int, residual: bool, seed: int, **ground: Any) -> dict[str, Any]:
    """Train a stack, and judge it."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    shape = own.Shape(blocks=blocks, residual=residual)
    engine = own.Engine(bench, shape, data.vocab_size, here.context, seed)
    losses, _ = own.train(bench, engine, here, seed)
    return {"nats": engine.nats(*own.windows(data, here.context)), "losses": thinned(losses)}


def gradients(bench: Bench, residual: bool, seed: int) -> list[float]:
    """Take the gradient norm of each of twelve fresh blocks."""
    data = skip_induction(9, train=64, held_out=8)
    engine = own.Engine(bench, own.Shape(blocks=DEEP, residual=residual), data.vocab_size, 8, seed)
    _, grads = engine.gradients(*own.windows(data, 8))
    squares = [0.0] * DEEP
    for name, grad in grads.items():
        if name.startswith("blocks."):
            squares[int(name.split(".")[1])] += float(np.square(grad, dtype=np.float64).sum())
    return [square**0.5 for square in squares]


def run(bench: Bench) -> Report:
    """Train each stack on every ground."""
    chosen = own.grounds(bench, **bench.choose(QUICK, {}))
    plan = [{"blocks": n, "residual": way, **ground.settings()} for ground in chosen for n, way in STACKS]
    found = bench.measure(stacked, plan, lambda s: s["blocks"])
    norms = bench.measure(gradients, [{"residual": way} for way in (True, False)], lambda s: 0.05)
    findings, rows, plots = [], [], []
    for i, ground in enumerate(chosen):
        runs = dict(zip(STACKS, found[i * len(STACKS) : (i + 1) * len(STACKS)], strict=True))
        findings.append(residual_finding(ground.on, *(math.exp(runs[3, way]["nats"]) for way in (True, False))))
        rows += [(f"{ground.on}, {_words(*each)}", one["nats"], math.exp(one["nats"])) for each, one in runs.items()]
        curves = (
            Series(_words(*each), [EVERY * (j + 1) for j in range(len(one["losses"]))], one["losses"])
            for each, one in runs.items()
        )
        plots.append(Plot(f"Training loss on your engine: {ground.on}", "step", "nats", tuple(curves)))
    ratio = norms[1][0] / norms[1][-1]
    return Report(
        findings=tuple(findings),
        grids=(Grid("Held out", ("stack", "nats", "perplexity"), tuple(rows), ("", ".3f", ".2f")),),
        plots=(
            *plots,
            Plot(
                f"Gradients of {DEEP} blocks before any step",
                "block",
                "norm of the gradient",
                tuple(
                    Series(word, range(1, DEEP + 1), each)
                    for word, each in zip(("with the residual", "without"), norms, strict=True)
                ),
                log_y=True,
            ),
        ),
        notes=(
            *on.notes_on(chosen),
            "The residual is left out between two of your operations: x becomes what the sublayer gave, and is not "
            "added. The text asks what happens then. Before any step the first of twelve blocks without it has "
            f"{ratio:.3g} times the last one's gradient; with it {norms[0][0] / norms[0][-1]:.3g} times. A norm before "
            "each sublayer divides by the size of what came, so gradients need not vanish. What is lost is the "
            "difference between positions: attention averages, and nothing but the average goes on. The lab called "
            "blocks measures it.",
        ),
        data=own.data_line(chosen),
    )


def _words(blocks: int, residual: bool) -> str:
    return f"{blocks} block{'s' if blocks > 1 else ''}{'' if residual else ', no residual'}"
