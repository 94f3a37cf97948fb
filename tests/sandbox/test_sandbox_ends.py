"""A worker ends in time whatever it does, and its end, or what it forged, is told in words."""

import os
import subprocess
import sys
import time

import pytest
from sandbox_workers import RESTLESS, STUBBORN, Run

from autograder.wire import ProtocolViolation, WorkerDied, WorkerTimedOut

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")


# -- time ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["loop", "sleep"])
def test_a_loop_that_swallows_everything_is_killed_within_a_second_of_the_limit(server, each_rung, name):
    with Run(server, each_rung, STUBBORN) as run:
        start = time.monotonic()
        with pytest.raises(WorkerTimedOut, match="ran past the time limit and was stopped"):
            run.call(name, seconds=0.5)
        assert time.monotonic() - start < 1.5 + run.worker.owed_s  # what a busy machine took away is given back
        assert not run.worker.alive


def test_a_busy_machine_costs_the_code_nothing(server, rung):
    # Three loops beside a calculation that needs 0.5 s of a processor, with a limit of 1 s: it gets a share only.
    text = """
import time
def work():
    start = time.process_time()
    while time.process_time() - start < 0.5: pass
    return 1
def spin():
    while True: pass
"""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        with Run(server, rung, text) as run:
            assert run.call("work", seconds=1.0)["value"] == 1
            with pytest.raises(WorkerTimedOut):
                run.call("spin", seconds=1.0)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_threads_of_its_own_move_no_deadline(server, rung):
    # Each thread waits for the others, but together they use processors all the time.
    text = """
import threading
def spin():
    while True: pass
def crowd():
    for _ in range(16): threading.Thread(target=spin, daemon=True).start()
    spin()
"""
    with Run(server, rung, text) as run:
        start = time.monotonic()
        with pytest.raises(WorkerTimedOut):
            run.call("crowd", seconds=1.0)
        assert time.monotonic() - start < 60  # without the limit on processor time it would never end


def test_a_worker_cannot_choose_to_be_served_last(server, each_rung):
    # A process that only runs when nothing else does has always waited, and waiting moves its deadline.
    with Run(server, each_rung, RESTLESS) as run:
        assert run.call("idle")["error"]["type"] == "PermissionError"


# -- ends in words -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("os._exit(0)", "the code ended its process with exit status 0 before it answered"),
        ("os._exit(3)", "the code ended its process with exit status 3 before it answered"),
        ("ctypes.string_at(0)", "the code's process was ended by signal SIGSEGV"),
        ("os.abort()", "the code's process was ended by signal SIG"),  # process 1 of a namespace ends otherwise
        ("os.close(3)", "the code closed the connection that its answers travel on"),
        ("threading.Thread(target=os._exit, args=(5,)).start(); time.sleep(9)", "exit status 5"),
    ],
)
def test_an_end_is_told_in_words(server, rung, body, words):
    text = f"import ctypes, os, threading, time\ndef f():\n    {body}\n    time.sleep(60)\n"
    with Run(server, rung, text) as run, pytest.raises(WorkerDied) as caught:
        run.call("f")
    assert words in caught.value.reason
    assert type(caught.value) is WorkerDied


def test_an_end_at_import_is_told_in_words(server, rung):
    with pytest.raises(WorkerDied, match="exit status 0"):
        Run(server, rung, "import os\nos._exit(0)\n")


@pytest.mark.parametrize("what", ["raise SystemExit(0)", "import sys; sys.exit()", "raise KeyboardInterrupt"])
def test_an_exception_that_ends_programs_ends_no_worker(server, rung, what):
    with Run(server, rung, f"def f():\n    {what}\ndef g():\n    return 2\n") as run:
        assert run.call("f")["error"]["type"] in ("SystemExit", "KeyboardInterrupt")
        assert run.call("g")["value"] == 2


@pytest.mark.parametrize(
    "forged",
    [
        "b'\\xff' * 64",
        "struct.pack('!II', 2**31, 2**31)",
        "struct.pack('!II', 4, 0) + b'null'",
        "struct.pack('!II', 8, 0) + b'{\"id\":9}'",
        "struct.pack('!II', 2, 9) + b'{}' + b'x' * 9",
    ],
)
def test_a_forged_frame_is_a_violation_and_the_end_of_the_worker(server, rung, forged):
    text = f"import os, struct\ndef f():\n    os.write(3, {forged})\n    return 1\n"
    with Run(server, rung, text) as run:
        with pytest.raises(ProtocolViolation, match="where its answer belongs; the process was stopped"):
            run.call("f")
        assert not run.worker.alive


def test_an_answer_given_twice_does_not_shift_the_next_one(server, rung):
    text = (
        'import os, struct\ndef twice():\n    head = b\'{"value":"forged","id":2}\'\n'
        "    os.write(3, struct.pack('!II', len(head), 0) + head)\n    return 'own'\ndef g():\n    return 'g'\n"
    )
    with Run(server, rung, text) as run:
        assert run.call("twice")["value"] == "forged"  # the student's word, like any other
        with pytest.raises(ProtocolViolation):
            run.call("g")


def test_asking_a_worker_that_has_ended_fails_in_words_too(server, rung):
    with Run(server, rung, "import os\ndef f():\n    os._exit(1)\n") as run:
        for _ in range(2):
            with pytest.raises(WorkerDied):
                run.call("f")
