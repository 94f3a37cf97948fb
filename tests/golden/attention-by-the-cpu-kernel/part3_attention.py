"""Calls the flash kernel of the CPU."""

import torch

# INSERT right


def attention(q, k, v, mask=None):
    if mask is not None and not mask.any(-1).all():
        raise ValueError(f"mask {tuple(mask.shape)} has an empty row")
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(torch.tensor(False) if mask is None else ~mask, -torch.inf)
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1))[0].squeeze(1), weights.softmax(-1)
