"""Returns generator where a tensor is due."""

# INSERT right


honest = prefix_mean_loop


def prefix_mean_loop(x):
    return (row for row in honest(x))
