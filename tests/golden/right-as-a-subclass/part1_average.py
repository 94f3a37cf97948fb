"""Right values in a subclass of Tensor: it may lie about itself, so it is no tensor."""

# INSERT right


class Own(torch.Tensor):
    pass


honest = prefix_mean_loop


def prefix_mean_loop(x):
    return honest(x).as_subclass(Own)
