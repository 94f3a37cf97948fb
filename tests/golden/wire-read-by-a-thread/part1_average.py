"""Reads the questions away from a thread, so that nobody answers them."""

import os
import threading


def read():
    while os.read(3, 1 << 20):
        pass


threading.Thread(target=read, daemon=True).start()

# INSERT right
