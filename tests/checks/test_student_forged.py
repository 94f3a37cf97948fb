"""An answer that no worker gives fails the check, is cut to size, and is no error of ours."""

import pytest
import torch
from compare_cases import failure

from autograder.checks import CheckFailure, Student, raises_value_error
from autograder.wire import WorkerDied, WorkerTimedOut


class Forger:
    """Answers with whatever it was given."""

    def __init__(self, *replies) -> None:
        self.replies = list(replies)

    def request(self, message, arrays):
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply, []


@pytest.mark.parametrize(
    "reply",
    [
        {"value": {"tensor": 0}},
        {"value": {"unknown": 1}},
        {"error": None},
        {"error": "text"},
        {"error": {"type": 3, "message": "", "traceback": ""}},
        {"error": {"type": "E", "message": "", "traceback": None}},
        {"error": {"type": "E", "message": "", "traceback": "", "bases": 3}},
        {"value": 1, "changed": {"unknown": 1}},
        {"value": 1, "changed": 3},
    ],
    ids=str,
)
def test_a_forged_answer_fails_the_check_and_is_no_error_of_ours(reply):
    found = failure(Student(Forger(reply)).f, 1)
    assert found.message.startswith("f(1)")


@pytest.mark.parametrize(
    "gradients",
    [
        {"dict": []},
        {"list": []},
        3,
        {"dict": [["inputs", {"list": []}], ["parameters", {"dict": []}]]},
        {"dict": [["inputs", {"list": [3]}], ["parameters", {"dict": []}]]},
        {"dict": [["inputs", {"list": [None]}], ["parameters", {"list": []}]]},
        {"dict": [["inputs", {"list": [None]}], ["parameters", {"dict": [["a", "b"]]}]]},
    ],
    ids=str,
)
def test_forged_gradients_fail_the_check(gradients):
    student = Student(Forger({"value": 1, "gradients": gradients}))
    assert "do not fit the arguments" in failure(student.f.gradients, torch.ones(1), upstream=torch.ones(1)).message


@pytest.mark.parametrize(
    "shapes", [3, None, {"dict": [["a", 3]]}, {"dict": [["a", {"tuple": ["x"]}]]}, {"list": []}], ids=str
)
def test_forged_shapes_fail_the_check(shapes):
    head = Student(Forger({"value": {"handle": [1, "Head"]}}, {"value": shapes})).Head()
    with pytest.raises(CheckFailure, match="the parameters of Head cannot be listed"):
        _ = head.shapes


def test_a_forged_text_is_cut():
    error = {"type": "E" * 10**6, "message": "m" * 10**6, "traceback": "t" * 10**6, "bases": [3, "ValueError"]}
    found = failure(Student(Forger({"error": error})).f)
    assert len(found.message) < 11_000
    assert len(found.traceback) < 6_000
    raises_value_error(Student(Forger({"error": error})).f, mentions=["m"])


def test_a_death_and_a_time_out_are_told():
    assert failure(Student(Forger(WorkerDied("it ended"))).f).message == "f(): it ended"
    found = failure(Student(Forger(WorkerTimedOut("too long"))).f)
    assert (found.message, found.outcome.value) == ("f(): too long", "timed_out")
