"""A class of three with a crew that gives the scores which a test wants, so that it is graded in milliseconds.

Everything around the crew is real.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder import scoring
from autograder.pipeline import Summary, open_course
from autograder.pipeline import grade as grade_submissions
from autograder.pipeline.course import Course
from autograder.pipeline.crew import Graded, Job, written_down
from autograder.pipeline.line import result_of
from autograder.records import CheckResult, Outcome

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("part1_average", "part2_scores")
CONFIG = "version: 1\ntitle: Two parts\nseed: 7\nsubmissions: submissions\nresults: results\n"
HEADER = "submission,part,score,reason,who\n"


class StandIn:
    """A crew of which a test says what it finds: how many points each part of each submission loses."""

    lost: dict[tuple[str, str], float | None] = {}  # noqa: RUF012  # each test sets its own
    asked: list[str] = []  # noqa: RUF012
    stop_after: int | None = None
    rung: int = 1
    started: list[int] = []  # noqa: RUF012  # for how many jobs

    def __init__(self, course: Course, *_: object, **__: object) -> None:
        self.course = course

    def start(self, jobs: int) -> int:
        self.started.append(jobs)
        return self.rung

    def close(self, **_: object) -> None:
        pass

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Graded]]:
        for number, job in enumerate(jobs):
            if number == type(self).stop_after:
                raise KeyboardInterrupt
            self.asked.append(job.name)
            submission = self.course.read(job.path, job.name)
            scores = []
            for name in job.parts:
                part = self.course.parts[name]
                first, *rest = part.checks
                loses = self.lost.get((job.name, name), 0)
                outcome = Outcome.ERROR if loses is None else Outcome.FAILED if loses else Outcome.PASSED
                found = [CheckResult(first, outcome), *(CheckResult(check, Outcome.PASSED) for check in rest)]
                scores.append(scoring.score_part(part, found, self.course.config.weight(name)))
            yield number, written_down(result_of(self.course, submission, scores, self.rung), self.course, 0.1 * number)


def hand_in(root: Path, name: str, text: str) -> None:
    (root / "submissions" / name).mkdir(parents=True, exist_ok=True)
    for module in PARTS:
        (root / "submissions" / name / f"{module}.py").write_text(text)


def change_suite(root: Path, text: str = "# changed\n") -> None:
    with (root / "assignments" / "part1_average" / "test_hidden.py").open("a") as stream:
        stream.write(text)


def grade(
    root: Path, *, yes: bool = False, parts: str | None = None, fresh: bool = False, first_rung: int = 1, jobs: int = 1
) -> Summary:
    StandIn.asked.clear()
    StandIn.started.clear()
    course = open_course(root)
    return grade_submissions(
        course,
        root / "submissions",
        root / "results",
        parts=course.select(parts),
        jobs=jobs,
        fresh=fresh,
        first_rung=first_rung,
        agree=lambda moves: yes,
    )


def result(root: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((root / "results" / name / "result.json").read_text()))


def rows(root: Path) -> dict[str, dict[str, str]]:
    with (root / "results" / "gradebook.csv").open(newline="") as stream:
        return {row["submission"]: row for row in csv.DictReader(stream)}


def counts(root: Path) -> dict[str, bytes]:
    """Read what counts: result, page and gradebook."""
    names = ("result.json", "feedback.html", "gradebook.csv")
    found = (path for path in (root / "results").rglob("*") if path.name in names)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def history(root: Path, name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((root / "results" / name / "history").glob("*.json"))]


def first_points(root: Path, part: str = "part1") -> float:
    return open_course(root).parts[part].checks[0].points
