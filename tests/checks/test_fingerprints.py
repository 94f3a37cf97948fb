"""Fingerprints are equal where values differ by rounding, differ where they differ by more, and hold no value."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from known_failures import TOLERANCE, catalogue, exact, raised, value, values

from autograder.checks import CheckFailure, Handle
from autograder.checks.diagnosis import Fingerprint, diagnose, fingerprint, fits

SHAPES = [(), (1,), (5,), (3, 5, 6), (64, 64), (150, 200)]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.sampled_from(["noise", "up", "down", "alternating"]))
def test_fingerprints_are_equal_under_any_rounding(shape, seed, kind):
    base = values(seed, *shape, dtype=torch.float64)
    noise = {
        "noise": values(seed + 1, *shape, dtype=torch.float64).clamp(-1, 1),
        "up": torch.ones(shape, dtype=torch.float64),
        "down": -torch.ones(shape, dtype=torch.float64),
        "alternating": (torch.arange(math.prod(shape)).reshape(shape) % 2 * 2.0 - 1).double(),
    }[kind]
    mine, other = (fingerprint(value(each).evidence) for each in (base + TOLERANCE * noise, base))
    assert fits(mine, other, TOLERANCE)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6))
def test_fingerprints_differ_where_values_differ_by_ten_tolerances(shape, seed):
    base = values(seed, *shape, dtype=torch.float64)
    signs = values(seed + 1, *shape, dtype=torch.float64).sign()
    mine, other = (fingerprint(value(each).evidence) for each in (base + 10 * TOLERANCE * signs, base))
    assert not fits(mine, other, TOLERANCE)


def test_one_value_far_off_in_a_matrix_is_seen():
    base = values(0, 64, 64, dtype=torch.float64)
    other = base.clone()
    other[40, 3] += 1e-3
    assert not fits(fingerprint(value(other).evidence), fingerprint(value(base).evidence), TOLERANCE)


def test_a_permutation_of_the_same_values_is_another_fingerprint():
    base = values(0, 5, 6)
    for moved in (base.flip(0), base.flip(1), base.roll(1, 0)):
        assert not fits(fingerprint(value(moved).evidence), fingerprint(value(base).evidence), 1e-3)


@pytest.mark.parametrize(
    "other",
    [
        value(values(0, 5, 6), step=1),
        value(values(0, 6, 5)),
        value(values(0, 5, 6).double()),
        value(values(0, 30)),
        exact([1.0]),
        raised("ValueError", "no"),
    ],
)
def test_place_kind_shape_and_dtype_must_be_the_same(other):
    assert not fits(fingerprint(value(values(0, 5, 6)).evidence), fingerprint(other.evidence), 1e9)


def test_where_values_are_not_finite_is_part_of_the_fingerprint():
    def marked(**places):
        base = values(0, 5)
        for place, content in places.items():
            base[int(place[1:])] = content
        return fingerprint(value(base).evidence)

    nan, inf = float("nan"), float("inf")
    assert fits(marked(x1=nan), marked(x1=nan), TOLERANCE)
    different = [marked(), marked(x1=nan), marked(x2=nan), marked(x1=inf), marked(x1=-inf), marked(x1=nan, x2=nan)]
    for i, mine in enumerate(different):
        for other in different[i + 1 :]:
            assert not fits(mine, other, 1e9)


@pytest.mark.parametrize(
    ("content", "telling"),
    [
        (torch.tensor([True, False]), True),
        (torch.tensor([True, True]), False),
        (torch.tensor([3, 4]), True),
        (torch.zeros(3, dtype=torch.int64), False),
        (torch.zeros(0, dtype=torch.int64), False),
        (7, True),
        (0, False),
        (1, False),
        (True, False),
        (2.5, True),
        ("text", False),
        (None, False),
        ([1, 2], False),
        (10**400, True),
    ],
    ids=str,
)
def test_constants_and_truth_values_tell_little(content, telling):
    assert fingerprint(exact(content).evidence).telling is telling


@pytest.mark.parametrize("content", [torch.ones(4), torch.zeros(0), torch.tensor(2.0), torch.full((2,), float("nan"))])
def test_a_constant_tensor_tells_little(content):
    assert fingerprint(value(content).evidence).telling is False


@pytest.mark.parametrize("content", [float("nan"), float("inf"), 10**400])
def test_a_number_that_is_not_finite_has_a_fingerprint_and_tells_little(content):
    mine = fingerprint(value(content).evidence)
    assert (mine.telling, mine.sketch) == (False, ())
    assert fits(mine, fingerprint(value(content).evidence), TOLERANCE)
    assert not fits(mine, fingerprint(value(1.0).evidence), 1e9)


@pytest.mark.parametrize(
    "content",
    [
        Handle(None, 3, "Head"),
        (torch.ones(2), Handle(None, 3, "Head")),
        {"a": [torch.ones(2, device="meta"), None]},
        torch.ones(2, device="meta"),
        torch.float32,
        "\ud800",
        np.ones((2, 3), "float32"),
        np.ones(3, bool),
        values(1, 300, 200),
        values(1, 4).bfloat16(),
    ],
    ids=lambda content: type(content).__name__,
)
def test_anything_that_a_student_can_return_has_a_fingerprint(content):
    first, second = (fingerprint(evidence) for evidence in (exact(content).evidence, exact(content).evidence))
    assert fits(first, second, 0.0)
    read = Fingerprint.from_json(json.loads(json.dumps(first.to_json())))
    assert fits(first, read, 1e-6)


def test_handles_are_told_apart_by_their_class_and_not_by_their_number():
    def of(number, name):
        return fingerprint(exact(Handle(None, number, name)).evidence)

    assert fits(of(1, "Head"), of(2, "Head"), 0)
    assert not fits(of(1, "Head"), of(1, "Block"), 0)


def test_what_was_written_down_fits_what_comes_later():
    base = values(0, 3, 5, 6)
    written = json.loads(json.dumps(fingerprint(value(base).evidence).to_json()))
    assert fits(fingerprint(value(base + 1e-7).evidence), Fingerprint.from_json(written), TOLERANCE)


def test_fingerprints_do_not_hold_the_values():
    base = values(0, 40)
    written = json.dumps(fingerprint(value(base).evidence).to_json())
    assert not any(f"{float(x):.6g}" in written for x in base)
    assert len(fingerprint(value(base).evidence).sketch) == 16


def test_a_death_has_no_fingerprint():
    assert fingerprint(None) is None
    assert diagnose({"a": CheckFailure("it died")}, catalogue(a={"m": value(values(0, 3))})) == {}
