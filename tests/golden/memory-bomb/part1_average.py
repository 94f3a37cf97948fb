"""Takes memory until there is none."""

# INSERT right


def prefix_mean_loop(x):
    kept = []
    while True:
        kept.append(bytes(10**8))
