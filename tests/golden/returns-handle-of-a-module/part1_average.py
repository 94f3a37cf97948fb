"""Returns handle of a module where a tensor is due."""

# INSERT right


honest = prefix_mean_loop


def prefix_mean_loop(x):
    return torch.nn.Linear(2, 2)
