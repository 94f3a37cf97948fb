"""What holds for every test."""

import signal

# Whoever starts the tests in the background starts them with Ctrl-C ignored; every process that a test sends it to
# would inherit that, and not stop.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
