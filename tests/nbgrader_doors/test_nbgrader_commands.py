"""nbgrader's own commands on the course that ``gpt-hw nbgrader`` makes, for every part, and what comes of them."""

import contextlib
import html
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbgrader_course import ROOT, NbCourse, cells_by_name, is_solution, told

from autograder.nbgrader.questions import read_questions
from autograder.parts import load_parts

pytest.importorskip("nbgrader")
pytestmark = [pytest.mark.slow, pytest.mark.nbgrader]

PARTS = load_parts(ROOT / "assignments")
SERVER_S = 120  # nbgrader's server starts within seconds, on a busy machine within a minute

# What the third student gets wrong in each part.
MISTAKES = {
    "part1": "prefix_summed",
    "part2": "scores_not_scaled",
    "part3": "softmax_over_queries",
    "part4": "mean_not_subtracted",
    "part5": "table_starts_at_row_one",
    "part6": "layernorms_not_counted",
    "part7": "two_to_the_power_of_nats",
    "part8": "maps_of_what_leaves_the_block",
    "part9": "nll_in_bits",
}
STUDENTS = ("idle", "right", "wrong")
# Every command runs for every part. Left for releases is the rest of the work: to grade all solved parts, three of
# which train, takes minutes, and so does a kernel for each of them.
ALWAYS = {"part1": ("idle", "right"), "part2": ("idle", "right"), "part3": STUDENTS}


def parts_for(student: str) -> list[object]:
    """Give every part, marked as long where this student's work is graded before a release only."""
    return [pytest.param(name, marks=[] if student in ALWAYS.get(name, ()) else [pytest.mark.long]) for name in PARTS]


def written_points(name: str) -> float:
    return sum(question.points for question in read_questions(PARTS[name]))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> NbCourse:
    """A course in which every assignment is generated."""
    made = NbCourse(tmp_path_factory.mktemp("commands") / "course")
    made.gpt_hw("nbgrader", str(made.folder))
    for name in PARTS:
        made.nbgrader("generate_assignment", name)
    return made


def hand_in(course: NbCourse, student: str, name: str) -> None:
    part = PARTS[name]
    if student == "idle":
        course.submit(student, part.module, course.release(part.module))
    elif student == "right":  # the parts that this one imports are in their own assignments
        for module in (*part.needs, part.module):
            notebook = course.answered(module)
            if module == "part3_attention":
                cells_by_name(notebook)["answer-no_mask"]["source"] = "It copies the next token."
            course.submit(student, module, notebook)
    else:
        folder = course.submit(student, part.module, course.mistaken(part.module, MISTAKES[name]))
        for module in part.needs:
            shutil.copyfile(ROOT / "solutions" / f"{module}.py", folder / f"{module}.py")


@pytest.fixture(scope="module")
def graded(course: NbCourse) -> Callable[..., NbCourse]:
    """Grade a part in one command and write the pages, unless that is done."""
    done: set[tuple[str, str]] = set()

    def grade(name: str, *students: str) -> NbCourse:
        new = {(name, student) for student in (*students, *ALWAYS.get(name, ()))} - done
        for _, student in new:
            hand_in(course, student, name)
        if new:
            course.nbgrader("autograde", name)
            course.nbgrader("generate_feedback", name)
        done.update(new)
        return course

    return grade


@pytest.mark.parametrize("name", PARTS)
def test_untouched_work_gets_nothing_and_asks_for_no_grader(graded: Callable[..., NbCourse], name: str) -> None:
    course, module = graded(name, "idle"), PARTS[name].module
    assert course.score("idle", module) == 0.0
    answers = [grade for cell, grade in course.grades("idle", module).items() if cell.startswith("answer-")]
    assert sum(grade["max_score"] for grade in answers) == written_points(name) > 0
    assert all(grade["auto_score"] == 0.0 and not grade["needs_manual_grade"] for grade in answers)
    assert "not written yet" in course.feedback("idle", module)


@pytest.mark.parametrize("name", parts_for("right"))
def test_right_work_gets_full_marks_and_feedback_of_every_check(graded: Callable[..., NbCourse], name: str) -> None:
    course, part = graded(name, "right"), PARTS[name]
    assert course.score("right", part.module) == part.points
    page = html.unescape(course.feedback("right", part.module))
    assert all(check.title in page for check in part.checks)


@pytest.mark.parametrize("name", parts_for("wrong"))
def test_wrong_work_loses_what_it_should_and_feedback_names_the_mistake(
    graded: Callable[..., NbCourse], name: str
) -> None:
    course, part = graded(name, "wrong"), PARTS[name]
    score = course.score("wrong", part.module)
    assert score is not None
    assert 0 < score < part.points
    page = " ".join(html.unescape(course.feedback("wrong", part.module)).split())
    assert told(part.module, MISTAKES[name]) in page


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


def test_export_lists_everybody_and_says_who_waits_for_a_person(graded: Callable[..., NbCourse]) -> None:
    course = graded("part3", *STUDENTS)
    course.nbgrader("export")
    rows = course.table()
    assert len(rows) == len(STUDENTS) * len(PARTS)
    row = next(row for row in rows if (row["student_id"], row["assignment"]) == ("right", "part3"))
    assert (row["score"], row["flag"]) == ("54.0", "to grade by hand: 1")


def test_list_and_release_use_the_exchange(course: NbCourse, tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    for name in PARTS:
        course.nbgrader("release_assignment", name, f"--Exchange.root={exchange}")
    ran = course.nbgrader("list", f"--Exchange.root={exchange}")
    for name in PARTS:
        assert f"course {name}" in ran.stdout + ran.stderr


def validated(course: NbCourse, folder: Path, name: str, student: str) -> str:
    """Let a student validate a notebook on their own machine: it is run there, with the public checks in it."""
    part = PARTS[name]
    for module in part.needs:
        shutil.copyfile(ROOT / "solutions" / f"{module}.py", folder / f"{module}.py")
    notebook = course.answered(part.module) if student == "right" else course.release(part.module)
    if student == "right":
        for cell_name, cell in cells_by_name(notebook).items():
            if cell_name.startswith("answer-"):
                cell["source"] = "Since a softmax has the last word."
    path = folder / f"{part.module}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return course.nbgrader("validate", str(path), "--ExecutePreprocessor.timeout=600").stdout


@pytest.mark.parametrize("name", parts_for("wrong"))
def test_validate_says_that_right_work_passes(course: NbCourse, tmp_path: Path, name: str) -> None:
    assert "Success! Your notebook passes all the tests." in validated(course, tmp_path, name, "right")


@pytest.mark.parametrize("name", parts_for("wrong"))
def test_validate_says_which_checks_and_answers_are_open(course: NbCourse, tmp_path: Path, name: str) -> None:
    cells = cells_by_name(course.release(PARTS[name].module))
    n_open = sum(cell.startswith(("check-", "answer-")) for cell in cells)
    assert f"VALIDATION FAILED ON {n_open} CELL(S)!" in validated(course, tmp_path, name, "idle")


@pytest.mark.parametrize("name", PARTS)
def test_the_public_checks_of_an_exercise_can_be_run_where_it_is_written(course: NbCourse, name: str) -> None:
    cells = cells_by_name(course.release(PARTS[name].module))
    public = {check.exercise.partition(".")[0] for check in PARTS[name].checks if not check.hidden}
    for cell, content in cells.items():
        asked = public & set(cell.removeprefix("check-").split("-")) if cell.startswith("check-") else ()
        for exercise in asked:
            assert f'"{exercise}"' in "".join(content["source"])


# -- collecting and looking --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in PARTS if name != "part3"])
def test_zip_collect_of_every_part(course: NbCourse, collecting: NbCourse, name: str) -> None:
    module = PARTS[name].module
    archive = collecting.folder / "downloaded" / name / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "ada.zip", "w") as packed:
        packed.writestr(f"{module}.ipynb", json.dumps(course.release(module)))
    collecting.nbgrader("zip_collect", name)
    found = [path.name for path in (collecting.folder / "submitted" / "ada" / name).iterdir()]
    assert found == [f"{module}.ipynb"]


@pytest.fixture(scope="module")
def collecting(course: NbCourse, tmp_path_factory: pytest.TempPathFactory) -> NbCourse:
    return course.copied(tmp_path_factory.mktemp("collecting"))


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


def test_formgrader_shows_every_part_and_a_persons_score_wins_and_survives(
    graded: Callable[..., NbCourse], tmp_path: Path
) -> None:
    for name in PARTS:
        course = graded(name, "idle")
    course = course.copied(tmp_path)
    with serving(course) as base:
        assert "nbgrader formgrade" in fetch(base, "/formgrader/manage_assignments")
        listed = json.loads(fetch(base, "/formgrader/api/assignments"))
        assert {one["name"] for one in listed if one["num_submissions"]} == set(PARTS)
        for name, part in PARTS.items():
            found = json.loads(fetch(base, f"/formgrader/api/submitted_notebooks/{name}/{part.module}"))
            notebook = next(one for one in found if one["student"] == "idle")
            assert "Hidden checks" in fetch(base, f"/formgrader/submissions/{notebook['id']}")
        found = json.loads(fetch(base, "/formgrader/api/submitted_notebooks/part3/part3_attention"))
        notebook = next(one for one in found if one["student"] == "right")
        assert notebook["code_score"] == 54.0
        grades = json.loads(fetch(base, f"/formgrader/api/grades?submission_id={notebook['id']}"))
        (one,) = [grade for grade in grades if grade["name"] == "check-attention"]
        fetch(base, f"/formgrader/api/grade/{one['id']}", {"manual_score": 1.5, "extra_credit": None})
    course.nbgrader("autograde", "part3", "--student=right", "--force")
    grade = course.grades("right", "part3_attention")["check-attention"]
    assert (grade["manual_score"], grade["auto_score"]) == (1.5, 9.0)
    course.nbgrader("export")
    row = next(row for row in course.table() if (row["student_id"], row["assignment"]) == ("right", "part3"))
    assert row["score"] == "46.5"
