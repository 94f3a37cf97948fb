"""A worker has so much memory, output and threads and no more, and nothing of the grader's in its surroundings."""

import dataclasses
import os
import subprocess
import sys

import as_user
import pytest
from sandbox_workers import LIMITS, RESTLESS, SUITES, Run, needs_root

from autograder.sandbox import UNSAFE, ForkServer, confine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")


# -- threads -------------------------------------------------------------------------------------------------------


def test_threads_are_limited_for_a_user_of_its_own(server, each_rung):
    if os.geteuid() != 0 and each_rung == 2:
        pytest.skip("an ordinary user's worker shares the user with the grader here")
    with Run(server, each_rung, RESTLESS) as run:
        assert run.call("crowd")["value"] < confine.MAX_THREADS


CROWD = """
import sys, time
sys.path[:0] = [{repository!r}, {repository!r} + "/tests", {repository!r} + "/tests/sandbox"]
from sandbox_workers import LIMITS, RESTLESS, Run
from autograder.sandbox import ForkServer
with ForkServer((), from_this_process=True) as server, Run(server, {rung}, RESTLESS, seconds=60) as run:
    print(run.call("crowd")["value"])
"""


@needs_root
@pytest.mark.parametrize("rung", [2, UNSAFE])
def test_threads_are_limited_where_the_user_is_the_graders_too(rung):
    text = CROWD.format(repository=str(SUITES.parent), rung=rung)
    done = subprocess.run(as_user.command([sys.executable, "-c", text]), capture_output=True, timeout=120, cwd="/")
    assert int(done.stdout or -1) in range(100, 600), done.stderr.decode()[-1000:]


# -- memory and output ---------------------------------------------------------------------------------------------


def test_memory_over_the_limit_is_an_exception_and_not_an_end(server, each_rung):
    text = (
        "def bomb():\n    kept = []\n    while True:\n        kept.append(bytearray(10**7))\n"
        "def fine():\n    return len(bytearray(10**7))\n"
    )
    with Run(server, each_rung, text) as run:
        assert run.call("bomb")["error"]["type"] == "MemoryError"
        assert run.call("fine")["value"] == 10**7


def test_a_flood_of_output_keeps_its_beginning_and_the_answer_arrives(server, rung):
    text = "import sys\ndef f():\n    for _ in range(400):\n        print('x' * 65536)\n    return 'answer'\n"
    text += "def g():\n    print('after')\n    print('to stderr', file=sys.stderr)\n"
    limits = dataclasses.replace(LIMITS, output_kib=64)
    with Run(server, rung, text, limits) as run:
        assert run.call("f")["value"] == "answer"
        assert run.worker._pieces._dropped > 20_000_000
        printed = run.worker.printed()
        assert printed.startswith("x" * 60_000)
        assert len(printed) < 66_000
        assert printed.endswith("more bytes were printed and not kept ...")
        run.worker.forget_printed()
        run.call("g")
        assert run.worker.printed() == "after\nto stderr"


# -- what surrounds it ---------------------------------------------------------------------------------------------


def test_input_is_at_its_end_at_once(server, rung):
    with Run(server, rung, "def f():\n    return input()\n") as run:
        assert run.call("f")["error"]["type"] == "EOFError"


def test_a_worker_sees_no_variable_of_the_grader(server, rung, monkeypatch):
    secret = "GPT_HW_TEST_SECRET"
    monkeypatch.setenv(secret, "token")
    with ForkServer(()) as fresh, Run(fresh, rung, "import os\ndef f():\n    return sorted(os.environ)\n") as run:
        names = run.call("f")["value"]["list"]
    assert secret not in names
    assert "PATH" in names


def test_hashes_are_the_same_in_every_server(rung):
    text = "def f():\n    return [hash('a'), list({'x', 'y', 'z', 'w', 'v'})]\n"
    seen = []
    for _ in range(2):
        with ForkServer(()) as fresh, Run(fresh, rung, text) as run:
            seen.append(run.call("f")["value"])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"])
def test_no_variable_of_the_grader_decides_what_a_server_imports(rung, monkeypatch, tmp_path, variable):
    for name in ("json.py", "sitecustomize.py", "usercustomize.py", "socket.py"):
        (tmp_path / name).write_text("raise SystemExit('planted')\n")
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with ForkServer(()) as fresh:
        fresh.wait_until_ready()
