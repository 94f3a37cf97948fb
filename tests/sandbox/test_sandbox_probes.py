"""The wall holds on each of its rungs, says so when it does not, and leaves nothing behind.

Most workers here come from a server without torch, which starts at once.
"""

import contextlib
import dataclasses
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import as_user
import pytest

from autograder.errors import SandboxError
from autograder.records import Limits
from autograder.sandbox import UNSAFE, ForkServer, choose_rung, confine, landlock, probe_rung, seccomp, syscalls
from autograder.sandbox.process import WorkerProcess
from autograder.wire import ProtocolViolation, WorkerDied, WorkerTimedOut

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")

LIMITS = Limits(check_s=2, memory_mib=256)
SUITES = Path(__file__).resolve().parents[2] / "assignments"


@pytest.fixture(scope="module")
def server():
    with ForkServer(()) as started:
        yield started


@pytest.fixture(scope="module")
def torch_server():
    with ForkServer(("torch",)) as started:
        yield started


@pytest.fixture(scope="module")
def rung(server):
    """The best rung of this machine."""
    return choose_rung(server, LIMITS, [], unsafe=True)[0]


@pytest.fixture(params=[1, 2])
def each_rung(request, server):
    """Each rung that this machine can have at all."""
    report = probe_rung(server, request.param, LIMITS, [])
    if report.problem:
        pytest.skip(f"rung {request.param} cannot be had here: {report.problem}")
    return request.param


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


def eventually(condition, seconds=5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


# -- the self-test -------------------------------------------------------------------------------------------------


def test_every_probe_is_stopped(server, each_rung):
    report = probe_rung(server, each_rung, LIMITS, [SUITES, Path(__file__)])
    assert {name: found for name, found in report.findings.items() if found} == {}
    assert report.holds
    assert len(report.findings) == 12


def test_every_probe_is_stopped_in_a_worker_that_has_torch(torch_server, each_rung):
    assert probe_rung(torch_server, each_rung, Limits(), [SUITES]).broken == ""


MISSED = {
    "seccomp": ["no new processes: forked", "no network: opened a TCP socket"],
    "landlock": ["the machine's files unreadable: read /"],
    "limits": ["memory limit: allocated", "file limits: opened too many files"],
}


@pytest.mark.parametrize("step", MISSED)
def test_a_wall_that_lacks_a_step_is_noticed_and_not_chosen(monkeypatch, step):
    if step == "seccomp":
        monkeypatch.setattr(seccomp, "restrict", lambda: None)
    elif step == "landlock":
        monkeypatch.setattr(landlock, "restrict", lambda readable, writable: None)
    else:
        monkeypatch.setattr(confine, "_limit", lambda limits, own_user: None)
    limits = dataclasses.replace(LIMITS, memory_mib=16)
    with ForkServer((), from_this_process=True) as server:
        with pytest.raises(SandboxError, match="no sandbox holds on this machine"):
            choose_rung(server, limits, [SUITES])
        chosen, reports = choose_rung(server, limits, [SUITES], unsafe=True)
        assert chosen == UNSAFE
    for report in reports:
        assert not report.holds
        if not report.problem:
            assert all(what in report.broken for what in MISSED[step])
    if step == "landlock":  # below the first rung there is no other wall around files
        assert "hidden suites and submissions unreadable: read" in reports[1].broken


def test_a_secret_that_can_be_read_is_reported(server, each_rung):
    readable = Path(os.__file__)  # Python's own library is open to every worker
    report = probe_rung(server, each_rung, LIMITS, [readable])
    assert report.broken == f"hidden suites and submissions unreadable: read {readable.resolve()}"
    assert not report.holds


def test_the_rung_that_holds_is_chosen_and_a_lower_one_can_be_asked_for(server):
    chosen, reports = choose_rung(server, LIMITS, [])
    assert reports[-1].holds
    assert reports[-1].rung == chosen
    assert choose_rung(server, LIMITS, [], first=2)[0] == 2
    assert choose_rung(server, LIMITS, [], unsafe=True)[0] == chosen


def test_a_machine_without_landlock_or_seccomp_is_refused_unless_told_otherwise(server, monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(SandboxError, match="no Landlock or no seccomp") as caught:
        choose_rung(server, LIMITS, [])
    assert "--unsafe-no-sandbox" in caught.value.remedy
    assert choose_rung(server, LIMITS, [], unsafe=True)[0] == UNSAFE


DENYING = """
import ctypes, errno, os, struct, sys
sys.path.insert(0, {repository!r})
from autograder.sandbox import ForkServer, choose_rung, seccomp, syscalls
from autograder.records import Limits

def deny_namespaces():
    # What Docker's default profile does: unshare, mount and setns fail, clone may make no user namespace.
    step, column = seccomp._step, 0 if syscalls.MACHINE == "x86_64" else 1
    refuse = seccomp._ERRNO | errno.EPERM
    steps = [step(seccomp._LOAD, seccomp._NUMBER)]
    for name in ("unshare", "setns", "mount", "umount2", "pivot_root"):
        steps += [step(seccomp._JUMP_EQUAL, seccomp._REFUSED[name][column], 0, 1), step(seccomp._RETURN, refuse)]
    steps += [
        step(seccomp._JUMP_EQUAL, seccomp._CLONE3, 0, 1),
        step(seccomp._RETURN, seccomp._ERRNO | errno.ENOSYS),
        step(seccomp._JUMP_EQUAL, seccomp._CLONE[column], 0, 3),
        step(seccomp._LOAD, seccomp._ARGUMENTS),
        step(seccomp._JUMP_ANY_BIT, syscalls.CLONE_NEWUSER, 0, 1),
        step(seccomp._RETURN, refuse),
        step(seccomp._RETURN, seccomp._ALLOW),
    ]
    program = ctypes.create_string_buffer(b"".join(steps))
    bare = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
    fprog = ctypes.create_string_buffer(bare)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    syscalls.prctl(syscalls.PR_SET_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(fprog)))

if {deny}:
    deny_namespaces()
with ForkServer((), from_this_process=True) as server:
    rung, reports = choose_rung(server, Limits(memory_mib=256), [])
    print(rung, os.getuid(), [report.broken for report in reports])
"""


def chosen_in_a_process(deny: bool, before=()) -> str:
    text = DENYING.format(repository=str(SUITES.parent), deny=deny)
    command = [*before, sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_second_rung_is_chosen_where_namespaces_are_refused():
    found = chosen_in_a_process(deny=True)
    assert found.startswith(f"2 {os.getuid()} ")
    assert "keeper: PermissionError: [Errno 1] unshare" in found


needs_root = pytest.mark.skipif(not as_user.is_possible(), reason="only root can become somebody else")


@needs_root
@pytest.mark.parametrize("deny", [False, True], ids=["with namespaces", "without namespaces"])
def test_the_wall_holds_for_an_ordinary_user_too(deny):
    found = chosen_in_a_process(deny, before=as_user.command([]))
    assert found.startswith(f"2 {as_user.USER} " if deny else (f"1 {as_user.USER} ", f"2 {as_user.USER} "))


SAME_USER = """
import json, os, sys
sys.path.insert(0, {repository!r})
from autograder.sandbox import ForkServer, probe_rung, seccomp
from autograder.records import Limits
if {weaker}:
    kept = {{k: v for k, v in seccomp._REFUSED.items() if "chmod" not in k and "utime" not in k and k != "truncate"}}
    seccomp._REFUSED = kept
with ForkServer((), from_this_process=True) as server:
    print(json.dumps(probe_rung(server, 2, Limits(memory_mib=256), []).findings["nothing changeable outside"]))
"""


@needs_root
@pytest.mark.parametrize("weaker", [False, True], ids=["as it is", "without that part of the filter"])
def test_files_of_the_same_user_cannot_be_changed_without_opening_them(weaker):
    # Landlock looks at opening, making and removing; modes and times are changed by name.
    text = SAME_USER.format(repository=str(SUITES.parent), weaker=weaker)
    command = as_user.command([sys.executable, "-c", text])
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
    found = json.loads(done.stdout)
    assert (found or "").startswith("changed the times of") if weaker else found is None


@pytest.mark.parametrize("flags", ["os.O_RDONLY | os.O_TRUNC", "os.O_RDONLY | os.O_TRUNC | os.O_CLOEXEC"])
def test_a_file_cannot_be_emptied_by_reading_it(server, rung, flags):
    if rung == UNSAFE:
        pytest.skip("there is no wall here")
    text = f"import os\ndef f():\n    return os.open('/dev/null', {flags})\n"
    text += "def g():\n    return open('/dev/null').read()\ndef h():\n    return open('/dev/null', 'w').write('x')\n"
    with Run(server, rung, text) as run:
        assert run.call("f")["error"]["type"] == "PermissionError"
        assert run.call("g") == {"value": "", "id": 3}
        assert run.call("h") == {"value": 1, "id": 4}


# -- ends ----------------------------------------------------------------------------------------------------------

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


# -- what it leaves running ------------------------------------------------------------------------------------------


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
        assert eventually(lambda: _is_zombie(pid))


def test_a_worker_cannot_choose_to_be_served_last(server, each_rung):
    # A process that only runs when nothing else does has always waited, and waiting moves its deadline.
    with Run(server, each_rung, RESTLESS) as run:
        assert run.call("idle")["error"]["type"] == "PermissionError"


def test_threads_are_limited_for_a_user_of_its_own(server, each_rung):
    if os.geteuid() != 0 and each_rung == 2:
        pytest.skip("an ordinary user's worker shares the user with the grader here")
    with Run(server, each_rung, RESTLESS) as run:
        assert run.call("crowd")["value"] < confine.MAX_THREADS


CROWD = """
import sys, time
sys.path[:0] = [{repository!r}, {repository!r} + "/tests", {repository!r} + "/tests/sandbox"]
from test_sandbox_probes import LIMITS, RESTLESS, Run
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


# -- limits --------------------------------------------------------------------------------------------------------


def test_memory_over_the_limit_is_an_exception_and_not_an_end(server, each_rung):
    text = (
        "def bomb():\n    kept = []\n    while True:\n        kept.append(bytearray(10**7))\n"
        "def fine():\n    return len(bytearray(10**7))\n"
    )
    with Run(server, each_rung, text) as run:
        assert run.call("bomb")["error"]["type"] == "MemoryError"
        assert run.call("fine")["value"] == 10**7


def test_torch_over_the_limit_is_an_exception_too(torch_server, rung):
    text = "import torch\ndef f():\n    return torch.ones(2**30)\ndef g():\n    return torch.ones(2).softmax(-1)\n"
    with Run(torch_server, rung, text) as run:
        assert "can't allocate memory" in run.call("f")["error"]["message"]
        assert "value" in run.call("g")


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


# -- nothing is left behind ----------------------------------------------------------------------------------------


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
        assert eventually(lambda child=child: not Path(f"/proc/{child}").exists() or _is_zombie(child))


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
    assert eventually(lambda: _is_zombie(child))


def test_without_a_wall_time_and_memory_are_still_limited(server):
    with Run(server, UNSAFE, STUBBORN + "def bomb():\n    return len(bytearray(2**30))\n") as run:
        assert run.call("bomb")["error"]["type"] == "MemoryError"
        with pytest.raises(WorkerTimedOut):
            run.call("loop", seconds=0.5)
    with ForkServer((), from_this_process=True) as other:
        run = Run(other, UNSAFE, STUBBORN)
        pid = run.worker._pieces.pid
        os.kill(other._process._pid, signal.SIGKILL)
        assert eventually(lambda: _is_zombie(pid))
        run.worker.close()


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


# -- our own failures ----------------------------------------------------------------------------------------------


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


def test_the_filter_is_written_for_both_machines():
    for machine, column in (("x86_64", 0), ("aarch64", 1)):
        numbers = [pair[column] for pair in seccomp._REFUSED.values() if pair[column] is not None]
        assert len(set(numbers)) == len(numbers), machine
        assert all(number < seccomp._FIRST_UNKNOWN for number in numbers)
        known = {*numbers, *(pair[column] for pair in seccomp._SELF_ONLY.values())}
        assert seccomp._CLONE[column] not in known
        assert syscalls.PIVOT_ROOT[machine] in known
