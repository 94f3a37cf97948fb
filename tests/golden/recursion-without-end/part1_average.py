"""Calls itself for ever."""

# INSERT right


def prefix_mean_loop(x):
    return prefix_mean_loop(x)
