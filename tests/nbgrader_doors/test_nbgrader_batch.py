"""A batch of notebooks as students really hand them in: each gets its right outcome, and none stops the others."""

import copy
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from nbgrader_course import (
    ROOT,
    NbCourse,
    Notebook,
    cells_by_name,
    code_cell,
    is_solution,
    name_of,
    with_cell,
    without,
)

pytest.importorskip("nbgrader")
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nbgrader]

MODULE, PART = "part3_attention", "part3"
FULL = 54.0
MIB = 1 << 20
NOTE = "What was noticed about this notebook"
INVALID = "not gradable: invalid notebook"


@dataclass(frozen=True)
class Case:
    """What a student hands in, what it earns, and what the feedback says of it."""

    make: Callable[[Notebook], Notebook | bytes]
    score: float = FULL
    says: str = ""
    file: str = f"{MODULE}.ipynb"


def changed(notebook: Notebook, name: str, change: Callable[[dict[str, Any]], object]) -> Notebook:
    made = copy.deepcopy(notebook)
    change(cells_by_name(made)[name])
    return made


def twice(notebook: Notebook, name: str) -> Notebook:
    made = copy.deepcopy(notebook)
    place = next(number for number, cell in enumerate(made["cells"]) if name_of(cell) == name)
    made["cells"].insert(place + 1, copy.deepcopy(made["cells"][place]))
    return made


def retyped(notebook: Notebook, name: str, kind: str) -> Notebook:
    def change(cell: dict[str, Any]) -> None:
        cell["cell_type"] = kind
        cell.pop("outputs", None)
        cell.pop("execution_count", None)

    return changed(notebook, name, change)


def with_metadata(notebook: Notebook, **values: object) -> Notebook:
    made = copy.deepcopy(notebook)
    for cell in made["cells"]:
        if name_of(cell):
            cell["metadata"]["nbgrader"] |= values
    return made


def with_output(notebook: Notebook, mib: int) -> bytes:
    made = with_cell(notebook, "print('x' * 10)")
    made["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * (mib * MIB)}]
    return json.dumps(made).encode()


def in_language(notebook: Notebook, name: str) -> Notebook:
    return {**notebook, "metadata": {"kernelspec": {"language": name, "name": name.lower()}}}


def with_markdown(notebook: Notebook, source: str) -> Notebook:
    made = copy.deepcopy(notebook)
    made["cells"].append({"cell_type": "markdown", "metadata": {}, "source": source})
    return made


# What gives full marks where one kernel runs a student's code and the tests; see test_nbgrader_tricks.py.
CASES = {
    "right": Case(lambda right: right),
    "untouched": Case(lambda right: right, 0.0),  # replaced by the released notebook
    "check-cell-twice": Case(lambda right: twice(right, "check-attention"), says="second copy"),
    "solution-twice": Case(lambda right: twice(right, "attention"), says="second copy"),
    "check-cell-deleted": Case(lambda right: without(right, ["check-attention"]), says="was deleted and is put back"),
    "all-checks-deleted": Case(
        lambda right: without(right, [name for name in cells_by_name(right) if name.startswith(("check-", "hidden-"))])
    ),
    "exercise-deleted": Case(lambda right: without(right, ["attention", "check-attention", "hidden-attention"]), 7.0),
    "check-cell-renamed": Case(
        lambda right: changed(
            right, "check-attention", lambda cell: cell["metadata"]["nbgrader"].update(grade_id="mine")
        ),
        says="the name of no cell that was given out",
    ),
    "solution-renamed": Case(
        lambda right: changed(right, "attention", lambda cell: cell["metadata"]["nbgrader"].update(grade_id="mine")),
    ),
    "check-cell-changed": Case(
        lambda right: changed(right, "hidden-attention", lambda cell: cell.update(source="assert True")),
        says="is locked and was changed",
    ),
    "check-cell-to-markdown": Case(lambda right: retyped(right, "check-attention", "markdown")),
    "solution-to-markdown": Case(lambda right: retyped(right, "MultiHeadAttention", "markdown"), 39.0, "nothing in it"),
    "truncated": Case(lambda right: json.dumps(right).encode()[:4000], 0.0, INVALID),
    "empty": Case(lambda right: b"", 0.0, INVALID),
    "no-notebook": Case(lambda right: b"[1, 2]", 0.0, INVALID),
    "latin-1": Case(lambda right: b'{"cells": "\xe9"}', 0.0, INVALID),
    "renamed-by-the-platform": Case(lambda right: right, file=f"{MODULE}-1.ipynb"),
    "renamed-by-hand": Case(lambda right: right, 0.0, f"may be meant for {MODULE}", "part3_atention.ipynb"),
    "final-version": Case(lambda right: right, 0.0, f"there is no {MODULE}.ipynb", "final version (2).ipynb"),
    "magics": Case(lambda right: with_cell(right, "%matplotlib inline\n!pip install torch\nx = !ls\n?print")),
    "cell-magic": Case(lambda right: with_cell(right, "%%bash\necho hello"), says="was left out"),
    "no-kernelspec": Case(lambda right: {**right, "metadata": {}}),
    "in-R": Case(lambda right: in_language(right, "R"), 0.0, "is in R, not in Python"),
    "old-format": Case(lambda right: in_v3(right)),
    "much-output": Case(lambda right: with_output(right, 20)),
    "too-much-output": Case(lambda right: with_output(right, 70), 0.0, "larger than 64 MiB"),
    "points-changed": Case(lambda right: with_metadata(right, points=999, schema_version=99)),
    "no-schema": Case(lambda right: with_metadata(right, schema_version=None, grade="yes", locked=[])),
    "metadata-is-a-list": Case(
        lambda right: changed(right, "attention", lambda cell: cell["metadata"].update(nbgrader=[]))
    ),
    "prints-a-score": Case(
        lambda right: with_cell(
            right, "import sys, warnings\nprint('{\"score\": 999}')\nprint('!', file=sys.stderr)\nwarnings.warn('x')"
        )
    ),
    "script": Case(
        lambda right: with_markdown(right, "hello <script>alert('ACTS-1')</script> <img src=x onerror=alert(2)>"),
        says="holds HTML that a page would act on",
    ),
    "exits-at-once": Case(lambda right: with_cell(right, "import os\nos._exit(0)"), 0.0),
    "raises-system-exit": Case(lambda right: with_cell(right, "raise SystemExit(0)"), 0.0),
    "a+b[1].*": Case(lambda right: right),
    "名前 O'Brien Ñ": Case(lambda right: right),
    "broken-timestamp": Case(lambda right: right),
    "linked-notebook": Case(lambda right: right, 0.0, "symbolic link"),
    "linked-notes": Case(lambda right: right),
    "module-only": Case(lambda right: b"", FULL),
}


def in_v3(notebook: Notebook) -> Notebook:
    cells = copy.deepcopy(notebook["cells"])
    for cell in cells:
        cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key == "nbgrader"}
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
    sheet = {"cells": cells, "metadata": {}}
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [sheet]}


def hand_in(course: NbCourse, student: str, case: Case, right: Notebook) -> None:
    notebook = course.release(MODULE) if student == "untouched" else case.make(right)
    folder = course.submit(student, MODULE, notebook, case.file)
    for module in ("part1_average", "part2_scores"):
        shutil.copyfile(ROOT / "solutions" / f"{module}.py", folder / f"{module}.py")
    if student == "broken-timestamp":
        (folder / "timestamp.txt").write_text("the day before yesterday")
    if student == "linked-notebook":
        (folder / case.file).unlink()
        (folder / case.file).symlink_to(course.folder / "source" / PART / f"{MODULE}.ipynb")
    if student == "linked-notes":
        (folder / "notes.txt").symlink_to(course.folder / "gradebook.db")
        os.mkfifo(folder / "pipe.txt")
    if student == "module-only":
        (folder / case.file).unlink()
        shutil.copyfile(ROOT / "solutions" / f"{MODULE}.py", folder / f"{MODULE}.py")


@dataclass(frozen=True)
class Graded:
    course: NbCourse
    log: str


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graded]:
    course = NbCourse(tmp_path_factory.mktemp("batch") / "course")
    course.gpt_hw("nbgrader", str(course.folder))
    course.nbgrader("generate_assignment", PART)
    right = course.answered(MODULE)
    for student, case in CASES.items():
        hand_in(course, student, case, right)
    ran = course.nbgrader("autograde", PART)
    course.nbgrader("generate_feedback", PART)
    yield Graded(course, ran.stdout + ran.stderr)


@pytest.mark.parametrize("student", CASES)
def test_each_submission_gets_what_it_earns_and_its_feedback_says_why(graded: Graded, student: str) -> None:
    case = CASES[student]
    assert graded.course.score(student, MODULE) == case.score
    page = re.sub(r"\s+", " ", graded.course.feedback(student, MODULE))
    assert case.says in page
    if student in ("right", "untouched"):
        assert NOTE not in page
    assert "ACTS-1')</script>" not in page


@pytest.mark.parametrize("student", CASES)
def test_points_and_written_answers_are_the_same_for_all(graded: Graded, student: str) -> None:
    grades = graded.course.grades(student, MODULE)
    assert sum(grade["max_score"] for name, grade in grades.items() if "answer-" not in name) == FULL
    assert {name for name in grades if "answer-" in name} == {"answer-no_mask", "answer-why_four_heads"}
    for name, grade in grades.items():
        assert grade["max_score"] == graded.course.grades("right", MODULE)[name]["max_score"]


def test_nothing_behind_a_link_or_a_pipe_is_copied(graded: Graded) -> None:
    found = {path.name for path in (graded.course.folder / "autograded" / "linked-notes" / PART).iterdir()}
    assert found == {f"{MODULE}.ipynb", "part1_average.py", "part2_scores.py"}
    assert "notes.txt is no plain file and is left alone" in graded.log


def test_solutions_of_the_submissions_are_shown_as_they_were_handed_in(graded: Graded) -> None:
    path = graded.course.folder / "autograded" / "right" / PART / f"{MODULE}.ipynb"
    shown = cells_by_name(json.loads(path.read_text(encoding="utf-8")))
    right = cells_by_name(graded.course.answered(MODULE))
    for name, cell in right.items():
        if is_solution(cell) and cell["cell_type"] == "code":
            assert "".join(shown[name]["source"]) == "".join(cell["source"])


def test_a_code_cell_of_a_students_own_is_not_executed_by_nbgrader(graded: Graded) -> None:
    path = graded.course.folder / "autograded" / "prints-a-score" / PART / f"{MODULE}.ipynb"
    first = next(cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code")
    assert first["source"] != code_cell("")["source"]
    assert first["outputs"] == []
