"""What student code raises, changes or returns instead of an object or data fails the check in words."""

import math

import numpy as np
import pytest
import torch
from compare_cases import failure
from torch.nn import functional as F

from autograder.checks import (
    CheckFailure,
    agree,
    equal,
    expect,
    no_gradient,
    number,
    raises_value_error,
    tensor,
    tuple_of,
)

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
