"""Prints 100 MiB beside right work."""

import sys

for _ in range(100):
    sys.stdout.write("flood " * 174_763)

# INSERT right
