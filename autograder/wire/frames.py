"""Frames: two lengths, a JSON header, and a safetensors body that holds the header's arrays."""

import json
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import safetensors

_LENGTHS = struct.Struct("!II")
_SIZE = struct.Struct("<Q")  # of the list of arrays, at the start of a safetensors body
MAX_TEXT = 5_000  # characters of an error's message or traceback
MAX_AXES = 12  # more axes than any exercise has; keeps a forged shape small

# The names that torch and numpy share, by safetensors' codes.
_DTYPE_OF_CODE = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
_CODE_OF_DTYPE = {dtype: code for code, dtype in _DTYPE_OF_CODE.items()}
ITEM_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}


class Array(NamedTuple):
    """The bytes of a tensor, little-endian and contiguous, with what is needed to read them."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes | bytearray


@dataclass(frozen=True, slots=True)
class FrameLimits:
    """How large the two halves of a frame may be."""

    header_bytes: int
    body_bytes: int


REQUEST_LIMITS = FrameLimits(header_bytes=32 << 20, body_bytes=512 << 20)
# A reply is written beside student code: small enough that a flood of them cannot fill the grader.
REPLY_LIMITS = FrameLimits(header_bytes=2 << 20, body_bytes=128 << 20)


class WorkerDied(Exception):
    """The student's process ended before it answered; ``reason`` is a sentence for the student."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class WorkerTimedOut(WorkerDied):
    """The student's process was killed at the time limit."""


class ProtocolViolation(WorkerDied):
    """The student's process sent something that is no reply to the request."""


def pack(header: dict[str, Any], arrays: Sequence[Array] = (), limits: FrameLimits = REQUEST_LIMITS) -> bytes:
    """Turn a header and its arrays into one frame.

    Args:
        header: JSON-ready values; nodes refer to arrays by their index.
        arrays: What the nodes refer to.
        limits: The receiver's limits.

    Returns:
        The bytes to send.

    Raises:
        ValueError: The frame would be larger than the receiver accepts.
    """
    head = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    body = _write_arrays(arrays) if arrays else b""
    if len(head) > limits.header_bytes or len(body) > limits.body_bytes:
        raise ValueError(f"a frame of {len(head)} + {len(body)} bytes is larger than the receiver accepts")
    return _LENGTHS.pack(len(head), len(body)) + head + body


def read_frame(
    read_exactly: Callable[[int], bytes | bytearray], limits: FrameLimits
) -> tuple[dict[str, Any], list[Array]]:
    """Read one frame from bytes that the other side controls.

    Args:
        read_exactly: Returns exactly that many bytes, or raises.
        limits: Checked before anything is read or allocated.

    Returns:
        The header and its arrays.

    Raises:
        ProtocolViolation: The bytes are no frame, or larger than the limits.
    """
    header_bytes, body_bytes = _LENGTHS.unpack(read_exactly(_LENGTHS.size))
    if header_bytes > limits.header_bytes or body_bytes > limits.body_bytes:
        raise ProtocolViolation(f"a frame of {header_bytes} + {body_bytes} bytes is over the limit")
    head = bytes(read_exactly(header_bytes))
    body = bytes(read_exactly(body_bytes)) if body_bytes else b""
    try:
        header = json.loads(head.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolViolation("a header that is not JSON") from error
    if not isinstance(header, dict):
        raise ProtocolViolation("a header that is not an object")
    return header, _read_arrays(body, limits)


def _deserialize(body: bytes) -> dict[str, Any]:
    return dict(safetensors.deserialize(body))  # type: ignore[no-untyped-call]


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _write_arrays(arrays: Sequence[Array]) -> bytes:
    # safetensors' own writer takes raw pointers, in a form that changed between its versions; the format is four
    # lines. Reading, where the bytes are not ours, is left to the library.
    entries: dict[str, Any] = {}
    end = 0
    for index, array in enumerate(arrays):
        start, end = end, end + len(array.data)
        entries[str(index)] = {
            "dtype": _CODE_OF_DTYPE[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    head = json.dumps(entries, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)  # the format asks for data at a multiple of eight
    return b"".join([_SIZE.pack(len(head)), head, *(array.data for array in arrays)])


def _read_arrays(body: bytes, limits: FrameLimits) -> list[Array]:
    if not body:
        return []
    # An entry takes fifty bytes there and a thousand here: a body of nothing but entries must not reach the library.
    if len(body) < _SIZE.size or _SIZE.unpack_from(body)[0] > limits.header_bytes:
        raise ProtocolViolation("a body whose list of arrays is over the limit")
    try:
        entries = _deserialize(body)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # its own error, ValueError or OverflowError by version; a panic is a BaseException
        raise ProtocolViolation("a body that is not safetensors") from error
    arrays = []
    for index in range(len(entries)):
        entry = entries.get(str(index))
        dtype = _DTYPE_OF_CODE.get(entry["dtype"]) if entry else None
        if entry is None or dtype is None or len(entry["shape"]) > MAX_AXES:
            raise ProtocolViolation("an array that is not in the list of types")
        shape = tuple(entry["shape"])
        if math.prod(shape) * ITEM_BYTES[dtype] != len(entry["data"]):
            raise ProtocolViolation("an array whose bytes do not fit its shape")
        arrays.append(Array(dtype, shape, entry["data"]))
    return arrays
