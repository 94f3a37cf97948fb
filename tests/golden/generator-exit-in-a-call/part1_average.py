"""Raises an exception that most handlers let through."""

# INSERT right


def prefix_mean_loop(x):
    raise GeneratorExit("let me through")
