"""Waits for somebody to type."""

# INSERT right


def prefix_mean_loop(x):
    return input("the answer? ")
