"""Whatever bytes a worker writes, the grader reads a value or says that the protocol was violated."""

import json
import math
import struct
import time
import tracemalloc
from collections import OrderedDict

import numpy as np
import pytest
import torch

from autograder.wire import (
    REPLY_LIMITS,
    Array,
    FrameLimits,
    Opaque,
    ProtocolViolation,
    decode,
    encode,
    pack,
    read_frame,
)

SMALL = FrameLimits(header_bytes=1 << 16, body_bytes=1 << 16)


def refuse(value: object) -> None:
    raise AssertionError(f"{value!r} was taken for something that must stay where it is")


def reader(data: bytes):
    """Read from bytes as from a socket that is closed after them."""
    place = 0

    def read_exactly(size: int) -> bytes:
        nonlocal place
        if place + size > len(data):
            raise EOFError
        place += size
        return data[place - size : place]

    return read_exactly


def through(value, handle_of=refuse):
    """Send a value over the wire and read it again."""
    arrays: list[Array] = []
    frame = pack({"value": encode(value, arrays, handle_of)}, arrays)
    header, back = read_frame(reader(frame), REPLY_LIMITS)
    return decode(header["value"], back)


def raw_frame(head: bytes, body: bytes = b"") -> bytes:
    return struct.pack("!II", len(head), len(body)) + head + body


def safetensors_body(entries: object, data: bytes = b"", size: int | None = None) -> bytes:
    head = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(head) if size is None else size) + head + data


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def read_body(body: bytes):
    return read_frame(reader(raw_frame(b"{}", body)), REPLY_LIMITS)[1]


# -- values that arrive as they were sent --------------------------------------------------------------------------


DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (2, 0, 3), (1,) * 12])
def test_a_tensor_of_every_dtype_and_shape_comes_back_bit_for_bit(dtype, shape):
    sent = (torch.arange(math.prod(shape)).reshape(shape) % 5 - 2).to(getattr(torch, dtype))
    got = through(sent)
    assert type(got) is torch.Tensor
    assert (got.shape, got.dtype, got.device) == (sent.shape, sent.dtype, sent.device)
    assert torch.equal(got, sent)


@pytest.mark.parametrize(
    "sent",
    [
        torch.arange(12.0).reshape(3, 4).t(),
        torch.arange(12.0)[::3],
        torch.arange(6.0).expand(4, 6),
        torch.arange(4.0).flip(0),
        torch.tensor([1 + 2j, 3 - 4j]).conj().imag,
        torch._neg_view(torch.arange(3.0)),
    ],
    ids=["transposed", "strided", "expanded", "flipped", "imaginary part", "negative view"],
)
def test_a_tensor_comes_back_whatever_its_strides(sent):
    assert torch.equal(through(sent), sent)


def test_nan_keeps_its_place_and_infinities_their_sign():
    sent = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
    got = through(sent)
    assert got.view(torch.int32).tolist() == sent.view(torch.int32).tolist()


def test_what_comes_back_is_fresh_and_writable():
    sent = torch.zeros(3)
    got, array = through(sent), through(np.zeros(3))
    got.add_(1)
    array += 1
    assert sent.sum() == 0


def test_requires_grad_is_told_and_not_kept():
    got = through(torch.zeros(2, requires_grad=True))
    assert got.student_requires_grad is True
    assert got.requires_grad is False
    assert not hasattr(through(torch.zeros(2)), "student_requires_grad")


def test_a_parameter_is_read_as_the_tensor_that_it_holds():
    got = through(torch.nn.Parameter(torch.ones(2)))
    assert type(got) is torch.Tensor
    assert got.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bfloat16"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_an_array_of_every_dtype_and_shape_comes_back(dtype, shape):
    sent = np.asarray(np.arange(math.prod(shape)).reshape(shape) % 3).astype(dtype)
    got = through(sent)
    assert type(got) is np.ndarray
    assert (got.shape, got.dtype) == (sent.shape, sent.dtype)
    assert (got == sent).all()


def test_an_array_comes_back_whatever_its_strides_and_byte_order():
    for sent in (np.arange(12.0).reshape(3, 4).T, np.arange(6)[::-2], np.arange(3, dtype=">f4")):
        got = through(sent)
        assert (got == sent).all()
        assert got.dtype.name == sent.dtype.name


@pytest.mark.parametrize(
    "number",
    [np.float64(0.1), np.float32(0.5), np.float16(2), np.int64(7), np.int32(-7), np.bool_(True), np.float64("inf")],
)
def test_a_number_of_numpy_is_a_number(number):
    got = through(number)
    assert type(got) in (bool, int, float)
    assert got == number.item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16])
def test_a_dtype_comes_back_as_itself(dtype):
    assert through(dtype) is dtype


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**63, 2**64 - 1])
def test_a_generator_draws_the_same_numbers_on_the_other_side(seed):
    sent = torch.Generator().manual_seed(seed)
    assert torch.equal(torch.rand(4, generator=through(sent)), torch.rand(4, generator=sent))


def test_a_meta_tensor_keeps_shape_and_dtype_and_has_no_bytes():
    got = through(torch.empty(2**40, 3, dtype=torch.float16, device="meta"))
    assert (got.shape, got.dtype, got.device.type) == ((2**40, 3), torch.float16, "meta")


def test_a_size_is_a_tuple_and_an_ordered_dict_is_a_dict():
    assert through(torch.zeros(2, 3).shape) == (2, 3)
    got = through(OrderedDict(b=1, a=2))
    assert type(got) is dict
    assert list(got) == ["b", "a"]


class Liar(torch.Tensor):
    """Agrees with everything."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True


class MyTensor(torch.Tensor):
    """A tensor, but not exactly."""


class TensorList(list):
    """Not a list, exactly."""


class Number(float):
    """Not a float, exactly."""


class FakeOrderedDict:
    """Called like a dict that is known."""


FakeOrderedDict.__name__ = "OrderedDict"


@pytest.mark.parametrize(
    "value",
    [
        torch.zeros(2).as_subclass(Liar),
        torch.zeros(2).as_subclass(MyTensor),
        TensorList([1]),
        Number(1.0),
        FakeOrderedDict(),
        torch.zeros(2, dtype=torch.complex64),
        torch.zeros(2, 2).to_sparse(),
        torch.zeros((1,) * 13),
        np.array(["text"]),
        np.array([object()]),
        object(),
        {1, 2},
        torch.nn.Linear(1, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_exact_types_cross_and_all_else_stays_as_a_handle(value):
    kept = []

    def handle_of(thing):
        kept.append(thing)
        return {"handle": [7, "Thing"]}

    assert through(value, handle_of) == Opaque(7, "Thing")
    assert kept[0] is value


# -- values that are too much to be sent ---------------------------------------------------------------------------


def test_a_value_that_holds_itself_is_refused_in_words():
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested more than"):
        encode(loop, [], refuse)


def test_a_value_of_too_many_parts_is_refused_in_words():
    with pytest.raises(ValueError, match="more than 200000 parts"):
        encode([0] * 200_001, [], refuse)


def test_an_integer_that_json_cannot_carry_is_refused_in_words():
    assert through(-(10**3999)) == -(10**3999)
    for number in (10**4000, -(10**5000)):
        with pytest.raises(ValueError, match="more than 4000 digits"):
            encode(number, [], refuse)


def test_a_frame_that_the_receiver_would_not_take_is_not_sent():
    with pytest.raises(ValueError, match="larger than the receiver accepts"):
        pack({"value": "x" * SMALL.header_bytes}, [], SMALL)
    with pytest.raises(ValueError, match="larger than the receiver accepts"):
        pack({}, [Array("uint8", (SMALL.body_bytes,), b"x" * SMALL.body_bytes)], SMALL)


# -- frames that are none ------------------------------------------------------------------------------------------


def sample() -> bytes:
    arrays: list[Array] = []
    value = {"x": [torch.arange(6.0).reshape(2, 3), np.arange(4), None, "text", {"float": 1.5}]}
    return pack({"id": 3, "value": encode(value, arrays, refuse)}, arrays)


def test_a_frame_cut_at_any_byte_is_an_end_and_never_a_value():
    frame = sample()
    for end in range(len(frame)):
        with pytest.raises(EOFError):
            read_frame(reader(frame[:end]), REPLY_LIMITS)


@pytest.mark.parametrize("lengths", [(2**32 - 1, 0), (0, 2**32 - 1), (2**32 - 1, 2**32 - 1)])
def test_claimed_sizes_are_refused_before_anything_is_read_or_allocated(lengths):
    asked = []

    def read_exactly(size):
        asked.append(size)
        return struct.pack("!II", *lengths)

    with pytest.raises(ProtocolViolation, match="over the limit"):
        read_frame(read_exactly, REPLY_LIMITS)
    assert asked == [8]


def test_the_limits_themselves_are_allowed_and_one_byte_more_is_not():
    head = json.dumps({"x": "y" * (SMALL.header_bytes - 8)}).encode()
    head = head[: SMALL.header_bytes - 2] + b'"}'
    assert len(head) == SMALL.header_bytes
    read_frame(reader(raw_frame(head)), SMALL)
    with pytest.raises(ProtocolViolation):
        read_frame(reader(raw_frame(head + b" ")), SMALL)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"null",
        b"[]",
        b"3",
        b'"text"',
        b"{",
        b"{}{}",
        b"\xff\xfe{}",
        b'{"x": NaN}',
        b'{"x": Infinity}',
        b'{"x": -Infinity}',
        b'{"x": 0x10}',
        b'{"x": ' + b"9" * 5000 + b"}",
        b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"x":' * 50_000,
    ],
    ids=lambda head: repr(head[:12]),
)
def test_a_header_that_is_no_json_object_is_a_violation(head):
    with pytest.raises(ProtocolViolation):
        read_frame(reader(raw_frame(head)), REPLY_LIMITS)


@pytest.mark.parametrize(
    "body",
    [
        b"x",
        b"1234567",
        b"\0" * 8,
        safetensors_body(b"{}", size=2**64 - 1),
        safetensors_body(b"{}", size=100),
        safetensors_body(b"not json"),
        safetensors_body(b"[]"),
        safetensors_body({"0": entry()}),
        safetensors_body({"0": entry()}, b"1234567"),
        safetensors_body({"0": entry(offsets=(0, 8))}, b"12345678"),
        safetensors_body({"0": entry(offsets=(4, 0))}, b"1234"),
        safetensors_body({"0": entry(offsets=(-4, 0))}, b"1234"),
        safetensors_body({"0": entry(shape=(2**63, 2))}, b"1234"),
        safetensors_body({"0": entry(shape=(2**64 - 1,))}, b"1234"),
        safetensors_body({"0": entry(shape=(-1,))}, b"1234"),
        safetensors_body({"0": entry(shape=(1.5,))}, b"1234"),
        safetensors_body({"0": entry(shape=(1,) * 13)}, b"1234"),
        safetensors_body({"0": entry(dtype="C64")}, b"12345678"),
        safetensors_body({"0": entry(dtype="F8_E4M3", offsets=(0, 1))}, b"1"),
        safetensors_body({"0": entry(dtype="U64", offsets=(0, 8))}, b"12345678"),
        safetensors_body({"0": entry(dtype="float32")}, b"1234"),
        safetensors_body({"1": entry()}, b"1234"),
        safetensors_body({"x": entry()}, b"1234"),
        safetensors_body({"00": entry()}, b"1234"),
        safetensors_body({"0": entry(), "1": entry()}, b"1234"),
        safetensors_body({"0": entry(), "2": entry(offsets=(4, 8))}, b"12345678"),
        safetensors_body({"0": {}}, b"1234"),
        safetensors_body({"0": None}, b"1234"),
        safetensors_body({"0": entry(), "__metadata__": {"a": 1}}, b"1234"),
    ],
    ids=range(29),
)
def test_a_body_that_is_not_the_listed_arrays_is_a_violation(body):
    with pytest.raises(ProtocolViolation):
        read_body(body)


def test_a_body_of_entries_alone_does_not_grow_in_memory():
    # 128 MiB of empty arrays would be three million Python objects.
    entries = (
        b"{" + b",".join(b'"%d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % i for i in range(100_000)) + b"}"
    )
    body = safetensors_body(entries)
    assert len(body) > REPLY_LIMITS.header_bytes
    tracemalloc.start()
    with pytest.raises(ProtocolViolation, match="list of arrays"):
        read_body(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * len(body)


# -- nodes that are none -------------------------------------------------------------------------------------------

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
