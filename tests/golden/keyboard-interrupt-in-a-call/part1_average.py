"""Does as if Ctrl-C had been pressed."""

# INSERT right


def prefix_mean_loop(x):
    raise KeyboardInterrupt
