"""Nests so deeply that the C stack ends."""

import sys

sys.setrecursionlimit(2**31 - 1)

# INSERT right


def prefix_mean_loop(x):
    nested = []
    for _ in range(200_000):
        nested = [nested]
    return repr(nested)
