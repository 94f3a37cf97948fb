"""What crosses the wall: bounded frames of JSON and safetensors, and the values inside them.

``frames`` turns a header and its arrays into bytes and back; ``values`` turns Python values into a header's
nodes and back. Nothing here executes what it reads, and nothing is pickled.
"""

from autograder.wire.frames import (
    MAX_TEXT,
    REPLY_LIMITS,
    REQUEST_LIMITS,
    Array,
    FrameLimits,
    ProtocolViolation,
    WorkerDied,
    WorkerTimedOut,
    pack,
    read_frame,
)
from autograder.wire.values import Opaque, decode, encode

__all__ = [
    "MAX_TEXT",
    "REPLY_LIMITS",
    "REQUEST_LIMITS",
    "Array",
    "FrameLimits",
    "Opaque",
    "ProtocolViolation",
    "WorkerDied",
    "WorkerTimedOut",
    "decode",
    "encode",
    "pack",
    "read_frame",
]
