"""How a model without a mask is judged, whichever engine trained it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, Series, judge

CLOSE = 0.1  # nats: a model with a mask gives the same both ways, up to which windows were drawn


@dataclass(frozen=True, slots=True)
class Pair:
    """The same training with the mask and without it, on one ground; ``uniform`` and ``floor`` are in nats."""

    name: str
    masked: dict[str, Any]
    bare: dict[str, Any]
    uniform: float
    floor: float | None

    def findings(self) -> list[Finding]:
        """Judge the text's claims."""
        return findings_of(self.name, self.masked, self.bare, self.uniform, self.floor)

    def rows(self) -> list[tuple[str, dict[str, Any]]]:
        """Name both models for the table."""
        return [(f"{self.name}, with the mask", self.masked), (f"{self.name}, without", self.bare)]

    def curves(self) -> tuple[Series, ...]:
        """Draw what was followed while they learned."""
        steps = self.bare["followed"]["step"]
        return (
            Series("no mask: training loss", steps, [self.bare["losses"][step - 1] for step in steps]),
            Series("no mask: held out, same way", steps, self.bare["followed"]["same"]),
            Series("no mask: held out, honest", steps, self.bare["followed"]["honest"]),
            Series("mask: held out, honest", self.masked["followed"]["step"], self.masked["followed"]["honest"]),
        )


def pairs(bench: Bench, grounds: Iterable[Ground], found: Sequence[dict[str, Any]]) -> list[Pair]:
    """Pair what was measured: on each ground first with the mask, then without."""
    made = []
    for i, ground in enumerate(grounds):
        data = on.open_ground(bench, ground)
        floor = None if data.floor is None else math.log(data.floor)
        masked, bare = found[2 * i : 2 * i + 2]
        made.append(Pair(ground.on, masked, bare, math.log(data.vocab_size), floor))
    return made


def findings_of(
    name: str, masked: dict[str, Any], bare: dict[str, Any], uniform: float, floor: float | None
) -> list[Finding]:
    """Judge the text's claims.

    Args:
        name: Of the ground.
        masked: What the model with the mask gave, in nats: ``train`` (mean of the last losses), ``same``, ``honest``.
        bare: What the model without it gave.
        uniform: Nats of guessing evenly.
        floor: Nats of the best possible model, where they are known.
    """
    findings = [
        judge(
            f"{name}: no mask: the training loss falls, to",
            "falls",
            bare["train"],
            reproduced=bare["train"] < masked["train"],
            why="it should fall below what is possible; is the answer really in view?",
            style=".2f",
        ),
        judge(
            f"{name}: no mask: the validation loss does not fall",
            "does not",
            f"falls, to {bare['same']:.2f}" if bare["same"] < masked["same"] else f"{bare['same']:.2f}",
            reproduced=bare["same"] >= masked["same"],
            why="the sentence is false as it stands. Computed the same way as the training loss, validation falls too: "
            "in held-out text the next token is in view just as well. Only a judge who shows the prefix and nothing "
            f"else notices: {bare['honest']:.2f} nats",
        ),
        judge(
            f"{name}: no mask: useless, from the prefix alone",
            f"useless (guessing evenly: {uniform:.2f})",
            bare["honest"],
            reproduced=bare["honest"] > uniform,
            in_direction=bare["honest"] > masked["honest"] + CLOSE,
            why="worse than with the mask, and not worse than guessing evenly; train longer and it will be",
            style=".2f",
        ),
        judge(
            f"{name}: with it both ways of judging agree",
            "agree",
            f"{masked['same']:.2f} and {masked['honest']:.2f}",
            reproduced=abs(masked["same"] - masked["honest"]) < CLOSE,
            why="a masked model gives the same scores whether or not later tokens are there; this one looks ahead",
        ),
    ]
    if floor is not None:
        findings.append(
            judge(
                f"{name}: no mask: below the best possible ({floor:.2f} nats)",
                "a leak",
                "below" if bare["same"] < floor else "not below",
                reproduced=bare["same"] < floor <= masked["same"] + CLOSE,
                in_direction=bare["same"] < masked["same"],
                why="no model can be better than the exact probabilities; more steps take this one below them",
            )
        )
    return findings


def table_of(rows: Iterable[tuple[str, dict[str, Any]]]) -> Grid:
    """Lay both ways of judging side by side."""
    return Grid(
        "Nats per token",
        ("model", "training", "held out, judged the same way", "held out, from the prefix alone"),
        tuple((name, one["train"], one["same"], one["honest"]) for name, one in rows),
        ("", ".2f", ".2f", ".2f"),
    )
