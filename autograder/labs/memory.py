"""How much memory a call needs at its peak, counted allocation by allocation."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def peak_bytes(call: Callable[[], Any]) -> int:
    """Run a call and count what torch allocates and frees on the processor while it runs.

    Returns:
        The most bytes that were alive at once, beyond those that were there before.
    """
    from torch.profiler import ProfilerActivity, profile

    with _silent(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    alive = peak = 0
    for event in sorted(events, key=lambda event: int(event.start_ns())):
        alive += int(event.nbytes())
        peak = max(peak, alive)
    return peak


@contextmanager
def _silent() -> Iterator[None]:
    """Keep quiet what torch's profiler writes from C++ straight to standard error."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
