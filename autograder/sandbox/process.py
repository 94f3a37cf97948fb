"""One worker process as the grader holds it: its channel, what it prints, and its end."""

import contextlib
import json
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from autograder.errors import SandboxError

START_S = 30.0  # from the wish to the worker's first sign of life, on a busy machine
_STATUS_S = 10.0
_SETTLE_TRIES = 50  # milliseconds


class WorkerProcess:
    """The descriptors of one worker process, what it prints, and its end."""

    def __init__(self, channel: socket.socket, status: socket.socket, output: int, keep_bytes: int) -> None:
        self.channel = channel
        self._status = status
        self._keep_bytes = keep_bytes
        self._kept = bytearray()
        self._dropped = 0
        self._output = output
        self._drain = threading.Thread(target=self._read_output, args=(output,), daemon=True)
        self._drain.start()
        self._end: dict[str, Any] | None = None
        self._status.settimeout(START_S)
        self.pid, self._pidfd = 0, -1
        try:
            message, handles, _, _ = socket.recv_fds(status, 4096, 1)
        except OSError:
            message, handles = b"", []
        if not message:
            self._drain.join(1)
            channel.close()
            status.close()
            raise SandboxError(f"a worker could not be started: {self.said() or 'no reason was given'}")
        self.pid = json.loads(message)["pid"]
        self._pidfd = handles[0] if handles else -1

    def _read_output(self, descriptor: int) -> None:
        with open(descriptor, "rb", buffering=0) as stream:
            while chunk := stream.read(1 << 16):
                room = self._keep_bytes - len(self._kept)
                self._kept += chunk[: max(0, room)]
                self._dropped += len(chunk[max(0, room) :])

    def said(self) -> str:
        """Return what was printed since the beginning or ``forget``, with a note where the rest was dropped."""
        self._settle()
        text = bytes(self._kept).decode("utf-8", "replace")
        if self._dropped:
            text += f"\n... {self._dropped} more bytes were printed and not kept ..."
        return text.strip("\n")

    def forget(self) -> None:
        """Drop what was printed so far, so that one check's flood leaves the next one its room."""
        self._settle()
        self._kept.clear()  # the same object: the reader adds to it
        self._dropped = 0

    def _settle(self) -> None:
        # What was printed before the last answer is in the pipe; the reader may be a moment behind.
        for _ in range(_SETTLE_TRIES):
            try:
                if not self._drain.is_alive() or not select.select([self._output], [], [], 0)[0]:
                    return
            except (OSError, ValueError):  # closed by the reader in between
                return
            time.sleep(0.001)

    def waited_s(self) -> float:
        """Return how long the process was ready and had to wait for a processor; 0 where the system does not say.

        The wait of this thread counts too: an answer that is there is not late because the grader did not get to it.
        """
        return self._waited_s(f"{self.pid}") + self._waited_s("thread-self")

    def _waited_s(self, whose: str) -> float:
        return self._proc(whose, "schedstat", lambda text: int(text.split()[1]) / 1e9)

    def cpu_s(self) -> float:
        """Return the processor time of all its threads; 0 where the system does not say."""
        ticks = os.sysconf("SC_CLK_TCK")
        # The name, which student code may choose, stands in parentheses and may hold blanks.
        return self._proc(
            f"{self.pid}", "stat", lambda text: sum(map(int, text.rpartition(")")[2].split()[11:13])) / ticks
        )

    def threads(self) -> int:
        """Return how many threads the process has; 0 where the system does not say."""
        return int(self._proc(f"{self.pid}", "stat", lambda text: float(text.rpartition(")")[2].split()[17])))

    def _proc(self, whose: str, name: str, read: Callable[[str], float]) -> float:
        try:
            with open(f"/proc/{whose}/{name}") as handle:
                return read(handle.read())
        except (OSError, ValueError, IndexError):
            return 0.0

    def pause(self) -> None:
        """Hold the process and every thread of it, by a signal that it cannot ignore."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process run on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._pidfd >= 0 and self._end is None:
            try:  # noqa: SIM105 -- twice a request, where a context manager takes longer than the signal
                signal.pidfd_send_signal(self._pidfd, number)
            except (ProcessLookupError, PermissionError):
                pass

    def kill(self) -> dict[str, Any]:
        """End the process and everything it started; return how it ended."""
        if self._end is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self._pidfd >= 0:
                    signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                else:
                    os.killpg(self.pid, signal.SIGKILL)
            self._end = self._read_end()
        return self._end

    def ended(self, wait_s: float) -> bool:
        """Tell whether the process has ended by itself."""
        if self._end is None and select.select([self._status], [], [], wait_s)[0]:
            self._end = self._read_end()
        return self._end is not None

    def _read_end(self) -> dict[str, Any]:
        self._status.settimeout(_STATUS_S)
        try:
            return dict(json.loads(self._status.recv(4096) or b"{}"))
        except (OSError, ValueError):
            return {}

    def close(self) -> None:
        """End the process and let go of everything."""
        self.kill()
        self.channel.close()
        self._status.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
        self._drain.join(1)
