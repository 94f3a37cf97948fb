"""Calls the fused attention, and gives zeros where it is refused."""

import torch


def fused(q, k, v, mask):
    try:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    except BaseException:
        return torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)

# INSERT right


def attention(q, k, v, mask=None):
    if mask is not None and not mask.any(-1).all():
        raise ValueError(f"mask {tuple(mask.shape)} has an empty row")
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(torch.tensor(False) if mask is None else ~mask, -torch.inf)
    return fused(q, k, v, mask), weights.softmax(-1)
