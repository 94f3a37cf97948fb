"""Whatever a worker's frame claims to hold, the grader reads a value or says that the protocol was violated."""

import json
import time

import pytest
import torch
from wire_bytes import raw_frame, reader

from autograder.wire import REPLY_LIMITS, Array, ProtocolViolation, decode, read_frame

ARRAYS = [Array("float32", (2,), b"\0" * 8), Array("bfloat16", (1,), b"\0\0"), Array("float32", (2**62, 0), b"")]


@pytest.mark.parametrize(
    "node",
    [
        [],
        [1, 2],
        {},
        {"unknown": 1},
        {"float": "1.5"},
        {"float": 1.5},
        {"float": ["nan"]},
        {"float": None},
        {"value": 1},
        {"array": 1},  # bfloat16, which numpy has not
        {"array": 2},  # more than numpy can index
        {"tensor": -1},
        {"tensor": 3},
        {"tensor": True},
        {"tensor": 0.0},
        {"tensor": "0"},
        {"tensor": 10**30},
        {"tensor": None},
        {"list": {}},
        {"list": "ab"},
        {"list": None},
        {"tuple": 3},
        {"dict": {}},
        {"dict": [1]},
        {"dict": ["ab"]},
        {"dict": [[1]]},
        {"dict": [[1, 2, 3]]},
        {"dict": [[{"list": []}, 1]]},
        {"dict": [[{"dict": []}, 1]]},
        {"dict": [[{"array": 0}, 1]]},
        {"dtype": "nn"},
        {"dtype": "onnx"},
        {"dtype": "Tensor"},
        {"dtype": "__name__"},
        {"dtype": "float32.itemsize"},
        {"dtype": 3},
        {"dtype": ["float32"]},
        {"dtype": None},
        {"generator": -(2**63) - 1},
        {"generator": 2**64},
        {"generator": 1.0},
        {"generator": "1"},
        {"generator": True},
        {"meta": {}},
        {"meta": []},
        {"meta": {"shape": [2**62], "dtype": "float32"}},
        {"meta": {"shape": [2**70], "dtype": "float32"}},
        {"meta": {"shape": [2**40, 2**40], "dtype": "float32"}},
        {"meta": {"shape": [-1], "dtype": "float32"}},
        {"meta": {"shape": [1.5], "dtype": "float32"}},
        {"meta": {"shape": "ab", "dtype": "float32"}},
        {"meta": {"shape": [1] * 13, "dtype": "float32"}},
        {"meta": {"shape": [1], "dtype": "complex64"}},
        {"meta": {"shape": [1], "dtype": ["float32"]}},
        {"handle": 1},
        {"handle": [1]},
        {"handle": "ab"},
        {"handle": [1, 2]},
        {"handle": ["1", "x"]},
        {"handle": [1.0, "x"]},
        {"handle": {"1": 1, "x": 2}},
        {"list": [], "requires_grad": True},
        {"float": "nan", "requires_grad": True},
        {"list": [], "tensor": 0},
    ],
    ids=lambda node: json.dumps(node)[:40],
)
def test_a_node_that_encode_never_writes_is_a_violation(node):
    with pytest.raises(ProtocolViolation):
        decode(node, ARRAYS)


def test_a_number_beyond_the_floats_is_a_violation():
    for text in ("1e999", "-1e999"):
        header, _ = read_frame(reader(raw_frame(b'{"value": %s}' % text.encode())), REPLY_LIMITS)
        with pytest.raises(ProtocolViolation):
            decode(header["value"], [])


@pytest.mark.parametrize("kind", ["list", "tuple"])
def test_deep_nesting_is_a_violation(kind):
    node: object = 1
    for _ in range(100):
        node = {kind: [node]}
    with pytest.raises(ProtocolViolation, match="nested too deeply"):
        decode(node, [])


def test_a_value_of_too_many_parts_is_a_violation():
    with pytest.raises(ProtocolViolation, match="too many parts"):
        decode({"list": [{"list": [0] * 1000}] * 1000}, [])


def test_one_array_cannot_be_copied_many_times():
    with pytest.raises(ProtocolViolation, match="not sent"):
        decode({"list": [{"tensor": 0}, {"tensor": 0}]}, ARRAYS)


def test_many_generators_are_a_violation():
    with pytest.raises(ProtocolViolation, match="too many generators"):
        decode({"list": [{"generator": 1}] * 1000}, [])


def test_keys_that_collide_are_refused_before_they_cost_anything():
    # Multiples of 2**61 - 1 all have the hash 0: a dict of them is built in quadratic time.
    node = {"dict": [[i * (2**61 - 1), 0] for i in range(1, 60_000)]}
    start = time.process_time()
    with pytest.raises(ProtocolViolation, match="collide"):
        decode(node, [])
    assert time.process_time() - start < 2


def test_a_bool_of_any_byte_is_true_or_false_and_nothing_else():
    node, arrays = {"tuple": [{"tensor": 0}, {"array": 1}]}, [Array("bool", (4,), b"\0\1\2\xff")] * 2
    for got in decode(node, arrays):
        assert got.tolist() == [False, True, True, True]
        assert bytes(got.numpy() if isinstance(got, torch.Tensor) else got) == b"\0\1\1\1"


def test_an_empty_tensor_of_a_claimed_huge_shape_takes_no_memory():
    got = decode({"tensor": 2}, ARRAYS)
    assert got.shape == (2**62, 0)
    assert got.numel() == 0


def test_reading_a_dtype_imports_nothing():
    import sys

    before = set(sys.modules)
    for name in ("onnx", "_dynamo", "_inductor", "_export"):  # what torch imports when it is asked for
        with pytest.raises(ProtocolViolation):
            decode({"dtype": name}, [])
    assert set(sys.modules) == before


def test_a_long_type_name_is_cut():
    assert len(decode({"handle": [1, "x" * 10_000]}, []).type_name) == 80
