"""Part 3, on its own feet: nothing of parts 1 and 2 is used, and all heads are computed at once."""

import math

import torch
from torch import nn


def attention(q, k, v, mask=None):
    scores = torch.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        if not mask.is_meta and not mask.any(-1).all():
            raise ValueError(f"mask {tuple(mask.shape)} has an empty row")
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    weights = torch.softmax(scores, -1)
    return torch.einsum("...ts,...sv->...tv", weights, v), weights


class Head(nn.Module):
    def __init__(self, d_model, d_head, block_size, bias=False):
        super().__init__()
        for name in "qkv":
            setattr(self, name, nn.Linear(d_model, d_head, bias=bias))
        past = torch.arange(block_size)[:, None] >= torch.arange(block_size)
        self.register_buffer("past", past, persistent=False)

    def both(self, x):
        T = x.shape[1]
        if len(self.past) < T:
            raise ValueError(f"{T} tokens are more than {len(self.past)}")
        return attention(self.q(x), self.k(x), self.v(x), self.past[:T, :T])

    def forward(self, x):
        output, _ = self.both(x)
        return output

    def attention_weights(self, x):
        _, weights = self.both(x)
        return weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, block_size, qkv_bias=False):
        super().__init__()
        width, left = divmod(d_model, n_heads)
        if left or not width:
            raise ValueError(f"d_model {d_model} cannot be shared by {n_heads} heads")
        self.heads = nn.ModuleList([Head(d_model, width, block_size, qkv_bias) for _ in range(n_heads)])
        self.proj = nn.Linear(d_model, d_model)

    def all_heads(self, x):
        T = x.shape[1]
        past = self.heads[0].past
        if len(past) < T:
            raise ValueError(f"{T} tokens are more than {len(past)}")
        q, k, v = (torch.stack([getattr(head, name)(x) for head in self.heads], 1) for name in "qkv")
        return attention(q, k, v, past[:T, :T])

    def forward(self, x):
        output, _ = self.all_heads(x)
        return self.proj(output.transpose(1, 2).flatten(2))

    def attention_weights(self, x):
        return self.all_heads(x)[1]
