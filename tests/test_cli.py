"""What a person at the keyboard meets: every command with bad input, its exit code, and what it leaves behind.

One grade run of a small course serves many tests; each rerun works on a copy of its results.
"""

import contextlib
import csv
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder import cli
from autograder.cli import interrupts
from autograder.intake import read_submission
from autograder.parts import public_parts

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "solutions"
TEMPLATE = ROOT / "student_template"
MODULES = {"part1_average": "part1", "part2_scores": "part2"}
CONFIG = "version: 1\ntitle: Two parts\nseed: 7\nsubmissions: submissions\nresults: results\n"
LIMIT_S = 120  # of one command on a busy machine; a command that hangs ends a test and not the day
ONE_LANE = ("--jobs", "1")  # each lane imports torch, which is most of the time of these tests
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

# A mask that hides nothing: it loses points, and only of part 1.
WRONG_MASK = "\n\ndef causal_mask(T, device=None):\n    return torch.ones(T, T, dtype=torch.bool, device=device)\n"
SLOW_IMPORT = "import time\n\ntime.sleep(1.5)\n"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "autograder", *map(str, words)]


def run(*words: object, cwd: Path, stdin: str = "", **environment: str) -> Done:
    """Run a command as a shell would, with its output piped; whatever it does, it speaks plain text."""
    done = subprocess.run(
        command(*words),
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        env={**os.environ, **environment},
    )
    assert not CONTROL.search(done.stdout + done.stderr)
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


Typed = Callable[..., Done]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Run a command in this process: quicker than a process of its own, and it can be made to fail."""

    def type_words(*words: object, cwd: Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["gpt-hw", *map(str, words)])
        monkeypatch.chdir(cwd)
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)}
        try:
            with pytest.raises(SystemExit) as ended:
                cli.main()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        assert not CONTROL.search(said.out + said.err)
        return Done(ended.value.code, said.out, said.err)

    return type_words


def refused(done: Done, *needles: str) -> None:
    """Check that bad input was answered: exit 2, nothing on stdout, and on stderr what, where and the remedy."""
    assert done.code == 2, done
    assert done.out == ""
    lines = done.err.splitlines()
    assert lines[0].startswith("gpt-hw: ")
    assert len(lines) == 2, "one line says what happened and where, the next one what to do"
    assert lines[1].startswith("        ")
    assert lines[1].strip()
    for needle in needles:
        assert needle in done.err


def copy_course(target: Path, *modules: str) -> Path:
    (target / "assignments").mkdir(parents=True)
    shutil.copy(ROOT / "assignments" / "README.md", target / "assignments")
    for module in modules or MODULES:
        source = ROOT / "assignments" / module
        shutil.copytree(source, target / "assignments" / module, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "grading.yml").write_text(CONFIG)
    return target


def hand_in(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True)
    for module, text in texts.items():
        (folder / f"{module}.py").write_text(text)
    return folder


def solution(module: str) -> str:
    return (SOLUTIONS / f"{module}.py").read_text()


def gradebook(out: Path) -> dict[str, dict[str, str]]:
    with (out / "gradebook.csv").open(newline="") as stream:
        return {row["submission"]: row for row in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of two parts with three submissions: right, half wrong, and a zip of the unsolved template."""
    root = copy_course(tmp_path_factory.mktemp("course"))
    right = {module: solution(module) for module in MODULES}
    hand_in(root / "submissions" / "ada", **right)
    broken = {"part1_average": right["part1_average"] + WRONG_MASK, "part2_scores": "def broken(:\n"}
    hand_in(root / "submissions" / "bob", **broken)
    with zipfile.ZipFile(root / "submissions" / "cyd.zip", "w") as archive:
        archive.write(TEMPLATE / "part1_average.py", "part1_average.py")
    return root


@pytest.fixture(scope="module")
def graded(course: Path) -> Done:
    """The first run, which every test below reads or goes on from."""
    return run("grade", cwd=course)


@pytest.fixture
def again(course: Path, graded: Done, tmp_path: Path) -> Path:
    """A copy of the course with the results of the first run."""
    return shutil.copytree(course, tmp_path / "again")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's folder: part 1 is wrong in one place, part 2 was written in the notebook, part 3 has a slip."""
    folder = tmp_path_factory.mktemp("student") / "work"
    assert run("init", folder, cwd=folder.parent).code == 0
    (folder / "part1_average.py").write_text(solution("part1_average") + WRONG_MASK)
    write_in_notebook(folder, "part2_scores")
    slip = "def attention(q, k, v, mask=None):\n    return (\n"
    (folder / "part3_attention.py").write_text(slip)
    return folder


def write_in_notebook(folder: Path, module: str) -> None:
    """Solve a part in the notebook, as somebody does who writes everything into one cell, and drop the module."""
    path = folder / f"{module}.ipynb"
    notebook = json.loads(path.read_text())
    cell = {"cell_type": "code", "execution_count": None, "id": "mine", "metadata": {}, "outputs": []}
    notebook["cells"].append({**cell, "source": solution(module)})
    path.write_text(json.dumps(notebook))
    (folder / f"{module}.py").unlink()


@pytest.fixture(scope="module")
def tested(workspace: Path) -> Done:
    """All parts tested at once, for a terminal that knows ASCII alone."""
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return run("test", "part1", "2", "attention", cwd=workspace, **ascii_only)


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "needles"),
    [
        (["nowhere"], ["no folder nowhere", "one folder or one zip for each submission"]),
        (["empty"], ["no submission in empty", "one folder or one zip"]),
        (["grading.yml"], ["grading.yml is a file", "one folder or one zip"]),
        (["submissions/ada"], ["submissions/ada", "part1_average.py", "Give the parent folder"]),
        (["--parts", "part9"], ["'part9'", "Did you mean 'part"]),
        (["--parts", "33"], ["'33'", "Known: ", "part1", "average"]),
        (["--parts", "1,33"], ["'33'", "Known: "]),
        (["--parts", ""], ["no part is named", "Known: part1, part2"]),
        (["--out", "grading.yml"], ["grading.yml is a file", "--out"]),
        (["--out", "grading.yml/results"], ["grading.yml/results", "--out"]),
        (["--out", "/proc/results"], ["/proc/results", "--out"]),
        (["--out", "submissions"], ["submissions", "outside of them with --out"]),
        (["--out", "submissions/ada/results"], ["submissions/ada/results", "outside of them with --out"]),
        (["--out", ""], ["among the files of the course", "--out"]),
        (["--out", ".."], ["among the files of the course", "--out"]),
        (["--out", "assignments/results"], ["among the files of the course", "--out"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_grade_refuses_bad_words_before_it_starts(
    course: Path, words: list[str], needles: list[str], typed: Typed
) -> None:
    (course / "empty").mkdir(exist_ok=True)
    before = sorted(course.rglob("*"))
    refused(typed("grade", *words, cwd=course), *needles)
    assert sorted(course.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "needles"),
    [
        (CONFIG + "sede: 3\n", ["grading.yml: sede", "Did you mean 'seed'?", "line 6"]),
        (CONFIG.replace("seed: 7", "seed: seven"), ["grading.yml: seed", '"seven"', "line 3"]),
        (CONFIG.replace("version: 1", "version: 9"), ["format 9", "pip install --upgrade gpt-hw", "line 1"]),
        (CONFIG.replace("version: 1\n", ""), ["version is missing", "Add a line 'version: ...'"]),
        (CONFIG.replace("Two parts", "[Two"), ["not valid YAML", "line 3", "Mend"]),
        (CONFIG + "seed: 8\n", ["'seed' is already said in line 3", "line 6"]),
        (CONFIG + "parts: {part33: {weight: 2}}\n", ["parts.part33", "no such part", "part"]),
        (CONFIG + "limits: {check_s: -1}\n", ["limits.check_s", "found -1"]),
        (CONFIG.replace("results: results", "results: submissions/r"), ["results", "a folder of its own"]),
        ("", ["found nothing", "version: 1"]),
        ("\xff", ["not UTF-8", "Save"]),
    ],
    ids=["key", "type", "version", "no-version", "yaml", "twice", "part", "limit", "results", "empty", "encoding"],
)
def test_grade_says_where_grading_yml_is_wrong(tmp_path: Path, text: str, needles: list[str], typed: Typed) -> None:
    copy_course(tmp_path / "course")
    (tmp_path / "course" / "grading.yml").write_text(text, encoding="latin-1")
    done = typed("grade", cwd=tmp_path / "course")
    refused(done, str(tmp_path / "course" / "grading.yml"), *needles)


def _append(name: str, text: str) -> Callable[[Path], object]:
    def change(part: Path) -> None:
        with (part / name).open("a") as stream:
            stream.write(text)

    return change


@pytest.mark.parametrize(
    ("change", "needles"),
    [
        (_append("part.yml", "titel: x\n"), ["part1_average/part.yml: titel", "Did you mean 'title'?", "See line"]),
        (_append("test_public.py", "def (\n"), ["test_public.py:", "not valid Python", "Mend that line."]),
        (_append("test_hidden.py", "def test_bare(student):\n    pass\n"), ["test_hidden.py:", "test_bare", "@check"]),
        (lambda part: (part / "test_public.py").unlink(), ["test_public.py", "Every part has a test_public.py"]),
        (lambda part: (part / "part.yml").unlink(), ["part1_average/part.yml", "no such file", "Create"]),
        (lambda part: part.rename(part.with_name("Part1_average")), ["Part1_average", "Rename it to partN_topic"]),
    ],
    ids=["setting", "syntax", "undeclared", "no-suite", "no-part-yml", "name"],
)
@pytest.mark.parametrize("words", [["grade"], ["build"]], ids=lambda words: words[0])
def test_a_broken_part_is_named_with_its_place(
    tmp_path: Path, words: list[str], change: Callable[[Path], object], needles: list[str], typed: Typed
) -> None:
    root = copy_course(tmp_path / "course", "part1_average")
    change(root / "assignments" / "part1_average")
    refused(typed(*words, cwd=root), str(root / "assignments"), *needles)


@pytest.mark.parametrize("words", [["grade"], ["build"], ["build", "--check"]], ids=" ".join)
def test_outside_of_a_course(tmp_path: Path, words: list[str], typed: Typed) -> None:
    refused(typed(*words, cwd=tmp_path), "no course", "grading.yml", "change to")


@pytest.mark.parametrize(
    "words",
    ["test", "test part1", "test part1 --pdb", "test --json", "status", "status --json", "hint part1", "pack"],
)
def test_without_a_workspace(tmp_path: Path, words: str, typed: Typed) -> None:
    refused(typed(*words.split(), cwd=tmp_path), f"there is no part file in {tmp_path}", "gpt-hw init")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "needles"),
    [
        (["test", "part99"], ["'part99'", "Did you mean"]),
        (["test", "333"], ["'333'", "Known: ", "attention"]),
        (["test", "1", "attentoin"], ["'attentoin'", "Did you mean 'attention'?"]),
        (["hint", "part99"], ["'part99'", "Did you mean"]),
        (["hint", "part1", "causal_msak"], ["'causal_msak'", "Did you mean 'causal_mask'?"]),
        (["hint", "part1", "zebra"], ["part1", "'zebra'", "Known: ", "causal_mask"]),
        (["init", "part1_average.py"], ["part1_average.py is a file", "gpt-hw init gpt"]),
        (["init", "part1_average.py/deep"], ["part1_average.py/deep", "Name a folder"]),
        (["init", "/proc/x"], ["/proc/x", "in which you may write"]),
        (["pack", "--out", "part1_average.py"], ["part1_average.py", "not a zip", "--out"]),
        (["pack", "--out", "nowhere/x.zip"], ["nowhere/x.zip", "--out"]),
        (["pack", "--out", "."], ["is a folder", "--out"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_students_commands_refuse_bad_words(
    workspace: Path, words: list[str], needles: list[str], typed: Typed
) -> None:
    text = (workspace / "part1_average.py").read_text()
    refused(typed(*words, cwd=workspace), *needles)
    assert (workspace / "part1_average.py").read_text() == text


@pytest.mark.parametrize(
    ("words", "needle"),
    [
        (["tets"], "Did you mean 'test'?"),
        (["grade", "--outt"], "--out"),
        (["grade", "--rung", "7"], "--rung"),
        (["hint"], "Missing argument 'part'"),
        (["grade", "a", "b"], "unexpected extra argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_words_that_are_no_command_or_option(tmp_path: Path, words: list[str], needle: str, typed: Typed) -> None:
    done = typed(*words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert needle in done.err
    assert " -h' for help." in done.err


def test_help_and_version_are_on_stdout(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"gpt-hw [0-9.]+\S*\n", done.out)
    for words in (["--help"], ["grade", "-h"]):
        done = run(*words, cwd=tmp_path)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith("Usage: ")


def test_no_word_at_all_shows_every_command(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert done.code == 2
    for name in ("init", "test", "status", "hint", "pack", "doctor", "grade", "build"):
        assert re.search(rf"^  {name} ", done.out + done.err, re.MULTILINE)


# -- faults of ours --------------------------------------------------------------------------------------------------


@pytest.fixture
def buggy(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("the cat\nate it")

    monkeypatch.setattr("autograder.parts.public_parts", fail)
    monkeypatch.delenv("GPT_HW_DEBUG", raising=False)


def test_a_bug_of_ours_is_exit_3_and_one_sentence(buggy: None, typed: Typed, tmp_path: Path) -> None:
    done = typed("status", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.splitlines() == [
        "gpt-hw: this is a bug of ours: ZeroDivisionError: the cat ate it",
        "        run it again with GPT_HW_DEBUG=1 and report what it prints",
    ]


def test_a_bug_of_ours_is_shown_whole_where_asked_for(
    buggy: None, typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPT_HW_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        typed("status", cwd=tmp_path)


def test_ctrl_c_where_nothing_is_kept_says_so(typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.parts.public_parts", stop)
    assert typed("status", cwd=tmp_path) == Done(130, "", "stopped\n")


def test_ctrl_c_waits_for_the_end_of_an_import_of_torch(tmp_path: Path) -> None:
    """Torch swallows an interrupt of its import in some places and aborts in others."""
    (tmp_path / "torch.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nheld = True\n")
    code = (
        "from autograder.cli.interrupts import patient_interrupts\n"
        "import sys, time\n"
        "patient_interrupts()\n"
        "try:\n    import torch\n    print(torch.held)\n    time.sleep(20)\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, env=environment)
    assert done.stdout.splitlines() == ["True", "stopped"]


def test_ctrl_c_waits_for_the_end_of_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs around a fork swallows exceptions."""
    waited = []
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: waited.append(seconds))
    space: dict[str, Any] = {"__name__": "autograder.sandbox.launch", "interrupt": interrupts._interrupt, "sys": sys}
    exec("def fork():\n    interrupt(2, sys._getframe())\n", space)
    space["fork"]()
    assert len(waited) == 1
    with pytest.raises(KeyboardInterrupt):
        interrupts._interrupt(signal.SIGINT, sys._getframe())


# -- grade -----------------------------------------------------------------------------------------------------------


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


# -- what students type ----------------------------------------------------------------------------------------------


def test_init_makes_a_workspace_and_overwrites_nothing(tmp_path: Path, typed: Typed) -> None:
    done = typed("init", "work", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "Begin with: cd work && gpt-hw test part1" in done.out
    file = tmp_path / "work" / "part1_average.py"
    file.write_text("mine")
    done = typed("init", cwd=tmp_path / "work")
    assert re.search(r"^kept +part1_average\.py$", done.out, re.MULTILINE)
    assert file.read_text() == "mine"


def test_test_tells_each_part_in_plain_ascii(tested: Done) -> None:
    assert tested.code == 1
    assert tested.out.isascii()
    assert tested.err.isascii()
    assert re.search(r"^part1: \d+ of \d+ public checks pass", tested.out, re.MULTILINE)
    assert "causal_mask lets each position read itself" in tested.out


def test_test_takes_the_notebook_where_there_is_no_module(tested: Done) -> None:
    assert re.search(r"^part2: (\d+) of \1 public checks pass", tested.out, re.MULTILINE)
    assert tested.out.count("Public checks passed. The hidden checks run later") == 1


def test_test_shows_a_slip_of_syntax_with_its_line(tested: Done) -> None:
    assert "part3_attention.py does not import: SyntaxError" in tested.out
    assert "line 2" in tested.out


def test_test_as_json(workspace: Path) -> None:
    done = run("test", "part1", "--json", cwd=workspace)
    assert (done.code, done.err) == (1, "")
    assert done.json["version"] == 1
    (part,) = done.json["parts"]
    assert part["part"] == "part1"
    outcomes = {check["id"]: check["outcome"] for check in part["checks"]}
    assert outcomes["causal_mask_hides_the_future"] == "failed"
    assert outcomes["prefix_mean_loop_averages_each_prefix"] == "passed"
    assert 0 < part["score"] < part["points"]


def test_test_says_which_file_is_missing_and_tests_the_others(workspace: Path, tmp_path: Path) -> None:
    shutil.copy(SOLUTIONS / "part1_average.py", tmp_path)
    done = run("test", "part1", "part2", cwd=tmp_path)
    assert done.code == 2
    assert f"part2: there is no part2_scores.py in {tmp_path}" in done.err
    assert "gpt-hw init" in done.err
    assert "Public checks passed." in done.out


def test_pdb_stops_in_the_students_frame(tmp_path: Path) -> None:
    text = (
        solution("part1_average") + "\n\ndef causal_mask(T, device=None):\n    size = T + 7000\n    return undefined\n"
    )
    (tmp_path / "part1_average.py").write_text(text)
    done = run("test", "part1", "--pdb", cwd=tmp_path, stdin="p size\nq\n")
    assert done.code == 1
    assert re.search(r"part1_average\.py\(\d+\)causal_mask\(\)", done.out)
    assert re.search(r"\(Pdb\) 70\d\d", done.out), "the student's local variables can be seen"
    assert "in the debugger" in done.out
    assert "the grader failed" not in done.out
    assert not (tmp_path / ".gpt-hw").exists(), "a run in the debugger is no result"


def test_status_remembers_the_last_run(workspace: Path, tested: Done, typed: Typed) -> None:
    done = typed("status", cwd=workspace)
    assert (done.code, done.err) == (0, "")
    rows = typed("status", "--json", cwd=workspace).json["parts"]
    state = {row["part"]: row for row in rows}
    assert state["part1"]["progress"] == "written"
    assert state["part1"]["last"]["passed"] < state["part1"]["last"]["total"]
    assert state["part2"]["source"].endswith("part2_scores.ipynb")
    assert state["part2"]["last"]["passed"] == state["part2"]["last"]["total"]
    assert "part3_attention.py, line 2" in state["part3"]["problem"]
    for row in rows:
        assert row["part"] in done.out


def test_status_of_a_new_workspace_lists_what_is_left_once_it_is_begun(tmp_path: Path, typed: Typed) -> None:
    typed("init", cwd=tmp_path)
    path = tmp_path / "part1_average.py"
    stub = 'raise NotImplementedError("part1: causal_mask is not written yet")'
    text = path.read_text()
    assert stub in text
    assert "causal_mask" not in typed("status", cwd=tmp_path).out
    path.write_text(text.replace(stub, "return None"))
    row = typed("status", "--json", cwd=tmp_path).json["parts"][0]
    assert row["progress"] == "in progress"
    assert "masked_softmax" in row["unwritten"]
    assert "causal_mask" not in row["unwritten"]


def test_hints_climb_one_rung_at_a_time_and_json_gives_no_more(workspace: Path, typed: Typed) -> None:
    first = typed("hint", "part1", "causal_mask", cwd=workspace)
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("causal_mask, question (1 of 3)\n")
    second = typed("hint", "1", "causal_mask_hides_the_future", "--json", cwd=workspace).json
    assert (second["exercise"], second["rung"], second["level"]) == ("causal_mask", "idea", 2)
    assert "hints" not in json.dumps(second)
    assert typed("hint", "average", "causal_mask", cwd=workspace).out.startswith(
        "causal_mask, line of reasoning (3 of 3)"
    )
    assert "That was the last hint" in typed("hint", "part1", "test_causal_mask", cwd=workspace).out


def test_doctor_as_json(workspace: Path) -> None:
    done = run("doctor", "--json", cwd=workspace)
    assert done.err == ""
    assert done.code == (1 if done.json["problems"] else 0)
    assert done.json["facts"]["gpt-hw"]
    assert [rung["rung"] for rung in done.json["rungs"]] == [1, 2]


@pytest.mark.parametrize("words", [["--help"], ["status"], ["status", "--json"], ["grade", "-h"]], ids=" ".join)
def test_a_reader_who_has_seen_enough_is_no_error(workspace: Path, words: list[str]) -> None:
    with subprocess.Popen(
        command(*words), cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode in (0, 1)


# -- pack ------------------------------------------------------------------------------------------------------------


def test_pack_takes_what_is_graded_and_intake_reads_it_back(tmp_path: Path, typed: Typed) -> None:
    typed("init", cwd=tmp_path)
    write_in_notebook(tmp_path, "part2_scores")
    (tmp_path / "part1_average.py").write_text(solution("part1_average"))
    (tmp_path / "notes.txt").write_text("not for anybody")
    done = typed("pack", cwd=tmp_path)
    assert done.code == 0
    assert re.search(r"^took +part1_average\.py$", done.out, re.MULTILINE)
    assert re.search(r"^took +part2_scores\.ipynb$", done.out, re.MULTILINE)
    assert "notes" not in done.out
    assert done.out.endswith("Hand in submission.zip\n")
    assert "warning: part3_attention.py is still as it was given out" in done.err
    with zipfile.ZipFile(tmp_path / "submission.zip") as archive:
        assert {"part1_average.py", "part2_scores.ipynb", "part3_attention.py"} <= set(archive.namelist())
    read = read_submission(tmp_path / "submission.zip", {part.module: part.name for part in public_parts().values()})
    assert read.sources["part1_average"] == solution("part1_average")
    assert "def scaled_scores" in read.sources["part2_scores"]
    assert (read.problems, read.refused) == ({}, ())
    first = (tmp_path / "submission.zip").read_bytes()
    assert typed("pack", cwd=tmp_path).code == 0
    assert (tmp_path / "submission.zip").read_bytes() == first, "packing again replaces the zip by the same one"


def test_pack_warns_of_what_is_left_and_of_what_would_score_nothing(tmp_path: Path, typed: Typed) -> None:
    stub = '    raise NotImplementedError("part1: causal_mask is not written yet")\n'
    (tmp_path / "part1_average.py").write_text(f"def causal_mask(T, device=None):\n{stub}")
    (tmp_path / "part2_scores.py").write_text("def broken(:\n")
    (tmp_path / "part3_attention.ipynb").write_text("{")
    done = typed("pack", "--out", tmp_path / "mine.zip", cwd=tmp_path)
    assert done.code == 1
    assert "warning: part1_average.py: not written yet: causal_mask" in done.err
    assert "problem: part2_scores.py, line 1: " in done.err
    assert re.search(r"problem: .*part3_attention\.ipynb.*; as it is, it scores 0", done.err)
    assert zipfile.is_zipfile(tmp_path / "mine.zip")


def test_pack_refuses_a_workspace_in_which_nothing_is_written(tmp_path: Path, typed: Typed) -> None:
    typed("init", cwd=tmp_path)
    refused(typed("pack", cwd=tmp_path), "still as it was given out", "write an exercise first")
    assert not (tmp_path / "submission.zip").exists()
