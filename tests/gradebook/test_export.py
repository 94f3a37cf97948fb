"""``gpt-hw export``: the scores for other programs, where a fault of ours never becomes a number."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from nbgrader_course import ROOT, copy_checkout
from typer.testing import CliRunner

from autograder.cli import app
from autograder.nbgrader.cells import grade_cells
from autograder.parts import load_parts, suites_sha256

PARTS = load_parts(ROOT / "assignments")
PART = PARTS["part3"]
SOLUTIONS = ("attention", "Head", "MultiHeadAttention")

# nbgrader's own words to SQLAlchemy, which has become stricter since.
pytestmark = pytest.mark.filterwarnings("ignore:Object of type:Warning")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = copy_checkout(tmp_path / "checkout")
    monkeypatch.chdir(root)
    return root


def write_result(root: Path, name: str, **outcomes: str) -> None:
    """Write a result.json as grade does; checks pass unless an outcome is given by id."""
    checks = []
    for check in PART.checks:
        outcome = outcomes.get(check.id, "passed")
        score = {"passed": check.points, "error": None}.get(outcome, 0)
        message = "" if outcome == "passed" else f"SECRET of {check.id}"
        told = {"id": check.id, "title": check.title, "points": check.points, "outcome": outcome, "score": score}
        checks.append({**told, "message": message, "mistake": None, "seconds": 0.1})
    scores = [check["score"] for check in checks]
    score = None if None in scores else sum(scores)
    outcome = "error" if score is None else "passed"
    graded = {"points": PART.points, "score": score, "outcome": outcome, "weight": 1, "checks": checks}
    result = {
        "version": 1,
        "submission": name,
        "files": {},
        "suites": suites_sha256(load_parts(root / "assignments")),
        "config": "",
        "seed": 0,
        "sandbox": 1,
        "environment": {},
        "parts": {"part3": graded},
        "total": score or 0,
        "max": PART.points,
        "flags": [],
    }
    path = root / "results" / name / "result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result), encoding="utf-8")


def run(*words: str) -> tuple[int, str]:
    ran = CliRunner().invoke(app, ["export", *words])
    return ran.exit_code, ran.output + str(ran.exception or "")


def test_csv_is_printed_or_written(checkout: Path, tmp_path: Path) -> None:
    write_result(checkout, "ada")
    status, said = run("--to", "csv")
    assert status == 0
    assert said.startswith("submission,part3,total,max,flag\nada,54,54,54,")
    path = tmp_path / "scores.csv"
    assert run("--to", "csv", "--out", str(path))[0] == 0
    assert next(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))["part3"] == "54"


def test_csv_leaves_a_part_empty_that_has_no_score_and_says_so(checkout: Path) -> None:
    write_result(checkout, "ada")
    write_result(checkout, "grace", **{PART.checks[0].id: "error"})
    status, said = run("--to", "csv")
    assert status == 3
    assert "grace has no score for part3" in said
    assert next(line for line in said.split("\n") if line.startswith("grace,")).startswith("grace,,,54,")


def test_an_unknown_format_and_missing_results_are_told(checkout: Path) -> None:
    assert "Did you mean 'nbgrader'" in run("--to", "nbgrade")[1]
    assert "run gpt-hw grade first" in run("--to", "csv")[1]
    write_result(checkout, "ada")
    assert "which course directory" in run("--to", "nbgrader")[1]


# -- nbgrader's gradebook ----------------------------------------------------------------------------------------------


@pytest.fixture
def course_dir(tmp_path: Path) -> Path:
    """A course directory with a gradebook as generate_assignment leaves it."""
    pytest.importorskip("nbgrader")
    folder = tmp_path / "course"
    folder.mkdir()
    with gradebook_in(folder) as gradebook:
        gradebook.add_assignment("part3")
        gradebook.add_notebook(PART.module, "part3")
        for cell in grade_cells(PART, SOLUTIONS, ("title", "score")):
            gradebook.add_grade_cell(cell.name, PART.module, "part3", max_score=cell.points, cell_type="code")
        gradebook.add_grade_cell("answer-no_mask", PART.module, "part3", max_score=5, cell_type="markdown")
        for name in SOLUTIONS:
            gradebook.add_solution_cell(name, PART.module, "part3")
    return folder


def gradebook_in(folder: Path) -> Any:
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{folder}/gradebook.db")


def grade_of(folder: Path, student: str, cell: str) -> dict[str, Any]:
    with gradebook_in(folder) as gradebook:
        return dict(gradebook.find_grade(cell, PART.module, "part3", student).to_dict())


def comment_of(folder: Path, student: str, cell: str) -> str:
    with gradebook_in(folder) as gradebook:
        return str(gradebook.find_comment(cell, PART.module, "part3", student).comment)


def failing(hidden: bool, exercise: str = "attention") -> Any:
    return next(check for check in PART.checks if check.hidden is hidden and check.exercise == exercise)


@pytest.mark.nbgrader
def test_scores_and_comments_arrive_in_the_gradebook(checkout: Path, course_dir: Path) -> None:
    public, hidden = failing(False), failing(True)
    write_result(checkout, "ada", **{public.id: "failed", hidden.id: "timed_out"})
    assert run("--to", "nbgrader", "--out", str(course_dir)) == (0, "part3: 1 submission\n")
    own = [check for check in PART.checks if check.exercise == "attention" and not check.hidden]
    grade = grade_of(course_dir, "ada", "check-attention")
    assert grade["auto_score"] == sum(check.points for check in own) - public.points
    assert not grade["needs_manual_grade"]
    told = comment_of(course_dir, "ada", "attention")
    assert f"✗ 0 of {public.points:g}: {public.title}. SECRET of {public.id}" in told
    assert f"✗ (out of time) 0 of {hidden.points:g}: {hidden.title}" in told
    assert f"SECRET of {hidden.id}" not in told
    assert grade_of(course_dir, "ada", "answer-no_mask")["needs_manual_grade"]


@pytest.mark.nbgrader
def test_a_persons_score_and_comment_win_and_survive(checkout: Path, course_dir: Path) -> None:
    public = failing(False)
    write_result(checkout, "ada", **{public.id: "failed"})
    run("--to", "nbgrader", "--out", str(course_dir))
    with gradebook_in(course_dir) as gradebook:
        grade = gradebook.find_grade("check-attention", PART.module, "part3", "ada")
        grade.manual_score, grade.needs_manual_grade = 8.5, False
        gradebook.find_comment("attention", PART.module, "part3", "ada").manual_comment = "Well argued."
        gradebook.db.commit()
    run("--to", "nbgrader", "--out", str(course_dir))
    same = grade_of(course_dir, "ada", "check-attention")
    assert (same["manual_score"], same["needs_manual_grade"]) == (8.5, False)
    write_result(checkout, "ada")
    run("--to", "nbgrader", "--out", str(course_dir))
    moved = grade_of(course_dir, "ada", "check-attention")
    assert (moved["manual_score"], moved["auto_score"], moved["needs_manual_grade"]) == (8.5, 9.0, True)
    assert comment_of(course_dir, "ada", "attention") == "Well argued."
    with gradebook_in(course_dir) as gradebook:
        assert gradebook.find_submission("part3", "ada").score == 54 - 9 + 8.5


@pytest.mark.nbgrader
def test_a_fault_of_ours_stays_without_a_number_and_is_told(checkout: Path, course_dir: Path) -> None:
    write_result(checkout, "ada", **{failing(True).id: "error"})
    status, said = run("--to", "nbgrader", "--out", str(course_dir))
    assert status == 3
    assert "ada, part3: hidden-attention is not scored" in said
    grade = grade_of(course_dir, "ada", "hidden-attention")
    assert grade["auto_score"] is None
    assert grade["needs_manual_grade"]


@pytest.mark.nbgrader
def test_what_does_not_fit_together_is_refused(checkout: Path, course_dir: Path, tmp_path: Path) -> None:
    write_result(checkout, "ada")
    assert "no gradebook.db" in run("--to", "nbgrader", "--out", str(tmp_path))[1]
    suite = checkout / "assignments/part3_attention/test_hidden.py"
    suite.write_text(suite.read_text(encoding="utf-8") + "\n# a later thought\n", encoding="utf-8")
    assert "come from other suites" in run("--to", "nbgrader", "--out", str(course_dir))[1]
    suite.write_text(suite.read_text(encoding="utf-8").replace("points=2", "points=4"), encoding="utf-8")
    write_result(checkout, "ada")
    assert "generate_assignment' again" in run("--to", "nbgrader", "--out", str(course_dir))[1]
