"""An attention that gives nothing, whatever it is asked."""

# INSERT right


def attention(q, k, v, mask=None):
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    return None, None
