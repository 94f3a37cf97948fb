"""What must never happen in nbgrader's commands: a fault of ours that costs points, student code outside the wall."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from nbgrader_course import ROOT, THREE, NbCourse, copy_checkout, with_cell

pytest.importorskip("nbgrader")
pytestmark = [pytest.mark.slow, pytest.mark.nbgrader]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> NbCourse:
    """A course of part 3 on a checkout of its own, as it is before anybody hands in."""
    folder = tmp_path_factory.mktemp("small")
    made = NbCourse(folder / "course", copy_checkout(folder / "checkout", THREE))
    made.gpt_hw("nbgrader", str(made.folder))
    made.nbgrader("generate_assignment", "part3")
    return made


@pytest.fixture
def own_checkout(small: NbCourse, tmp_path: Path) -> NbCourse:
    """A copy of it that a test may change, the checkout too."""
    return small.copied(tmp_path)


def hand_in(course: NbCourse, student: str) -> None:
    folder = course.submit(student, "part3_attention", course.answered("part3_attention"))
    for module in ("part1_average", "part2_scores"):
        shutil.copyfile(ROOT / "solutions" / f"{module}.py", folder / f"{module}.py")


def test_a_fault_of_ours_is_no_zero_but_left_to_a_person(own_checkout: NbCourse) -> None:
    course = own_checkout
    hand_in(course, "ada")
    suite = course.checkout / "assignments" / "part3_attention" / "test_hidden.py"
    whole = suite.read_text(encoding="utf-8")
    suite.write_text(whole + "\nraise RuntimeError('a broken suite')\n", encoding="utf-8")
    ran = course.nbgrader("autograde", "part3", status=1)
    assert "ada, part3_attention: hidden-attention is not scored" in ran.stdout + ran.stderr
    grades = course.grades("ada", "part3_attention")
    assert grades["hidden-attention"]["auto_score"] is None
    assert grades["hidden-attention"]["needs_manual_grade"]
    assert grades["check-attention"]["auto_score"] == grades["check-attention"]["max_score"]
    course.nbgrader("generate_feedback", "part3")
    assert "the grader failed here, not you" in course.feedback("ada", "part3_attention")
    course.nbgrader("export")
    (row,) = course.table()
    assert (row["score"], row["raw_score"]) == ("", "")
    assert "hidden-attention is not scored" in row["flag"]

    suite.write_text(whole, encoding="utf-8")
    course.nbgrader("autograde", "part3", "--force")
    assert course.score("ada", "part3_attention") == 54.0


def test_changed_suites_do_not_grade_an_older_notebook(own_checkout: NbCourse) -> None:
    course = own_checkout
    hand_in(course, "ada")
    suite = course.checkout / "assignments" / "part3_attention" / "test_hidden.py"
    suite.write_text(suite.read_text(encoding="utf-8").replace("points=2", "points=5"), encoding="utf-8")
    ran = course.nbgrader("autograde", "part3", status=1)
    assert "'nbgrader generate_assignment' again" in ran.stdout + ran.stderr
    assert all(grade["auto_score"] is None for grade in course.grades("ada", "part3_attention").values())


def test_another_assignment_is_refused_and_not_run_without_a_wall(own_checkout: NbCourse) -> None:
    course = own_checkout
    notebook = course.source("part3_attention")
    folder = course.folder / "source" / "homework"
    folder.mkdir()
    (folder / "homework.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    course.nbgrader("generate_assignment", "homework")
    theirs = course.folder / "submitted" / "ada" / "homework"
    theirs.mkdir(parents=True)
    (theirs / "homework.ipynb").write_text(json.dumps(with_cell(notebook, "open('ran', 'w')")), encoding="utf-8")
    ran = course.nbgrader("autograde", "homework", status=1)
    assert "homework.ipynb is no part of this course" in ran.stdout + ran.stderr
    assert not list(course.folder.rglob("ran"))


def test_zip_collect_takes_what_learning_platforms_give(own_checkout: NbCourse) -> None:
    course = own_checkout
    archive = course.folder / "downloaded" / "part3" / "archive"
    archive.mkdir(parents=True)
    data = json.dumps(course.answered("part3_attention")).encode()
    solutions = {name: (ROOT / "solutions" / name).read_bytes() for name in ("part1_average.py", "part2_scores.py")}
    with zipfile.ZipFile(archive / "ada.zip", "w") as packed:
        packed.writestr("my work/part3_attention.ipynb", data)
        packed.writestr("../../evil.py", b"")
        for name, content in solutions.items():
            packed.writestr(f"my work/{name}", content)
    (archive / "grace_12345_678_part3_attention.ipynb").write_bytes(b"an older one")
    (archive / "grace_12345_679_part3_attention-1.ipynb").write_bytes(data)
    (archive / "broken.zip").write_bytes((archive / "ada.zip").read_bytes()[:300])
    (archive / "readme.txt").write_text("not a submission")
    ran = course.nbgrader("zip_collect", "part3")
    said = ran.stdout + ran.stderr
    assert "broken.zip is not collected" in said
    found = {str(path.relative_to(course.folder / "submitted")) for path in course.folder.glob("submitted/*/*/*")}
    assert found == {
        "ada/part3/part3_attention.ipynb",
        "ada/part3/part1_average.py",
        "ada/part3/part2_scores.py",
        "grace/part3/part3_attention.ipynb",
    }
    assert (course.folder / "submitted/grace/part3/part3_attention.ipynb").read_bytes() == data
    assert not list(course.folder.parent.rglob("evil.py"))
