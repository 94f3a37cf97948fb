"""Reads the questions away, for ever."""

import os

while os.read(3, 1 << 20):
    pass

# INSERT right
