"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import math

import torch
from part5_positions import CausalSelfAttention, alibi_slopes, rope

from autograder.checks import equivalent


@equivalent(of="rope")
def by_complex_numbers(x, positions=None, base=10_000.0):
    """Turn each pair by multiplying a complex number."""
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd: x has shape {tuple(x.shape)}")
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    rates = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64, device=x.device)
    angles = positions.to(torch.float64)[:, None] * rates
    pairs = torch.view_as_complex(x.to(torch.float64).unflatten(-1, (d // 2, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).to(x.dtype)


@equivalent(of="CausalSelfAttention.attention_weights")
def alibi_by_the_key_alone(self, x):
    """Add slope times the key's position: softmax forgets what is the same in a whole row."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        keys = torch.arange(T, device=x.device) - (T - 1)
        scores = scores + (alibi_slopes(self.n_heads).to(x.device)[:, None, None] * keys).to(scores.dtype)
    allowed = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
    return scores.masked_fill(~allowed, float("-inf")).softmax(-1)


@equivalent(of="CausalSelfAttention.attention_weights")
def hidden_by_a_very_low_number(self, x, right=CausalSelfAttention.attention_weights):
    """Mask with -1e9 where the dtype can hold it, which underflows to exactly nothing."""
    if self.positions != "none" or x.dtype in (torch.float16, torch.bfloat16):
        return right(self, x)
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
    return scores.masked_fill(future, -1e9).softmax(-1)


@equivalent(of="CausalSelfAttention.split_heads")
def heads_cut_and_stacked(self, x):
    """Cut the columns with chunk."""
    return torch.stack(x.chunk(self.n_heads, dim=-1), dim=1)


@equivalent(of="alibi_bias")
def distances_written_out(n_heads, T):
    """Write what stands above the diagonal as 0, since nobody reads it."""
    bias = torch.zeros(n_heads, T, T)
    for t in range(T):
        for i in range(t + 1):
            bias[:, t, i] = -alibi_slopes(n_heads) * (t - i)
    return bias
