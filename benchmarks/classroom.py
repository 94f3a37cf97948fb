"""``python -m benchmarks.classroom``: a class of mixed submissions, graded as an instructor grades, every row compared.

See ``class_mix`` for what is in it and how its scores are known.
"""

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.class_mix import Kind, kinds, make_course, stage
from benchmarks.measure import GPT_HW

SAMPLE_S = 0.5
_MIB = 1024
_SHOWN_CHARACTERS = 600


@dataclass
class Run:
    """One run of ``gpt-hw grade``: how long it took, when each submission was done, and its memory over time."""

    seconds: float
    status: int
    said: dict[str, Any]
    done: list[float] = field(default_factory=list)
    memory: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))  # MiB by role


def wrong_rows(out: Path, expected: Mapping[str, Kind]) -> list[str]:
    """Compare every part of every submission with what it must earn, and say of a wrong one what its checks say."""
    wrong = []
    for name, kind in expected.items():
        try:
            parts = json.loads((out / name / "result.json").read_text())["parts"]
        except (OSError, ValueError) as error:
            wrong.append(f"{name}: {error!r}")
            continue
        for part, score in kind.scores.items():
            if parts[part]["score"] != score:
                checks = [
                    f"{one['id']}: {one['message']}" for one in parts[part]["checks"] if one["outcome"] != "passed"
                ]
                wrong.append(f"{name}: {part} {parts[part]['score']}, not {score:g}: {checks}"[:_SHOWN_CHARACTERS])
    return wrong


def grade(course: Path, out: str, jobs: int) -> Run:
    """Grade a class once, and sample the memory of everything that takes part."""
    started = time.monotonic()
    command = [*GPT_HW, "grade", "--jobs", str(jobs), "--out", out, "--json"]
    with subprocess.Popen(command, cwd=course, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        run = Run(0.0, 0, {})
        sampler = threading.Thread(target=_sample, args=(process, run, started), daemon=True)
        reader = threading.Thread(target=_read_progress, args=(process, run, started), daemon=True)
        sampler.start()
        reader.start()
        assert process.stdout is not None
        text = process.stdout.read()
    reader.join()
    sampler.join()
    run.seconds, run.status = time.monotonic() - started, process.returncode
    if text:
        run.said = json.loads(text)
    return run


def _read_progress(process: "subprocess.Popen[str]", run: Run, started: float) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if re.match(r"\d+ of \d+: ", line):
            run.done.append(time.monotonic() - started)
        else:
            print(line, end="", file=sys.stderr)


def _sample(process: "subprocess.Popen[str]", run: Run, started: float) -> None:
    while process.poll() is None:
        for role, pid in processes(process.pid):
            if role in ("grader", "lane", "server"):
                with contextlib.suppress(OSError, IndexError):
                    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                    mib = pages * os.sysconf("SC_PAGE_SIZE") / _MIB**2
                    run.memory[f"{role} {pid}"].append((time.monotonic() - started, mib))
        time.sleep(SAMPLE_S)


def processes(top: int) -> list[tuple[str, int]]:
    """Name the processes of a run: grader, lane, server, keeper, worker; others are left out."""
    children = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            children[int(stat.read_text().rpartition(")")[2].split()[1])].append(int(stat.parent.name))
    found = [("grader", top)]
    for child in children[top]:
        if "spawn_main" in (words := _command(child)):
            found.append(("lane", child))
        elif "fork_server" in words:
            found += _below_server(child, children)
        found += [
            each
            for one in children[child]
            if "fork_server" in _command(one)
            for each in _below_lane(words, one, children)
        ]
    return found


def _below_lane(words: str, server: int, children: Mapping[int, list[int]]) -> list[tuple[str, int]]:
    return _below_server(server, children) if "spawn_main" in words else []


def _below_server(server: int, children: Mapping[int, list[int]]) -> list[tuple[str, int]]:
    keepers = children.get(server, [])
    workers = [("worker", worker) for keeper in keepers for worker in children.get(keeper, [])]
    return [("server", server), *(("keeper", keeper) for keeper in keepers), *workers]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def growth(samples: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the median MiB in the second quarter of a process's life, and in the last one."""
    values = [mib for _, mib in samples]
    quarter = max(1, len(values) // 4)
    return statistics.median(values[quarter : 2 * quarter] or values), statistics.median(values[-quarter:])


def main() -> None:
    """Grade a class and say which rows are wrong, how long it took and how memory went."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classroom", description=__doc__)
    parser.add_argument("--size", type=int, default=300, help="submissions (300)")
    parser.add_argument("--jobs", type=int, default=2, help="lanes (2)")
    parser.add_argument("--parts", default="1,2,3", help="parts (1,2,3)")
    parser.add_argument("--busy", type=int, default=0, help="endless loops beside the grader (0)")
    parser.add_argument("--only", default="", help="only sorts whose name holds this pattern")
    parser.add_argument("--one-lane", action="store_true", help="grade on one lane too, and compare")
    words = parser.parse_args()
    parts = [f"part{number}" for number in words.parts.split(",")]
    with tempfile.TemporaryDirectory(prefix="gpt-hw-class-") as name, busy_loops(words.busy):
        os.chmod(name, 0o755)
        course = make_course(Path(name), parts)
        sorts = kinds(parts, words.only)
        expected = stage(course / "submissions", sorts, words.size)
        print(f"{words.size} submissions of {len(sorts)} sorts, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        wrong = _one_run(course, expected, words.jobs)
        if words.one_lane:
            wrong += _one_run(course, expected, 1)
    raise SystemExit(bool(wrong))


def _one_run(course: Path, expected: Mapping[str, Kind], jobs: int) -> list[str]:
    run = grade(course, f"results-{jobs}", jobs)
    wrong = wrong_rows(course / f"results-{jobs}", expected)
    each = (run.done[-1] - run.done[0]) / (len(run.done) - 1) if len(run.done) > 1 else 0.0
    print(f"\n{jobs} lanes: {run.seconds:.0f} s, {each:.3f} s a submission without the start")
    print(f"exit {run.status}, slowest {run.said.get('slowest')}, checks {run.said.get('checks')}")
    for role, samples in sorted(run.memory.items()):
        early, late = growth(samples)
        print(f"{role}: {early:.0f} MiB in the second quarter, {late:.0f} in the last, {len(samples)} samples")
    print(f"wrong rows: {len(wrong)}")
    for line in wrong:
        print(f"  {line}")
    return wrong


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep cores busy with endless loops of the same priority."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    main()
