"""Who grades: one line in this process, or several lanes with a line each. The scores are the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder import gradebook, scoring
from autograder.errors import GptHwError
from autograder.pipeline.course import Course, open_course
from autograder.pipeline.lanes import Lanes, leave_interrupts_to_the_first
from autograder.pipeline.line import Line, result_of
from autograder.records import Outcome, SubmissionResult


@dataclass(frozen=True, slots=True)
class Job:
    """One submission to grade: where it is, what its results are called, which parts."""

    path: Path
    name: str
    parts: tuple[str, ...]


class Crew:
    """Grades submissions and writes each one's results as soon as they are known.

    Args:
        course: The rules.
        out: Where results go.
        secrets: What no worker may read.
        lanes: How many submissions at once.
        unsafe: Grade without a wall where none holds.
        first_rung: Begin further down the ladder of walls.
    """

    def __init__(
        self, course: Course, out: Path, secrets: Sequence[Path], lanes: int, *, unsafe: bool, first_rung: int
    ) -> None:
        self._course = course
        self._out = out
        self._rung = 0
        settings = (list(secrets), unsafe, first_rung)
        self._line = _new_line(course, *settings) if lanes <= 1 else None
        self._lanes: Lanes[Job] | None = None
        if self._line is None:
            self._lanes = Lanes(_serve, (course.root, out, *settings), lanes)

    def start(self) -> int:
        """Wait until the sandbox has been tried and return its rung.

        Raises:
            SandboxError: No wall holds on this machine.
        """
        if self._line is not None:
            self._line.start()
            self._rung = self._line.rung
        elif self._lanes is not None:
            self._rung = self._lanes.greet()
        return self._rung

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Grade every job.

        Yields:
            Its number and its result as it was written.
        """
        if self._lanes is None:
            assert self._line is not None
            for number, job in enumerate(jobs):
                yield number, _grade(self._line, job, self._out)
            return
        for number, answer in self._lanes.run(jobs):
            if isinstance(answer, Exception):
                raise answer
            yield number, answer if answer is not None else self._give_up(jobs[number])

    def _give_up(self, job: Job) -> dict[str, Any]:
        # The grader's own process ended each time: nothing is known about the work, and a person must look.
        submission = self._course.read(job.path, job.name)
        message = "the grader's own process ended while it graded this submission"
        scores = [
            scoring.score_part(part, scoring.unanswered(part, Outcome.ERROR, message), self._course.config.weight(name))
            for name, part in self._course.parts.items()
            if name in job.parts
        ]
        return _write(result_of(self._course, submission, scores, self._rung), self._course, self._out / job.name)

    def close(self) -> None:
        """End every process."""
        for one in (self._line, self._lanes):
            if one is not None:
                one.close()


def _new_line(course: Course, secrets: list[Path], unsafe: bool, first_rung: int) -> Line:
    return Line(course, secrets=secrets, unsafe=unsafe, first_rung=first_rung)


def _serve(pipe: Connection, root: Path, out: Path, secrets: list[Path], unsafe: bool, first_rung: int) -> None:
    leave_interrupts_to_the_first()
    try:
        line = _new_line(open_course(root), secrets, unsafe, first_rung)
        with line:
            line.start()
            pipe.send(line.rung)
            while True:
                job = pipe.recv()
                try:
                    answer: Any = _grade(line, job, out)
                except GptHwError as error:  # the output cannot be written any more: the run is over
                    answer = error
                pipe.send(answer)
    except (EOFError, BrokenPipeError):
        return
    except GptHwError as error:
        pipe.send(error)


def _grade(line: Line, job: Job, out: Path) -> dict[str, Any]:
    course = line.course
    submission = course.read(job.path, job.name)
    result = line.grade(submission, [part for name, part in course.parts.items() if name in job.parts])
    return _write(result, course, out / job.name)


def _write(result: SubmissionResult, course: Course, target: Path) -> dict[str, Any]:
    from autograder.report.feedback import feedback_html

    page = feedback_html(result, title=course.config.title, show_hidden=course.config.hidden_checks)
    gradebook.write_atomically(target / "feedback.html", page)
    new = gradebook.to_json(result)
    gradebook.write_atomically(target / "result.json", gradebook.json_text(new))  # last: it says that this one is done
    return new
