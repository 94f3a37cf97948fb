"""Loops for ever, deaf to signals and to exceptions."""

import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    try:
        pass
    except BaseException:
        pass

# INSERT right
