"""Any value that may cross the wall arrives as it was sent; any bytes at all give a value or a violation."""

import contextlib
import json
import math
import struct

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from wire_bytes import raw_frame, reader

from autograder.wire import REPLY_LIMITS, Array, Opaque, ProtocolViolation, decode, encode, pack, read_frame

quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

DTYPES = st.sampled_from(
    (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    )
)
SHAPES = st.lists(st.integers(0, 3), max_size=4)


@st.composite
def tensors(draw):
    """Make a tensor of random bytes, contiguous or not."""
    shape, dtype = draw(SHAPES), draw(DTYPES)
    count = math.prod(shape)
    if dtype is torch.bool:
        flat = torch.tensor(draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=torch.bool)
    else:
        size = count * dtype.itemsize
        data = draw(st.binary(min_size=size, max_size=size))
        flat = torch.frombuffer(bytearray(data), dtype=dtype) if data else torch.empty(0, dtype=dtype)
    value = flat.reshape(shape)
    return value.transpose(0, -1) if value.dim() > 1 and draw(st.booleans()) else value


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**3999), 10**3999)
    | st.floats()
    | st.text(st.characters(exclude_categories=[]), max_size=8)  # lone surrogates too
)
values = st.recursive(
    scalars | tensors() | DTYPES | st.builds(lambda t: t.float().numpy(), tensors()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(scalars | st.tuples(scalars, scalars), inner, max_size=4)
    ),
    max_leaves=10,
)


def frame_of(value) -> bytes:
    arrays: list[Array] = []
    return pack({"id": 1, "value": encode(value, arrays, lambda thing: {"handle": [1, "x"]})}, arrays, REPLY_LIMITS)


def read(frame: bytes):
    header, arrays = read_frame(reader(frame), REPLY_LIMITS)
    return decode(header.get("value"), arrays)


def same(got, sent) -> bool:
    """Compare by exact type and by bits, so that NaN equals NaN and -0.0 is not 0.0."""
    if type(got) is not type(sent):
        return False
    if isinstance(sent, torch.Tensor):
        bits = [t.contiguous().reshape(-1).view(torch.uint8).tolist() if t.numel() else [] for t in (got, sent)]
        return (got.shape, got.dtype) == (sent.shape, sent.dtype) and bits[0] == bits[1]
    if isinstance(sent, np.ndarray):
        return (got.shape, got.dtype) == (sent.shape, sent.dtype) and got.tobytes() == sent.tobytes()
    if isinstance(sent, dict):
        return len(got) == len(sent) and all(
            same(a, b) and same(got[a], sent[b]) for a, b in zip(got, sent, strict=True)
        )
    if isinstance(sent, list | tuple):
        return len(got) == len(sent) and all(same(a, b) for a, b in zip(got, sent, strict=True))
    if isinstance(sent, float):
        return struct.pack("d", got) == struct.pack("d", sent) or (math.isnan(got) and math.isnan(sent))
    return got == sent


def read_or_refuse(frame: bytes) -> None:
    """Read bytes that anybody may have written: a value, an end or a violation, and nothing else."""
    with contextlib.suppress(ProtocolViolation, EOFError):
        read(frame)


@quick
@given(values)
def test_any_value_arrives_as_it_was_sent(value):
    assert same(read(frame_of(value)), value)


@quick
@given(values, st.data())
def test_a_frame_cut_short_is_an_end(value, data):
    frame = frame_of(value)
    with pytest.raises(EOFError):
        read(frame[: data.draw(st.integers(0, len(frame) - 1))])


@settings(quick, max_examples=300)
@given(values, st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(1, 255)), min_size=1, max_size=4))
def test_flipped_bits_give_a_value_or_a_violation(value, flips):
    frame = bytearray(frame_of(value))
    for place, bits in flips:
        frame[place % len(frame)] ^= bits
    read_or_refuse(bytes(frame))


@quick
@given(values, st.integers(0, 1 << 32), st.integers(0, 1 << 32))
def test_wrong_lengths_give_a_value_or_a_violation(value, head, body):
    frame = frame_of(value)
    for lengths in ((head, body), (head % len(frame), body % len(frame))):
        read_or_refuse(struct.pack("!II", *(min(length, 2**32 - 1) for length in lengths)) + frame[8:])


@quick
@given(values)
def test_a_doubled_frame_is_read_once_and_then_once_more(value):
    frame = frame_of(value)
    rest = iter((frame + frame,))
    buffer = bytearray(next(rest))

    def read_exactly(size: int) -> bytes:
        if len(buffer) < size:
            raise EOFError
        taken = bytes(buffer[:size])
        del buffer[:size]
        return taken

    for _ in range(2):
        header, arrays = read_frame(read_exactly, REPLY_LIMITS)
        assert same(decode(header["value"], arrays), value)
    with pytest.raises(EOFError):
        read_frame(read_exactly, REPLY_LIMITS)


@settings(quick, max_examples=200)
@given(st.binary(max_size=300))
def test_any_bytes_give_a_value_or_a_violation(data):
    read_or_refuse(data)
    read_or_refuse(raw_frame(data))
    read_or_refuse(raw_frame(b"{}", data))


KINDS = st.sampled_from(
    ["float", "list", "tuple", "dict", "tensor", "meta", "array", "dtype", "generator", "handle", "value", "array_"]
)
CONTENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-1, 3)
    | st.floats()
    | st.sampled_from(["nan", "inf", "float32", "nn", "bool", "__class__", "shape", "dtype", "requires_grad"])
    | st.fixed_dictionaries({"shape": st.lists(st.integers()), "dtype": st.sampled_from(["float32", "nn", "x"])}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KINDS | st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
SENT = [Array("float32", (2,), b"\0" * 8), Array("bool", (3,), b"\0\1\2"), Array("bfloat16", (0,), b"")]


@settings(quick, max_examples=500)
@given(st.dictionaries(KINDS, CONTENTS, min_size=1, max_size=2) | CONTENTS)
def test_any_node_gives_a_value_or_a_violation(node):
    for opaque in (lambda value: value, lambda value: {}[value.handle]):  # a worker looks handles up
        with contextlib.suppress(ProtocolViolation):
            decode(node, SENT, opaque)


@settings(quick, max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from(["0", "1", "x", "__metadata__"]),
        st.fixed_dictionaries(
            {
                "dtype": st.sampled_from(["F32", "BOOL", "U8", "C64", "F4", "BF16", "x"]),
                "shape": st.lists(st.integers(0, 3) | st.integers(0, 2**65), max_size=4),
                "data_offsets": st.lists(st.integers(0, 16) | st.integers(0, 2**65), min_size=2, max_size=2),
            }
        )
        | CONTENTS,
        max_size=3,
    ),
    st.binary(max_size=16),
)
def test_any_list_of_arrays_gives_arrays_or_a_violation(entries, data):
    try:
        head = json.dumps(entries).encode()
    except ValueError:
        return
    body = struct.pack("<Q", len(head)) + head + data
    read_or_refuse(raw_frame(b"{}", body))


def test_a_handle_is_named_and_nothing_of_it_is_sent():
    assert read(frame_of([object()])) == [Opaque(1, "x")]
