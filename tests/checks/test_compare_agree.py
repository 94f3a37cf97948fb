"""Numbers agree within their tolerance and in kind, and where they do not it is said in words what came instead."""

import numpy as np
import pytest
import torch
from compare_cases import INF, NAN, ONES, failure

from autograder.checks import agree, tensor


def test_agree_passes_what_is_within_the_tolerance():
    agree(ONES + 1e-7, ONES, atol=1e-6)
    agree(torch.tensor([INF, -INF, 1.0]), torch.tensor([INF, -INF, 1.0]), atol=0)
    agree(torch.zeros(0, 3), torch.zeros(0, 3), atol=0)
    agree(2, 2.0, atol=0)
    agree(INF, INF, atol=0)
    agree(np.ones((2, 3)), np.ones((2, 3)), atol=0)
    agree(np.arange(6.0)[::-1].copy(), np.arange(6.0)[::-1], atol=0)
    agree(torch.tensor(3), torch.tensor(3), atol=0)


@pytest.mark.parametrize("atol", [1.0, 0.5, 2.0**-20])
def test_agree_takes_the_tolerance_itself_and_nothing_beyond(atol):
    expected = torch.tensor([4.0], dtype=torch.float64)
    agree(expected + atol, expected, atol=atol)
    agree(4.0 - atol, 4.0, atol=atol)
    failure(agree, expected + atol * 1.001, expected, atol=atol)
    failure(agree, 4.0 + atol * 1.001, 4.0, atol=atol)


def test_agree_adds_a_share_of_what_is_expected():
    expected = torch.tensor([8.0, -8.0], dtype=torch.float64)
    agree(expected * 1.125, expected, atol=0, rtol=0.125)
    agree(9.0, 8.0, atol=0, rtol=0.125)
    failure(agree, expected * 1.126, expected, atol=0, rtol=0.125)
    failure(agree, 9.01, 8.0, atol=0, rtol=0.125)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (torch.tensor([NAN, 1.0]), torch.ones(2)),
        (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0])),
        (torch.tensor([INF, 1.0]), torch.ones(2)),
        (torch.ones(2), torch.tensor([INF, 1.0])),
        (torch.tensor([NAN]), torch.tensor([INF])),
        (torch.tensor([-INF]), torch.tensor([INF])),
        (torch.tensor(NAN), torch.tensor(1.0)),
        (NAN, 1.0),
        (NAN, NAN),
        (INF, 1.0),
        (5.0, INF),
        (-INF, INF),
        (10**400, 1.0),
        (-(10**400), 1.0),
        (np.array([NAN]), np.array([NAN])),
    ],
)
@pytest.mark.parametrize("tolerance", [{"atol": 0}, {"atol": 1e30}, {"atol": 1e30, "rtol": 1.0}, {"atol": INF}])
def test_agree_never_passes_nan_and_infinity_only_for_itself(got, expected, tolerance):
    if tolerance["atol"] == INF and not (
        torch.as_tensor(expected).isinf().any() or torch.as_tensor(expected).isnan().any()
    ):
        tolerance = {"atol": 1e300}  # an infinite tolerance allows an infinity; no suite has one
    message = failure(agree, got, expected, **tolerance).message
    assert message.startswith("the result: ")


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (torch.ones(3, 2), "returned Tensor (3, 2) float32, expected Tensor (2, 3) float32"),
        (torch.ones(1, 3), "returned Tensor (1, 3) float32, expected Tensor (2, 3) float32"),
        (torch.ones(3), "returned Tensor (3,) float32, expected Tensor (2, 3) float32"),
        (torch.ones(()), "returned Tensor () float32, expected Tensor (2, 3) float32"),
        (torch.ones(1, 2, 3), "returned Tensor (1, 2, 3) float32, expected"),
        (ONES.double(), "returned Tensor (2, 3) float64, expected Tensor (2, 3) float32"),
        (ONES.half(), "returned Tensor (2, 3) float16, expected"),
        (ONES.long(), "returned Tensor (2, 3) int64, expected"),
        (ONES.bool(), "returned Tensor (2, 3) bool, expected"),
        (ONES.to("meta"), "returned Tensor (2, 3) float32 on meta, expected Tensor (2, 3) float32"),
        (np.ones((2, 3), "float32"), "returned array (2, 3) float32, expected Tensor"),
        (1.0, "returned float 1, expected Tensor"),
        (True, "returned bool True, expected Tensor"),
        (None, "returned None, expected Tensor"),
        ("text", "returned str 'text', expected Tensor"),
        ((ONES,), "returned tuple (Tensor (2, 3) float32), expected Tensor"),
        (
            [[1.0] * 3] * 2,
            "returned list (list (float 1, float 1, float 1), list (float 1, float 1, float 1)), expected",
        ),
        ({"output": ONES}, "returned dict with 1 entries, expected Tensor"),
    ],
)
def test_agree_says_what_came_where_the_kind_is_wrong(got, words):
    assert words in failure(agree, got, ONES, atol=1e9).message


@pytest.mark.parametrize("got", [True, "1", None, torch.tensor(1.0), np.float32(1), np.ones(()), [1.0], (1.0,), 1 + 0j])
def test_agree_takes_only_a_number_for_a_number(got):
    assert "expected a number" in failure(agree, got, 1.0, atol=1e9).message


def test_agree_wants_an_array_for_an_array():
    for got in (ONES, np.ones((2, 3), "float32"), np.ones((1, 3)), np.ones((2, 3), bool), 1.0):
        assert "expected array (2, 3) float64" in failure(agree, got, np.ones((2, 3)), atol=1e9).message


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("subclass", "returned a Mine object"),
        ("parameter", "returned a MyParameter object"),
        ("object", "returned a Config object"),
        ("complex", "returned a Tensor (torch.strided, torch.complex64) object"),
        ("numpy", "returned array (2,) float32"),
        ("meta", "on meta"),
    ],
)
def test_agree_and_tensor_take_plain_tensors_of_a_student_only(student, kind, words):
    assert words in failure(agree, student.value(kind), torch.ones(2), atol=1e9).message
    assert words in failure(tensor, student.value(kind), shape=(2,)).message


def test_a_plain_parameter_is_a_tensor(student):
    agree(student.value("plain"), torch.ones(2), atol=0)


def test_agree_tells_the_largest_difference_and_where_it_is():
    got = ONES.clone()
    got[1, 2] = 1.5
    got[0, 1] = 1.25
    message = failure(agree, got, ONES, atol=1e-3, what="the weights").message
    assert message == "the weights: Largest difference 0.5 at [1, 2]: expected 1, got 1.5. (allowed: 0.001)"
    assert (
        "at the single value: expected 1, got 3" in failure(agree, torch.tensor(3.0), torch.tensor(1.0), atol=1).message
    )
    message = failure(agree, 1.5, 1.0, atol=0.25, what="the loss").message
    assert message == "the loss: expected 1, got 1.5 (allowed difference: 0.25)."


def test_agree_tells_how_many_values_are_not_finite_and_where():
    got = ONES.clone()
    got[0, 1], got[1, 0] = NAN, -INF
    message = failure(agree, got, ONES, atol=1e-3).message
    assert "2 of 6 values are not finite: nan at [0, 1], expected 1" in message


def test_agree_draws_both_matrices_where_asked_and_only_small_ones():
    drawing = failure(agree, ONES * 2, ONES, atol=0, picture=True).picture
    assert "yours" in drawing
    assert "expected" in drawing
    assert failure(agree, ONES * 2, ONES, atol=0).picture == ""
    assert failure(agree, torch.ones(13, 13), torch.zeros(13, 13), atol=0, picture=True).picture == ""
    third = torch.zeros(2, 2, 2)
    third[1, 0, 0] = 1
    assert "(at [1])" in failure(agree, third, torch.zeros(2, 2, 2), atol=0, picture=True).picture
    assert "??" in failure(agree, ONES * NAN, ONES, atol=0, picture=True).picture


def test_agree_compares_meta_tensors_by_shape_and_dtype():
    agree(ONES.to("meta"), ONES.to("meta"), atol=0)
    failure(agree, torch.ones(3, 2, device="meta"), ONES.to("meta"), atol=0)


@pytest.mark.parametrize("expected", [True, "text", None, [1.0], {"a": 1}])
def test_agree_refuses_what_it_cannot_compare_as_an_error_of_ours(expected):
    with pytest.raises(TypeError, match="use equal"):
        agree(1.0, expected, atol=0)
