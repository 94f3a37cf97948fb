"""``python -m autograder`` is ``gpt-hw``."""

from autograder.cli import main

main()
