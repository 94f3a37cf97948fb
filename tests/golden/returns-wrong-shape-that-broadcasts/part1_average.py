"""Returns wrong shape that broadcasts where a tensor is due."""

# INSERT right


honest = prefix_mean_loop


def prefix_mean_loop(x):
    return x.mean(-2, keepdim=True)[..., :1]
