"""What fails on our side of the wall is an error of ours, never the student's, and leaves nothing behind."""

import gc
import os
import signal
import sys
import threading
import time

import pytest
from sandbox_workers import LIMITS, Run, descriptors

from autograder.errors import SandboxError
from autograder.sandbox import ForkServer, confine, probe_rung
from autograder.sandbox.process import WorkerProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")


def test_a_killed_server_is_our_error_and_never_the_students(rung):
    with ForkServer((), from_this_process=True) as server:
        run = Run(server, rung, "import time\ndef f():\n    time.sleep(60)\n")
        idle = Run(server, rung, "x = 1")
        killer = threading.Timer(0.2, os.kill, (server._process._pid, signal.SIGKILL))
        killer.start()
        with pytest.raises(SandboxError, match="the fork server or a keeper of it was killed"):
            run.call("f")
        with pytest.raises(SandboxError):
            idle.ask({"op": "begin", "seed": 1})
        with pytest.raises(SandboxError, match=r"the fork server is gone|a worker could not be started"):
            server.worker(rung, LIMITS)
        killer.join()
        run.worker.close()
        idle.worker.close()


def test_a_server_that_cannot_start_says_why():
    with ForkServer(("torch",)) as server:
        server._process.kill()
        with pytest.raises(SandboxError, match="the fork server did not start"):
            server.worker(2, LIMITS)


def test_a_worker_that_cannot_be_shut_in_says_why_and_leaves_nothing(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OSError("no such step")

    monkeypatch.setattr(confine, "_limit", fail)
    with ForkServer((), from_this_process=True) as server:
        server.wait_until_ready()
        gc.collect()
        before = len(descriptors())
        report = probe_rung(server, 2, LIMITS, [])
        assert "OSError: no such step" in report.problem
        assert not report.holds
        gc.collect()
        assert len(descriptors()) == before


def test_the_grader_may_be_a_thread_and_may_hold_several_servers(server, rung):
    with ForkServer((), from_this_process=True) as other:
        first, second = Run(server, rung, "x = 'a'\ndef f(): return x"), Run(other, rung, "x = 'b'\ndef f(): return x")
        assert (first.call("f")["value"], second.call("f")["value"]) == ("a", "b")
        first.worker.close()
        second.worker.close()
    start = time.monotonic()
    other.close()
    assert time.monotonic() - start < 1


def test_a_process_that_never_starts_is_an_error_of_ours(monkeypatch):
    monkeypatch.setattr("autograder.sandbox.process.START_S", 0.05)
    import socket

    channel, far = socket.socketpair()
    status, keeper = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read_end, write_end = os.pipe()
    os.write(write_end, b"keeper: OSError: why\n")
    os.close(write_end)
    with pytest.raises(SandboxError, match="keeper: OSError: why"):
        WorkerProcess(channel, status, read_end, 100)
    assert channel.fileno() == status.fileno() == -1
    far.close()
    keeper.close()
