"""What a lab found: findings beside the text's figures, further tables, plots; plain data, drawn elsewhere."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

FORMAT = 1


class Verdict(StrEnum):
    """How what was measured stands to what the text states."""

    REPRODUCED = "reproduced"
    IN_DIRECTION = "in direction"
    NOT_HERE = "does not reproduce here"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim of the text, its figure, ours, and the verdict.

    ``chapter`` and ``here`` are numbers or words; ``style`` is the format of the numbers, such as ``.3f``.
    ``why`` says what a reader needs in order to believe the verdict; it is there whenever that is not "reproduced".
    """

    claim: str
    chapter: float | str
    here: float | str | None
    verdict: Verdict
    why: str = ""
    style: str = ".4g"

    def __post_init__(self) -> None:
        """Refuse a verdict that a reader is left alone with."""
        if self.verdict is not Verdict.REPRODUCED and not self.why:
            raise ValueError(f"'{self.claim}': the verdict '{self.verdict}' needs a why")


def judge(
    claim: str,
    chapter: float | str,
    here: float | str,
    *,
    reproduced: bool,
    in_direction: bool = False,
    why: str,
    style: str = ".4g",
) -> Finding:
    """Decide a verdict.

    Args:
        claim: What the text says, in a few of our own words.
        chapter: The text's figure.
        here: What was measured.
        reproduced: Whether that is the same figure, to the accuracy that such a measurement has.
        in_direction: Whether at least the sign of the effect is the same.
        why: What explains anything less than "reproduced"; left out where it is reproduced.
        style: Format of the numbers.
    """
    if reproduced:
        return Finding(claim, chapter, here, Verdict.REPRODUCED, style=style)
    verdict = Verdict.IN_DIRECTION if in_direction else Verdict.NOT_HERE
    return Finding(claim, chapter, here, verdict, why, style)


def not_measured(claim: str, chapter: float | str, why: str, style: str = ".4g") -> Finding:
    """State a figure of the text that this run had no business with, and why."""
    return Finding(claim, chapter, None, Verdict.NOT_MEASURED, why, style)


def is_near(here: float, chapter: float, *, within: float) -> bool:
    """Say whether two numbers agree to a share of the text's: 0.05 is 5 %. NaN agrees with nothing."""
    return abs(here - chapter) <= within * abs(chapter)


@dataclass(frozen=True, slots=True)
class Grid:
    """A further table: ``rows`` hold numbers, words or None; ``styles`` are the formats of the columns' numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    styles: tuple[str, ...] = ()

    def cells(self) -> list[list[str]]:
        """Return every row as text."""
        styles = [*self.styles, *[".4g"] * (len(self.columns) - len(self.styles))]
        return [[shown(value, style) for value, style in zip(row, styles, strict=True)] for row in self.rows]


@dataclass(frozen=True, slots=True)
class Series:
    """One curve of a plot; ``of_text`` where its numbers are the text's and not ours."""

    name: str
    x: Sequence[Any]
    y: Sequence[float | None]
    of_text: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves, points or bars over the same axes. ``kind`` is "line", "points" or "bars" (then x are words)."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    kind: str = "line"
    log_x: bool = False
    log_y: bool = False
    levels: Mapping[str, float] = field(default_factory=dict)  # named horizontal lines, such as an entropy floor


@dataclass(frozen=True, slots=True)
class Heat:
    """A matrix as a picture, such as a map of attention: rows ask, columns are asked."""

    title: str
    values: Sequence[Sequence[float]]
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a lab returns: all that is shown. ``data`` says what was trained or measured on, and with which settings."""

    findings: tuple[Finding, ...]
    grids: tuple[Grid, ...] = ()
    plots: tuple[Plot | Heat, ...] = ()
    notes: tuple[str, ...] = ()
    data: str = ""


def report_json(report: Report, about: Mapping[str, Any]) -> dict[str, Any]:
    """Give everything but the pictures to programs; a number that is not finite becomes a word."""
    body = asdict(report)
    del body["plots"]
    found: dict[str, Any] = _finite({"version": FORMAT, **about, **body})
    return found


def shown(value: Any, style: str = ".4g") -> str:
    """Write a cell: numbers in their style, whole numbers with commas, None as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) and style == ".4g":
        return f"{value:,}"
    return format(value, style) if math.isfinite(value) else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
