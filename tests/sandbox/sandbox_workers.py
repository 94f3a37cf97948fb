"""Workers with a student's module in them, and what the system tells of their processes."""

import contextlib
import os
import time
from pathlib import Path

import as_user
import pytest

from autograder.records import Limits

LIMITS = Limits(check_s=2, memory_mib=256)
SUITES = Path(__file__).resolve().parents[2] / "assignments"

needs_root = pytest.mark.skipif(not as_user.is_possible(), reason="only root can become somebody else")

STUBBORN = """
import signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
def loop():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
def sleep():
    while True:
        try:
            time.sleep(100)
        except BaseException:
            pass
def fine(): return 1
"""

RESTLESS = """
import ctypes, os, threading
stop = False
def spin():
    while not stop: pass
def leave():
    for _ in range(8): threading.Thread(target=spin, daemon=True).start()
    return 1
def after():
    global stop
    stop = True
    return 2
def linger():
    return ctypes.CDLL(None, use_errno=True).prctl(1, 0, 0, 0, 0)
def idle():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
def crowd():
    threading.stack_size(32768)
    wait, count = threading.Event(), 0
    try:
        while count < 3000:
            threading.Thread(target=wait.wait, daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    return count
"""


class Run:
    """One worker with a student's module in it."""

    def __init__(self, server, rung, text, limits=LIMITS, seconds=20.0):
        self.worker = server.worker(rung, limits)
        self.seconds = seconds
        try:
            self.imported = self.ask({"op": "import", "module": "part1_x", "sources": {"part1_x": text}})
        except BaseException:
            self.worker.close()
            raise

    def ask(self, message, seconds=None):
        self.worker.allow(seconds or self.seconds)
        return self.worker.request(message, [])[0]

    def call(self, name, seconds=None):
        message = {"op": "call", "handle": None, "name": name, "args": {"list": []}, "kwargs": {"dict": []}}
        return self.ask(message, seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.worker.close()


def descriptors() -> dict[str, str]:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found[name] = os.readlink(f"/proc/self/fd/{name}")
    return found


def eventually(condition, seconds=5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True
