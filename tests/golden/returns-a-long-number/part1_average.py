"""Returns a whole number with a million digits."""

# INSERT right


def prefix_mean_loop(x):
    return 1 << 3_000_000
