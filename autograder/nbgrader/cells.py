"""Which cells of a part's notebook nbgrader knows, and which checks each of them stands for.

Each exercise has two locked cells: ``check-attention``, which students can run, and ``hidden-attention``, which has no
more to show than its points. Where students may not see the title or the score of a hidden check, one cell holds
those of the whole part, since nbgrader shows every cell's score.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.records import Check, Part

SCHEMA_VERSION = 3  # of nbgrader's metadata
CHECK, HIDDEN, QUESTION, ANSWER = "check-", "hidden-", "question-", "answer-"
WHOLE_PART = "part"  # hidden checks that no exercise's cell may show, and checks of no exercise


@dataclass(frozen=True, slots=True)
class GradeCell:
    """One cell with a score: its name, the solution cell that it is about, and its checks."""

    name: str
    solution: str
    checks: tuple[Check, ...]

    @property
    def points(self) -> float:
        """The most that can be earned."""
        return sum(check.points for check in self.checks)

    @property
    def is_hidden(self) -> bool:
        """Tell whether its checks stay with the instructors."""
        return self.name.startswith(HIDDEN)


def grade_cells(part: Part, solutions: Iterable[str], shown: Iterable[str]) -> list[GradeCell]:
    """Share the checks of a part out among cells; every check is in exactly one.

    Args:
        part: With its hidden checks.
        solutions: Names of the solution cells; one that holds two exercises is called ``first-second``.
        shown: What a student may see of a hidden check.

    Returns:
        The cells that have checks, in the order of the solution cells; those of no solution cell last.
    """
    owner = {exercise: name for name in solutions for exercise in name.split("-")}
    is_shown = {"title", "score"} <= set(shown)
    found: dict[tuple[str, str], list[Check]] = {}
    places = {name: number for number, name in enumerate([*dict.fromkeys(owner.values()), WHOLE_PART])}
    for check in part.checks:
        solution = owner.get(check.exercise.partition(".")[0], WHOLE_PART)
        if check.hidden and not is_shown:
            solution = WHOLE_PART
        found.setdefault((solution, HIDDEN if check.hidden else CHECK), []).append(check)
    ordered = sorted(found, key=lambda key: (places[key[0]], key[1]))
    return [GradeCell(prefix + solution, solution, tuple(found[solution, prefix])) for solution, prefix in ordered]


def cells_of(part: Part, names: Iterable[str]) -> list[GradeCell]:
    """Read back from the names of a notebook's cells which checks each stands for.

    Args:
        part: With its hidden checks.
        names: Names of the cells with a score that nbgrader's database has for this notebook.
    """
    known = set(names)
    solutions = dict.fromkeys(
        name.removeprefix(prefix) for prefix in (CHECK, HIDDEN) for name in known if name.startswith(prefix)
    )
    shown = ("title", "score") if any(name.startswith(HIDDEN) and name != HIDDEN + WHOLE_PART for name in known) else ()
    return grade_cells(part, [name for name in solutions if name != WHOLE_PART], shown)


def metadata(
    name: str, *, grade: bool = False, solution: bool = False, locked: bool = False, points: float | None = None
) -> dict[str, Any]:
    """Write what nbgrader wants to know of a cell."""
    found: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "grade_id": name,
        "grade": grade,
        "solution": solution,
        "locked": locked,
        "task": False,
    }
    return found if points is None else {**found, "points": points}


def nbgrader_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read nbgrader's metadata of a cell, whatever stands there."""
    outer = cell.get("metadata")
    inner = outer.get("nbgrader") if isinstance(outer, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def solution_names(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the cells that students write code into, in order."""
    found = [nbgrader_of(cell) for cell in cells if cell.get("cell_type") == "code"]
    return [str(each["grade_id"]) for each in found if each.get("solution") is True]
