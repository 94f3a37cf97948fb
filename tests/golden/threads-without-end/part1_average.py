"""Starts threads with the smallest of stacks, so that the limit on memory does not count."""

import threading

wait = threading.Event()
threading.stack_size(32768)
try:
    for _ in range(100_000):
        threading.Thread(target=wait.wait, daemon=True).start()
except (RuntimeError, MemoryError):
    pass

# INSERT right
