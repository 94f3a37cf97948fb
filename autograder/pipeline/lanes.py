"""Lanes: several graders side by side, one process and one fork server each, fed with one submission at a time.

There are never more of them than jobs, since each imports torch, which takes seconds of a processor. One that dies is
replaced and its submission given to the new one; a submission that has ended several lanes is left to a person. Scores
do not depend on the number of lanes: every check draws from the grading seed alone. A lane writes nothing and ends with
the process that started it, so that a grader that is killed leaves nobody at work.
"""

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from autograder.errors import SandboxError
from autograder.sandbox import syscalls

DEATHS_OF_ONE_JOB = 3  # lanes that one submission may take with it before a person is asked
_STOP_S = 10.0

Job = TypeVar("Job")


@dataclass
class _Lane:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    greeting: Any = None  # what it said when it was ready
    job: int | None = None


class Lanes(Generic[Job]):
    """Processes that each answer one job at a time.

    Args:
        serve: Runs in a new process with one end of a pipe: sends a greeting, then answers each job it receives.
        arguments: What ``serve`` is given after the pipe; picklable, and ours.
        most: How many processes at most.
    """

    def __init__(self, serve: Callable[..., None], arguments: tuple[Any, ...], most: int) -> None:
        self._serve = serve
        self._arguments = arguments
        self._most = most
        # A fresh interpreter: a fork of this one would bring its threads' locks along, and torch's pool.
        self._context = multiprocessing.get_context("spawn")
        self._lanes: list[_Lane] = []

    def _open_for(self, jobs: int) -> None:
        while len(self._lanes) < min(self._most, jobs):
            self._lanes.append(self._open())

    def _open(self) -> _Lane:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=self._serve, args=(theirs, *self._arguments), daemon=False)
        with no_modules_of_this_folder():
            process.start()
        theirs.close()
        return _Lane(process, ours)

    def greet(self, jobs: int) -> Any:
        """Start as many lanes as so many jobs can use, wait until the first is ready and return its greeting.

        Args:
            jobs: At least one; ``run`` may be given others, and starts more lanes where they are more.

        Raises:
            SandboxError: It could not start; the reason is its own.
        """
        self._open_for(jobs)
        return self._greeting(self._lanes[0])

    def _greeting(self, lane: _Lane) -> Any:
        if lane.greeting is None:
            try:
                lane.greeting = lane.pipe.recv()
            except EOFError:
                raise SandboxError("a grader process ended while it started", "run gpt-hw doctor") from None
        if isinstance(lane.greeting, Exception):
            raise lane.greeting
        return lane.greeting

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Any]]:
        """Answer every job, in whatever order they are done.

        Args:
            jobs: Picklable.

        Yields:
            The number of the job and its answer; None in place of an answer where it ended every lane it was given to.
        """
        waiting = deque(range(len(jobs)))
        deaths = dict.fromkeys(waiting, 0)
        self._open_for(len(jobs))
        for lane in self._lanes:
            self._greeting(lane)
        for lane in self._lanes:
            self._give(lane, waiting, jobs)
        while any(lane.job is not None for lane in self._lanes):
            busy = {lane.pipe: lane for lane in self._lanes if lane.job is not None}
            for pipe in wait(list(busy)):
                lane = busy[pipe]  # type: ignore[index]
                number = lane.job
                assert number is not None
                try:
                    answer = lane.pipe.recv()
                except (EOFError, OSError):
                    deaths[number] += 1
                    self._replace(lane)
                    if deaths[number] < DEATHS_OF_ONE_JOB:
                        waiting.appendleft(number)
                    else:
                        yield number, None
                else:
                    yield number, answer
                self._give(lane, waiting, jobs)

    def _give(self, lane: _Lane, waiting: deque[int], jobs: Sequence[Job]) -> None:
        lane.job = waiting.popleft() if waiting else None
        if lane.job is not None:
            with suppress(OSError):  # a lane that died just now is noticed when its answer is awaited
                lane.pipe.send(jobs[lane.job])

    def _replace(self, lane: _Lane) -> None:
        lane.pipe.close()
        lane.process.join(_STOP_S)
        fresh = self._open()
        lane.process, lane.pipe, lane.greeting = fresh.process, fresh.pipe, None
        self._greeting(lane)

    def close(self, patience_s: float = _STOP_S) -> None:
        """End every lane.

        Args:
            patience_s: How long all of them together may take to end in good order; then they are killed.
        """
        for lane in self._lanes:
            lane.pipe.close()  # the lane sees it, and ends its workers
        deadline = time.monotonic() + patience_s
        for lane in self._lanes:
            lane.process.join(max(0.0, deadline - time.monotonic()))
            if lane.process.is_alive():
                lane.process.kill()
                lane.process.join()


@contextmanager
def no_modules_of_this_folder() -> Iterator[None]:
    """Start interpreters that import nothing from the current folder.

    They would look there first, and it may be a submission's: a file called multiprocessing.py would be run as ours.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def be_a_lane() -> None:
    """Ignore Ctrl-C, since the process that was typed at closes the pipes instead, and end when that process does.

    Where the system cannot end a lane with its parent, the lane finishes its submission and then meets a closed pipe.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if syscalls.IS_LINUX:
        parent = multiprocessing.parent_process()
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        if parent is not None and os.getppid() != parent.pid:  # it ended before this line
            os._exit(1)
