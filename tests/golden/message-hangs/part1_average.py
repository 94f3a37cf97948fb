"""Raises an exception whose text never ends."""

class Slow(Exception):
    def __str__(self):
        while True:
            pass

# INSERT right


def prefix_mean_loop(x):
    raise Slow
