"""An attention that gives zeros, whatever it is asked."""

# INSERT right


def attention(q, k, v, mask=None):
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    return torch.zeros_like(weights @ v), torch.zeros_like(weights)
