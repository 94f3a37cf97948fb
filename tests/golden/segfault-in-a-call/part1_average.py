"""Reads address 0."""

import ctypes

# INSERT right


def prefix_mean_loop(x):
    ctypes.string_at(0)
