"""A student's module takes weights by name, gives the gradients that are asked for, and says what does not fit."""

import pytest
import torch
from session_asker import LINEAR, Asker, Kept


def test_load_sets_parameters_by_name_in_place():
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    weights = {"q.weight": torch.arange(6.0).reshape(2, 3), "q.bias": torch.tensor([1.0, 2.0])}
    assert asker.ask("load", "", handle=head, weights=weights) == {"value": None}
    got = asker.call("", torch.eye(3), handle=head)["value"]
    assert torch.equal(got, torch.eye(3) @ weights["q.weight"].T + weights["q.bias"])


@pytest.mark.parametrize(
    ("name", "weight", "message"),
    [
        ("k.weight", torch.zeros(2, 3), "Head has no parameter 'k.weight'; its parameters are: q.weight, q.bias"),
        ("q.weight", torch.zeros(3, 2), "Head's parameter 'q.weight' has shape (2, 3), expected (3, 2)"),
    ],
)
def test_load_says_what_does_not_fit_and_changes_nothing(name, weight, message):
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    before = asker.ask("get", "q.bias", handle=head)["value"]
    reply = asker.ask("load", "", handle=head, weights={"q.bias": torch.full((2,), 9.0), name: weight})
    assert reply["error"]["message"] == message
    assert torch.equal(asker.ask("get", "q.bias", handle=head)["value"], before)


def test_load_and_shapes_say_that_a_plain_object_has_no_parameters():
    asker = Asker(LINEAR)
    plain = asker.call("Plain")["value"].handle
    assert "is not an nn.Module" in asker.ask("load", "", handle=plain, weights={})["error"]["message"]
    assert "is not an nn.Module" in asker.ask("shapes", "", handle=plain)["error"]["message"]


def test_a_tied_weight_can_be_loaded_under_both_names_and_is_listed_once():
    asker = Asker(LINEAR)
    tied = asker.call("Tied")["value"].handle
    assert asker.ask("shapes", "", handle=tied) == {"value": {"a.weight": (2, 2)}}
    assert asker.ask("load", "", handle=tied, weights={"b.weight": torch.eye(2)}) == {"value": None}
    assert torch.equal(asker.ask("get", "a.weight", handle=tied)["value"], torch.eye(2))


def test_gradients_are_those_of_arguments_and_parameters():
    asker = Asker(LINEAR)
    head = asker.call("Head", unused=True)["value"].handle
    x, up = torch.randn(5, 3), torch.randn(5, 2)
    reply = asker.ask("gradients", "", x, handle=head, upstream=up)
    weight = asker.ask("get", "q.weight", handle=head)["value"]
    torch.testing.assert_close(reply["gradients"]["inputs"][0], up @ weight)
    torch.testing.assert_close(reply["gradients"]["parameters"]["q.weight"], up.T @ x)
    torch.testing.assert_close(reply["gradients"]["parameters"]["q.bias"], up.sum(0))
    assert reply["gradients"]["parameters"]["extra"] is None
    assert reply["value"].shape == (5, 2)


def test_a_method_is_differentiated_with_its_owners_parameters_and_unused_outputs():
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    x, up = torch.randn(5, 3), torch.randn(5, 2)
    reply = asker.ask("gradients", "pair", x, handle=head, upstream=(up, None))
    torch.testing.assert_close(reply["gradients"]["parameters"]["q.weight"], up.T @ x)


def test_a_frozen_parameter_and_an_integer_argument_have_no_gradient():
    asker = Asker(LINEAR)
    head = asker.call("Head", frozen=True)["value"].handle
    reply = asker.ask("gradients", "", torch.randn(5, 3), handle=head, upstream=torch.randn(5, 2))
    assert reply["gradients"]["parameters"]["q.bias"] is None
    assert reply["gradients"]["parameters"]["q.weight"] is not None
    x, index, up = torch.randn(4), torch.tensor([2, 0]), torch.tensor([1.0, 10.0])
    reply = asker.ask("gradients", "gather", x, index, upstream=up)
    assert reply["gradients"]["inputs"][1] is None
    assert reply["gradients"]["inputs"][0].tolist() == [10, 0, 1, 0]


def test_an_output_that_nothing_flows_back_from_gives_no_gradients():
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    reply = asker.ask("gradients", "constant", torch.randn(5, 3), handle=head, upstream=torch.randn(5, 2))
    assert reply["gradients"] == {"inputs": [None], "parameters": {"q.weight": None, "q.bias": None}}


def test_an_output_of_another_shape_gives_the_output_and_no_gradients():
    reply = Asker(LINEAR).ask("gradients", "wrong", torch.randn(5, 3), upstream=torch.randn(5, 3))
    assert set(reply) == {"value"}


def test_a_probe_is_built_of_the_suites_text_and_given_to_student_code():
    asker = Asker("def run(layer, x): return layer(x) + 1\n")
    source = "class Double:\n    def __init__(self, by):\n        self.by = by\n"
    source += "    def __call__(self, x):\n        return self.by * x\n"
    probe = asker.ask("probe", "Double", 10, source=source)["value"].handle
    assert asker.call("run", Kept(probe), 4) == {"value": 41}
