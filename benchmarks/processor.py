"""Processor time of grading right work: ``python -m benchmarks.processor`` prints it as JSON, from a fresh process.

The usage that the system adds up for a parent lacks the workers, whose keepers end with them unheard. So each worker's
clock is read just before it is closed.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from autograder.pipeline import Line, open_course
from autograder.records import Part, Submission
from autograder.sandbox import Worker
from benchmarks.measure import ROOT, Measure

EXACT = "1,2,3,4,5,6"  # the parts whose checks train nothing
GOAL_S = 1.5


class CountingLine(Line):
    """A line that adds up what its workers used."""

    workers_s = 0.0

    def _worker(self, part: Part) -> Worker:
        worker = super()._worker(part)
        pid, close = worker._pieces.pid, worker.close
        worker.close = lambda: self._count(pid, close)  # type: ignore[method-assign]
        return worker

    def _count(self, pid: int, close: Callable[[], None]) -> None:
        self.workers_s += _running_s(pid)
        close()


def _running_s(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def processor(repeats: int) -> list[Measure]:
    """Count the processor's seconds of one right submission of the parts that train nothing, apart from the start's."""
    samples: dict[str, list[float]] = {}
    command = [sys.executable, "-m", "benchmarks.processor"]
    for _ in range(repeats):
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        for name, seconds in json.loads(done.stdout).items():
            samples.setdefault(name, []).append(seconds)
    return [
        Measure("processor time of the start (server, self-test, torch twice)", "s", samples["start"]),
        Measure("processor time of all checks of parts 1 to 6, first submission", "s", samples["first"]),
        Measure("processor time of all checks of parts 1 to 6, any other", "s", samples["other"], GOAL_S),
        Measure("the grader's share of it", "s", samples["grader"]),
    ]


def main() -> None:
    """Grade the solutions three times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processor", description=__doc__)
    parser.add_argument("--parts", default=EXACT, help=f"which parts ({EXACT})")
    course = open_course(ROOT)
    parts = course.select(parser.parse_args().parts)
    work = Submission(name="student-001", sources=course.sources)
    with CountingLine(course) as line:
        line.start()
        start = time.process_time() + _running_s(line._servers["torch"]._process.pid)
        used = []
        for _ in range(3):
            before, line.workers_s = time.process_time(), 0.0
            result = line.grade(work, parts)
            used.append((time.process_time() - before, line.workers_s))
            if any(result.parts[part.name].score != part.points for part in parts):
                raise RuntimeError("the solutions do not pass")
    grader, workers = used[-1]
    print(json.dumps({"start": start, "first": sum(used[0]), "other": grader + workers, "grader": grader}))


if __name__ == "__main__":
    main()
