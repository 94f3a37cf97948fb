"""Sixteen tokens of context against sixty-four: what they are worth in nats, and what they cost in seconds."""

import itertools
import time
from dataclasses import replace
from statistics import mean, median
from typing import Any

import torch

from autograder.corpora import mean_nats
from autograder.labs.bench import Bench
from autograder.labs.data import nats
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._contexts import findings_of, gathered, table_of
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Plot, Report, Series
from autograder.labs.rungs import build_rung

PARTS = ("part3", "part4", "part5")
ON_DEVICE = True

CONTEXTS = (16, 32, 64)
TOKENS = 1024  # in each step, whatever the context
LOOKED_AT = 25_000  # held-out tokens


def learned(bench: Bench, seed: int, **ground: Any) -> dict[str, Any]:
    """Train a block at one context, and judge it by position."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    model = build_rung(
        bench, "block", vocab_size=data.vocab_size, d_model=here.width, block_size=here.context, positions=True
    )
    marks = [time.process_time()]
    on.trained(bench, here, model, seed, on_step=lambda step, loss: marks.append(time.process_time()))
    x, y = data.held_out_windows(here.context, LOOKED_AT // here.context)
    with torch.no_grad():
        logits = model(x).double().numpy()
    return {
        "nats": nats(model, x, y),
        "by_position": [mean_nats(logits[:, t], y[:, t].numpy()) for t in range(here.context)],
        "seconds": median(later - earlier for earlier, later in itertools.pairwise(marks)),
    }


def run(bench: Bench) -> Report:
    """Train at each context with equally many tokens a step."""
    wide = bench.choose({}, {"width": 128})
    chosen = [replace(one, batch=TOKENS // c, context=c) for one in on.grounds(bench, **wide) for c in CONTEXTS]
    if bench.full:  # the longest context of the text's ladder costs most, and the exercise stops at 64
        chosen = [one if one.on == on.EMBEDDED else replace(one, batch=8 * one.batch) for one in chosen]
    found = bench.measure(learned, [one.settings() for one in chosen], lambda s: s["steps"] * s["batch"] * s["context"])
    by_ground = gathered(bench, chosen, found)
    return Report(
        findings=tuple(each for name, runs in by_ground.items() for each in findings_of(name, runs)),
        grids=(table_of(by_ground),),
        plots=tuple(_plot(name, runs) for name, runs in by_ground.items()),
        notes=(
            *(() if len(by_ground) > 1 else (on.NO_SHAKESPEARE,)),
            "A window's first tokens have little context whatever its length, so a mean over a window says less than "
            "the picture, which shows the loss at each position. With equally many tokens a step, a long context also "
            "means fewer sequences. The best possible loss of the embedded language falls along a window; one block "
            "cannot follow, for it takes two to find what came after a token the last time (the lab called blocks).",
        ),
        data=on.data_line([one for one in chosen if one.context == CONTEXTS[-1]]) + "; fewer tokens, more sequences",
    )


def _plot(name: str, runs: dict[int, dict[str, Any]]) -> Plot:
    series = []
    for context, one in runs.items():
        eighth = context // 8  # single positions are noisy
        starts = range(0, context, eighth)
        middles = [start + (eighth - 1) / 2 + 1 for start in starts]
        groups = [mean(one["by_position"][start : start + eighth]) for start in starts]
        series.append(Series(f"trained at {context}", middles, groups))
    return Plot(f"Loss by how much is in view: {name}", "tokens in view", "nats", tuple(series))
