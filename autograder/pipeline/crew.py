"""Who grades: one line in this process, or several lanes with a line each. The scores are the same."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder import gradebook, scoring
from autograder.errors import GptHwError
from autograder.pipeline.course import Course, open_course
from autograder.pipeline.lanes import Lanes, be_a_lane
from autograder.pipeline.line import Line, result_of
from autograder.records import Outcome, SubmissionResult

_PATIENCE_S, _HURRY_S = 10.0, 1.0


@dataclass(frozen=True, slots=True)
class Job:
    """One submission to grade: where it is, what its results are called, which parts."""

    path: Path
    name: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of a job: the content of result.json, the feedback page, and how long it took."""

    result: dict[str, Any]
    page: str
    seconds: float


class Crew:
    """Grades submissions and gives each one's results as soon as they are known; it writes nothing.

    Nothing is started before ``start``.

    Args:
        course: The rules.
        secrets: What no worker may read.
        lanes: How many submissions at once, at most.
        unsafe: Grade without a wall where none holds.
        first_rung: Begin further down the ladder of walls.
    """

    def __init__(self, course: Course, secrets: Sequence[Path], lanes: int, *, unsafe: bool, first_rung: int) -> None:
        self._course = course
        self._rung = 0
        self._settings = (list(secrets), unsafe, first_rung)
        self._line: Line | None = None
        self._lanes = Lanes[Job](_serve, (course.root, *self._settings), lanes) if lanes > 1 else None

    def start(self, jobs: int) -> int:
        """Start what so many jobs need, wait until the sandbox has been tried and return its rung.

        Args:
            jobs: How many ``run`` will be given, as far as that is known; it takes more too.

        Raises:
            SandboxError: No wall holds on this machine.
        """
        if self._lanes is not None:
            self._rung = self._lanes.greet(jobs)
        else:
            self._line = _new_line(self._course, *self._settings)
            self._line.start()
            self._rung = self._line.rung
        return self._rung

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Graded]]:
        """Grade every job.

        Yields:
            Its number and what came of it, in the order in which they are done.
        """
        if self._lanes is None:
            assert self._line is not None
            for number, job in enumerate(jobs):
                yield number, _grade(self._line, job)
            return
        for number, answer in self._lanes.run(jobs):
            if isinstance(answer, Exception):
                raise answer
            yield number, answer if answer is not None else self._give_up(jobs[number])

    def _give_up(self, job: Job) -> Graded:
        # The grader's own process ended each time: nothing is known about the work, and a person must look.
        submission = self._course.read(job.path, job.name)
        message = "the grader's own process ended while it graded this submission"
        scores = [
            scoring.score_part(part, scoring.unanswered(part, Outcome.ERROR, message), self._course.config.weight(name))
            for name, part in self._course.parts.items()
            if name in job.parts
        ]
        return written_down(result_of(self._course, submission, scores, self._rung), self._course, 0.0)

    def close(self, *, at_once: bool = False) -> None:
        """End every process.

        Args:
            at_once: Do not wait for what is being graded: somebody has pressed Ctrl-C.
        """
        if self._line is not None:
            self._line.close()
        if self._lanes is not None:
            self._lanes.close(_HURRY_S if at_once else _PATIENCE_S)


def _new_line(course: Course, secrets: list[Path], unsafe: bool, first_rung: int) -> Line:
    return Line(course, secrets=secrets, unsafe=unsafe, first_rung=first_rung)


def _serve(pipe: Connection, root: Path, secrets: list[Path], unsafe: bool, first_rung: int) -> None:
    be_a_lane()
    try:
        line = _new_line(open_course(root), secrets, unsafe, first_rung)
        with line:
            line.start()
            pipe.send(line.rung)
            while True:
                job = pipe.recv()
                try:
                    answer: Any = _grade(line, job)
                except GptHwError as error:  # no page can be written, or the submission is there no more
                    answer = error
                pipe.send(answer)
    except (EOFError, ConnectionError):
        return
    except GptHwError as error:
        pipe.send(error)


def _grade(line: Line, job: Job) -> Graded:
    started = time.monotonic()
    course = line.course
    submission = course.read(job.path, job.name)
    result = line.grade(submission, [part for name, part in course.parts.items() if name in job.parts])
    return written_down(result, course, time.monotonic() - started)


def written_down(result: SubmissionResult, course: Course, seconds: float) -> Graded:
    """Put a result into the words of its files."""
    from autograder.report.feedback import feedback_html

    page = feedback_html(result, title=course.config.title, show_hidden=course.config.hidden_checks)
    return Graded(gradebook.to_json(result), page, seconds)
