"""Bad input to any command is answered with what is wrong, where, and a remedy, and leaves nothing behind."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import Typed, refused, run
from course_folders import CONFIG, copy_course


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
