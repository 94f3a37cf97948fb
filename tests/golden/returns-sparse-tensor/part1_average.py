"""Returns sparse tensor where a tensor is due."""

# INSERT right


honest = prefix_mean_loop


def prefix_mean_loop(x):
    return honest(x).to_sparse()
