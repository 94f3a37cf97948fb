"""The course directory for nbgrader: what is in it, and that an instructor's edits survive. Needs no nbgrader."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from nbgrader_course import ROOT, cells_by_name, copy_checkout, is_solution, name_of
from typer.testing import CliRunner

from autograder.cli import app
from autograder.errors import PartError
from autograder.nbgrader.cells import cells_of, grade_cells, solution_names
from autograder.nbgrader.questions import read_questions
from autograder.nbgrader.source import source_notebook
from autograder.parts import load_parts
from autograder.records import Part

pytest.importorskip("jupytext")

PARTS = load_parts(ROOT / "assignments")
SHOWN = ("title", "score", "diagnosis")


@cache
def text_of(name: str) -> str:
    return source_notebook(PARTS[name], SHOWN)


def notebook_of(part: Part) -> dict[str, Any]:
    return dict(json.loads(text_of(part.name)))


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_points_of_a_notebook_are_those_of_the_suites_and_of_the_questions(part: Part) -> None:
    cells = cells_by_name(notebook_of(part))
    points = {name: cell["metadata"]["nbgrader"].get("points", 0) for name, cell in cells.items()}
    checked = sum(value for name, value in points.items() if name.startswith(("check-", "hidden-")))
    public = sum(value for name, value in points.items() if name.startswith("check-"))
    assert checked == part.points
    assert public == sum(check.points for check in part.checks if not check.hidden)
    assert sum(points.values()) - checked == sum(question.points for question in read_questions(part)) > 0


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_every_name_is_there_once_and_cells_with_scores_are_locked(part: Part) -> None:
    notebook = notebook_of(part)
    names = [name_of(cell) for cell in notebook["cells"] if name_of(cell)]
    assert len(names) == len(set(names))
    for cell in notebook["cells"]:
        info = cell["metadata"].get("nbgrader", {})
        if info.get("grade"):
            assert info["locked"] != info["solution"]
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_solutions_stand_in_their_regions_as_in_the_parts_file(part: Part) -> None:
    code = [cell for cell in notebook_of(part)["cells"] if cell["cell_type"] == "code"]
    lines = [line.rstrip() for cell in code for line in "".join(cell["source"]).split("\n") if line.strip()]
    text = (part.folder / f"{part.module}.py").read_text(encoding="utf-8")
    wanted = [line.rstrip() for line in text.split("\n") if line.strip() and not line.startswith("#")]
    assert [line for line in wanted if line not in lines] == []
    assert sum(line.strip() == "### BEGIN SOLUTION" for line in lines) == text.count("### BEGIN SOLUTION\n")


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("shown", [SHOWN, ("title",), ()])
def test_every_check_is_in_one_cell_and_is_found_again_by_the_cells_names(part: Part, shown: tuple[str, ...]) -> None:
    cells = grade_cells(part, solution_names(notebook_of(part)["cells"]), shown)
    assert sorted(check.id for cell in cells for check in cell.checks) == sorted(check.id for check in part.checks)
    again = cells_of(part, [cell.name for cell in reversed(cells)])
    assert {cell.name: cell.points for cell in again} == {cell.name: cell.points for cell in cells}
    assert {cell.name: set(cell.checks) for cell in again} == {cell.name: set(cell.checks) for cell in cells}
    if shown != SHOWN:
        assert [cell.name for cell in cells if cell.is_hidden] == ["hidden-part"]


def test_a_check_of_no_exercise_gets_a_cell_all_the_same() -> None:
    part = PARTS["part3"]
    odd = replace(part, checks=(*part.checks, replace(part.checks[0], id="odd", exercise="nothing_known")))
    assert grade_cells(odd, ["attention", "Head", "MultiHeadAttention"], SHOWN)[-1].name == "check-part"


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_rubrics_are_in_the_instructors_notebook_and_nowhere_in_what_students_get(part: Part) -> None:
    text = "".join("".join(cell["source"]) for cell in notebook_of(part)["cells"])
    given = [path for path in (ROOT / "student_template").rglob("*") if path.is_file() and part.module in str(path)]
    assert given
    for question in read_questions(part):
        for line in question.rubric:
            assert line in text
            assert not any(line in path.read_text(encoding="utf-8") for path in given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version: 1\nquestions:\n  a:\n    points: 0\n    text: x\n    rubric: [y]\n", "a number above 0"),
        ("version: 1\nquestions:\n  a:\n    points: 1\n    text: x\n", "a line for each thing"),
        ("version: 1\nquestions:\n  A b:\n    points: 1\n    text: x\n    rubric: [y]\n", "a name of small letters"),
        ("version: 1\nquestions:\n  a:\n    points: 1\n    rubric: [y]\n", "text is missing"),
        ("version: 2\nquestions: {}\n", "newer gpt-hw"),
        ("version: 1\nquestion: {}\n", "Did you mean 'questions'"),
    ],
)
def test_a_slip_in_questions_yml_is_told_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "questions.yml").write_text(text, encoding="utf-8")
    with pytest.raises(PartError) as raised:
        read_questions(replace(PARTS["part3"], folder=tmp_path))
    assert said in str(raised.value)
    assert "questions.yml" in str(raised.value)


def test_a_part_without_questions_has_none(tmp_path: Path) -> None:
    assert read_questions(replace(PARTS["part3"], folder=tmp_path)) == ()


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout: one part."""
    root = copy_checkout(tmp_path / "checkout", ["part1_average"])
    monkeypatch.chdir(root)
    return root


def run(*words: str) -> tuple[int, str]:
    ran = CliRunner().invoke(app, ["nbgrader", *words])
    return ran.exit_code, ran.output


def test_the_command_makes_a_course_and_changes_nothing_the_second_time(checkout: Path, tmp_path: Path) -> None:
    target = tmp_path / "course"
    status, said = run(str(target))
    assert status == 0
    assert "new nbgrader_config.py\nnew source/part1/part1_average.ipynb" in said
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*.*") if path.suffix in (".py", ".ipynb")}
    assert run(str(target)) == (0, "nothing to change\n")
    assert {path: path.stat().st_mtime_ns for path in before} == before
    config = (target / "nbgrader_config.py").read_text(encoding="utf-8")
    assert f"c.Checkout.folder = {str(checkout)!r}" in config
    assert "c.CourseDirectory.course_id = 'course'" in config


def test_an_instructors_edit_stays_until_they_agree(checkout: Path, tmp_path: Path) -> None:
    target = tmp_path / "course"
    run(str(target))
    config, notebook = target / "nbgrader_config.py", target / "source/part1/part1_average.ipynb"
    config.write_text(config.read_text(encoding="utf-8") + "c.Exchange.root = '/srv'\n", encoding="utf-8")
    edited = json.loads(notebook.read_text(encoding="utf-8"))
    edited["cells"][0]["source"] = ["# My own title\n"]
    notebook.write_text(json.dumps(edited), encoding="utf-8")
    mine = notebook.read_bytes(), config.read_bytes()

    status, said = run(str(target))
    assert status == 1
    assert "-c.Exchange.root = '/srv'" in said
    assert "-# My own title" in said
    assert "edited it since: nbgrader_config.py, source/part1/part1_average.ipynb" in said
    assert (notebook.read_bytes(), config.read_bytes()) == mine

    status, said = run(str(target), "--yes")
    assert status == 0
    assert (notebook.read_bytes(), config.read_bytes()) != mine
    assert run(str(target)) == (0, "nothing to change\n")


def test_what_nobody_has_edited_follows_the_parts(checkout: Path, tmp_path: Path) -> None:
    target = tmp_path / "course"
    run(str(target))
    questions = checkout / "assignments/part1_average/questions.yml"
    questions.write_text(questions.read_text(encoding="utf-8").replace("points: 4", "points: 6"), encoding="utf-8")
    assert run(str(target)) == (0, "changed source/part1/part1_average.ipynb\n")


def test_a_place_that_is_not_for_nbgrader_is_refused(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (checkout, checkout / "assignments", tmp_path / "file"):
        assert CliRunner().invoke(app, ["nbgrader", str(place)]).exit_code != 0
    assert not (checkout / "nbgrader_config.py").exists()


def test_solution_cells_are_named_after_their_exercises() -> None:
    cells = notebook_of(PARTS["part3"])["cells"]
    assert [name_of(cell) for cell in cells if is_solution(cell) and cell["cell_type"] == "code"] == [
        "attention",
        "Head",
        "MultiHeadAttention",
    ]
