"""Prints without end."""

# INSERT right


def prefix_mean_loop(x):
    while True:
        print("flood " * 10_000)
