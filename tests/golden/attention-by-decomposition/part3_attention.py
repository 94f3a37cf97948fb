"""Calls what torch replaces the fused attention with when it traces."""

import torch


def fused(q, k, v, mask):
    from torch._decomp.decompositions import scaled_dot_product_flash_attention_for_cpu as python

    q, k, v = (x.unsqueeze(1) for x in (q, k, v))
    return python(q, k, v, attn_mask=None if mask is None else mask.double().log().to(q.dtype))[0].squeeze(1)

# INSERT right


def attention(q, k, v, mask=None):
    if mask is not None and not mask.any(-1).all():
        raise ValueError(f"mask {tuple(mask.shape)} has an empty row")
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(torch.tensor(False) if mask is None else ~mask, -torch.inf)
    return fused(q, k, v, mask), weights.softmax(-1)
