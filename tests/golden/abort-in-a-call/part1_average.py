"""Ends itself by a signal."""

import os

# INSERT right


def prefix_mean_loop(x):
    os.abort()
