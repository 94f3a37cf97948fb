"""Remember the last results and the hints given, in ``.gpt-hw/`` in the workspace.

Losing it costs a student nothing, so damage to it is passed over in silence.
"""

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from autograder.whole_file import write_whole

MEMORY = ".gpt-hw"
FORMAT = 1
CAP_BYTES = 1_000_000  # nine parts need a few KiB; more is not ours


@dataclass(frozen=True, slots=True)
class PublicResult:
    """What the last run of a part's public checks gave."""

    passed: int
    total: int
    points: float
    max_points: float


def record_result(folder: Path, part_name: str, passed: int, total: int, points: float, max_points: float) -> None:
    """Remember the last result of a part's public checks."""
    kept = recall(folder, "last.json")
    kept[part_name] = {"passed": passed, "total": total, "points": points, "max_points": max_points}
    remember(folder, "last.json", kept)


def read_results(folder: Path) -> dict[str, PublicResult]:
    """Read the last results by part; what cannot be read is left out."""
    results = {}
    for name, entry in recall(folder, "last.json").items():
        if not isinstance(entry, dict) or set(entry) != {field.name for field in fields(PublicResult)}:
            continue
        result = PublicResult(**entry)
        are_counts = type(result.passed) is int and type(result.total) is int
        are_numbers = are_counts and {type(result.points), type(result.max_points)} <= {int, float}
        if are_numbers and 0 <= result.passed <= result.total and 0 <= result.points <= result.max_points < math.inf:
            results[name] = result
    return results


def recall(folder: Path, name: str) -> dict[str, Any]:
    """Read one file of the memory: an entry for each part; empty where it cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        with (folder / MEMORY / name).open("rb") as file:
            kept = json.loads(file.read(CAP_BYTES))
        if isinstance(kept, dict) and kept.get("version") == FORMAT and isinstance(kept.get("parts"), dict):
            return dict(kept["parts"])
    return {}


def remember(folder: Path, name: str, parts: Mapping[str, Any]) -> None:
    """Write a file of the memory whole or not at all; a workspace that cannot be written loses only comfort."""
    content = json.dumps({"version": FORMAT, "parts": parts}, indent=1).encode()
    path = folder / MEMORY / name
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content)
