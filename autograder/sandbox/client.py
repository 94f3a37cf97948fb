"""The trusted side of the wall: start the fork server, get workers, ask them, end them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from autograder.errors import SandboxError
from autograder.records import Limits
from autograder.sandbox import launch
from autograder.sandbox.allowance import Allowance
from autograder.sandbox.fork_server import READY
from autograder.sandbox.process import START_S, WorkerProcess
from autograder.wire import (
    REPLY_LIMITS,
    REQUEST_LIMITS,
    Array,
    ProtocolViolation,
    WorkerDied,
    WorkerTimedOut,
    pack,
    read_frame,
)

_START_S = 120.0  # torch from a cold disk on a busy machine
_CLOSE_S = 10.0
_MAX_REASON = 4096  # bytes


class ForkServer:
    """A process that has torch loaded and forks workers.

    Args:
        preload: What to warm: ``torch`` or ``numpy``, ``full`` (optimizers and meta kernels, for a second more),
            groups of forbidden operations.
        from_this_process: Fork the server from this process, which has torch loaded already, instead of starting a
            fresh one: a second sooner, but everything in this process's memory can then be read by student code.
            For a student's own machine, before anything else is loaded.
    """

    def __init__(self, preload: Sequence[str] = ("torch", "attention"), *, from_this_process: bool = False) -> None:
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = (
            launch.fork(self._control, other, preload) if from_this_process else launch.start(other, preload)
        )
        other.close()
        self._ready = False

    def wait_until_ready(self) -> None:
        """Wait until torch is loaded.

        Raises:
            SandboxError: The server did not start.
        """
        if self._ready:
            return
        self._control.settimeout(_START_S)
        said = b""
        with contextlib.suppress(OSError):
            said = self._control.recv(_MAX_REASON)
        self._ready = said == READY
        if not self._ready:
            self._process.kill()
            stderr = self._process.stderr
            text = (said or (stderr.read() if stderr else b"")).decode(errors="replace").strip()
            last = text.splitlines()[-1] if text else "no reason was given"
            raise SandboxError(f"the fork server did not start: {last}", "run gpt-hw doctor to see what is missing")

    def worker(
        self, rung: int, limits: Limits, forbidden: Collection[str] = (), processors: Sequence[int] = ()
    ) -> "Worker":
        """Start a worker that is shut in, with no student code in it yet.

        Args:
            rung: Of the wall.
            limits: Of the course.
            forbidden: Groups of operations.
            processors: Where it runs (see ``Placement``); empty leaves that to the kernel.

        Raises:
            SandboxError: It could not be shut in.
        """
        return Worker(self._spawn(rung, limits, forbidden, processors=processors))

    def probe(self, rung: int, limits: Limits, facts: dict[str, Any]) -> dict[str, str | None]:
        """Run the self-test in a worker of that rung.

        Returns:
            Probe -> None where the wall held, else what got through.

        Raises:
            SandboxError: A worker of that rung could not be made.
        """
        pieces = self._spawn(rung, limits, probe={**facts, "rung": rung, "grader": os.getpid()})
        with pieces.channel:
            pieces.channel.settimeout(START_S)
            text = b""
            with contextlib.suppress(OSError):
                while chunk := pieces.channel.recv(1 << 16):
                    text += chunk
        end = pieces.kill()
        pieces.close()
        if not text:
            raise SandboxError(f"rung {rung}: {pieces.said() or f'the probe ended with {end}'}")
        return dict(json.loads(text))

    def _spawn(
        self,
        rung: int,
        limits: Limits,
        forbidden: Collection[str] = (),
        *,
        probe: dict[str, Any] | None = None,
        processors: Sequence[int] = (),
    ) -> WorkerProcess:
        self.wait_until_ready()
        channel, worker_channel = socket.socketpair()
        status, worker_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        read_end, write_end = os.pipe()
        wish = {
            "rung": rung,
            "limits": asdict(limits),
            "forbidden": sorted(forbidden),
            "probe": probe,
            "processors": list(processors),
        }
        try:
            socket.send_fds(
                self._control,
                [json.dumps(wish).encode()],
                [worker_channel.fileno(), write_end, worker_status.fileno()],
            )
        except OSError as error:
            channel.close()
            status.close()
            os.close(read_end)
            raise SandboxError(f"the fork server is gone: {error}", "run the command again") from error
        finally:
            worker_channel.close()
            worker_status.close()
            os.close(write_end)
        return WorkerProcess(channel, status, read_end, limits.output_kib << 10)

    def close(self) -> None:
        """End the server and every worker of it."""
        self._control.close()
        if not self._ready:  # busy with an import that nobody waits for any more
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_CLOSE_S)
        self._process.kill()
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()

    def __enter__(self) -> "ForkServer":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class Worker:
    """One shut-in process for student code; every answer of it is checked before it is read.

    Args:
        pieces: The process.
    """

    def __init__(self, pieces: WorkerProcess) -> None:
        self._pieces = pieces
        self._number = 0
        self._allowance = Allowance(pieces, 0.0)
        self.alive = True
        self.was_killed = False  # from outside, and not by us: out of memory, or a person

    def allow(self, seconds: float) -> None:
        """Give it so much time for all that it is asked from now on (see ``Allowance``)."""
        self._allowance = Allowance(self._pieces, seconds)

    @property
    def owed_s(self) -> float:
        """What a busy machine took from it since ``allow``, and got back."""
        return self._allowance.owed_s

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        """Ask and wait for the answer, within what is left of its time.

        Raises:
            WorkerTimedOut: No answer came; the process was killed.
            WorkerDied: The process ended, or sent something that is no answer and was killed.
            SandboxError: The process was ended by the loss of its keeper or of the fork server.
        """
        self._number += 1
        frame = pack({**message, "id": self._number}, arrays, REQUEST_LIMITS)
        channel = self._pieces.channel
        self._pieces.resume()
        try:
            with self._allowance:
                channel.settimeout(self._allowance.left_s())
                channel.sendall(frame)
                header, back = read_frame(self._read_exactly, REPLY_LIMITS)
            if header.get("id") != self._number:
                raise ProtocolViolation("an answer to a question that was not asked")
        except TimeoutError:
            self._end()
            raise WorkerTimedOut("it ran past the time limit and was stopped") from None
        except (EOFError, ConnectionError, BrokenPipeError):
            raise WorkerDied(self._epitaph()) from None
        except ProtocolViolation as violation:
            self._end()
            text = f"the code wrote {violation.reason} where its answer belongs; the process was stopped"
            raise ProtocolViolation(text) from None
        self._pieces.pause()  # no thread that it left behind takes time from the grader or from other workers
        return header, back

    def _read_exactly(self, size: int) -> bytearray:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            self._pieces.channel.settimeout(self._allowance.left_s())
            try:
                count = self._pieces.channel.recv_into(view)
            except TimeoutError:
                continue
            if not count:
                raise EOFError
            view = view[count:]
        return buffer

    def threads(self) -> int:
        """Return how many threads the process has; 0 where the system does not say."""
        return self._pieces.threads()

    def _epitaph(self) -> str:
        ended = self._pieces.ended(1.0)
        self._end()
        if not ended:
            return "the code closed the connection that its answers travel on"
        code = self._pieces.kill().get("code")
        if code is None:  # its keeper went first, which student code cannot reach
            raise SandboxError("the fork server or a keeper of it was killed", "run the command again")
        if code < 0:
            self.was_killed = -code == signal.SIGKILL
            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            return f"the code's process was ended by signal {name}"
        return f"the code ended its process with exit status {code} before it answered"

    def _end(self) -> None:
        self.alive = False
        self._pieces.kill()

    def printed(self) -> str:
        """Return what the code printed since ``forget_printed``, or since the start."""
        return self._pieces.said()

    def forget_printed(self) -> None:
        """Drop what the code printed so far."""
        self._pieces.forget()

    def close(self) -> None:
        """End the process."""
        self.alive = False
        self._pieces.close()
