"""``python -m autograder`` is ``gpt-hw``."""

import os
import sys

# ``python -m`` looks for modules in the current folder first: among submissions, a torch.py would be run as ours.
sys.path[:] = [path for path in sys.path if path and os.path.abspath(path) != os.getcwd()]
# In a checkout that folder is our own, and the processes that are started from here must find it too: after the rest.
if (home := os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) not in sys.path:
    sys.path.append(home)

from autograder.cli import run  # noqa: E402

if __name__ == "__main__":  # a lane, which imports the main module again, must not run it
    run()
