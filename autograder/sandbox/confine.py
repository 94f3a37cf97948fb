"""What a worker does to itself before it sees a line of student code. The order of the steps matters.

Rung 1: namespaces with a root of its own, then rung 2. Rung 2: another user (where we are root), no capabilities,
limits, Landlock, seccomp. Rung 3: limits only, for a machine that has nothing else, by explicit wish.
"""

import contextlib
import os
import resource
import stat
import sys
import tempfile
import threading
from dataclasses import dataclass

from autograder.records import Limits
from autograder.sandbox import landlock, seccomp, syscalls

MAX_THREADS = 64
# Where the worker's user is the grader's too, the limit counts what both have: room for so many more.
_ROOM_AMONG_OTHERS = (512, 8192)
SCRATCH_MIB = 16
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
FIRST_WORKER_UID = 61_000  # above the users of any distribution, below the range of system services
# Where the new root is put together, in the worker's own namespace: a folder that every Linux has and that no Python
# lies in. A folder made for this would be left behind by a server that is killed.
_NEW_ROOT = "/etc"


@dataclass(frozen=True, slots=True)
class Confinement:
    """How one worker is shut in."""

    rung: int
    limits: Limits
    uid: int | None  # another user to become, where we are root


def library_paths() -> list[str]:
    """List what Python and torch need to be read from, without repeats inside repeats.

    The folder of this package is not among them: in a checkout it stands beside the hidden suites.
    """
    found = {"/usr", "/lib", "/lib64", "/lib32", sys.prefix, sys.base_prefix}
    for name in ("torch", "numpy", "safetensors"):
        module = sys.modules.get(name)
        if module is not None and module.__file__:
            found.add(os.path.dirname(os.path.dirname(module.__file__)))
    kept: list[str] = []
    for path in sorted(path for path in found if os.path.exists(path) and path != "/"):
        if os.path.islink(path) or not any(path.startswith(f"{other}/") for other in kept if not os.path.islink(other)):
            kept.append(path)
    return kept


def enter_namespaces() -> None:
    """Leave the machine's namespaces; the next child is process 1 of its own.

    Raises:
        OSError: This machine does not allow it.
    """
    flags = (
        syscalls.CLONE_NEWNS
        | syscalls.CLONE_NEWPID
        | syscalls.CLONE_NEWNET
        | syscalls.CLONE_NEWIPC
        | syscalls.CLONE_NEWUTS
    )
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        syscalls.unshare(flags)
        return
    syscalls.unshare(flags | syscalls.CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as handle:
            handle.write(text)


def confine(plan: Confinement) -> None:
    """Shut this process in, for good.

    Raises:
        OSError: A step that the rung promises did not work.
    """
    libraries = library_paths()
    if plan.rung == 1:
        _make_root(libraries)
    if plan.rung < 3:
        _lose_privileges(plan.uid, [] if plan.rung == 1 else libraries)
    if syscalls.IS_LINUX:
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, 9)  # the death of the process that started us is ours
    _limit(plan.limits, own_user=plan.uid is not None or plan.rung == 1)
    if plan.rung < 3:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        readable = [*libraries, *DEVICES, *(["/proc"] if plan.rung == 1 else [])]
        landlock.restrict(readable, ["/dev/null", *(["/tmp"] if plan.rung == 1 else [])])
        seccomp.restrict()


def _make_root(libraries: list[str]) -> None:
    # A root of its own: libraries read-only, an empty home, and nothing else of this machine.
    root = _NEW_ROOT
    nosuid_nodev = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    syscalls.mount("tmpfs", root, "tmpfs", nosuid_nodev, "size=1m,mode=755")
    # First, so that a Python which lies below the machine's own /tmp is not hidden by the worker's.
    for folder in ("/proc", "/tmp"):
        os.makedirs(root + folder, exist_ok=True)
    syscalls.mount("proc", f"{root}/proc", "proc", nosuid_nodev | syscalls.MS_NOEXEC)
    syscalls.mount("tmpfs", f"{root}/tmp", "tmpfs", nosuid_nodev, f"size={SCRATCH_MIB}m,mode=1777,nr_inodes=4096")
    for path in [*libraries, *DEVICES]:
        target = root + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(path):
            if not os.path.lexists(target):
                os.symlink(os.readlink(path), target)
            continue
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
        else:
            with open(target, "w"):
                pass
        syscalls.mount(path, target, None, syscalls.MS_BIND | syscalls.MS_REC)
        if path not in DEVICES:
            # A mount's own noexec must be kept: an ordinary user may not take it away.
            kept = os.statvfs(path).f_flag & syscalls.MS_NOEXEC
            flags = syscalls.MS_BIND | syscalls.MS_REMOUNT | syscalls.MS_RDONLY | nosuid_nodev | kept
            syscalls.mount(None, target, None, flags)
    syscalls.mount(None, root, None, syscalls.MS_REMOUNT | syscalls.MS_BIND | syscalls.MS_RDONLY | nosuid_nodev)
    syscalls.enter_root(root)
    os.chdir("/tmp")
    os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"


def _lose_privileges(uid: int | None, libraries: list[str]) -> None:
    keep = None
    if uid is not None:
        if not all(_open_to_everyone(path) for path in libraries):
            # Python lies in a folder of root's alone (a home, often). One capability is kept, to read past that
            # folder's mode; what may be read at all is still Landlock's to say.
            keep = _reading_capability()
            syscalls.prctl(syscalls.PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    syscalls.drop_capabilities(keep)


def _open_to_everyone(path: str) -> bool:
    real = os.path.realpath(path)
    folders = [real]
    while folders[-1] != "/":
        folders.append(os.path.dirname(folders[-1]))
    return all(os.stat(folder).st_mode & stat.S_IXOTH for folder in folders)


def _reading_capability() -> int:
    with open("/proc/self/status") as handle:
        line = next(line for line in handle if line.startswith("CapEff"))
    held = int(line.split()[1], 16)
    narrow = syscalls.CAP_DAC_READ_SEARCH
    return narrow if held >> narrow & 1 else syscalls.CAP_DAC_OVERRIDE  # containers often hold the second only


def _limit(limits: Limits, *, own_user: bool) -> None:
    # What torch has mapped already does not count against the student's budget.
    values = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_mib << 20,
        resource.RLIMIT_NOFILE: limits.open_files,
    }
    if syscalls.IS_LINUX:
        with open("/proc/self/statm") as handle:
            mapped = int(handle.read().split()[0]) * resource.getpagesize()
        values[resource.RLIMIT_AS] = mapped + (limits.memory_mib << 20)
    if own_user:
        values[resource.RLIMIT_NPROC] = MAX_THREADS
    elif syscalls.IS_LINUX:
        _limit_threads_among_others()
    for what, value in values.items():
        resource.setrlimit(what, (value, value))


def _limit_threads_among_others() -> None:
    # The limit counts every thread of a user, in other containers too, which cannot be seen from here: so it is tried.
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    seen = _threads_of(os.getuid())
    for room in _ROOM_AMONG_OTHERS:
        if hard != resource.RLIM_INFINITY and seen + room >= hard:
            return  # the machine's own limit is narrower
        resource.setrlimit(resource.RLIMIT_NPROC, (seen + room, hard))
        if _thread_starts():
            resource.setrlimit(resource.RLIMIT_NPROC, (seen + room, seen + room))
            return
    resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))


def _threads_of(uid: int) -> int:
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            if os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _thread_starts() -> bool:
    thread = threading.Thread(target=lambda: None)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True
