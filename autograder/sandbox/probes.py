"""The self-test: what hostile code would try, tried by us, inside a worker that is shut in like a student's.

Each probe returns None where the wall held, or what it managed to do. A rung is used only if all its probes held here,
now, on this machine.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from autograder.sandbox import syscalls

Probe = Callable[[Mapping[str, Any]], str | None]
_PTRACE_ATTACH = 16


def read_secrets(facts: Mapping[str, Any]) -> str | None:
    """Read the hidden suites, the submissions and a file planted outside."""
    for path in facts["secrets"]:
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                os.listdir(path)
            else:
                open(path, "rb").close()
            return f"read {path}"
    return None


def read_system(facts: Mapping[str, Any]) -> str | None:
    """Read the machine's own files and list its root."""
    for path in ("/etc/passwd", "/etc/hostname", "/root", "/home", "/var", "/"):
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                os.listdir(path)
            else:
                open(path, "rb").close()
            return f"read {path}"
    return None


def write_outside(facts: Mapping[str, Any]) -> str | None:
    """Write beside the secrets, into Python's own folder and into the machine's temporary folders."""
    own_tmp = facts["rung"] == 1
    folders = [*facts["writable"], os.path.dirname(os.__file__), "/var/tmp", "/dev/shm", *([] if own_tmp else ["/tmp"])]
    for folder in folders:
        with contextlib.suppress(OSError):
            path = os.path.join(folder, f"probe-{os.getpid()}")
            with open(path, "w"):
                pass
            return f"wrote {path}"
    return None


def change_outside(facts: Mapping[str, Any]) -> str | None:
    """Change what a file outside is without opening it: its mode, its owner, its times, its length."""
    for path in facts["secrets"][:1]:  # the planted one
        attempts: list[tuple[str, Callable[[], object]]] = [
            ("changed the times of", partial(os.utime, path)),
            ("changed the mode of", partial(os.chmod, path, 0o600)),
            ("changed the owner of", partial(os.chown, path, os.getuid(), os.getgid())),
            ("truncated", partial(os.truncate, path, 0)),
            ("truncated", partial(os.open, path, os.O_RDONLY | os.O_TRUNC)),
        ]
        if found := _first_success(attempts):
            return f"{found} {path}"
    return None


def network(facts: Mapping[str, Any]) -> str | None:
    """Open a socket of any kind."""
    kinds = (
        ("TCP", socket.AF_INET, socket.SOCK_STREAM),
        ("UDP", socket.AF_INET, socket.SOCK_DGRAM),
        ("UNIX", socket.AF_UNIX, socket.SOCK_STREAM),
        ("netlink", getattr(socket, "AF_NETLINK", socket.AF_UNIX), socket.SOCK_RAW),
    )
    for name, family, kind in kinds:
        with contextlib.suppress(OSError):
            socket.socket(family, kind).close()
            return f"opened a {name} socket"
    return None


def processes(facts: Mapping[str, Any]) -> str | None:
    """Start a process, by fork and by exec."""
    with contextlib.suppress(OSError):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return "forked"
    with contextlib.suppress(OSError):
        os.execv("/bin/true", ["true"])
    return None


def other_processes(facts: Mapping[str, Any]) -> str | None:
    """Signal, limit, slow down and trace the grader and the keeper."""
    for target in (facts["grader"], os.getppid()):
        attempts: list[tuple[str, Callable[[], object]]] = [
            ("signalled", partial(os.kill, target, 0)),
            ("traced", partial(_trace, target)),
        ]
        if target > 0:  # in a namespace of its own the parent is 0, which would mean itself
            attempts += [
                ("limited", partial(resource.prlimit, target, resource.RLIMIT_CPU, (1, 1))),
                ("pinned", partial(os.sched_setaffinity, target, {0})),
                ("slowed", partial(os.setpriority, os.PRIO_PROCESS, target, 19)),
            ]
        if found := _first_success(attempts):
            return f"{found} process {target}"
    return None


def _trace(target: int) -> None:
    syscalls.checked(ctypes.CDLL(None, use_errno=True).ptrace(_PTRACE_ATTACH, target, 0, 0), "ptrace")


def _first_success(attempts: Iterable[tuple[str, Callable[[], object]]]) -> str | None:
    for verb, attempt in attempts:
        with contextlib.suppress(OSError):
            attempt()
            return verb
    return None


def privileges(facts: Mapping[str, Any]) -> str | None:
    """Become root, enter a namespace, mount, change the root."""
    attempts: list[tuple[str, Callable[[], object]]] = [
        ("entered a user namespace", lambda: syscalls.unshare(syscalls.CLONE_NEWUSER)),
        ("mounted", lambda: syscalls.mount("tmpfs", "/tmp", "tmpfs", 0)),
        ("changed root", lambda: os.chroot("/")),
    ]
    if os.getuid() != 0:
        attempts.append(("became root", lambda: os.setresuid(0, 0, 0)))
    return _first_success(attempts) or ("is still root" if os.getuid() == 0 else None)


def staying(facts: Mapping[str, Any]) -> str | None:
    """Ask to be served only when nothing else runs, and to outlive whoever started it."""
    attempts: list[tuple[str, Callable[[], object]]] = [
        ("chose to be served last", _be_served_last),
        ("can outlive the fork server", lambda: syscalls.prctl(syscalls.PR_SET_PDEATHSIG, 0)),
    ]
    return _first_success(attempts)


def _be_served_last() -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def memory(facts: Mapping[str, Any]) -> str | None:
    """Allocate more than the limit (and the little that was mapped but free before)."""
    too_much_mib = facts["memory_mib"] + 128
    try:
        bytearray(too_much_mib << 20)
        return f"allocated {too_much_mib} MiB at once"
    except MemoryError:
        return None


def files(facts: Mapping[str, Any]) -> str | None:
    """Open more files than the limit, and write a file larger than the limit."""
    opened = []
    try:
        for _ in range(facts["open_files"] + 1):
            opened.append(os.open("/dev/null", os.O_RDONLY))
        return "opened too many files"
    except OSError:
        pass
    finally:
        for descriptor in opened:
            os.close(descriptor)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        path = os.path.join("/tmp", f"probe-{os.getpid()}")
        with open(path, "wb") as handle:
            handle.truncate((facts["file_mib"] << 20) + 1)
        os.unlink(path)
        return "wrote a file over the limit"
    return None


def threads(facts: Mapping[str, Any]) -> str | None:
    """Show that threads, which torch may need, still start (here a failure means the wall is too tight)."""
    import threading

    try:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        return None
    except RuntimeError:
        return "no thread can be started"


SECRETS = "hidden suites and submissions unreadable"
PROBES: dict[str, Probe] = {
    SECRETS: read_secrets,
    "the machine's files unreadable": read_system,
    "nothing writable outside": write_outside,
    "nothing changeable outside": change_outside,
    "no network": network,
    "no new processes": processes,
    "the grader out of reach": other_processes,
    "no privileges": privileges,
    "no delay and no staying on": staying,
    "memory limit": memory,
    "file limits": files,
    "threads work": threads,
}


def answer(channel_fd: int, facts: Mapping[str, Any]) -> None:
    """Run every probe and write the findings as JSON on the channel."""
    findings: dict[str, str | None] = {}
    for name, probe in PROBES.items():
        try:
            findings[name] = probe(facts)
        except BaseException as error:
            findings[name] = f"the probe itself failed: {type(error).__name__}: {error}"
    channel = socket.socket(fileno=channel_fd)
    channel.sendall(json.dumps(findings).encode())
    channel.close()
