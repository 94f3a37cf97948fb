"""Ctrl-C, kept back while torch is being imported."""

import signal
import sys
from types import FrameType

_AGAIN_S = 0.05


def patient_interrupts() -> None:
    """Let Ctrl-C take effect only once an import of torch that is under way has ended, a second later at most.

    An exception in the middle of it is swallowed by some of torch's modules, which are then half there, and makes
    others, written in C++, abort the process.
    """
    if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGALRM, _interrupt)
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    if getattr(spec, "_initializing", False):
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    else:
        signal.default_int_handler(signal.SIGINT, frame)
