"""What is equal is so in value and in type, and where it is not the first difference is told."""

import numpy as np
import pytest
import torch
from compare_cases import NAN, ONES, failure

from autograder.checks import equal


@pytest.mark.parametrize(
    "value",
    [
        3,
        "text",
        None,
        True,
        1.5,
        [1, "a", None],
        (1, (2, [3])),
        {"q.weight": (6, 24), "deep": {"a": [1]}},
        torch.tensor([True, False]),
        torch.arange(3),
        np.arange(3),
        {"a": torch.arange(3), "b": [np.arange(2)]},
        torch.float32,
        {},
        [],
    ],
    ids=str,
)
def test_equal_passes_what_is_equal(value):
    equal(value, value)


def test_equal_takes_a_size_for_the_tuple_that_crossed():
    equal((2, 3), ONES.shape)
    equal({"a": (2, 3)}, {"a": ONES.shape})


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (4, 3, "expected 3, got 4"),
        (True, 1, "expected 1, got True"),
        (1, True, "expected True, got 1"),
        (1.0, 1, "expected 1, got 1.0"),
        (False, None, "expected None, got False"),
        ("3", 3, "expected 3, got '3'"),
        ((1, 2), [1, 2], "expected [1, 2], got (1, 2)"),
        ([1, True], [1, 1], "expected [1, 1], got [1, True]"),
        ([1], [1, 2], "expected [1, 2], got [1]"),
        ({"a": 3}, {"a": (1, 2)}, "expected {'a': (1, 2)}, got {'a': 3}"),
        ({"a": 1}, {"b": 1}, "expected {'b': 1}, got {'a': 1}"),
        ({}, {"b": 1}, "expected {'b': 1}, got {}"),
        (3, {"a": 1}, "expected {'a': 1}, got 3"),
        (None, [1], "expected [1], got None"),
        (NAN, NAN, "expected nan, got nan"),
        (10**4000, 3, "expected 3, got int 1000"),
        (torch.tensor(3), 3, "expected 3, got Tensor () int64"),
        (ONES, [1], "expected [1], got Tensor (2, 3) float32"),
        (ONES > 0, ONES, "returned Tensor (2, 3) bool, expected Tensor (2, 3) float32"),
        (torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.int64), "returned Tensor (3,) int32, expected"),
        (torch.ones(1, dtype=torch.int64), torch.ones(3, dtype=torch.int64), "returned Tensor (1,) int64, expected"),
        (torch.tensor([NAN]), torch.tensor([NAN]), "1 of 1 values differ"),
        (np.arange(3), np.arange(3.0), "expected array (3,) float64, got array (3,) int64"),
        (np.arange(3), np.arange(1), "expected array (1,) int64, got array (3,) int64"),
        (
            {"a": torch.ones(2)},
            {"a": torch.zeros(2)},
            "at ['a']: expected Tensor (2,) float32, got Tensor (2,) float32",
        ),
        ({"a": torch.ones(2)}, {"a": 1}, "at ['a']: expected 1, got Tensor (2,) float32"),
        ({"a": 1}, {"a": torch.ones(2)}, "at ['a']: expected Tensor (2,) float32, got 1"),
        ({"a": np.ones(2)}, {"a": np.zeros(2)}, "expected"),
        (torch.float64, torch.float32, "expected float32, got float64"),
    ],
)
def test_equal_fails_what_differs_in_value_or_type_in_words(got, expected, words):
    assert words in failure(equal, got, expected).message


def test_equal_names_the_first_place_where_long_values_differ():
    expected = {f"layer.{i}.weight": (2, 3) for i in range(20)}
    message = failure(equal, {**expected, "layer.7.weight": (3, 2)}, expected, what="the parameters").message
    assert message == "the parameters at ['layer.7.weight']: expected (2, 3), got (3, 2)."
    missing = {key: value for key, value in expected.items() if "7" not in key}
    assert "at ['layer.7.weight']: expected (2, 3), got nothing" in failure(equal, missing, expected).message
    assert "at ['extra']: expected nothing, got 1" in failure(equal, {**expected, "extra": 1}, expected).message
    assert "at [150]: expected 0, got 1" in failure(equal, [0] * 150 + [1] + [0] * 9, [0] * 160).message


def test_equal_counts_what_differs_and_draws_masks():
    got, expected = torch.ones(3, 3).bool(), torch.ones(3, 3).bool().tril()
    found = failure(equal, got, expected, picture=True)
    assert "3 of 9 values differ" in found.message
    assert "at [0, 1]" in found.message
    assert "■ · ·" in found.picture


def test_equal_of_meta_tensors_compares_their_kind():
    equal(ONES.to("meta"), ONES.to("meta"))
    failure(equal, ONES.to("meta"), ONES)
