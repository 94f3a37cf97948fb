"""The fork server: imports torch once, before any student code, and forks a shut-in worker on request.

    grader ── control socket ─▶ fork server ─ fork ─▶ keeper ─ fork ─▶ worker (confined, then student code)

The keeper makes the namespaces, so that the worker is process 1 of its own, hands a pidfd of it to the grader, waits
for its end and reports it. The fork server itself never talks to a worker, and never runs student code.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any

from autograder.records import Limits
from autograder.sandbox import syscalls
from autograder.sandbox.confine import FIRST_WORKER_UID, Confinement, confine, enter_namespaces

CHANNEL = 3  # the descriptor on which a worker is asked
MAX_DESCRIPTOR = 4096
READY = b"ready"  # what the server says first, if all is well
_MAX_MESSAGE = 1 << 16
_WORKER_FAILED = 70  # the worker could not be shut in; the reason is on its output
_KEEPER_FAILED = 71


def main(control_fd: int, preload: Sequence[str]) -> None:
    """Serve until the grader hangs up.

    Args:
        control_fd: A SEQPACKET socket; each message is JSON with three descriptors.
        preload: Of ``torch``, ``numpy``, ``full``, ``attention``, ``normalisation``: what to warm before any fork.
    """
    control = socket.socket(fileno=control_fd)
    if syscalls.IS_LINUX:
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the grader's: it closes the control socket
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a keeper: it vanishes as soon as it ends
    try:
        _warm(preload)
    except Exception as error:
        control.send(f"{type(error).__name__}: {error}".encode()[:1000])
        raise
    control.send(READY)
    started = 0
    try:
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, _MAX_MESSAGE, 8)
            if not message:
                break
            started += 1
            if os.fork() == 0:
                _become_keeper(control, json.loads(message), descriptors, started)
            for descriptor in descriptors:
                os.close(descriptor)
    finally:
        os._exit(0)  # taking torch down in good order would cost a tenth of a second of somebody's waiting


def _warm(preload: Sequence[str]) -> None:
    # A worker must find everything loaded: of our own package it can read nothing.
    import random

    import autograder.sandbox.probes
    import autograder.worker.serve  # noqa: F401
    from autograder.worker import forbidden

    random.seed(0)

    if "torch" in preload:
        import numpy.random
        import torch

        numpy.random.seed(0)
        # One thread until the fork: a pool started here would be missing in the child, which then waits for ever.
        torch.set_num_threads(1)
        layer = torch.nn.Linear(2, 2)
        layer(torch.ones(1, 2)).sum().backward()
        torch.zeros(2).masked_fill(torch.ones(2, dtype=torch.bool), 0.0).softmax(-1)
        if "full" in preload:  # the first optimizer and the first meta kernel in Python import a second of torch
            torch.optim.AdamW(layer.parameters()).step()
            torch.ones(2, 2, device="meta").tril()
            repr(torch.zeros(1))  # what prints a tensor is imported when the first one is printed
        for group in forbidden.GROUPS:
            if group in preload:
                forbidden.kernels(group)
    elif "numpy" in preload:
        import numpy.random

        numpy.random.seed(0)
    if syscalls.IS_LINUX and len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("the fork server must have a single thread")
    gc.collect()
    gc.freeze()


def _become_keeper(control: socket.socket, wish: dict[str, Any], descriptors: Sequence[int], number: int) -> None:
    channel, output, status_fd = descriptors
    try:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a keeper does wait for its worker
        _keep(wish, channel, output, socket.socket(fileno=status_fd), number)
    except BaseException as error:  # told to the grader, which makes it an error of ours
        os.write(output, f"keeper: {type(error).__name__}: {error}\n".encode())
        os._exit(_KEEPER_FAILED)
    os._exit(0)


def _keep(wish: dict[str, Any], channel: int, output: int, status: socket.socket, number: int) -> None:
    if syscalls.IS_LINUX:
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
    if wish["processors"]:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, wish["processors"])
    rung = wish["rung"]
    uid = FIRST_WORKER_UID + number % 1000 if os.getuid() == 0 and rung < 3 else None
    plan = Confinement(rung=rung, limits=Limits(**wish["limits"]), uid=uid)
    if rung == 1:
        enter_namespaces()
    pid = os.fork()
    if pid == 0:
        _become_worker(plan, wish, channel, output)
    os.close(channel)
    os.close(output)
    handles = [os.pidfd_open(pid)] if hasattr(os, "pidfd_open") else []
    socket.send_fds(status, [json.dumps({"pid": pid}).encode()], handles)
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # until it is waited for, its number is nobody else's
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)  # what it started, on the rung where it could
    _, raw, usage = os.wait4(pid, 0)
    _end_orphans()
    code = os.waitstatus_to_exitcode(raw)
    end = {"code": code, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_kib": usage.ru_maxrss}
    status.send(json.dumps(end).encode())


def _end_orphans() -> None:
    # On the rung where a worker can start processes, some may have left its group: they are this process's now.
    with contextlib.suppress(OSError):  # where the system does not list children, the group was all that has a name
        while children := _children():
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children") as handle:
        return [int(child) for child in handle.read().split()]


def _become_worker(plan: Confinement, wish: dict[str, Any], channel: int, output: int) -> None:
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2), (channel, CHANNEL)):
            os.dup2(source, target)  # inheritable, since dup3 refuses a descriptor that is already in its place
        os.closerange(CHANNEL + 1, MAX_DESCRIPTOR)
        if "torch" in sys.modules:
            from autograder.worker import forbidden

            forbidden.forbid(wish["forbidden"])
        else:
            from autograder.worker import forbidden

            forbidden.only(["numpy"])
        confine(plan)
        if wish.get("probe"):
            from autograder.sandbox.probes import answer

            answer(CHANNEL, wish["probe"])
        else:
            from autograder.worker.serve import serve

            serve(socket.socket(fileno=CHANNEL))
        os._exit(0)
    except BaseException as error:
        os.write(2, f"worker: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(_WORKER_FAILED)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2].split(","))
