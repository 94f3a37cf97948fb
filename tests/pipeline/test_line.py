"""What one submission gets from its line: a score, and another attempt only where it is not to blame for the first."""

import os
import shutil
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.pipeline import Line, open_course
from autograder.records import Outcome, Submission

pytestmark = pytest.mark.slow
COURSE = open_course(Path(__file__).resolve().parents[2])
PART = COURSE.parts["part1"]


class Counting(Line):
    """A line that counts its attempts, and may have the next worker killed as a machine out of memory would."""

    attempts = 0
    runs: tuple[str, ...] = ()
    kill_next = False

    def _attempt(self, submission, part, weight, suspects):
        self.attempts += 1
        return super()._attempt(submission, part, weight, suspects)

    def _run(self, part, sources, catalogue):
        self.runs += (part.name,)
        return super()._run(part, sources, catalogue)

    def _worker(self, part):
        worker = super()._worker(part)
        if self.kill_next:
            self.kill_next = False
            threading.Timer(0.3, os.kill, (worker._pieces.pid, signal.SIGKILL)).start()
        return worker


@pytest.fixture(scope="module")
def started():
    with Counting(COURSE) as line:
        line.start()
        yield line


@pytest.fixture
def line(started):
    started.attempts, started.runs = 0, ()
    return started


def graded(line: Counting, text: str):
    return line.grade(Submission(name="student-001", sources={PART.module: text}), [PART]).parts["part1"]


def test_work_whose_process_was_killed_from_outside_is_tried_once_more(line):
    line.kill_next = True
    score = graded(line, COURSE.sources[PART.module] + "\nimport time\ntime.sleep(1)\n")
    assert (line.attempts, score.score) == (2, PART.points)


def test_work_that_says_it_was_killed_is_not(line):
    score = graded(line, 'raise RuntimeError("the code\'s process was ended by signal SIGKILL")\n')
    assert (line.attempts, score.score, score.outcome) == (1, 0, Outcome.FAILED)
    assert "ended by signal SIGKILL" in score.results[0].message


def own(module: str, right: str = "", wrong: str = "") -> str:
    """Our text of a part as a student's own, with a fault where one is asked for."""
    assert right in COURSE.sources[module]
    return COURSE.sources[module].replace(right, wrong) + "\n# mine\n"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({}, False),
        ({"part3_attention": ("return weights @ v, weights", "return weights @ v + 1, weights")}, False),
        ({"part2_scores": ("/ math.sqrt(", "/ 2 / math.sqrt(")}, True),
    ],
)
def test_earlier_parts_are_asked_for_a_fault_only_where_they_have_one(line, fault, told):
    parts = [COURSE.parts[name] for name in ("part1", "part2", "part3")]
    sources = {part.module: own(part.module, *fault.get(part.module, ())) for part in parts}
    scores = line.grade(Submission(name="student-001", sources=sources), parts).parts
    failed = [result for result in scores["part3"].results if result.outcome is Outcome.FAILED]
    assert bool(failed) == bool(fault)
    if told:
        # Part 2 alone is asked, once: part 1 passes all its own checks.
        assert line.runs == ("part1", "part2", "part3", "part3")
        assert all("The fault is in part2_scores.py" in result.message for result in failed)
    else:
        assert line.runs == ("part1", "part2", "part3")


def test_a_suite_that_does_not_load_is_not_tried_again_and_again(line, tmp_path):
    folder = tmp_path / PART.folder.name
    shutil.copytree(PART.folder, folder)
    part = replace(PART, folder=folder)
    sources = {PART.module: COURSE.sources[PART.module]}
    server = line._servers["torch"]
    for text, outcome in ((None, Outcome.PASSED), ("undefined_name\n", Outcome.ERROR), (None, Outcome.PASSED)):
        right = (PART.folder / "test_hidden.py").read_text()
        (folder / "test_hidden.py").write_text(right if text is None else right + text)
        line.attempts = 0
        score = line.grade(Submission(name="student-001", sources=sources), [part]).parts["part1"]
        assert (score.outcome, line.attempts) == (outcome, 1)
    assert line._servers["torch"] is server, "no fork server was started anew"
