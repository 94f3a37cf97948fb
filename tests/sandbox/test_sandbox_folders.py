"""A server and its workers make no folder on the machine: what is killed can leave none behind."""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

from autograder.records import Limits
from autograder.sandbox import UNSAFE, ForkServer, Worker, choose_rung

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")

LIMITS = Limits(check_s=2, memory_mib=256)
WRITES = "import tempfile\ntry:\n    tempfile.mkdtemp()\nexcept OSError:\n    pass\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ForkServer:
    """A server that has this test's folder for its temporary files: it is forked from this process."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return ForkServer((), from_this_process=True)


def started(server: ForkServer) -> Worker:
    rung, _ = choose_rung(server, LIMITS, [], unsafe=True)
    if rung == UNSAFE:
        pytest.skip("without a wall, what a worker writes stays where it is")
    worker = server.worker(rung, LIMITS)
    worker.allow(20)
    worker.request({"op": "import", "module": "part1_x", "sources": {"part1_x": WRITES}}, [])
    return worker


def test_no_folder_is_made_for_a_server_or_a_worker(server: ForkServer, tmp_path: Path) -> None:
    with server:
        worker = started(server)
        assert os.listdir(tmp_path) == []
        worker.close()


def test_a_server_that_is_killed_leaves_no_folder_and_no_mount(server: ForkServer, tmp_path: Path) -> None:
    mounts = Path("/proc/self/mountinfo").read_text()
    with server:
        worker = started(server)
        pid = server._process._pid
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 5
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        worker.close()
    assert os.listdir(tmp_path) == []
    assert Path("/proc/self/mountinfo").read_text() == mounts
