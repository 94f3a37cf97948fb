"""What several tests of the command line stand on: a typed command, a course, a student's folder."""

import signal
import sys
import zipfile
from pathlib import Path

import pytest
from command_runs import CONTROL, Done, Typed, run
from course_folders import MODULES, TEMPLATE, WRONG_MASK, copy_course, hand_in, solution, write_in_notebook

from autograder import cli


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
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's folder: part 1 is wrong in one place, part 2 was written in the notebook, part 3 has a slip."""
    folder = tmp_path_factory.mktemp("student") / "work"
    assert run("init", folder, cwd=folder.parent).code == 0
    (folder / "part1_average.py").write_text(solution("part1_average") + WRONG_MASK)
    write_in_notebook(folder, "part2_scores")
    slip = "def attention(q, k, v, mask=None):\n    return (\n"
    (folder / "part3_attention.py").write_text(slip)
    return folder
