"""Whatever bytes a worker writes, the grader reads a frame or says that the protocol was violated."""

import json
import struct
import tracemalloc

import numpy as np
import pytest
import torch
from wire_bytes import SMALL, raw_frame, reader, refuse

from autograder.wire import REPLY_LIMITS, Array, ProtocolViolation, encode, pack, read_frame


def safetensors_body(entries: object, data: bytes = b"", size: int | None = None) -> bytes:
    head = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(head) if size is None else size) + head + data


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def read_body(body: bytes):
    return read_frame(reader(raw_frame(b"{}", body)), REPLY_LIMITS)[1]


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
