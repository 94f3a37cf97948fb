"""Returns a list that holds itself."""

# INSERT right


def prefix_mean_loop(x):
    circle = []
    circle.append(circle)
    return circle
