"""A failure is named only where exactly one known mistake gives it, to rounding and no further."""

import pytest
import torch
from known_failures import catalogue, exact, raised, value, values

from autograder.checks import CheckFailure, agree, equal, expect
from autograder.checks.diagnosis import diagnose
from autograder.checks.failures import restart_steps

# -- naming --------------------------------------------------------------------------------------------------------


def test_the_only_mistake_that_fits_is_named():
    lookup = catalogue(a={"first": value(values(1, 5)), "second": value(values(2, 5))})
    assert diagnose({"a": value(values(1, 5) + 1e-7)}, lookup) == {"a": "first"}
    assert diagnose({"a": value(values(3, 5))}, lookup) == {}
    assert diagnose({"a": None}, lookup) == {}
    assert diagnose({"b": value(values(1, 5))}, lookup) == {}


def test_two_mistakes_that_fit_are_not_named():
    lookup = catalogue(a={"first": value(values(1, 5)), "second": value(values(1, 5))})
    assert diagnose({"a": value(values(1, 5))}, lookup) == {}


def test_another_check_settles_which_of_two_it_was():
    lookup = catalogue(
        a={"first": value(values(1, 5)), "second": value(values(1, 5))},
        b={"first": value(values(2, 5)), "second": value(values(3, 5))},
    )
    failures = {"a": value(values(1, 5)), "b": value(values(3, 5))}
    assert diagnose(failures, lookup) == {"a": "second", "b": "second"}


def test_weak_evidence_is_named_only_where_it_explains_everything():
    weak = exact(True)
    lookup = catalogue(a={"first": weak}, b={"second": value(values(1, 5))}, c={"first": exact(False)})
    # first must fail c as well, so it explains a alone only where c was not run
    assert diagnose({"a": exact(True)}, lookup) == {"a": "first"}
    assert diagnose({"a": exact(True), "c": None}, lookup) == {}
    assert diagnose({"a": exact(True), "c": exact(False)}, lookup) == {"a": "first", "c": "first"}
    assert diagnose({"a": exact(True), "c": exact(None)}, lookup) == {}
    assert diagnose({"a": exact(True), "b": value(values(9, 5)), "c": exact(False)}, lookup) == {}


def test_weak_evidence_that_two_mistakes_explain_is_not_named():
    lookup = catalogue(a={"first": exact(True), "second": exact(True)})
    assert diagnose({"a": exact(True)}, lookup) == {}


def test_strong_evidence_is_named_beside_a_failure_of_another_kind():
    lookup = catalogue(a={"first": value(values(1, 5))}, b={"second": value(values(2, 5))})
    failures = {"a": value(values(1, 5)), "b": value(values(2, 5)), "c": raised("TypeError", "x")}
    assert diagnose(failures, lookup) == {"a": "first", "b": "second"}


@pytest.mark.parametrize(
    "failure",
    [
        raised("NotImplementedError", "part1: f is not written yet"),
        raised("TimedOut", ""),
        raised("Refused", "part1_toy.py defines no 'f'"),
    ],
)
def test_what_is_not_written_is_never_a_mistake(failure):
    def lookup(check_id):
        raise AssertionError("nothing needs to be replayed for this")

    assert diagnose({"a": failure}, lookup) == {}


def test_an_exception_is_weak_evidence():
    lookup = catalogue(a={"first": raised("IndexError", "7 is out of range")})
    assert diagnose({"a": raised("IndexError", "7 is out of range")}, lookup) == {"a": "first"}
    assert diagnose({"a": raised("IndexError", "8 is out of range")}, lookup) == {}
    assert diagnose({"a": raised("IndexError", "7 is out of range"), "b": exact(3)}, lookup) == {}


# -- from a comparison to a name -----------------------------------------------------------------------------------


def failed(compare, *args, **kwargs) -> CheckFailure:
    restart_steps()
    with pytest.raises(CheckFailure) as caught:
        compare(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_mistake_computed_in_another_order_is_still_named(dtype):
    right = values(0, 6, 40).to(dtype)
    wrong, other = right * 1.5, -right  # far apart, since bfloat16 has eight bits
    lookup = catalogue(
        a={"half": failed(agree, wrong, right, atol=1e-9), "minus": failed(agree, other, right, atol=1e-9)},
    )
    again = (right.double() * 3 / 2).to(dtype)
    if dtype is not torch.float64:
        again = torch.nextafter(again.float(), again.float() + 1).to(dtype) if dtype is torch.float32 else again
    assert diagnose({"a": failed(agree, again, right, atol=1e-9)}, lookup) == {"a": "half"}


def test_numbers_masks_and_conditions_can_be_named_too():
    lookup = catalogue(
        number={"doubled": failed(agree, 2.5, 1.25, atol=1e-6), "tripled": failed(agree, 3.75, 1.25, atol=1e-6)},
        mask={"flipped": failed(equal, torch.ones(3, 3).bool().triu(), torch.ones(3, 3).bool().tril())},
        condition={"shifted": failed(expect, False, "no", evidence=values(4, 5))},
    )
    assert diagnose({"number": failed(agree, 2.5 + 1e-9, 1.25, atol=1e-6)}, lookup) == {"number": "doubled"}
    mask = failed(equal, torch.ones(3, 3).bool().tril().mT, torch.ones(3, 3).bool().tril())
    assert diagnose({"mask": mask}, lookup) == {"mask": "flipped"}
    condition = failed(expect, False, "no", evidence=values(4, 5) + 1e-7)
    assert diagnose({"condition": condition}, lookup) == {"condition": "shifted"}
