"""The measurements: each starts real processes, and gives its samples."""

import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GPT_HW = [sys.executable, "-m", "autograder"]
SUBMISSIONS = 20
_SAMPLE_S = 0.02
_MIB = 1024  # KiB, in which Linux counts
_MOST_MIB = 1024.0  # of any process


@dataclass(frozen=True)
class Measure:
    """One figure: its samples, what it is compared with, and how small it is meant to be."""

    name: str
    unit: str
    samples: list[float]
    goal: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """The middle of the samples."""
        return statistics.median(self.samples)

    @property
    def minimum(self) -> float:
        """The smallest sample: what the machine can do when nothing else runs."""
        return min(self.samples)

    @property
    def holds(self) -> bool | None:
        """Whether the median keeps the goal; None where there is none."""
        return None if self.goal is None else self.median <= self.goal


def make_course(folder: Path, copies: int) -> Path:
    """Copy the course beside ``copies`` right submissions."""
    shutil.copytree(ROOT / "assignments", folder / "assignments", ignore=shutil.ignore_patterns("__pycache__"))
    solved = {path.stem for path in (ROOT / "solutions").glob("part*.py")}
    for part in (folder / "assignments").glob("part*"):
        if part.name not in solved:  # a part that an author has not built yet
            shutil.rmtree(part)
    policy = (ROOT / "grading.yml").read_text(encoding="utf-8")  # with the bands of the parts that train
    policy = policy.replace("submissions: examples/submissions", "submissions: submissions")
    (folder / "grading.yml").write_text(policy, encoding="utf-8")
    for number in range(copies):
        shutil.copytree(ROOT / "solutions", folder / "submissions" / f"student{number:02}")
    return folder


def help_text(repeats: int) -> list[Measure]:
    """Time ``gpt-hw --help``."""
    samples = [_seconds([*GPT_HW, "--help"], ROOT) for _ in range(repeats)]
    return [Measure("gpt-hw --help", "s", samples, 0.3)]


def students_test(folder: Path, repeats: int) -> list[Measure]:
    """Time ``gpt-hw test part3`` on the solutions, in turns with a bare import of torch."""
    shutil.copytree(ROOT / "solutions", folder)
    ours, bare = [], []
    for _ in range(repeats):
        bare.append(_seconds([sys.executable, "-c", "import torch"], folder))
        ours.append(_seconds([*GPT_HW, "test", "part3"], folder))
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    return [
        Measure("import torch", "s", bare),
        Measure("gpt-hw test part3", "s", ours),
        Measure("gpt-hw test part3 / import torch", "x", ratios, 1.5, "each pair one after the other"),
    ]


def worker_start(repeats: int) -> list[Measure]:
    """Time a worker from the wish to its first answer, on both rungs."""
    from autograder.records import Limits
    from autograder.sandbox import ForkServer, probe_rung

    measures = []
    with ForkServer(("torch", "full", "attention", "normalisation")) as server:
        for rung in (1, 2):
            report = probe_rung(server, rung, Limits(), [])
            if not report.holds:
                continue
            samples = []
            for _ in range(repeats):
                started = time.perf_counter()
                worker = server.worker(rung, Limits(), ("attention",))
                worker.allow(10)
                worker.request({"op": "begin", "seed": 0}, [])
                samples.append(1000 * (time.perf_counter() - started))
                worker.close()
            measures.append(Measure(f"worker start, rung {rung}", "ms", samples, 60.0))
    return measures


def grading(folder: Path, repeats: int) -> list[Measure]:
    """Time right submissions of part 3 through ``gpt-hw grade``, and the same through a pytest process each."""
    course = make_course(folder, SUBMISSIONS)
    each, whole, naive = [], [], []
    for number in range(repeats):
        first, last, total = _grade_part3(course, f"results{number}")
        each.append((last - first) / (SUBMISSIONS - 1))
        whole.append(total / SUBMISSIONS)
        naive.append(_naive(course / "submissions" / "student00"))
    ratios = [one / other for one, other in zip(whole, naive, strict=True)]
    return [
        Measure("a submission of part 3, without the start", "s", each, 0.4, f"{SUBMISSIONS} on one lane"),
        Measure("a submission of part 3, its share of the start included", "s", whole),
        Measure("a naive pytest process a submission", "s", naive, None, "10 tests, no wall, no diagnosis"),
        Measure("ours / naive", "x", ratios, 1.0),
    ]


def memory(folder: Path) -> list[Measure]:
    """Sample the memory of grader, fork server and worker while three submissions are graded."""
    course = make_course(folder, 3)
    peaks: dict[tuple[str, str], float] = defaultdict(float)
    with subprocess.Popen(
        [*GPT_HW, "grade", "--jobs", "1"], cwd=course, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as run:
        while run.poll() is None:
            for role, pid in _roles(run.pid):
                for kind, kib in memory_kib(pid).items():
                    peaks[role, kind] = max(peaks[role, kind], kib / _MIB)
            time.sleep(_SAMPLE_S)
    if run.returncode != 0:
        raise RuntimeError(f"gpt-hw grade ended with {run.returncode}: the solutions do not pass")
    return [
        Measure(f"{role}, peak {kind.upper()}", "MiB", [peaks[role, kind]], _MOST_MIB if kind == "rss" else None)
        for role in ("grader", "fork server", "worker")
        for kind in ("rss", "pss")
        if (role, kind) in peaks
    ]


def _seconds(command: list[str], cwd: Path) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    return time.perf_counter() - started


def _grade_part3(course: Path, out: str) -> tuple[float, float, float]:
    """Return when the first and the last submission were done, and how long all took."""
    command = [*GPT_HW, "grade", "--jobs", "1", "--parts", "3", "--out", out]
    started = time.perf_counter()
    done = []
    with subprocess.Popen(command, cwd=course, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        reader = threading.Thread(target=run.stdout.read)
        reader.start()
        done = [time.perf_counter() for line in run.stderr if re.match(r"\d+ of \d+: ", line)]
        reader.join()
    if run.returncode != 0 or len(done) != SUBMISSIONS:
        raise RuntimeError(f"gpt-hw grade ended with {run.returncode}: the solutions do not pass")
    return done[0], done[-1], time.perf_counter() - started


def _naive(submission: Path) -> float:
    test = Path(__file__).with_name("naive_part3.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(test)]
    return _seconds(command, submission)


def _roles(top: int) -> list[tuple[str, int]]:
    """Name the processes below one: the grader starts the server, the server forks keepers, each keeps a worker."""
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(stat.parent.name))
    found, waiting = [], [top]
    while waiting:
        parent = waiting.pop()
        for child in children[parent]:
            if not _is_server(child):
                waiting.append(child)
                continue
            found += [("grader", parent), ("fork server", child)]
            found += [("worker", worker) for keeper in children[child] for worker in children[keeper]]
    return found


def _is_server(pid: int) -> bool:
    try:
        return b"autograder.sandbox.fork_server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def memory_kib(pid: int) -> dict[str, int]:
    """Read what a process takes: ``rss``, and ``pss``, which shares out what several use; nothing where it ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return {}
    return {kind.lower(): int(kib) for kind, kib in re.findall(r"^(Rss|Pss): +(\d+) kB", text, re.MULTILINE)}
