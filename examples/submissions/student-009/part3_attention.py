"""Part 3: attention as score, mask, normalise, mix; one causal head; many heads and their projection."""

import torch
from part1_average import causal_mask, masked_softmax
from part2_scores import scaled_scores
from torch import Tensor, nn


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None=None) -> tuple[Tensor, Tensor]:
    """Score, mask, normalise, mix: average the values by how well their keys fit each query."""
    scores = scaled_scores(q, k)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return (weights @ v, weights)


class Head(nn.Module):
    """Read earlier positions and oneself with learned queries, keys and values."""

    def __init__(self, d_model: int, d_head: int, block_size: int, bias: bool=False) -> None:
        """Make the three projections and a causal mask that is a buffer outside of the state dict."""
        super().__init__()
        self.q = nn.Linear(d_model, d_head, bias=bias)
        self.k = nn.Linear(d_model, d_head, bias=bias)
        self.v = nn.Linear(d_model, d_head, bias=bias)
        self.register_buffer("mask", causal_mask(block_size), persistent=False)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Run causal self-attention on the three views of ``x``."""
        T, block_size = (x.shape[-2], self.mask.shape[-1])
        if block_size < T:
            raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
        return attention(self.q(x), self.k(x), self.v(x), self.mask[:T, :T])

    def forward(self, x: Tensor) -> Tensor:
        """Return what the head hands to each position."""
        return self.attend(x)[0]

    def attention_weights(self, x: Tensor) -> Tensor:
        """Return which positions each position reads."""
        return self.attend(x)[1]


class MultiHeadAttention(nn.Module):
    """Let several narrow heads read the same tokens, and project what they found back into the model's width."""

    def __init__(self, d_model: int, n_heads: int, block_size: int, qkv_bias: bool=False) -> None:
        """Make the heads and the output projection."""
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
        d_head = d_model // n_heads
        self.heads = nn.ModuleList((Head(d_model, d_head, block_size, bias=qkv_bias) for _ in range(n_heads)))
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Run all heads, lay their outputs side by side, and project."""
        side_by_side = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.proj(side_by_side)

    def attention_weights(self, x: Tensor) -> Tensor:
        """Return which positions each position reads, head by head."""
        return torch.stack([head.attention_weights(x) for head in self.heads], dim=1)
