"""Raises an exception whose text is very long."""

# INSERT right


def prefix_mean_loop(x):
    raise ValueError("a" * 1_000_000)
