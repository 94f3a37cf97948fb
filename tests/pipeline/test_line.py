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


@pytest.fixture
def edited(line, monkeypatch, tmp_path):
    """Grade right work with something below the hidden suite; return outcome, attempts, and fork servers started."""
    folder = tmp_path / PART.folder.name
    shutil.copytree(PART.folder, folder)
    right, restart, started = (folder / "test_hidden.py").read_text(), line._restart, []
    monkeypatch.setattr(line, "_restart", lambda part: started.append(restart(part)))

    def grade(below=""):
        (folder / "test_hidden.py").write_text(right + below)
        line.attempts = 0
        started.clear()
        work = Submission(name="student-001", sources={PART.module: COURSE.sources[PART.module]})
        score = line.grade(work, [replace(PART, folder=folder)]).parts["part1"]
        return score.outcome, line.attempts, len(started)

    return grade


def test_a_suite_that_does_not_load_is_not_tried_again(edited):
    assert edited() == (Outcome.PASSED, 1, 0)
    assert edited("undefined_name\n") == (Outcome.ERROR, 1, 0)
    assert edited() == (Outcome.PASSED, 1, 0)


def test_only_the_first_submission_waits_for_fresh_fork_servers_that_do_not_help(line, edited):
    check = next(check.id for check in PART.checks if check.hidden)
    slip = f"def test_{check}(student, rng):\n    undefined_name\n"
    assert edited(slip) == (Outcome.ERROR, 3, 2)
    assert edited(slip) == (Outcome.ERROR, 3, 0)
    line._servers["torch"].close()
    assert edited(slip) == (Outcome.ERROR, 3, 1), "one that is gone is started anew"
    assert edited() == (Outcome.PASSED, 1, 0)
    assert edited(slip) == (Outcome.ERROR, 3, 2)
