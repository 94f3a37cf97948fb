"""Returns an object that runs code where it is unpickled."""

import os


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/exploded",)

# INSERT right


def prefix_mean_loop(x):
    return Bomb()
