"""Writes until nothing more is taken."""

import contextlib
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for folder in ("/tmp", "/var/tmp", "/dev/shm", "."):
    for number in range(50):
        with contextlib.suppress(OSError), open(f"{folder}/big-{number}", "wb") as file:
            for _ in range(64):
                file.write(bytes(1 << 20))

# INSERT right
