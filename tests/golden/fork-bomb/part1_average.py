"""Starts processes and threads until the machine stops it."""

import contextlib
import os
import subprocess
import threading
import time

with contextlib.suppress(OSError):
    while True:
        os.fork()
with contextlib.suppress(OSError):
    subprocess.Popen(["/bin/sh", "-c", "sleep 1000"])
with contextlib.suppress(RuntimeError, MemoryError):
    for _ in range(10_000):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()

# INSERT wrong
