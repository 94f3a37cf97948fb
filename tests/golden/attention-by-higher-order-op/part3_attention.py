"""Calls the plain version that the shaped attention falls back to."""

import torch


def fused(q, k, v):
    from torch._higher_order_ops.flex_attention import math_attention

    def plain(score, b, h, m, n):
        return score

    blocks = tuple([None] * 12) + (128, 128, lambda b, h, m, n: torch.tensor(True))
    q, k, v = (x.unsqueeze(1) for x in (q, k, v))
    return math_attention(q, k, v, plain, blocks, q.shape[-1] ** -0.5, {})[0].squeeze(1)

# INSERT right


def attention(q, k, v, mask=None):
    if mask is not None and not mask.any(-1).all():
        raise ValueError(f"mask {tuple(mask.shape)} has an empty row")
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(torch.tensor(False) if mask is None else ~mask, -torch.inf)
    return fused(q, k, v), weights.softmax(-1)
