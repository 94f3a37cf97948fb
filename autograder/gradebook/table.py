"""gradebook.csv: one row a submission, safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.gradebook.cells import neutral
from autograder.gradebook.results import write_atomically

DECIMALS = 4
FLAG_CHARACTERS = 2000  # far below what a cell holds, far above what anybody reads
MISSING = "missing: "  # the last words of a flag: which parts were not handed in, such as part4-6,9

_MISSING_FLAG = re.compile(r"part([0-9]+) missing", re.ASCII)


def gradebook_rows(results: Iterable[Mapping[str, Any]], part_names: Sequence[str]) -> list[dict[str, str]]:
    """Make the rows of the gradebook.

    Args:
        results: The content of the result.json of each submission, or what ``brief`` left of it.
        part_names: The columns between ``submission`` and ``total``, for example ``part1`` to ``part9``.

    Returns:
        One dict of cells a submission, sorted by name: ``submission``, each part's weighted score (empty where
        the part was not scored or not graded, never 0), ``total`` (empty as long as a part is unscored), ``max`` and
        ``flag``.
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


def split_flag(flag: str) -> tuple[str, str]:
    """Take the flag of a row apart: what a person should look at, and which parts were not handed in."""
    found = re.search(rf"(?:^|; ){MISSING}(part[0-9,-]+)$", flag, re.ASCII)
    return (flag[: found.start()], found[1]) if found else (flag, "")


def shortened(numbers: Iterable[int]) -> str:
    """Write the numbers of parts as a person would: ``part4-6,9``; empty where there are none."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return f"part{','.join(words)}" if words else ""


def _row(result: Mapping[str, Any], part_names: Sequence[str]) -> dict[str, str]:
    """Make the row of one submission."""
    parts = result["parts"]
    is_unscored = any(part["score"] is None for part in parts.values())
    return {
        "submission": neutral(str(result["submission"])),
        **{name: _weighted(parts.get(name)) for name in part_names},
        "total": "" if is_unscored else _number(result["total"]),
        "max": _number(result["max"]),
        "flag": _flag(result),
    }


def _flag(result: Mapping[str, Any]) -> str:
    """Say what a person should look at: what has no score first, what was not handed in last and in short."""
    flags, missing, by_hand = [], [], []
    for flag in result["flags"]:
        absent = _MISSING_FLAG.fullmatch(flag)
        if absent:
            missing.append(int(absent[1]))
        else:
            flags.append(flag)
    for name, part in result["parts"].items():
        told = [flag for flag in flags if flag.startswith(f"{name} unscored")]
        if part["score"] is None and not told:
            flags.append(f"{name} unscored")
        if "by_hand" in part:
            flags = [flag for flag in flags if flag not in told]
            by_hand.append(_by_hand(name, part))
    text = neutral("; ".join(by_hand + flags), FLAG_CHARACTERS)
    return "; ".join(filter(None, [text, MISSING + shortened(missing) if missing else ""]))


def _by_hand(name: str, part: Mapping[str, Any]) -> str:
    graded = part["by_hand"]["graded"]
    weight = part["weight"]
    before = "nothing" if graded is None else _number(weight * graded)
    told = f"{part['by_hand']['reason']}, {part['by_hand']['who']}"
    return f"{name} by hand: {_number(weight * part['score'])} in place of {before} ({told})"


def _weighted(part: Mapping[str, Any] | None) -> str:
    """Write a part's weighted score; nothing where there is no score."""
    if part is None or part["score"] is None:
        return ""
    return _number(part["weight"] * part["score"])


def _number(value: float) -> str:
    """Write a number without trailing zeros."""
    rounded = round(float(value), DECIMALS) + 0.0  # adding 0 turns -0.0 into 0.0
    return f"{rounded:.{DECIMALS}f}".rstrip("0").rstrip(".")
