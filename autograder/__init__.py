"""Grade a GPT that students derive from an average, one tested piece at a time."""

__version__ = "0.1.0"
