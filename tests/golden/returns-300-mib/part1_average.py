"""Returns more than an answer may hold."""

# INSERT right


def prefix_mean_loop(x):
    return torch.zeros(300 << 18)
