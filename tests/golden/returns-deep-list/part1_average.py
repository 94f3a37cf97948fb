"""Returns a list nested ten thousand deep."""

# INSERT right


def prefix_mean_loop(x):
    deep = []
    for _ in range(10_000):
        deep = [deep]
    return deep
