"""Returns nan where a tensor is due."""

# INSERT right


honest = prefix_mean_loop


def prefix_mean_loop(x):
    return x * float("nan")
