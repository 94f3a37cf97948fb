"""What a worker leaves running stands still between two requests, and nothing outlives the worker or its server."""

import contextlib
import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from sandbox_workers import LIMITS, RESTLESS, STUBBORN, Run, descriptors, eventually, is_zombie

from autograder.sandbox import UNSAFE, ForkServer, probe_rung
from autograder.wire import WorkerDied, WorkerTimedOut

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")


def running_below(pid: int) -> list[str]:
    """List the processes below one, zombies included, with their states."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            parents[int(name)] = (int(text[1]), text[0])
    below, todo = [], [pid]
    while todo:
        parent = todo.pop()
        children = [(child, state) for child, (owner, state) in parents.items() if owner == parent]
        below += [f"{child} {state}" for child, state in children]
        todo += [child for child, _ in children]
    return below


def test_threads_that_are_left_behind_do_not_run_between_two_requests(server, each_rung):
    with Run(server, each_rung, RESTLESS) as run:
        run.call("leave")
        used = run.worker._pieces.cpu_s()
        time.sleep(0.5)
        assert run.worker._pieces.cpu_s() - used < 0.05  # the clock of this figure ticks a hundred times a second
        assert run.call("after")["value"] == 2  # and they run on where a call does


def test_a_worker_cannot_undo_that_it_ends_with_its_server(each_rung):
    with ForkServer((), from_this_process=True) as server, Run(server, each_rung, RESTLESS + STUBBORN) as run:
        assert run.call("linger")["value"] == -1
        pid = run.worker._pieces.pid
        os.kill(server._process._pid, signal.SIGKILL)
        assert eventually(lambda: is_zombie(pid))


def test_two_hundred_workers_leave_nothing_behind(rung):
    with ForkServer(()) as server:
        Run(server, rung, "x = 1").worker.close()
        gc.collect()
        files, threads = descriptors(), threading.active_count()
        for number in range(200):
            worker = server.worker(rung, LIMITS)
            if number % 20 == 0:
                worker.allow(20)
                worker.request({"op": "begin", "seed": 1}, [])
            worker.close()
        probe_rung(server, rung, LIMITS, [])
        assert len(descriptors()) <= len(files)
        assert threading.active_count() == threads
        assert eventually(lambda: running_below(server._process.pid) == [])


def test_nothing_runs_on_after_a_worker_was_closed_or_a_server(rung):
    text = (
        "import threading, time\ndef f():\n    threading.Thread(target=time.sleep, args=(60,)).start()\n    return 1\n"
    )
    with ForkServer(()) as server:
        runs = [Run(server, rung, text) for _ in range(3)]
        for run in runs:
            run.call("f")
        pid = server._process.pid
        assert len(running_below(pid)) == 6  # a keeper and a worker each
        runs[0].worker.close()
        assert eventually(lambda: len(running_below(pid)) == 4)
        below = [int(line.split()[0]) for line in running_below(pid)]
    assert eventually(lambda: not any(Path(f"/proc/{each}").exists() for each in below))
    for run in runs:
        run.worker.close()


def test_without_a_wall_what_a_worker_started_ends_with_it(server):
    text = "import os, time\ndef f():\n    pid = os.fork()\n    if pid == 0:\n        time.sleep(60)\n    return pid\n"
    for end in ("close", "die"):
        with Run(server, UNSAFE, text + "def die():\n    os._exit(0)\n") as run:
            child = run.call("f")["value"]
            assert Path(f"/proc/{child}").exists()
            if end == "die":
                with pytest.raises(WorkerDied):
                    run.call("die")
        assert eventually(lambda child=child: not Path(f"/proc/{child}").exists() or is_zombie(child))


def test_without_a_wall_a_process_that_left_its_group_ends_too(server):
    text = """
import os, time
def leave():
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.write(write, str(os.getpid()).encode())
        time.sleep(60)
    return int(os.read(read, 20))
"""
    with Run(server, UNSAFE, text) as run:
        child = run.call("leave")["value"]
        assert Path(f"/proc/{child}").exists()
    assert eventually(lambda: is_zombie(child))


def test_without_a_wall_time_and_memory_are_still_limited(server):
    with Run(server, UNSAFE, STUBBORN + "def bomb():\n    return len(bytearray(2**30))\n") as run:
        assert run.call("bomb")["error"]["type"] == "MemoryError"
        with pytest.raises(WorkerTimedOut):
            run.call("loop", seconds=0.5)
    with ForkServer((), from_this_process=True) as other:
        run = Run(other, UNSAFE, STUBBORN)
        pid = run.worker._pieces.pid
        os.kill(other._process._pid, signal.SIGKILL)
        assert eventually(lambda: is_zombie(pid))
        run.worker.close()
