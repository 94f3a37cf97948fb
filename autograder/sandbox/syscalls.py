"""The few system calls of Linux that Python does not offer, by ctypes: no compiler, no extra package."""

import ctypes
import os
import platform

IS_LINUX = platform.system() == "Linux"
MACHINE = platform.machine()

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 8, 22, 24, 38
PR_SET_CHILD_SUBREAPER = 36
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION_3 = 0x20080522

# The numbers of calls that libc has no wrapper for: (x86_64, aarch64).
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446

_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """Raise OSError where a call failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *args: object) -> int:
    """Make a system call by its number; -1 and errno where it fails."""
    return int(_libc.syscall(number, *args))


def prctl(option: int, *args: object) -> None:
    """Change a property of this process."""
    values = [*args, *[0] * (4 - len(args))]
    converted = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in values]
    checked(_libc.prctl(option, *converted), f"prctl({option})")


def unshare(flags: int) -> None:
    """Leave the namespaces named by the flags for new ones."""
    checked(_libc.unshare(flags), "unshare")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount a file system."""
    coded = [None if text is None else text.encode() for text in (source, target, kind, data)]
    checked(_libc.mount(coded[0], coded[1], coded[2], ctypes.c_ulong(flags), coded[3]), f"mount {target}")


def enter_root(new_root: str) -> None:
    """Make a mounted folder the root and let go of the old one."""
    os.chdir(new_root)
    checked(syscall(PIVOT_ROOT[MACHINE], b".", b"."), "pivot_root")
    checked(_libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/")


def drop_capabilities(keep: int | None = None) -> None:
    """Give up every capability but one (or all), for good."""
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)  # fails beyond the kernel's last one
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    bits = 0 if keep is None else 1 << keep
    # (effective, permitted, inheritable) for capabilities 0 to 31, then for 32 to 63.
    checked(_libc.capset(header, (ctypes.c_uint32 * 6)(bits, bits, 0, 0, 0, 0)), "capset")
