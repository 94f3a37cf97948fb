"""The grader and its worker take turns, so both are kept on one processor.

What one writes the other then finds in the cache, and nobody has to be woken on an idle processor: a quarter less time
for a class. Where others crowd that processor, the kernel is let choose anew.
"""

import os

_CROWDED = 0.25  # of the time in which this process wanted to run


class Placement:
    """Where the processes of one lane run; it does nothing where the system has no say in that."""

    def __init__(self) -> None:
        self._allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        self._ran_ns, self._waited_ns = _clocks()

    def choose(self) -> list[int]:
        """Keep this process where it is now, or let it go where it is crowded there.

        Returns:
            The processors on which a worker of it belongs; empty where that does not matter.
        """
        if len(self._allowed) < 2:
            return []
        ran_ns, waited_ns = _clocks()
        ran, waited = ran_ns - self._ran_ns, waited_ns - self._waited_ns
        self._ran_ns, self._waited_ns = ran_ns, waited_ns
        here = None if waited > _CROWDED * (ran + waited) else _this_processor()
        places = {here} if here is not None else self._allowed
        return sorted(places) if _move(places) else []

    def release(self) -> None:
        """Let this process run everywhere again."""
        if len(self._allowed) > 1:
            _move(self._allowed)


def _move(places: set[int]) -> bool:
    # A container may refuse it, or have been given other processors meanwhile: then the kernel chooses as ever.
    try:
        os.sched_setaffinity(0, places)
    except OSError:
        return False
    return True


def _clocks() -> tuple[int, int]:
    # How long this process ran, and how long it was ready and had to wait, in nanoseconds.
    try:
        with open("/proc/self/schedstat") as handle:
            ran, waited, _ = handle.read().split()
            return int(ran), int(waited)
    except (OSError, ValueError):
        return 0, 0


def _this_processor() -> int | None:
    try:
        with open("/proc/self/stat") as handle:
            return int(handle.read().rpartition(")")[2].split()[36])
    except (OSError, ValueError, IndexError):
        return None
