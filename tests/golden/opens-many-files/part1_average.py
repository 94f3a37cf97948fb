"""Opens files until nothing more can be opened, and keeps them."""

import os

opened = []
try:
    for _ in range(100_000):
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass

# INSERT right
