"""The worker's loop: read a request, answer it, until the other side hangs up."""

import socket
from typing import Any

from autograder.wire import REPLY_LIMITS, REQUEST_LIMITS, Array, WorkerDied, pack, read_frame
from autograder.worker.session import Session


def serve(channel: socket.socket) -> None:
    """Answer requests until the channel closes.

    Args:
        channel: A connected stream socket; only requests of the grader arrive here.
    """
    session = Session()
    while True:
        try:
            header, arrays = read_frame(lambda size: _read_exactly(channel, size), REQUEST_LIMITS)
        except (EOFError, WorkerDied):
            return
        reply, out = session.handle(header, arrays)
        channel.sendall(_packed(header["id"], reply, out))


def _packed(number: int, reply: dict[str, Any], arrays: list[Array]) -> bytes:
    try:
        return pack({**reply, "id": number}, arrays, REPLY_LIMITS)
    except ValueError:
        limit = REPLY_LIMITS.body_bytes >> 20
        error = {"type": "Refused", "message": f"the result is larger than {limit} MiB", "traceback": ""}
        return pack({"error": error, "id": number}, [], REPLY_LIMITS)


def _read_exactly(channel: socket.socket, size: int) -> bytearray:
    buffer = bytearray(size)
    view = memoryview(buffer)
    while view:
        count = channel.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return buffer
