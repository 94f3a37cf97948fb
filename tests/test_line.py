"""What one submission gets from its line: a score, and another attempt only where it is not to blame for the first."""

import os
import signal
import threading
from pathlib import Path

import pytest

from autograder.pipeline import Line, open_course
from autograder.records import Outcome, Submission

pytestmark = pytest.mark.slow
COURSE = open_course(Path(__file__).resolve().parents[1])
PART = COURSE.parts["part1"]


class Counting(Line):
    """A line that counts its attempts, and may have the first worker killed as a machine out of memory would."""

    def __init__(self, *, kill_first: bool = False) -> None:
        super().__init__(COURSE)
        self.attempts = 0
        self.kill_next = kill_first

    def _attempt(self, submission, part, weight):
        self.attempts += 1
        return super()._attempt(submission, part, weight)

    def _worker(self, part):
        worker = super()._worker(part)
        if self.kill_next:
            self.kill_next = False
            threading.Timer(0.3, os.kill, (worker._pieces.pid, signal.SIGKILL)).start()
        return worker


def graded(line: Counting, text: str):
    with line:
        line.start()
        return line.grade(Submission(name="student-001", sources={PART.module: text}), [PART]).parts["part1"]


def test_work_whose_process_was_killed_from_outside_is_tried_once_more():
    line = Counting(kill_first=True)
    score = graded(line, COURSE.sources[PART.module] + "\nimport time\ntime.sleep(1)\n")
    assert (line.attempts, score.score) == (2, PART.points)


def test_work_that_says_it_was_killed_is_not():
    line = Counting()
    score = graded(line, 'raise RuntimeError("the code\'s process was ended by signal SIGKILL")\n')
    assert (line.attempts, score.score, score.outcome) == (1, 0, Outcome.FAILED)
    assert "ended by signal SIGKILL" in score.results[0].message
