"""nbgrader's own commands on the course that ``gpt-hw nbgrader`` makes, for every part, and what comes of them."""

import contextlib
import csv
import html
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader_course import ROOT, THREE, NbCourse, cells_by_name, copy_checkout, is_solution, set_policy, with_cell

from autograder.nbgrader.questions import read_questions
from autograder.parts import load_parts

pytest.importorskip("nbgrader")
pytestmark = [pytest.mark.slow, pytest.mark.nbgrader]

# What imports no other part than these. All nine, two of which train, take a quarter of an hour: before a release,
# with GPT_HW_EVERY_PART=1.
TRIED = ("part1", "part2", "part3", "part9")
PARTS = {
    name: part
    for name, part in load_parts(ROOT / "assignments").items()
    if name in TRIED or os.environ.get("GPT_HW_EVERY_PART")
}
SERVER_S = 120  # nbgrader's server starts within seconds, on a busy machine within a minute


def written_points(name: str) -> float:
    return sum(question.points for question in read_questions(PARTS[name]))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> NbCourse:
    """A course in which every assignment is generated, and a right student and an idle one have handed in all."""
    made = NbCourse(tmp_path_factory.mktemp("commands") / "course")
    made.gpt_hw("nbgrader", str(made.folder))
    for part in PARTS.values():
        made.nbgrader("generate_assignment", part.name)
        made.submit("right", part.module, made.answered(part.module))
        made.submit("idle", part.module, made.release(part.module))
    return made


@pytest.fixture(scope="module")
def graded(course: NbCourse) -> NbCourse:
    for name in PARTS:
        course.nbgrader("autograde", name)
        course.nbgrader("generate_feedback", name)
    return course


@pytest.mark.parametrize("name", PARTS)
def test_right_work_gets_full_marks_and_untouched_work_none(graded: NbCourse, name: str) -> None:
    part = PARTS[name]
    assert graded.score("right", part.module) == part.points
    assert graded.score("idle", part.module) == 0.0


@pytest.mark.parametrize("name", PARTS)
def test_feedback_of_right_work_names_every_check(graded: NbCourse, name: str) -> None:
    page = html.unescape(graded.feedback("right", PARTS[name].module))
    for check in PARTS[name].checks:
        assert check.title in page


@pytest.mark.parametrize("name", PARTS)
def test_unanswered_questions_get_nothing_and_ask_for_no_grader(graded: NbCourse, name: str) -> None:
    found = graded.grades("idle", PARTS[name].module)
    answers = [grade for cell, grade in found.items() if cell.startswith("answer-")]
    assert sum(grade["max_score"] for grade in answers) == written_points(name) > 0
    assert all(grade["auto_score"] == 0.0 and not grade["needs_manual_grade"] for grade in answers)


@pytest.mark.parametrize("name", PARTS)
def test_release_holds_stubs_as_students_know_them_and_no_solution(course: NbCourse, name: str) -> None:
    module = PARTS[name].module
    template = (ROOT / "student_template" / f"{module}.py").read_text(encoding="utf-8")
    released = course.release(module)
    for cell in released["cells"]:
        if cell["cell_type"] == "code" and is_solution(cell):
            assert "".join(cell["source"]).strip() in template
    text = json.dumps(released, ensure_ascii=False)
    assert "BEGIN SOLUTION" not in text
    for question in read_questions(PARTS[name]):
        assert json.dumps(question.text, ensure_ascii=False)[1:-1].split("\\n")[0] in text
        assert not any(line in text for line in question.rubric)
        source = cells_by_name(course.source(module))[f"answer-{question.id}"]
        assert all(line in "".join(source["source"]) for line in question.rubric)


def test_export_lists_everybody_and_says_who_waits_for_a_person(graded: NbCourse) -> None:
    graded.submit("right", "part3_attention", with_answer(graded.answered("part3_attention")))
    graded.nbgrader("autograde", "part3", "--student", "right", "--force")
    graded.nbgrader("export")
    rows = table(graded)
    assert len(rows) == 2 * len(PARTS)
    row = next(row for row in rows if (row["student_id"], row["assignment"]) == ("right", "part3"))
    assert (row["score"], row["flag"]) == ("54.0", "to grade by hand: 1")


def table(course: NbCourse) -> list[dict[str, str]]:
    return list(csv.DictReader((course.folder / "grades.csv").read_text(encoding="utf-8").splitlines()))


def with_answer(notebook: dict[str, object]) -> dict[str, object]:
    cells_by_name(notebook)["answer-no_mask"]["source"] = "It copies the next token."
    return notebook


def test_list_and_release_use_the_exchange(course: NbCourse, tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    course.nbgrader("release_assignment", "part3", f"--Exchange.root={exchange}")
    ran = course.nbgrader("list", f"--Exchange.root={exchange}")
    assert "course part3" in ran.stdout + ran.stderr


def test_validate_says_what_passes_and_what_does_not(course: NbCourse, tmp_path: Path) -> None:
    """A student's command: it runs the notebook on the student's machine, with the public checks in it."""
    for module in ("part1_average", "part2_scores"):
        shutil.copyfile(ROOT / "solutions" / f"{module}.py", tmp_path / f"{module}.py")
    said = {}
    right = course.answered("part3_attention")
    for name, cell in cells_by_name(right).items():
        if name.startswith("answer-"):
            cell["source"] = "Since a softmax has the last word."
    for name, notebook in (("right", right), ("idle", course.release("part3_attention"))):
        folder = tmp_path / name
        folder.mkdir()
        for path in tmp_path.glob("*.py"):
            shutil.copyfile(path, folder / path.name)
        path = folder / "part3_attention.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        said[name] = course.nbgrader("validate", str(path), "--ExecutePreprocessor.timeout=600").stdout
    assert "Success! Your notebook passes all the tests." in said["right"]
    assert "VALIDATION FAILED ON 5 CELL(S)!" in said["idle"]  # three check cells, two answers


# -- what must never happen --------------------------------------------------------------------------------------------


@pytest.fixture
def own_checkout(tmp_path: Path) -> NbCourse:
    """A course of part 3 on a checkout that a test may change."""
    made = NbCourse(tmp_path / "course", copy_checkout(tmp_path / "checkout", THREE))
    made.gpt_hw("nbgrader", str(made.folder))
    made.nbgrader("generate_assignment", "part3")
    return made


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
    (row,) = table(course)
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


# -- collecting and looking --------------------------------------------------------------------------------------------


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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(course: NbCourse) -> Iterator[str]:
    """Start nbgrader's formgrader as its users do, and end it."""
    port = free_port()
    command = [sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", f"--port={port}"]
    extension = '--ServerApp.jpserver_extensions={"nbgrader.server_extensions.formgrader": True}'
    command += ["--IdentityProvider.token=secret", extension]
    log = (course.folder.parent / "server.log").open("wb")
    server = subprocess.Popen(command, cwd=course.folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + SERVER_S
        while time.monotonic() < deadline and server.poll() is None:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                fetch(f"http://127.0.0.1:{port}", "/api/status")
                break
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=SERVER_S)
        log.close()


def fetch(base: str, path: str, data: object = None) -> str:
    headers = {"Authorization": "token secret", "Content-Type": "application/json"}
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(base + path, body, headers, method="GET" if data is None else "PUT")
    with urllib.request.urlopen(request, timeout=SERVER_S) as answer:
        return str(answer.read().decode())


def test_formgrader_shows_a_submission_and_a_persons_score_wins_and_survives(own_checkout: NbCourse) -> None:
    course = own_checkout
    hand_in(course, "ada")
    course.nbgrader("autograde", "part3")
    with serving(course) as base:
        assert "nbgrader formgrade" in fetch(base, "/formgrader/manage_assignments")
        (submission,) = json.loads(fetch(base, "/formgrader/api/submissions/part3"))
        assert submission["score"] == 54.0
        (notebook,) = json.loads(fetch(base, "/formgrader/api/submitted_notebooks/part3/part3_attention"))
        page = fetch(base, f"/formgrader/submissions/{notebook['id']}")
        assert "Hidden checks of attention" in page
        grades = json.loads(fetch(base, f"/formgrader/api/grades?submission_id={notebook['id']}"))
        (one,) = [grade for grade in grades if grade["name"] == "check-attention"]
        fetch(base, f"/formgrader/api/grade/{one['id']}", {"manual_score": 1.5, "extra_credit": None})
    course.nbgrader("autograde", "part3", "--force")
    grade = course.grades("ada", "part3_attention")["check-attention"]
    assert (grade["manual_score"], grade["auto_score"]) == (1.5, 9.0)
    course.nbgrader("export")
    (row,) = table(course)
    assert row["score"] == "46.5"


def test_hidden_checks_share_one_cell_where_the_policy_shows_nothing_of_them(own_checkout: NbCourse) -> None:
    set_policy(own_checkout.checkout, feedback={"hidden_checks": []})
    own_checkout.gpt_hw("nbgrader", str(own_checkout.folder))
    names = [name for name in cells_by_name(own_checkout.source("part3_attention")) if name.startswith("hidden-")]
    assert names == ["hidden-part"]
