"""Keeps a thread running beside right work."""

import threading
import time


def spin():
    while True:
        time.sleep(0.0005)


threading.Thread(target=spin).start()

# INSERT right
