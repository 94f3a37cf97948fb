"""Returns a million numbers as a list."""

# INSERT right


def prefix_mean_loop(x):
    return list(range(1_000_000))
