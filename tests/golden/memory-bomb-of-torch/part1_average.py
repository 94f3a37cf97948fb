"""Asks torch for memory that no machine has."""

# INSERT right


def prefix_mean_loop(x):
    return torch.ones(10**12)
