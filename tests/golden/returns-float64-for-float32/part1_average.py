"""Returns float64 for float32 where a tensor is due."""

# INSERT right


honest = prefix_mean_loop


def prefix_mean_loop(x):
    return honest(x).double()
