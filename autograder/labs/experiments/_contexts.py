"""How a longer context is judged, whichever engine trained with it."""

import math
from collections.abc import Iterable
from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, judge

SHORT, LONG = 16, 64
TIE = 0.02  # nats: two seeds differ by as much


def gathered(
    bench: Bench, grounds: Iterable[Ground], found: Iterable[dict[str, Any]]
) -> dict[str, dict[int, dict[str, Any]]]:
    """Put what was measured together: name of the ground -> context -> figures, ``floor`` among them."""
    by_ground: dict[str, dict[int, dict[str, Any]]] = {}
    for ground, one in zip(grounds, found, strict=True):
        floor = on.open_ground(bench, ground).floor
        by_ground.setdefault(ground.on, {})[ground.context] = {**one, "floor": floor, "sequences": ground.batch}
    return by_ground


def findings_of(name: str, runs: dict[int, dict[str, Any]]) -> list[Finding]:
    """Judge what the exercise asks: 16 against 64, in nats and in seconds a step.

    Args:
        name: Of the ground.
        runs: Context -> ``nats``, ``seconds`` (of a step) and ``sequences`` (in a step).
    """
    short, long = runs[min(runs)], runs[max(runs)]
    gain = short["nats"] - long["nats"]
    ratio = long["seconds"] / long["sequences"] * short["sequences"] / short["seconds"]
    if abs(gain) < TIE:
        why = "a tie: the same number of steps makes more of a short context, which is easier to use; train longer"
    else:
        why = "the short context is still ahead after so few steps: a long one pays late"
    return [
        judge(
            f"{name}: nats that {max(runs)} tokens of context gain on {min(runs)}",
            "gains (no figure)",
            gain,
            reproduced=gain > TIE,
            why=why,
            style="+.3f",
        ),
        judge(
            f"{name}: so many times the seconds of {min(runs)} a sequence of {max(runs)} takes",
            "more (no figure)",
            ratio,
            reproduced=ratio > 1.1,  # a machine that others use moves a median by some per cent
            why="most of a step is then spent on something else than the tokens",
            style=".2f",
        ),
    ]


def table_of(by_ground: dict[str, dict[int, dict[str, Any]]]) -> Grid:
    """Lay nats and seconds side by side; ``floor`` is a perplexity, or None."""
    rows = []
    for name, runs in by_ground.items():
        for context, one in runs.items():
            floor = one.get("floor")
            best = None if floor is None else math.log(floor)
            rows.append((f"{name}, context {context}", one["nats"], best, 1000 * one["seconds"]))
    columns = ("trained and judged at", "nats", "best possible", "ms a step")
    return Grid("Nats per token, and a processor's milliseconds", columns, tuple(rows), ("", ".3f", ".3f", ".1f"))
