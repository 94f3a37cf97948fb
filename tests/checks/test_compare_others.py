"""Each of the smaller comparisons passes what is right, fails what is not in words, and is counted."""

import numpy as np
import pytest
import torch
from compare_cases import INF, NAN, ONES, failure, student_of

from autograder.checks import agree, equal, expect, no_gradient, number, tensor, tuple_of
from autograder.checks.failures import restart_steps


def test_expect_passes_truth_and_nothing_else():
    for true in (True, torch.tensor(True), torch.tensor([True]), np.bool_(True)):
        expect(true, "must hold")
    for false in (False, torch.tensor(False), np.bool_(False)):
        assert failure(expect, false, "must hold").message == "must hold"
    for neither in (1, "yes", [1], None, object(), torch.tensor(1), torch.tensor([True, True]), ONES, ONES.to("meta")):
        message = failure(expect, neither, "must hold").message
        assert message.startswith("must hold (It came out as ")
        assert "neither True nor False" in message


def test_expect_keeps_its_evidence():
    found = failure(expect, False, "no", evidence=torch.tensor([1.0, 100.0])).evidence
    assert (found.kind, found.tolerance) == ("value", pytest.approx(100 * 2e-5))
    assert failure(expect, False, "no", evidence=[1, 2]).evidence.kind == "exact"
    assert failure(expect, False, "no", evidence=ONES.to("meta")).evidence.kind == "exact"
    assert failure(expect, False, "no", evidence=ONES * NAN).evidence.tolerance == 0


@pytest.mark.parametrize(
    "got", [NAN, INF, -INF, True, "1", None, torch.tensor(1.0), [1.0], 10**400, -(10**400), np.float64(1.0)]
)
def test_number_takes_a_finite_number_only(got):
    assert "expected a finite number" in failure(number, got).message


def test_number_returns_a_float():
    assert type(number(3)) is float
    assert number(2.5) == 2.5


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        (ONES, {"shape": (3, 2)}),
        (ONES, {"shape": (2, 3), "dtype": torch.float64}),
        (ONES.bool(), {"shape": (2, 3), "dtype": torch.int64}),
        (ONES.to("meta"), {"shape": (2, 3)}),
        (np.ones((2, 3), "float32"), {"shape": (2, 3)}),
        ([1.0], {"shape": (1,)}),
        (1.0, {"shape": ()}),
        (None, {"shape": ()}),
    ],
)
def test_tensor_fails_every_other_kind_in_words(got, wanted):
    assert "returned " in failure(tensor, got, **wanted).message


def test_tensor_returns_what_it_was_given():
    assert tensor(ONES, shape=(2, 3)) is ONES
    assert tensor(ONES, shape=ONES.shape) is ONES
    assert tensor(ONES, shape=[2, 3]) is ONES


def test_tuple_of_takes_a_tuple_or_list_of_that_length():
    assert tuple_of([1, 2], 2) == (1, 2)
    for got in ((1,), (1, 2, 3), "ab", {1: 1, 2: 2}, torch.ones(2), None, 3):
        assert "expected a tuple of 2" in failure(tuple_of, got, 2).message


def test_no_gradient_fails_what_carries_one_and_what_is_no_tensor():
    student = student_of("import torch\ndef f(x): return x * torch.ones(1, requires_grad=True)\ndef g(x): return x\n")
    no_gradient(student.g(ONES))
    assert "still carries a gradient" in failure(no_gradient, student.f(ONES)).message
    for got in (None, 3, [ONES]):
        assert "expected a tensor" in failure(no_gradient, got).message


def test_comparisons_and_failing_calls_are_counted_so_that_two_runs_can_be_laid_side_by_side(student):
    restart_steps()
    agree(1.0, 1.0, atol=0)
    equal(1, 1)
    expect(True, "")
    number(1)
    tuple_of((1,), 1)
    tensor(ONES, shape=(2, 3))
    no_gradient(ONES)
    student.fine()
    assert failure(agree, 2.0, 1.0, atol=0).evidence.step == 7
    assert failure(student.other).evidence.step == 8
    restart_steps()
    assert failure(equal, 2, 1).evidence.step == 0
