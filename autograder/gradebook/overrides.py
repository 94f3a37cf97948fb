"""overrides.csv: scores that a person has set by hand. They lie beside grading.yml and survive every regrade.

    submission,part,score,reason,who
    student-007,part3,50,the server was down that day,A. Instructor

A spreadsheet may have saved it: with semicolons, decimal commas, a byte order mark or a first line ``sep=;``.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import ConfigError, UsageError, did_you_mean
from autograder.gradebook.cells import neutral
from autograder.gradebook.results import short
from autograder.parts import find_part
from autograder.records import Part

FILE_NAME = "overrides.csv"
COLUMNS = ("submission", "part", "score", "reason", "who")
SIZE_CAP_BYTES = 1 << 20  # thousands of rows; anything larger is the wrong file
_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Override:
    """One row: the score, in points of the part before its weight, and who answers for it."""

    submission: str
    part: str
    score: float
    reason: str
    who: str
    line: int


def read_overrides(path: Path, parts: Mapping[str, Part]) -> list[Override]:
    """Read the scores that were set by hand.

    Args:
        path: The file; where there is none, nothing is overridden.
        parts: The parts of the course.

    Returns:
        The rows, in their order.

    Raises:
        ConfigError: The file cannot be followed; the message names the line.
    """
    text = _read_text(path)
    if text is None:
        return []
    lines = text.splitlines(keepends=True)
    skipped = 0
    while skipped < len(lines) and (not lines[skipped].strip() or re.fullmatch(r"sep=.\s*", lines[skipped])):
        skipped += 1
    if skipped == len(lines):
        return []
    delimiter = max(_DELIMITERS, key=lines[skipped].count)
    reader = csv.reader(io.StringIO("".join(lines[skipped:]), newline=""), delimiter=delimiter, strict=True)
    try:
        header = [cell.strip().casefold() for cell in next(reader)]
        _check_header(path, header)
        found: list[Override] = []
        for cells in reader:
            if any(cell.strip() for cell in cells):
                found.append(_row(path, skipped + reader.line_num, header, cells, parts, delimiter))
    except csv.Error as error:
        raise _slip(path, skipped + reader.line_num, f"is no row of a CSV file ({error})") from None
    _refuse_twins(path, found)
    return found


def by_submission(
    overrides: Iterable[Override], names: Iterable[str]
) -> tuple[dict[str, dict[str, Override]], list[str]]:
    """Give each override to its submission.

    Args:
        overrides: What ``read_overrides`` gave.
        names: The submissions that there are.

    Returns:
        Submission -> part -> override; and a sentence for each row whose submission is not there.
    """
    known = {spelling: name for name in names for spelling in (neutral(name), name)}  # as the gradebook shows it, too
    found: dict[str, dict[str, Override]] = {}
    warnings = []
    for override in overrides:
        if override.submission in known:
            found.setdefault(known[override.submission], {})[override.part] = override
        else:
            meant = did_you_mean(override.submission, known) if known else ""
            meant = meant if meant.startswith("Did") else "No name here is close to it."
            warnings.append(
                f"{FILE_NAME}, line {override.line}: no submission is called {neutral(override.submission)!r}. {meant}"
            )
    return found, warnings


def with_overrides(result: Mapping[str, Any], overrides: Mapping[str, Override]) -> dict[str, Any]:
    """Put the scores set by hand into a result, and take out those that are there no more.

    Args:
        result: The content of a result.json, with or without scores set by hand.
        overrides: Part -> override, of this submission.

    Returns:
        The content with ``by_hand`` in each part set by hand: ``{"graded": the score of the checks or null,
        "reason": ..., "who": ...}``; its ``score`` is the person's, and the total counts it.
    """
    parts = {name: _with_override(part, overrides.get(name)) for name, part in result["parts"].items()}
    total = math.fsum(part["weight"] * part["score"] for part in parts.values() if part["score"] is not None)
    if not any("by_hand" in part for part in (*parts.values(), *result["parts"].values())):
        return dict(result)  # whatever it says of its total
    return {**result, "parts": parts, "total": short(total)}


def _with_override(part: Mapping[str, Any], override: Override | None) -> dict[str, Any]:
    plain = dict(part)
    by_hand = plain.pop("by_hand", None)
    if by_hand is not None:
        plain["score"] = by_hand["graded"]
    if override is None:
        return plain
    given = {"graded": plain["score"], "reason": override.reason, "who": override.who}
    return {**plain, "score": short(override.score), "by_hand": given}


def _row(
    path: Path, line: int, header: list[str], cells: list[str], parts: Mapping[str, Part], delimiter: str
) -> Override:
    if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
        remedy = 'Put a text that holds a comma into quotes: "like, this".'
        raise _slip(path, line, f"has {len(cells)} cells, and the first line names {len(header)}", remedy)
    row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
    for column in COLUMNS:
        if not row.get(column):
            remedy = {
                "reason": "Say why the score is set by hand; the student reads it on the feedback page.",
                "who": "Say who answers for it; the student reads it on the feedback page.",
            }.get(column, "Fill it in, or delete the line.")
            raise _slip(path, line, f"has no {column}", remedy)
    try:
        part = find_part(row["part"], parts)
    except UsageError as error:
        raise _slip(path, line, error.message, error.remedy) from None
    return Override(
        row["submission"], part.name, _score(path, line, row["score"], part, delimiter), row["reason"], row["who"], line
    )


def _score(path: Path, line: int, text: str, part: Part, delimiter: str) -> float:
    plain = text.replace(",", ".") if delimiter != "," else text
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", plain, re.ASCII):
        raise _slip(path, line, f"has the score {text[:40]!r}", "Write points, such as 12 or 12.5.")
    if float(plain) > part.points:
        remedy = f"Write points of the part before its weight, from 0 to {part.points:g}."
        raise _slip(path, line, f"gives {plain} points; {part.name} has {part.points:g}", remedy)
    return float(plain)


def _check_header(path: Path, header: list[str]) -> None:
    expected = f"Its first line is: {','.join(COLUMNS)}"
    for cell in header:
        if cell and cell not in COLUMNS:
            raise _slip(path, 1, f"names a column {cell[:40]!r}", f"{did_you_mean(cell, COLUMNS)} {expected}")
        if header.count(cell) > 1 and cell:
            raise _slip(path, 1, f"names the column {cell!r} twice", expected)
    for column in COLUMNS:
        if column not in header:
            raise _slip(path, 1, f"has no column {column!r}", expected)


def _refuse_twins(path: Path, found: list[Override]) -> None:
    first: dict[tuple[str, str], int] = {}
    for one in found:
        key = one.submission, one.part
        if key in first:
            what = f"sets {one.part} of {neutral(one.submission)} again, which line {first[key]} has set"
            raise _slip(path, one.line, what, "Keep the line that counts.")
        first[key] = one.line


def _read_text(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_CAP_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read ({error.strerror})", f"Look at {path}.") from None
    if len(data) > SIZE_CAP_BYTES:
        raise ConfigError(f"{path.name} is larger than {SIZE_CAP_BYTES >> 20} MiB", f"Is {path} the right file?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _slip(path, line, "is not UTF-8 text", "In a spreadsheet, save it as 'CSV UTF-8'.") from None
    if "\0" in text:
        raise ConfigError(f"{path.name} holds NUL characters", f"Save {path} as 'CSV UTF-8'.")
    return text


def _slip(path: Path, line: int, problem: str, remedy: str = "Mend that line.") -> ConfigError:
    return ConfigError(f"{path.name}: line {line} {problem}", f"{remedy} See {path}.")
