"""Returns text that cannot be written as UTF-8, beside a NUL."""

# INSERT right


def prefix_mean_loop(x):
    return ["\ud800", "\0", "\x1b[2J", {("a",): "\udfff"}]
