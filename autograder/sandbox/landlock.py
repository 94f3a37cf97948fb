"""Landlock: the kernel lets a process give up every path that is not listed, as root or not.

Source: Linux, Documentation/userspace-api/landlock.rst.
"""

import ctypes
import os
import struct
from collections.abc import Iterable

from autograder.sandbox.syscalls import (
    LANDLOCK_ADD_RULE,
    LANDLOCK_CREATE_RULESET,
    LANDLOCK_RESTRICT_SELF,
    checked,
    syscall,
)

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
# Rights on files by ABI: version 1 knows 13 of them, later ones add refer, truncate and ioctl on devices.
_FILE_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}
_FILE_RIGHTS_NEWEST = 16
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1, 2, 4, 8, 1 << 14
_NET_BIND_AND_CONNECT = 3  # TCP only; seccomp refuses every socket
_SCOPE_SIGNALS_AND_ABSTRACT_SOCKETS = 3
_ABI_WITH_NET, _ABI_WITH_SCOPES = 4, 6


def abi() -> int:
    """Return the kernel's version of Landlock; 0 where it has none."""
    return max(0, syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION)))


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Allow this process and its children these paths and nothing else.

    Args:
        readable: Files and folders that may be read (and mapped as libraries).
        writable: Files and folders that may be changed as well.

    Raises:
        OSError: The kernel has no Landlock, or refused a rule.
    """
    version = abi()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    every = (1 << _FILE_RIGHTS_BY_ABI.get(version, _FILE_RIGHTS_NEWEST)) - 1
    size = 8 if version < _ABI_WITH_NET else 16 if version < _ABI_WITH_SCOPES else 24
    attributes = struct.pack("QQQ", every, _NET_BIND_AND_CONNECT, _SCOPE_SIGNALS_AND_ABSTRACT_SOCKETS)[:size]
    ruleset = checked(
        syscall(LANDLOCK_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0)), "landlock ruleset"
    )
    try:
        for paths, rights in ((readable, _EXECUTE | _READ_FILE | _READ_DIR), (writable, every & ~_EXECUTE)):
            for path in paths:
                if os.path.exists(path):
                    _add(ruleset, path, rights & every)
        checked(syscall(LANDLOCK_RESTRICT_SELF, ruleset, ctypes.c_uint32(0)), "landlock restrict")
    finally:
        os.close(ruleset)


def _add(ruleset: int, path: str, rights: int) -> None:
    if not os.path.isdir(path):
        rights &= _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE  # the others are rights on folders
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, descriptor)
        checked(
            syscall(LANDLOCK_ADD_RULE, ruleset, ctypes.c_int(_RULE_PATH_BENEATH), rule, ctypes.c_uint32(0)),
            f"landlock {path}",
        )
    finally:
        os.close(descriptor)
