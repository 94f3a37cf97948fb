"""What each hostile prefix_mean_loop is compared with: right but for that function."""

# INSERT right


def prefix_mean_loop(x):
    raise RuntimeError("this one gives nothing")
