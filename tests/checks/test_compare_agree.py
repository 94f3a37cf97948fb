"""Each comparison passes what is right, fails what is not, and says in words what came instead."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from autograder.checks import (
    CheckFailure,
    Student,
    agree,
    equal,
    expect,
    no_gradient,
    number,
    raises_value_error,
    tensor,
    tuple_of,
)
from autograder.checks.failures import restart_steps
from autograder.checks.local import LocalConnection
from autograder.wire import WorkerDied, WorkerTimedOut


def failure(compare, *args, **kwargs) -> CheckFailure:
    """Return how a comparison failed."""
    with pytest.raises(CheckFailure) as caught:
        compare(*args, **kwargs)
    assert caught.value.message
    assert "Traceback" not in caught.value.message
    return caught.value


def student_of(text: str) -> Student:
    connection = LocalConnection("part1_toy", {"part1_toy": text})
    connection.begin(0)
    assert connection.import_error is None
    return Student(connection)


MODULE = """
import torch
from torch import nn
class Mine(torch.Tensor):
    pass
class MyParameter(nn.Parameter):
    pass
class Head(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.q = nn.Linear(width, 2)
    def forward(self, x):
        return self.q(x)
    def me(self):
        return self
class Config:
    pass
def Factory(what):
    return {"tensor": torch.zeros(2, 3), "number": 3, "none": None, "list": [1], "object": Config()}[what]
def value(kind):
    x = torch.ones(2)
    return {
        "subclass": x.as_subclass(Mine), "parameter": MyParameter(x), "plain": nn.Parameter(x), "object": Config(),
        "complex": x.to(torch.complex64), "numpy": x.numpy(), "list": [1.0, 1.0], "none": None, "meta": x.to("meta"),
        "pair": (x, Config()),
    }[kind]
def boom(text="no"): raise ValueError(text)
def other(): raise TypeError("not that")
def odd(): raise UnicodeDecodeError("utf-8", b"x", 0, 1, "width 7")
def unwritten(): raise NotImplementedError("not written yet")
def fine(*args): return 1
def change(x): x.zero_()
"""


@pytest.fixture(scope="module")
def student():
    return student_of(MODULE)


NAN, INF = float("nan"), float("inf")
ONES = torch.ones(2, 3)


# -- agree ---------------------------------------------------------------------------------------------------------


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


# -- equal ---------------------------------------------------------------------------------------------------------


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


# -- the other comparisons -----------------------------------------------------------------------------------------


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


# -- what is called ------------------------------------------------------------------------------------------------


def test_raises_value_error_passes_one_that_says_what_was_wrong(student):
    raises_value_error(student.boom, "width 7 does not divide 26", mentions=["WIDTH", ("8", "7"), ("26",)])
    raises_value_error(student.odd, mentions=["width"])


@pytest.mark.parametrize(
    ("name", "args", "mentions", "words"),
    [
        ("fine", (), [], "fine() must raise ValueError (why), but returned int 1."),
        ("other", (), [], "other() must raise ValueError (why), but raised TypeError: not that"),
        ("unwritten", (), [], "but raised NotImplementedError: not written yet"),
        ("nothing", (), [], "nothing(): part1_toy.py defines no 'nothing'."),
        ("boom", ("no",), ["7"], "its message should say 7. It says: no"),
        ("boom", ("no",), [("7", "seven")], "should say 7 or seven"),
        ("boom", ("",), ["7"], "It says: (nothing)"),
        ("boom", ("mask",), ["mask", "5"], "should say 5"),
    ],
)
def test_raises_value_error_fails_in_words(student, name, args, mentions, words):
    target = getattr(student, name)
    assert words in failure(raises_value_error, target, *args, mentions=mentions, because="why").message


def test_an_exception_of_the_student_fails_the_check_with_their_traceback(student):
    found = failure(student.other)
    assert found.message == "other() raised TypeError: not that"
    assert 'File "part1_toy.py"' in found.traceback
    assert (found.evidence.kind, found.evidence.content) == ("raised", ("TypeError", "not that"))


def test_a_call_is_told_by_kinds_and_not_by_values(student):
    found = failure(student.boom, torch.ones(2, 3), None, "x" * 300, width=3)
    assert found.message.startswith("boom(Tensor (2, 3) float32, None, ")
    assert "width=3) raised TypeError" in found.message


def test_a_changed_argument_fails_the_check(student):
    message = failure(student.change, torch.ones(2)).message
    assert message.startswith("change(Tensor (2,) float32) changed argument 1 in place.")


# -- a student's object, or what comes in its place ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("tensor", "Factory(tensor) returned Tensor (2, 3) float32, expected an object of class Factory."),
        ("number", "Factory(number) returned int 3, expected an object of class Factory."),
        ("none", "Factory(none) returned None, expected an object of class Factory."),
        ("list", "Factory(list) returned list (int 1), expected an object of class Factory."),
    ],
)
def test_what_is_called_like_a_class_must_make_an_object(student, what, words):
    assert failure(student.Factory, what).message == words
    assert failure(student.Factory, what).evidence.kind == "exact"


def test_a_factory_of_objects_is_as_good_as_a_class(student):
    assert student.Factory("object").type_name == "Config"


USES = {
    "added": lambda x: x + 1,
    "added to": lambda x: 1 + x,
    "subtracted": lambda x: torch.ones(2) - x,
    "multiplied": lambda x: torch.ones(2) * x,
    "multiplied by a matrix": lambda x: torch.ones(2) @ x,
    "divided": lambda x: x / 2,
    "negated": lambda x: -x,
    "abs": abs,
    "compared": lambda x: x > 0,
    "equal": lambda x: x == 3,
    "unequal": lambda x: x != 3,
    "in a list": lambda x: 3 in x,
    "iterated": lambda x: list(x),
    "unpacked": lambda x: (lambda a, b: a)(*x),
    "indexed": lambda x: x[0],
    "measured": len,
    "made a float": float,
    "made an int": int,
    "asked for truth": lambda x: "yes" if x else "no",
    "summed": lambda x: sum([x]),
    "given to torch": torch.sum,
    "given to torch second": lambda x: torch.allclose(torch.ones(2), x),
    "given to torch in a list": lambda x: torch.stack([torch.ones(2), x]),
    "given to nn.functional": lambda x: F.softmax(x, dim=-1),
    "given to linear": lambda x: F.linear(torch.ones(2), x),
    "given to math": math.sqrt,
    "given to numpy": np.asarray,
    "an attribute of it indexed": lambda x: x.shape[0],
    "an attribute of it compared": lambda x: x.shape == (2,),
    "an attribute of it iterated": lambda x: list(x.shape),
    "agree": lambda x: agree(x, torch.ones(2), atol=1),
    "equal of suites": lambda x: equal(x, 3),
    "expect": lambda x: expect(x, "must hold"),
    "expect of a comparison": lambda x: expect(x > 3, "must hold"),
    "number": number,
    "tuple_of": lambda x: tuple_of(x, 2),
    "tensor": lambda x: tensor(x, shape=(2,)),
    "no_gradient": no_gradient,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_an_object_where_a_suite_goes_on_with_data_fails_the_check_in_words(student, use):
    message = failure(use, student.value("object")).message
    assert "Config" in message


def test_an_object_can_still_be_kept_in_sets_and_dicts_and_given_back(student):
    head = student.Head()
    assert len({head, head}) == 1
    assert student.fine(head, [head]) == 1


def test_a_head_is_asked_loaded_and_differentiated(student):
    head = student.Head()
    equal(head.shapes, {"q.weight": (2, 3), "q.bias": (2,)})
    weights = head.load({"q.weight": torch.ones(2, 3), "q.bias": torch.zeros(2)})
    agree(head(torch.ones(1, 3)), torch.full((1, 2), 3.0), atol=0)
    agree(head.get("q.weight"), weights["q.weight"], atol=0)
    grads = head.gradients(torch.ones(1, 3), upstream=torch.ones(1, 2))
    agree(grads.parameters["q.bias"], torch.ones(2), atol=0)
    assert head.me().type_name == "Head"
    assert head.shapes["q.bias"] == (2,)


def test_a_parameter_that_is_not_there_fails_the_check_in_words(student):
    head = student.Head()
    words = "Head has no parameter 'k.weight'; its parameters are: q.weight, q.bias."
    with pytest.raises(CheckFailure, match=r"Head has no parameter 'k\.weight'") as caught:
        head.shapes["k.weight"]
    assert caught.value.message == words
    with pytest.raises(CheckFailure, match="no parameter"):
        head.gradients(torch.ones(1, 3), upstream=torch.ones(1, 2)).parameters["k.weight"]
    assert head.shapes.get("k.weight") is None
    assert "Head has no parameter 'k.weight'" in failure(head.load, {"k.weight": torch.ones(1)}).message


def test_an_object_without_parameters_fails_the_check_in_words(student):
    config = student.Config()
    with pytest.raises(CheckFailure, match=r"Config is not an nn\.Module"):
        _ = config.shapes
    assert "is not an nn.Module" in failure(config.load, {}).message
    assert "has no attribute 'width'" in failure(config.get, "width").message
    assert "raised TypeError: 'Config' object is not callable" in failure(config).message
    assert "has no attribute 'forward'" in failure(config.forward, 1).message


def test_an_output_that_does_not_fit_the_upstream_is_told(student):
    message = failure(student.Head().gradients, torch.ones(1, 3), upstream=torch.ones(1, 5)).message
    assert message == "Head(Tensor (1, 3) float32) returned Tensor (1, 2) float32, expected Tensor (1, 5) float32."


# -- answers that no worker gives ----------------------------------------------------------------------------------


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


# -- places in a check ---------------------------------------------------------------------------------------------


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
