"""Grading from the keyboard: what is told and written, what a rerun keeps, and that a fault of ours is no zero.

One grade run of a small course serves many tests; each rerun works on a copy of its results.
"""

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from command_runs import LIMIT_S, ONE_LANE, Done, Typed, command, run
from course_folders import CONFIG, copy_course, gradebook, hand_in, solution

SLOW_IMPORT = "import time\n\ntime.sleep(1.5)\n"


@pytest.fixture(scope="module")
def graded(course: Path) -> Done:
    """The first run, which every test below reads or goes on from."""
    return run("grade", cwd=course)


@pytest.fixture
def again(course: Path, graded: Done, tmp_path: Path) -> Path:
    """A copy of the course with the results of the first run."""
    return shutil.copytree(course, tmp_path / "again")


def test_grade_prints_the_gradebook_and_where_things_are(course: Path, graded: Done) -> None:
    assert graded.code == 1, "bob and cyd have checks that do not pass"
    assert re.search(r"^ada +(\d+) +(\d+) +(\d+) +\3$", graded.out, re.MULTILINE)
    assert "3 graded, sandbox rung" in graded.out
    assert str(course / "results" / "gradebook.csv") in graded.out
    told = [re.fullmatch(r"(\d) of 3: (\w+)(, about \d+ s left)?", line) for line in graded.err.splitlines()]
    assert [line and line[1] for line in told] == ["1", "2", "3"]
    assert sorted(line[2] for line in told if line) == ["ada", "bob", "cyd"]


def test_grade_writes_gradebook_results_feedback_and_manifest(course: Path, graded: Done) -> None:
    out = course / "results"
    rows = gradebook(out)
    assert list(rows) == ["ada", "bob", "cyd"]
    assert rows["ada"]["total"] == rows["ada"]["max"]
    assert 0 < float(rows["bob"]["part1"]) < float(rows["ada"]["part1"])
    assert (rows["bob"]["part2"], rows["cyd"]["part1"]) == ("0", "0")
    assert rows["cyd"]["flag"].endswith("missing: part2")
    for name in rows:
        result = json.loads((out / name / "result.json").read_text())
        assert result["submission"] == name
        assert name in (out / name / "feedback.html").read_text()
    assert json.loads((out / "manifest.json").read_text())["version"] == 1
    assert not list(out.rglob("*.tmp")), "no draft is left behind"


@pytest.fixture
def no_torch(tmp_path: Path) -> dict[str, str]:
    """An environment in which nobody can grade: torch cannot be imported."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "torch.py").write_text("raise ImportError('torch was imported')\n")
    return {"PYTHONPATH": str(tmp_path / "modules")}


@pytest.mark.parametrize("words", [[], ONE_LANE], ids=["lanes", "one lane"])
def test_a_rerun_keeps_what_is_current_without_torch_and_its_json_is_alone_on_stdout(
    again: Path, no_torch: dict[str, str], words: Sequence[str]
) -> None:
    stamps = {path: path.stat().st_mtime_ns for path in (again / "results").rglob("*/*")}
    done = run("grade", *words, "--json", cwd=again, **no_torch)
    assert done.code == 1
    assert (done.json["graded"], done.json["kept"], done.json["moved"]) == (0, 3, {})
    assert [row["submission"] for row in done.json["rows"]] == ["ada", "bob", "cyd"]
    assert done.err.count("(kept from before)") == 3
    assert {path: path.stat().st_mtime_ns for path in (again / "results").rglob("*/*")} == stamps


def test_a_rerun_says_what_the_first_run_said(again: Path, graded: Done, no_torch: dict[str, str]) -> None:
    done = run("grade", cwd=again, **no_torch)
    assert done.code == graded.code
    table, _, about = graded.out.partition("\n\n3 graded, ")
    assert done.out.startswith(f"{table}\n\n0 graded, 3 kept from before, {about.splitlines()[0]}\n")


def test_where_something_must_be_graded_torch_is_imported(again: Path, no_torch: dict[str, str]) -> None:
    """Else the tests above would prove nothing."""
    (again / "submissions" / "ada" / "part1_average.py").write_text("x = 1\n")
    done = run("grade", *ONE_LANE, cwd=again, **no_torch)
    assert (done.code, "torch was imported" in done.err) == (3, True)


def test_a_rerun_grades_a_file_that_changed_and_says_what_moved(again: Path) -> None:
    mended = again / "submissions" / "bob" / "part1_average.py"
    mended.write_text(solution("part1_average"))
    done = run("grade", *ONE_LANE, cwd=again)
    rows = gradebook(again / "results")
    assert "1 graded, 2 kept from before" in done.out
    assert "scores that moved since the last run" in done.out
    assert re.search(rf"^  bob +part1: [\d.]+ -> {rows['ada']['part1']} +\+[\d.]+ *$", done.out, re.MULTILINE)
    assert rows["bob"]["part1"] == rows["ada"]["part1"]


def test_a_rerun_grades_all_again_where_a_suite_or_the_policy_changed(again: Path) -> None:
    suite = again / "assignments" / "part1_average" / "test_public.py"
    suite.write_text(suite.read_text() + "\n# a comment\n")
    before = gradebook(again / "results")["ada"]
    (again / "grading.yml").write_text(CONFIG + "parts: {part2: {weight: 2}}\n")
    done = run("grade", *ONE_LANE, cwd=again)
    assert done.code == 2
    assert done.err.endswith(
        "gpt-hw: the scores of 3 submissions would move, and no old result was replaced\n"
        "        to replace them, add --yes to the same command; what is graded is kept for it\n"
    )
    assert re.search(r"^  ada +part2: 36 of 36 -> 72 of 72 +\+36 *$", done.out, re.MULTILINE)
    assert gradebook(again / "results")["ada"] == before
    done = run("grade", *ONE_LANE, "--yes", "--json", cwd=again)
    assert (done.code, done.json["graded"], done.json["kept"], done.json["waiting"]) == (1, 0, 3, {})
    assert done.json["moved"]["ada"] == ["part2: 36 of 36 -> 72 of 72"]
    row = gradebook(again / "results")["ada"]
    assert float(row["part2"]) == 2 * float(before["part2"])
    assert float(row["total"]) == float(before["part1"]) + float(row["part2"])


def test_nothing_in_the_current_folder_is_run_as_ours(again: Path, graded: Done) -> None:
    """Whoever grades may stand in a submission, and each lane is a new interpreter."""
    here = again / "unpacked"
    here.mkdir()
    for name in ("multiprocessing", "socket", "json", "struct", "torch", "pickle"):
        (here / f"{name}.py").write_text(f"open({str(again / 'ran')!r}, 'a').write({name!r})\nraise SystemExit\n")
    done = run("grade", "--fresh", "--jobs", "2", "--json", cwd=here)
    assert (done.code, done.json["graded"], done.json["moved"]) == (graded.code, 3, {})
    assert not (again / "ran").exists()


def test_fresh_grades_all_again_shows_what_moved_and_loses_nothing(again: Path) -> None:
    path = again / "results" / "ada" / "result.json"
    old = json.loads(path.read_text())
    right = old["parts"]["part1"]["score"]
    old["parts"]["part1"]["score"] = 1
    path.write_text(json.dumps(old))
    gone = shutil.copytree(again / "results" / "ada", again / "results" / "left-the-course")
    done = run("grade", *ONE_LANE, "--fresh", "--json", cwd=again)
    assert (done.code, done.json["graded"], done.json["moved"]) == (2, 3, {})
    assert done.json["waiting"] == {"ada": [f"part1: 1 -> {right}"]}
    assert done.json["moves"][0]["change"] == right - 1
    assert json.loads(path.read_text()) == old
    assert (gone / "result.json").is_file()
    code, said = answer("y", "grade", *ONE_LANE, cwd=again)
    assert code == 1
    assert "Replace the old scores? [y/N]: y" in said
    assert json.loads(path.read_text())["parts"]["part1"]["score"] == right
    assert json.loads((path.parent / "history" / "001.json").read_text()) == old


# The question with its last blank, which the terminal gets by a write of its own: typed before
# it came, the word's echo would stand in the middle of the question.
QUESTION = b"[y/N]: "


def answer(word: str, *words: object, cwd: Path) -> tuple[int, str]:
    """Run a command on a terminal of its own, and type one word where it asks."""
    ours, theirs = pty.openpty()
    said = b""
    with subprocess.Popen(
        command(*words), cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "dumb"}
    ) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # how a terminal says that its last program has ended
            while chunk := os.read(ours, 1 << 16):
                asked = QUESTION in said
                said += chunk
                if QUESTION in said and not asked:
                    os.write(ours, f"{word}\n".encode())
        os.close(ours)
    return process.returncode, said.decode().replace("\r\n", "\n")


def test_a_subset_of_parts_keeps_those_that_were_graded_before(again: Path) -> None:
    before = gradebook(again / "results")["ada"]
    shutil.rmtree(again / "submissions" / "bob")
    (again / "submissions" / "cyd.zip").unlink()
    with (again / "submissions" / "ada" / "part2_scores.py").open("a") as stream:
        stream.write("# handed in anew\n")
    done = run("grade", *ONE_LANE, "--parts", "scores", cwd=again)
    assert (done.code, "1 graded, sandbox" in done.out) == (0, True)
    assert gradebook(again / "results") == {"ada": before}


def break_suites(root: Path, **suites: Callable[[str], str]) -> None:
    """Break hidden suites, and keep the right submission and the zip."""
    for module, change in suites.items():
        suite = root / "assignments" / module / "test_hidden.py"
        suite.write_text(change(suite.read_text()))
    shutil.rmtree(root / "submissions" / "bob")
    shutil.rmtree(root / "results")


def test_a_fault_of_the_grader_is_no_zero(again: Path) -> None:
    text = (
        '\n\n@check(points=2, exercise="scaled_scores", hint="?")\ndef test_breaks(student, rng):\n'
        '    """A check that is itself broken."""\n    undefined_name(student)\n'
    )
    break_suites(again, part2_scores=lambda suite: suite + text)
    assert run("grade", *ONE_LANE, cwd=again).code == 3
    rows = gradebook(again / "results")
    assert rows["ada"]["part2"] == ""
    assert rows["ada"]["total"] == "", "the sum of what is scored would look like all of it"
    assert "part2" in rows["ada"]["flag"]
    assert rows["cyd"]["part1"] == "0", "the others are graded as ever"
    result = json.loads((again / "results" / "ada" / "result.json").read_text())
    assert result["parts"]["part2"]["score"] is None
    broken = [check for check in result["parts"]["part2"]["checks"] if check["outcome"] == "error"]
    assert [check["id"] for check in broken] == ["breaks"]
    assert "undefined_name" in broken[0]["message"]


def test_a_suite_that_does_not_import_or_only_half_is_no_zero_either(
    again: Path, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_suites(
        again,
        part1_average=lambda suite: f"import a_module_that_nobody_has\n{suite}",
        part2_scores=lambda suite: f"{suite}\n\nimport a_module_that_nobody_has\n",
    )
    monkeypatch.setattr("autograder.pipeline.line._ATTEMPTS", 1)  # each imports torch anew
    assert typed("grade", *ONE_LANE, cwd=again).code == 3
    rows = gradebook(again / "results")
    assert (rows["ada"]["part1"], rows["ada"]["part2"]) == ("", "")
    assert rows["cyd"]["part2"] == "0", "what was not handed in is a zero, with any suite"


@pytest.fixture
def interrupted(course: Path, tmp_path: Path) -> Iterator[tuple[Path, Done]]:
    """A real process that Ctrl-C stops in the middle of its second submission."""
    root = copy_course(tmp_path / "course", "part1_average")
    text = solution("part1_average")
    for name in ("ada", "bob", "cyd"):
        hand_in(root / "submissions" / name, part1_average=SLOW_IMPORT + text if name == "bob" else text)
    with subprocess.Popen(
        command("grade", *ONE_LANE), cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_S)
    yield root, Done(process.returncode, out, first + err)


def test_ctrl_c_keeps_what_is_done_and_the_rerun_goes_on(interrupted: tuple[Path, Done]) -> None:
    root, done = interrupted
    assert done.code == 130
    assert done.err.startswith("1 of 3: ada")
    assert "Traceback" not in done.err
    assert "Stopped. What was done is kept; the same command goes on from here." in done.out
    out = root / "results"
    assert list(gradebook(out)) == ["ada"]
    assert [entry["name"] for entry in json.loads((out / "manifest.json").read_text())["submissions"]][:1] == ["ada"]
    assert (out / "ada" / "feedback.html").is_file()
    assert not (out / "bob" / "result.json").exists()
    rerun = run("grade", *ONE_LANE, "--json", cwd=root)
    assert rerun.code == 0
    assert (rerun.json["graded"], rerun.json["kept"]) == (2, 1)
    assert list(gradebook(out)) == ["ada", "bob", "cyd"]
