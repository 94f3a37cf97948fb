"""Submissions that would have a trained model's marks without training one, graded as ``gpt-hw grade`` does.

Each is right in everything but its ``train`` (one lies in its ``perplexity`` too), so what it earns is what the exact
checks of the other functions are worth; of the checks that train it passes none.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.pipeline import Course, Line
from autograder.pipeline.course import open_course
from autograder.records import Outcome, PartScore, Submission

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="instructors grade on Linux: the wall is made of its parts"),
]

ATTACKS = Path(__file__).resolve().parents[1] / "training_attacks"
MODULE = "part7_training"
SAYS = {  # a piece of what some check tells
    "peeks_at_the_future": "your model sees the answer",
    "memorises": "It has not learned what it could",
    "brings_weights": "It has not learned what it could",
    "lies_in_perplexity": "expected 11, got 4.5",
}


@pytest.fixture(scope="module")
def course() -> Course:
    return open_course(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="module")
def line(course: Course) -> Iterator[Line]:
    with Line(course) as line:
        line.start()
        yield line


def graded(line: Line, course: Course, attack: str, *, trains: bool) -> PartScore:
    """Grade an attack beside our own earlier parts, on the checks that train or on all others."""
    (part,) = course.select("part7")
    chosen = replace(part, checks=tuple(check for check in part.checks if check.trains == trains))
    text = (ATTACKS / f"{attack}.py").read_text(encoding="utf-8")
    return line.grade(Submission(name=attack, sources={**course.sources, MODULE: text}), [chosen]).parts["part7"]


@pytest.mark.parametrize("attack", SAYS)
def test_no_check_that_trains_is_passed_without_training(line: Line, course: Course, attack: str) -> None:
    score = graded(line, course, attack, trains=True)
    assert {result.outcome for result in score.results} == {Outcome.FAILED}
    exact = graded(line, course, attack, trains=False)
    assert any(SAYS[attack] in result.message for one in (score, exact) for result in one.results)


@pytest.mark.parametrize("attack", SAYS)
def test_other_functions_keep_their_marks(line: Line, course: Course, attack: str) -> None:
    score = graded(line, course, attack, trains=False)
    passed = {result.check.exercise for result in score.results if result.outcome is Outcome.PASSED}
    assert passed == {"get_batch", "warmup_lr"} | (set() if attack == "lies_in_perplexity" else {"perplexity"})
