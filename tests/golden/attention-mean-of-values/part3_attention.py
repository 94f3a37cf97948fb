"""An attention that gives mean of values, whatever it is asked."""

# INSERT right


def attention(q, k, v, mask=None):
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    return v.mean(-2, keepdim=True).expand(*q.shape[:-1], v.shape[-1]).clone(), torch.full_like(weights, 1 / k.shape[-2])
