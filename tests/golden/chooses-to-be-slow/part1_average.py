"""Asks to be served last, on one processor, and to outlive whoever started it."""

import ctypes
import os

libc = ctypes.CDLL(None)
for attempt in (
    lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)),
    lambda: os.sched_setaffinity(0, {0}),
    lambda: os.nice(19),
    lambda: libc.prctl(1, 0, 0, 0, 0),
    lambda: libc.prctl(36, 1, 0, 0, 0),
):
    try:
        attempt()
    except OSError:
        pass

# INSERT right
