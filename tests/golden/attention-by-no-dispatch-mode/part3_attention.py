"""Calls the fused attention with every Python mode switched off."""

import torch


def fused(*args):
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch._C._AutoDispatchBelowAutograd():
        return torch.nn.functional.scaled_dot_product_attention(*args)

# INSERT right


def attention(q, k, v, mask=None):
    if mask is not None and not mask.any(-1).all():
        raise ValueError(f"mask {tuple(mask.shape)} has an empty row")
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(torch.tensor(False) if mask is None else ~mask, -torch.inf)
    return fused(q, k, v, mask), weights.softmax(-1)
