"""gradebook.csv: one row a submission, safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.gradebook.results import write_atomically

DECIMALS = 4
FLAG_CHARACTERS = 2000  # far below what a cell holds, far above what anybody reads

# Control, direction and other invisible characters. They are written as escapes rather than dropped: without
# them two different names could look like one.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_FORMULA = tuple("=+-@＝＋－＠")  # noqa: RUF001  # a spreadsheet takes the wide forms for the narrow ones


def gradebook_rows(results: Iterable[Mapping[str, Any]], part_names: Sequence[str]) -> list[dict[str, str]]:
    """Make the rows of the gradebook.

    Args:
        results: The content of the result.json of each submission.
        part_names: The columns between ``submission`` and ``total``, for example ``part1`` to ``part9``.

    Returns:
        One dict of cells a submission, sorted by name: ``submission``, each part's weighted score (empty where
        the part was not scored or not graded, never 0), ``total`` over what is scored, ``max`` and ``flag``.
    """
    ordered = sorted(results, key=lambda result: str(result["submission"]))
    return [_row(result, part_names) for result in ordered]


def write_gradebook(path: Path, results: Iterable[Mapping[str, Any]], part_names: Sequence[str]) -> None:
    """Write the gradebook as UTF-8 CSV.

    Args:
        path: Where to write.
        results: The content of the result.json of each submission.
        part_names: The parts, in the order of their columns.

    Raises:
        UsageError: The file cannot be written.
    """
    text = io.StringIO()
    columns = ["submission", *part_names, "total", "max", "flag"]
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(gradebook_rows(results, part_names))
    write_atomically(path, text.getvalue())


def _row(result: Mapping[str, Any], part_names: Sequence[str]) -> dict[str, str]:
    """Make the row of one submission."""
    parts = result["parts"]
    flags = list(result["flags"])
    for name, part in parts.items():
        if part["score"] is None and not any(flag.startswith(f"{name} unscored") for flag in flags):
            flags.append(f"{name} unscored")
    return {
        "submission": _words(str(result["submission"])),
        **{name: _weighted(parts.get(name)) for name in part_names},
        "total": _number(result["total"]),
        "max": _number(result["max"]),
        "flag": _words("; ".join(flags), FLAG_CHARACTERS),
    }


def _weighted(part: Mapping[str, Any] | None) -> str:
    """Write a part's weighted score; nothing where there is no score."""
    if part is None or part["score"] is None:
        return ""
    return _number(part["weight"] * part["score"])


def _number(value: float) -> str:
    """Write a number without trailing zeros."""
    rounded = round(float(value), DECIMALS) + 0.0  # adding 0 turns -0.0 into 0.0
    return f"{rounded:.{DECIMALS}f}".rstrip("0").rstrip(".")


def _words(text: str, limit: int | None = None) -> str:
    """Make a text harmless in a cell: nothing invisible, one line, and never taken for a formula."""
    text = _INVISIBLE.sub(lambda match: _escape(match.group()), text)
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _escape(character: str) -> str:
    """Write a line break as a space and any other character as its code."""
    return " " if character in "\r\n\t" else f"\\u{ord(character):04x}"
