"""Start the fork server: as a fresh process, or as a fork of this one."""

import contextlib
import io
import json
import os
import signal
import site
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_ENCODING, _ERRORS = "utf-8", "backslashreplace"  # whatever a student prints, printing it is no mistake
# Only what a Python process needs: no home, no proxy, no token of the person who grades.
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    # What is freed is kept: a page that the system has to clear again costs more than most arithmetic on it.
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "CUDA_VISIBLE_DEVICES": "",  # the first backward would start a thread for each, before the fork
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONIOENCODING": _ENCODING + ":" + _ERRORS,
    "TORCHINDUCTOR_CACHE_DIR": "/tmp",  # torch makes the folder when it is imported; this one is always there
}
_BOOT = (
    "import json, sys; first, *last = json.loads(sys.argv.pop(1)); sys.path[:] = [first, *sys.path, *last]; "
    "import runpy; runpy.run_module('{}', run_name='__main__')"
)


_kept: list[Any] = []


class Child:
    """A forked process, held like a ``subprocess.Popen``."""

    stderr = None

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ended = False

    def kill(self) -> None:
        """Send SIGKILL, where it has not been waited for."""
        if not self._ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends.

        Raises:
            subprocess.TimeoutExpired: It did not, in so many seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._ended:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self._pid, 0 if deadline is None else os.WNOHANG)[0] == 0:
                    if deadline is not None and time.monotonic() > deadline:
                        raise subprocess.TimeoutExpired("fork server", timeout or 0.0)
                    time.sleep(0.005)
                    continue
            self._ended = True
        return 0


def start(control: socket.socket, preload: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start a server that has nothing of this process in its memory.

    Args:
        control: Its end of the control socket.
        preload: See ``ForkServer``.
    """
    package_folder = str(Path(__file__).resolve().parents[2])
    keep = {key: os.environ[key] for key in ("LD_LIBRARY_PATH", "OPENBLAS_CORETYPE") if key in os.environ}
    # -P and -s: neither the current folder nor a home decides which modules the server imports. What was installed for
    # this user alone is found as it is here. (Not -E: the environment is ours, and seeds the hashes.)
    users = [path for path in sys.path if path and path == site.getusersitepackages()]
    command = [sys.executable, "-P", "-s", "-c", _BOOT.format("autograder.sandbox.fork_server")]
    return subprocess.Popen(
        [*command, json.dumps([package_folder, *users]), str(control.fileno()), ",".join(preload)],
        pass_fds=[control.fileno()],
        env={**_ENVIRONMENT, **keep},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd="/",
    )


def fork(ours: socket.socket, control: socket.socket, preload: Sequence[str]) -> Child:
    """Fork a server from this process, with everything that it has imported.

    Args:
        ours: This process's end of the control socket.
        control: The server's end.
        preload: See ``ForkServer``.
    """
    pid = os.fork()
    if pid:
        return Child(pid)
    try:
        from autograder.sandbox.fork_server import MAX_DESCRIPTOR, main

        ours.detach()
        os.environ["CUDA_VISIBLE_DEVICES"] = _ENVIRONMENT["CUDA_VISIBLE_DEVICES"]
        os.setsid()
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(nothing, target)
        _renew_streams()
        for first, last in ((3, control.fileno()), (control.fileno() + 1, MAX_DESCRIPTOR)):
            os.closerange(first, last)  # whatever else this process has open, other servers' sockets among it
        main(control.fileno(), preload)
    finally:
        os._exit(1)


def _renew_streams() -> None:
    # What this process has not yet written is its own to write; and its streams may not be those of descriptors 0 to 2.
    _kept.extend([sys.stdin, sys.stdout, sys.stderr])  # letting go of them would close the descriptors
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        raw = io.FileIO(descriptor, mode, closefd=False)
        stream = io.TextIOWrapper(raw, _ENCODING, _ERRORS, write_through=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
