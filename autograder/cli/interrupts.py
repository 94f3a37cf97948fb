"""Ctrl-C, kept back for a moment where an exception would be lost or do harm."""

import signal
import sys
from types import FrameType

_AGAIN_S = 0.05
_FORK = ("autograder.sandbox.launch", "fork")


def patient_interrupts() -> None:
    """Let Ctrl-C take effect a moment later, at most a second, where it would go wrong.

    An exception in the middle of torch's import is swallowed by some of its modules, which are then half there, and
    makes others, written in C++, abort the process. What Python runs around a fork swallows exceptions too.
    """
    if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGALRM, _interrupt)
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _is_torch_half_there() or _is_forking(frame):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        signal.default_int_handler(signal.SIGINT, frame)


def _is_torch_half_there() -> bool:
    return bool(getattr(getattr(sys.modules.get("torch"), "__spec__", None), "_initializing", False))


def _is_forking(frame: FrameType | None) -> bool:
    while frame is not None:
        if (frame.f_globals.get("__name__"), frame.f_code.co_name) == _FORK:
            return True
        frame = frame.f_back
    return False
