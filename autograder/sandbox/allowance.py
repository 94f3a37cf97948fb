"""How long student code may still run: what the machine gave to others meanwhile does not count."""

import time
from typing import Protocol

_LEAST_OWED_S = 0.01  # less waiting than this is nobody's excuse


class Clocks(Protocol):
    """What is read of a process (see ``WorkerProcess``)."""

    def waited_s(self) -> float:
        """Return how long it stood ready without being let run."""
        ...

    def cpu_s(self) -> float:
        """Return its processor time."""
        ...


class Allowance:
    """The time for a check, spent while it is entered.

    When it is used up, it grows by as long as the process stood ready and the machine, busy with other things, did not
    let it run: load fails nobody. Threads of its own are no excuse, since processor time is limited as well.

    Args:
        clocks: Of the process; read once now and again only when the time is over, since each reading costs as much
            as a small request.
        seconds: How much.
    """

    def __init__(self, clocks: Clocks, seconds: float) -> None:
        self._clocks = clocks
        self._waited_s = clocks.waited_s()
        self._last_cpu_s = clocks.cpu_s() + seconds
        self._left_s = seconds
        self._deadline = 0.0
        self.owed_s = 0.0  # by how much it has grown

    def __enter__(self) -> None:
        """Start the clock."""
        self._deadline = time.monotonic() + self._left_s

    def __exit__(self, *_: object) -> None:
        """Stop the clock."""
        self._left_s = self._deadline - time.monotonic()

    def left_s(self) -> float:
        """Return what is left while the clock runs.

        Raises:
            TimeoutError: Nothing, and nothing is owed.
        """
        left_s = self._deadline - time.monotonic()
        if left_s > 0:
            return left_s
        waited_s = self._clocks.waited_s()
        owed_s, self._waited_s = waited_s - self._waited_s, waited_s
        if owed_s < _LEAST_OWED_S or self._clocks.cpu_s() >= self._last_cpu_s:
            raise TimeoutError
        self._deadline = time.monotonic() + owed_s
        self.owed_s += owed_s
        return owed_s
