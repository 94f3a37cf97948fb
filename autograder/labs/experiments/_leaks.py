"""How a model without a mask is judged, whichever engine trained it."""

from collections.abc import Iterable
from typing import Any

from autograder.labs.report import Finding, Grid, judge

CLOSE = 0.1  # nats: a model with a mask gives the same both ways, up to which windows were drawn


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
