"""``python -m autograder`` is ``gpt-hw``."""

import os
import sys

# ``python -m`` looks for modules in the current folder first: among submissions, a torch.py would be run as ours.
sys.path[:] = [path for path in sys.path if path and os.path.abspath(path) != os.getcwd()]

from autograder.cli import run  # noqa: E402

if __name__ == "__main__":  # a lane, which imports the main module again, must not run it
    run()
