"""An attention that gives first row, whatever it is asked."""

# INSERT right


def attention(q, k, v, mask=None):
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    return v[..., :1, :].expand(*q.shape[:-1], v.shape[-1]).clone(), torch.eye(k.shape[-2], dtype=q.dtype)[0].expand_as(weights).clone()
