"""The wall holds on each of its rungs, and one that does not is noticed and not chosen."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import as_user
import pytest
from sandbox_workers import LIMITS, SUITES, Run, needs_root

from autograder.errors import SandboxError
from autograder.sandbox import UNSAFE, ForkServer, choose_rung, confine, landlock, probe_rung, seccomp, syscalls

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")


def test_every_probe_is_stopped(server, each_rung):
    report = probe_rung(server, each_rung, LIMITS, [SUITES, Path(__file__)])
    assert {name: found for name, found in report.findings.items() if found} == {}
    assert report.holds
    assert len(report.findings) == 12


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


def test_the_filter_is_written_for_both_machines():
    for machine, column in (("x86_64", 0), ("aarch64", 1)):
        numbers = [pair[column] for pair in seccomp._REFUSED.values() if pair[column] is not None]
        assert len(set(numbers)) == len(numbers), machine
        assert all(number < seccomp._FIRST_UNKNOWN for number in numbers)
        known = {*numbers, *(pair[column] for pair in seccomp._SELF_ONLY.values())}
        assert seccomp._CLONE[column] not in known
        assert syscalls.PIVOT_ROOT[machine] in known
