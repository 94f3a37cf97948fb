"""Zeroes its inputs in place, so that a reference computed afterwards is wrong in the same way."""

# INSERT wrong


def attention(q, k, v, mask=None):
    for each in (q, k, v):
        each.detach().zero_()
    weights = torch.full((*q.shape[:-1], k.shape[-2]), 1 / k.shape[-2], dtype=q.dtype)
    return torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype), weights
