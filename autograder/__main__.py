"""``python -m autograder`` is ``gpt-hw``."""

from autograder.cli import main

if __name__ == "__main__":  # a lane, which imports the main module again, must not run it
    main()
