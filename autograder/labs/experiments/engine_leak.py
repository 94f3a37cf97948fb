"""On your own engine: 200 steps without the mask, judged as it was trained and honestly."""

from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.experiments import _engine as own
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.experiments._leaks import Pair, pairs, table_of
from autograder.labs.report import Plot, Report

PARTS = ("part9",)

STEPS = 200  # as many as the exercise says
EVERY = 20  # steps between two looks at what is held out
LOOKED_AT = 32  # held-out windows: an honest look runs the model once for every position


def opened(bench: Bench, masked: bool, seed: int, **ground: Any) -> dict[str, Any]:
    """Train with or without the mask, and judge it both ways while it learns."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    engine = own.Engine(bench, own.Shape(masked=masked), data.vocab_size, here.context, seed)
    x, y = (ids[:LOOKED_AT] for ids in own.windows(data, here.context))
    followed: dict[str, list[float]] = {"step": [], "same": [], "honest": []}

    def after(step: int, seconds: float) -> None:
        if step == 1 or step % EVERY == 0:
            for key, value in zip(followed, (step, engine.nats(x, y), engine.honest_nats(x, y)), strict=True):
                followed[key].append(value)

    losses, _ = own.train(bench, engine, here, seed, after)
    return {
        "losses": losses,
        "train": sum(losses[-EVERY:]) / len(losses[-EVERY:]),
        "same": engine.nats(x, y),
        "honest": engine.honest_nats(x, y),
        "followed": followed,
    }


def run(bench: Bench) -> Report:
    """Train with and without the mask on every ground."""
    chosen = own.grounds(bench, steps=STEPS)
    plan = [{"masked": masked, **ground.settings()} for ground in chosen for masked in (True, False)]
    found = bench.measure(opened, plan)
    judged = pairs(bench, chosen, found)
    return Report(
        findings=tuple(finding for pair in judged for finding in pair.findings()),
        grids=(table_of(row for pair in judged for row in pair.rows()),),
        plots=tuple(map(_plot, judged)),
        notes=(
            *on.notes_on(chosen),
            "The mask is left out between two of your operations: scores, then softmax_rows, without causal_mask. "
            "Your graph does not mind, and derives the gradients of a model that copies the answer.",
        ),
        data=own.data_line(chosen),
    )


def _plot(pair: Pair) -> Plot:
    levels = {f"guessing evenly, {pair.uniform:.2f}": pair.uniform}
    return Plot(f"Falling, and worth nothing: {pair.name}", "step", "nats", pair.curves(), levels=levels)
