"""On your own engine: a context of 16 against one of 64, in nats and in seconds a step."""

from dataclasses import replace
from statistics import median
from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.experiments import _engine as own
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._contexts import LONG, SHORT, findings_of, gathered, table_of
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Plot, Report, Series

PARTS = ("part9",)

QUICK = {"batch": 8, "steps": 600}
LOOKS = 8  # times that a model is judged while it learns


def read(bench: Bench, seed: int, **ground: Any) -> dict[str, Any]:
    """Train at one context, and judge the model now and then."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    engine = own.Engine(bench, own.Shape(), data.vocab_size, here.context, seed)
    x, y = own.windows(data, here.context)
    followed: dict[str, list[float]] = {"step": [], "seconds": [], "nats": []}

    def after(step: int, seconds: float) -> None:
        if step % max(1, here.steps // LOOKS) == 0 or step == here.steps:
            for key, value in zip(followed, (step, seconds, engine.nats(x, y)), strict=True):
                followed[key].append(value)

    _, seconds = own.train(bench, engine, here, seed, after)
    return {"nats": followed["nats"][-1], "seconds": median(seconds), "followed": followed}


def run(bench: Bench) -> Report:
    """Train at both contexts with as many sequences a step, as the exercise asks."""
    chosen = [
        replace(ground, context=context)
        for ground in own.grounds(bench, **bench.choose(QUICK, {}))
        for context in (SHORT, LONG)
    ]
    found = bench.measure(read, [one.settings() for one in chosen], lambda s: s["steps"] * s["context"])
    by_ground = gathered(bench, chosen, found)
    return Report(
        findings=tuple(each for name, runs in by_ground.items() for each in findings_of(name, runs)),
        grids=(table_of(by_ground),),
        plots=tuple(_plot(name, runs, key) for name, runs in by_ground.items() for key in ("step", "seconds")),
        notes=(
            *(() if len(by_ground) > 1 else (on.NO_SHAKESPEARE,)),
            "At the same number of steps the long context has also seen four times as many tokens. Compare the two "
            "pictures: what leads by steps may trail by seconds.",
        ),
        data=own.data_line([one for one in chosen if one.context == LONG]) + f"; {SHORT} tokens beside {LONG}",
    )


def _plot(name: str, runs: dict[int, dict[str, Any]], key: str) -> Plot:
    series = tuple(Series(f"context {c}", one["followed"][key], one["followed"]["nats"]) for c, one in runs.items())
    by = {"step": "steps", "seconds": "processor's seconds"}[key]
    return Plot(f"Held out by {by}: {name}", by, "nats", series)
