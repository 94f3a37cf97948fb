"""One part's line to student code: a fresh worker at the start and after any death, a deadline for each check."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from autograder.records import Check, Limits
from autograder.wire import MAX_TEXT, Array, WorkerDied, WorkerTimedOut

# After so many, calling it again would only burn the limit once more for each check that is left.
_ENDS_OF_ONE_NAME = 2
_TOO_SLOW = f"it ran past the time limit {_ENDS_OF_ONE_NAME} times before, and was not run again"
_TOO_DEADLY = f"it ended its process {_ENDS_OF_ONE_NAME} times before, and was not run again"


class WorkerLike(Protocol):
    """What is needed of a worker (see ``sandbox.Worker``)."""

    alive: bool

    def allow(self, seconds: float) -> None:
        """Give it so much time for all that it is asked from now on."""
        ...

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        """Ask and wait for the answer, within what is left of its time."""
        ...

    def threads(self) -> int:
        """Return how many threads it has."""
        ...

    def printed(self) -> str:
        """Return what was printed since ``forget_printed``."""
        ...

    def forget_printed(self) -> None:
        """Drop what was printed so far."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class NotImportable(Exception):
    """The student's file cannot be imported: every check fails for that one reason.

    Args:
        message: For the student.
        traceback: Of the student's own frames.
        timed_out: True where the import did not end.
    """

    def __init__(self, message: str, traceback: str = "", *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.traceback = traceback
        self.timed_out = timed_out


class PartConnection:
    """Answers a suite's requests about one part of one submission.

    Args:
        open_worker: Starts a fresh worker.
        module: The part's module.
        sources: Module -> text, everything that it may import.
        limits: Of the course.
    """

    def __init__(
        self, open_worker: Callable[[], WorkerLike], module: str, sources: Mapping[str, str], limits: Limits
    ) -> None:
        self._open_worker = open_worker
        self._module = module
        self._sources = dict(sources)
        self._limits = limits
        self._worker: WorkerLike | None = None
        self._own_threads = 0  # once the file is imported
        self._timeouts: Counter[str] = Counter()
        self._deaths: Counter[str] = Counter()
        self._printed = ""
        self._not_importable: NotImportable | None = None

    def begin(self, check: Check, seed: int) -> None:
        """Make ready for a check.

        Raises:
            NotImportable: The student's file does not import; once seen, it is not tried again.
        """
        if self._not_importable is not None:
            raise self._not_importable
        self._printed = ""
        seconds = check.timeout_s or self._limits.check_s
        if self._worker is not None:
            # What an earlier check left running is not this check's doing: it may end the process, block it or slow it.
            left_running = self._worker.threads() > self._own_threads
            if left_running or not self._begun(self._worker, seed, seconds):
                self._bury(self._worker)
        if self._worker is None:
            worker = self._worker = self._open_worker()
            try:
                self._import(worker)
            except NotImportable as reason:
                self._not_importable = reason
                raise
            self._own_threads = worker.threads()
            if not self._begun(worker, seed, seconds):
                self._bury(worker)
                raise NotImportable(f"{self._module}.py: its process ended as soon as it was imported.")

    def _begun(self, worker: WorkerLike, seed: int, seconds: float) -> bool:
        worker.forget_printed()
        try:
            worker.allow(seconds)
            worker.request({"op": "begin", "seed": seed}, [])
        except WorkerDied:
            return False
        return True

    def _import(self, worker: WorkerLike) -> None:
        message = {"op": "import", "module": self._module, "sources": self._sources}
        file = f"{self._module}.py"
        try:
            worker.allow(self._limits.check_s)
            reply, _ = worker.request(message, [])
        except WorkerTimedOut:
            self._bury(worker)
            limit = f"{self._limits.check_s:g} seconds"
            raise NotImportable(f"Importing {file} did not end within {limit}.", timed_out=True) from None
        except WorkerDied as death:
            self._bury(worker)
            raise NotImportable(f"Importing {file}: {death.reason}.") from None
        error = reply.get("error")
        if error is None:
            return
        self._bury(worker)
        texts = [error.get(key) if isinstance(error, dict) else "" for key in ("type", "message", "traceback")]
        kind, told, traceback = (text[:MAX_TEXT] if isinstance(text, str) else "" for text in texts)
        missing = self._missing_part(told)
        raise NotImportable(f"{file} does not import: {kind}: {told}{missing}", traceback)

    def _missing_part(self, message: str) -> str:
        name = message.partition("No module named '")[2].partition("'")[0]
        return f" ({name}.py was not handed in with it)" if name.startswith("part") else ""

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        """Ask the worker, within what is left of the check's time.

        Raises:
            WorkerTimedOut: The time is over, or was over twice already for the same function.
            WorkerDied: The process ended.
        """
        if self._worker is None:
            raise WorkerDied("the code's process had ended before")
        label = str(message.get("label", ""))
        if self._timeouts[label] >= _ENDS_OF_ONE_NAME:
            raise WorkerTimedOut(_TOO_SLOW)
        if self._deaths[label] >= _ENDS_OF_ONE_NAME:
            raise WorkerDied(_TOO_DEADLY)
        try:
            return self._worker.request(message, arrays)
        except WorkerDied as death:
            ends = self._timeouts if isinstance(death, WorkerTimedOut) else self._deaths
            ends[label] += 1
            self._bury(self._worker)
            raise

    def printed(self) -> str:
        """Return what the student's code wrote during this check."""
        if self._worker is not None:
            self._printed = self._worker.printed()
        return self._printed

    def _bury(self, worker: WorkerLike) -> None:
        self._printed = worker.printed()
        worker.close()
        self._worker = None

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
