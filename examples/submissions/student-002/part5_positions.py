"""Part 5 once more, written another way: complex numbers, one stacked projection, loops; float32 angles throughout."""

import torch
import torch.nn as nn


class LearnedPositions(nn.Module):
    """Add a learned row to each place."""

    def __init__(self, block_size, d_model):
        super().__init__()
        self.block_size = block_size
        self.pos_emb = nn.Embedding(block_size, d_model)

    def forward(self, x):
        """Slice the table itself, with no look-up."""
        length = x.size(-2)
        if length > self.block_size:
            raise ValueError(f"T is {length}, and the table ends at block_size = {self.block_size}")
        rows = self.pos_emb.weight[:length]
        return rows.expand_as(x) + x


def _speeds(width, base, device=None):
    return 1.0 / (base ** (torch.arange(0, width, 2, dtype=torch.float32, device=device) / width))


def sinusoidal_positions(T, d_model, base=10_000.0):
    """Fill the table column by column."""
    if d_model % 2:
        raise ValueError(f"d_model must be even, not {d_model}")
    table = torch.zeros(T, d_model)
    places = torch.arange(T, dtype=torch.float32)
    for pair, speed in enumerate(_speeds(d_model, base)):
        table[:, 2 * pair] = torch.sin(places * speed)
        table[:, 2 * pair + 1] = torch.cos(places * speed)
    return table


def rope(x, positions=None, base=10_000.0):
    """Multiply complex numbers; float64 passes through float32 on its way."""
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"the last axis of x must be even, but x is {tuple(x.shape)}")
    if positions is None:
        positions = torch.arange(x.shape[-2])
    angles = torch.outer(positions.to(x.device).float(), _speeds(width, base, x.device))
    hands = torch.polar(torch.ones_like(angles), angles)
    points = torch.view_as_complex(x.float().reshape(*x.shape[:-1], width // 2, 2))
    return torch.view_as_real(points * hands).reshape(x.shape).type_as(x)


def alibi_slopes(n_heads):
    """Multiply ratios, and fall back on twice the power of two."""

    def equal_ratios(count):
        ratio = 2.0 ** (-8.0 / count)
        slopes, slope = [], 1.0
        for _ in range(count):
            slope *= ratio
            slopes.append(slope)
        return slopes

    power = 1
    while power * 2 <= n_heads:
        power *= 2
    return torch.tensor(equal_ratios(power) + equal_ratios(2 * power)[::2][: n_heads - power])


def alibi_bias(n_heads, T):
    """Write the distances row by row; minus infinity above the diagonal, where nobody looks."""
    bias = torch.full((n_heads, T, T), float("-inf"))
    for t in range(T):
        bias[:, t, : t + 1] = -alibi_slopes(n_heads)[:, None] * torch.arange(t, -1, -1)
    return bias


class CausalSelfAttention(nn.Module):
    """All heads in one product, written with einsum; a bias by key in place of the distance."""

    def __init__(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model {d_model} cannot be divided among n_heads = {n_heads}")
        if positions not in {"none", "rope", "alibi"}:
            raise ValueError(f"unknown positions: {positions}")
        self.heads, self.kind = n_heads, positions
        self.q, self.k, self.v = (nn.Linear(d_model, d_model, bias=qkv_bias) for _ in range(3))
        self.proj = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def _project(self, x):
        # One product for all three, from weights that are kept apart.
        stacked = torch.cat([self.q.weight, self.k.weight, self.v.weight])
        out = torch.einsum("bti,oi->bto", x, stacked)
        if self.q.bias is not None:
            out = out + torch.cat([self.q.bias, self.k.bias, self.v.bias])
        batch, length, width = x.shape
        return out.reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)

    def _weights(self, q, k):
        if self.kind == "rope":
            q, k = rope(q), rope(k)
        scores = torch.einsum("bhtd,bhsd->bhts", q * k.shape[-1] ** -0.5, k)
        places = torch.arange(q.shape[-2], device=q.device)
        if self.kind == "alibi":
            slopes = alibi_slopes(self.heads).to(dtype=q.dtype, device=q.device)
            scores = scores + slopes.view(-1, 1, 1) * places.to(q.dtype)
        allowed = places.unsqueeze(1) >= places
        return torch.softmax(torch.where(allowed, scores, torch.finfo(scores.dtype).min), dim=-1)

    def attention_weights(self, x):
        """Return the weights before dropout."""
        q, k, _ = self._project(x)
        return self._weights(q, k)

    def forward(self, x):
        """Mix and project head by head."""
        q, k, v = self._project(x)
        weights = self.drop(self._weights(q, k))
        width = v.shape[-1]
        out = self.proj.bias
        for head in range(self.heads):
            columns = self.proj.weight[:, head * width : (head + 1) * width]
            out = out + (weights[:, head] @ v[:, head]) @ columns.T
        return out
