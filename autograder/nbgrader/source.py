"""The instructor's notebook of a part: solutions in their regions, checks with their points, questions with rubrics."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from autograder.build.notebook import to_notebook
from autograder.build.regions import Region, find_regions, template
from autograder.errors import BuildError
from autograder.nbgrader.cells import (
    ANSWER,
    CHECK,
    QUESTION,
    GradeCell,
    grade_cells,
    metadata,
    nbgrader_of,
    solution_names,
)
from autograder.nbgrader.questions import Question, read_questions
from autograder.records import Part

Cell = dict[str, Any]
_ID_LENGTH = 12


def source_notebook(part: Part, shown: Collection[str]) -> str:
    """Make the notebook from which nbgrader generates an assignment.

    Args:
        part: With its hidden checks.
        shown: What a student may see of a hidden check.

    Returns:
        The text of the notebook, the same on every machine.

    Raises:
        BuildError: The part cannot be built.
    """
    path = part.folder / f"{part.module}.py"
    text = path.read_text(encoding="utf-8")
    regions = find_regions(text, str(path))
    notebook = json.loads(to_notebook(template(text, part), part, regions))
    cells: list[Cell] = notebook["cells"]
    _put_solutions_back(cells, part, text.split("\n"), regions)
    scored = grade_cells(part, solution_names(cells), shown)
    cells = [*_with_scores(cells, scored), *_written(read_questions(part))]
    notebook["cells"] = cells
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _put_solutions_back(cells: list[Cell], part: Part, lines: list[str], regions: Iterable[Region]) -> None:
    """Put each region, with its markers, where the template has its placeholder."""
    waiting = list(regions)
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        made: list[str] = []
        for line in "".join(cell["source"]).split("\n"):
            if waiting and line == waiting[0].indent + waiting[0].placeholder(part):
                region = waiting.pop(0)
                made += lines[region.begin - 1 : region.end]
            else:
                made.append(line)
        cell["source"] = _as_lines("\n".join(made))
    if waiting:
        raise BuildError(f"{part.module}.py: the solution of {waiting[0].name} is in no cell of the notebook.", "")


def _with_scores(cells: list[Cell], scored: list[GradeCell]) -> Iterator[Cell]:
    """Give check cells their points, and put a cell for hidden checks after each exercise."""
    waiting = {one.name: one for one in scored}
    solution = ""  # whose check cell is due, and after it the cell of its hidden checks
    for cell in cells:
        role = cell["metadata"].get("gpt_hw", {})
        exercises = set(role["exercises"]) if role.get("role") == "check" else set()  # those with public checks
        is_check = exercises != set() and exercises <= set(solution.split("-"))
        if solution and not is_check:
            yield from _due(waiting, solution)
            solution = ""
        if is_check:
            one = waiting.pop(CHECK + solution)
            cell["metadata"]["nbgrader"] = _locked(one)
            yield cell
            yield from _due(waiting, solution)
            solution = ""
            continue
        yield cell
        if nbgrader_of(cell).get("solution"):
            solution = nbgrader_of(cell)["grade_id"]
    for name in [solution, *{one.solution: None for one in waiting.values()}]:
        yield from _due(waiting, name)


def _due(waiting: dict[str, GradeCell], solution: str) -> Iterator[Cell]:
    """Give the cells of an exercise that are not in the notebook yet."""
    for one in [one for one in waiting.values() if one.solution == solution]:
        del waiting[one.name]
        kind = "Hidden checks" if one.is_hidden else "Checks"
        text = f"# {kind} of {one.solution}: {one.points:g} points. They run when your work is graded."
        yield _cell("code", text, _locked(one), one.name)


def _written(questions: Iterable[Question]) -> Iterator[Cell]:
    """Give each question and, in the place of its answer, the rubric; nbgrader leaves a stub there."""
    for number, question in enumerate(questions):
        head = "## In your own words\n\n" if number == 0 else ""
        text = f"{head}{question.text}\n\n*{question.points:g} points, graded by a person.*"
        name = QUESTION + question.id
        yield _cell("markdown", text, metadata(name, locked=True), name)
        rubric = "\n".join(f"- {line}" for line in question.rubric)
        name = ANSWER + question.id
        yield _cell(
            "markdown",
            f"Rubric, for whoever grades; students find an empty cell here.\n\n{rubric}",
            metadata(name, grade=True, solution=True, points=question.points),
            name,
        )


def _locked(one: GradeCell) -> dict[str, Any]:
    return metadata(one.name, grade=True, locked=True, points=one.points)


def _cell(kind: str, text: str, nbgrader: dict[str, Any], name: str) -> Cell:
    cell: Cell = {
        "cell_type": kind,
        "id": hashlib.sha256(name.encode()).hexdigest()[:_ID_LENGTH],
        "metadata": {"nbgrader": nbgrader},
        "source": _as_lines(text),
    }
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


def _as_lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
