"""A seccomp filter: the system calls that student code has no use for fail with EPERM.

The filter is a list of BPF instructions, written here by ctypes: it needs no libseccomp on the machine.
Source: Linux, Documentation/userspace-api/seccomp_filter.rst; numbers from asm/unistd.h of each machine.
"""

import ctypes
import errno
import os
import struct

from autograder.sandbox.syscalls import MACHINE, PR_SET_PDEATHSIG, PR_SET_SECCOMP, prctl

_SECCOMP_MODE_FILTER = 2
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_ARGUMENT_BYTES = 8
_CLONE_THREAD = 0x00010000
_X32_BIT = 0x40000000

# Refused always. (x86_64, aarch64); None where the machine has no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242),
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "kill": (62, 129), "tkill": (200, 130), "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "seccomp": (317, 277),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116), "personality": (135, 92),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "mknod": (133, None), "mknodat": (259, 33), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "vhangup": (153, 58), "fanotify_init": (300, 262),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "migrate_pages": (256, 238), "move_pages": (279, 239),
    "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "setrlimit": (160, 164),
    # What Landlock does not look at (truncate: in its first two versions). A worker may share its user with the grader.
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "chown": (92, None), "fchown": (93, 55),
    "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None), "futimesat": (261, None),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "truncate": (76, 45),
}  # fmt: skip
# Allowed for this process itself (first argument 0 or its own id), refused for any other.
_SELF_ONLY: dict[str, tuple[int, int]] = {
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
_CLONE = (56, 220)
_PRCTL = (157, 167)
# open, openat: (number on x86_64, number on aarch64, which argument holds the flags).
_OPENS: tuple[tuple[int | None, int | None, int], ...] = ((2, None, 1), (257, 56, 2))
# Numbers from here on are newer than this list: they answer "no such call", and libc falls back to older ones.
# clone3 and openat2 are older ones that must answer so, since their flags lie in memory, where a filter cannot look.
_CLONE3, _OPENAT2 = 435, 437
_FIRST_UNKNOWN = 450


def supported() -> bool:
    """Tell whether the filter can be written for this machine."""
    return MACHINE in _AUDIT_ARCH and struct.calcsize("P") == 8


def restrict() -> None:
    """Load the filter into this process, for good; ``no_new_privs`` must be set.

    Raises:
        OSError: The kernel refused it.
    """
    program = b"".join(_filter(0 if MACHINE == "x86_64" else 1))
    count = len(program) // 8
    buffer = ctypes.create_string_buffer(program)
    fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", count, ctypes.addressof(buffer)))
    prctl(PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_void_p(ctypes.addressof(fprog)))


def _filter(column: int) -> list[bytes]:
    refuse, missing = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
    steps = [
        _step(_LOAD, _ARCH),
        _step(_JUMP_EQUAL, _AUDIT_ARCH[MACHINE], 1, 0),
        _step(_RETURN, _KILL_PROCESS),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_AT_LEAST, _X32_BIT, 0, 1),
        _step(_RETURN, _KILL_PROCESS),
        _step(_JUMP_AT_LEAST, _FIRST_UNKNOWN, 0, 1),
        _step(_RETURN, missing),
        _step(_JUMP_EQUAL, _CLONE3, 1, 0),
        _step(_JUMP_EQUAL, _OPENAT2, 0, 1),
        _step(_RETURN, missing),
        # clone: threads only.
        _step(_JUMP_EQUAL, _CLONE[column], 0, 4),
        _step(_LOAD, _ARGUMENTS),
        _step(_JUMP_ANY_BIT, _CLONE_THREAD, 1, 0),
        _step(_RETURN, refuse),
        _step(_RETURN, _ALLOW),
        # prctl: all but the signal at the parent's death, without which a worker would outlive a killed grader.
        _step(_JUMP_EQUAL, _PRCTL[column], 0, 4),
        _step(_LOAD, _ARGUMENTS),
        _step(_JUMP_EQUAL, PR_SET_PDEATHSIG, 0, 1),
        _step(_RETURN, refuse),
        _step(_RETURN, _ALLOW),
    ]
    for pair in _REFUSED.values():
        if pair[column] is not None:
            steps += [_step(_JUMP_EQUAL, pair[column] or 0, 0, 1), _step(_RETURN, refuse)]
    for numbers in _OPENS:
        if numbers[column] is not None:  # reading may not empty the file, which Landlock's first two versions allow
            steps += [
                _step(_JUMP_EQUAL, numbers[column] or 0, 0, 5),
                _step(_LOAD, _ARGUMENTS + _ARGUMENT_BYTES * numbers[2]),
                _step(_AND, os.O_TRUNC | os.O_ACCMODE),
                _step(_JUMP_EQUAL, os.O_TRUNC | os.O_RDONLY, 0, 1),
                _step(_RETURN, refuse),
                _step(_RETURN, _ALLOW),
            ]
    own = os.getpid()
    for either in _SELF_ONLY.values():
        steps += [
            _step(_JUMP_EQUAL, either[column], 0, 5),
            _step(_LOAD, _ARGUMENTS),
            _step(_JUMP_EQUAL, 0, 2, 0),
            _step(_JUMP_EQUAL, own, 1, 0),
            _step(_RETURN, refuse),
            _step(_RETURN, _ALLOW),
        ]
    return [*steps, _step(_RETURN, _ALLOW)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
