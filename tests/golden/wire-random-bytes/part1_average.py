"""Writes noise where the answers go."""

import os

os.write(3, bytes(range(256)) * 8)

# INSERT right
