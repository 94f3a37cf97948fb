"""Real runs that are killed, stopped and starved: what is done stays, what is half done does not count.

``python -m benchmarks.kills`` does the same at random moments, a hundred times.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.class_mix import examples, make_course, stage
from benchmarks.classroom import busy_loops, processes, wrong_rows
from benchmarks.kills import settled, verdict

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="instructors grade on Linux"),
]

LIMIT_S = 300
NAMES = ("ada", "bob", "cyd", "dan")
SLOW = "import time\n\ntime.sleep(1)\n"  # long enough to be met, and far from the limit of a check


def command(course: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "autograder", "grade", "--out", str(course / "results"), *words]


def run(course: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(course, *words), cwd=course, capture_output=True, text=True, timeout=LIMIT_S)


@contextlib.contextmanager
def started(course: Path, *words: str, size: int = len(NAMES)) -> Iterator["subprocess.Popen[str]"]:
    """Start a run, and go on when its first submission is done."""
    with subprocess.Popen(
        command(course, *words),
        cwd=course,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        wait_until_done(process, 1, size)
        yield process
        if process.poll() is None:
            process.kill()


def wait_until_done(process: "subprocess.Popen[str]", number: int, size: int = len(NAMES)) -> None:
    assert process.stderr is not None
    assert process.stderr.readline().startswith(f"{number} of {size}: ")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four submissions of part 1: one right, two wrong, and every one but the first slow."""
    root = make_course(tmp_path_factory.mktemp("course"), ["part1"])
    examples = Path(__file__).resolve().parents[2] / "examples" / "submissions"
    for name, example in zip(NAMES, ("001", "009", "012", "003"), strict=True):
        text = (examples / f"student-{example}" / "part1_average.py").read_text()
        (root / "submissions" / name).mkdir(parents=True)
        (root / "submissions" / name / "part1_average.py").write_text((SLOW if name != "ada" else "") + text)
    return root


@pytest.fixture(scope="module")
def wanted(course: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a run that nobody disturbs says."""
    copy = shutil.copytree(course, tmp_path_factory.mktemp("straight") / "course")
    assert run(copy, "--jobs", "1").returncode == 1
    return verdict(copy / "results")


@pytest.fixture
def fresh(course: Path, tmp_path: Path) -> Path:
    return shutil.copytree(course, tmp_path / "course")


def end_group(top: int) -> None:
    everything = [pid for _, pid in processes(top)]
    for pid in everything:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def end_one(role: str) -> Callable[[int], None]:
    def end(top: int) -> None:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            found = [pid for name, pid in processes(top) if name == role]
            if found:
                os.kill(found[-1], signal.SIGKILL)
                return
        pytest.fail(f"no {role} was seen")

    return end


def test_the_run_itself_gets_over_the_death_of_a_worker_a_keeper_and_a_server(
    fresh: Path, wanted: dict[str, str]
) -> None:
    with started(fresh, "--jobs", "1") as process:
        for number, role in enumerate(("worker", "keeper", "server"), 2):
            end_one(role)(process.pid)
            wait_until_done(process, number)
        process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert verdict(fresh / "results") == wanted


@pytest.mark.parametrize(
    "role", ["lane", *(pytest.param(role, marks=pytest.mark.long) for role in ("server", "keeper", "worker"))]
)
def test_one_of_two_lanes_gets_over_its_death_and_that_of_what_it_started(
    fresh: Path, wanted: dict[str, str], role: str
) -> None:
    with started(fresh, "--jobs", "2") as process:
        end_one(role)(process.pid)
        process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert verdict(fresh / "results") == wanted


@pytest.mark.parametrize(
    "end", [end_one("grader"), pytest.param(end_group, marks=pytest.mark.long)], ids=["grader", "group"]
)
def test_a_grader_keeps_others_out_and_loses_nothing_when_it_is_killed(
    fresh: Path, wanted: dict[str, str], end: Callable[[int], None]
) -> None:
    with started(fresh, "--jobs", "2") as process:
        others = [pid for role, pid in processes(process.pid) if role in ("lane", "server")]
        assert len(others) >= 4
        second = run(fresh)
        assert second.returncode == 2
        assert f"another gpt-hw grade is writing to {fresh / 'results'}" in second.stderr
        end(process.pid)
        process.communicate(timeout=LIMIT_S)
    before = settled(fresh / "results")
    assert before
    deadline = time.monotonic() + 20
    while any(is_alive(pid) for pid in others):
        assert time.monotonic() < deadline, "a lane works on for nobody"
        time.sleep(0.05)
    assert run(fresh, "--jobs", "1").returncode == 1, "a dead grader holds nothing"
    after = settled(fresh / "results")
    assert {path: after[path] for path in before} == before, "what is done is not done again"
    assert verdict(fresh / "results") == wanted


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_ctrl_c_twice(fresh: Path, wanted: dict[str, str]) -> None:
    with started(fresh, "--jobs", "2") as process:
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "Traceback" not in said
    before = settled(fresh / "results")
    assert before
    assert run(fresh, "--jobs", "1").returncode == 1
    after = settled(fresh / "results")
    assert {path: after[path] for path in before} == before
    assert verdict(fresh / "results") == wanted


@pytest.fixture
def small_disk(fresh: Path) -> Iterator[Path]:
    """A folder of results on a disk of a few pages."""
    out = fresh / "results"
    out.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=80k", "tmpfs", str(out)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("only root can make a disk that is full")
    yield out
    subprocess.run(["umount", str(out)], check=True)


def test_a_full_disk_is_told_and_nothing_done_is_lost(small_disk: Path, wanted: dict[str, str]) -> None:
    course = small_disk.parent
    first = run(course, "--jobs", "1")
    assert first.returncode == 2
    assert "No space left on device" in first.stderr
    assert "What is done is kept. Free some space" in first.stderr
    before = settled(small_disk)
    assert 0 < len(before) < len(NAMES)
    assert not list(small_disk.rglob("*.tmp"))
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    assert run(course, "--jobs", "1").returncode == 1
    after = settled(small_disk)
    assert {path: after[path] for path in before} == before
    assert verdict(small_disk) == wanted


def test_right_submissions_pass_beside_four_busy_loops(tmp_path: Path) -> None:
    parts = ["part1", "part2"]
    course = make_course(tmp_path, parts)
    sorts = [kind for kind in examples(parts) if kind.name in ("student-001", "student-002")]
    expected = stage(course / "submissions", sorts, 3)
    with started(course, "--jobs", "1", size=3) as process, busy_loops(4):  # not beside the import of torch
        process.communicate(timeout=LIMIT_S)
    assert wrong_rows(course / "results", expected) == []
    assert process.returncode == 0
