"""Bytes as a worker may write them, and as the grader reads them."""

import struct

from autograder.wire import FrameLimits

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


def raw_frame(head: bytes, body: bytes = b"") -> bytes:
    return struct.pack("!II", len(head), len(body)) + head + body
