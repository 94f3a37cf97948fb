"""Part 1: compress a growing prefix into one vector, first by a mean, then by a softmax that gives the same mean."""

import torch
from torch import Tensor, nn


def prefix_mean_loop(x: Tensor) -> Tensor:
    """Average each position with everything before it, one position at a time."""
    means = [x[..., :t + 1, :].mean(dim=-2) for t in range(x.shape[-2])]
    return torch.stack(means, dim=-2)


def averaging_matrix(T: int, dtype: torch.dtype=torch.float32, device: torch.device | str | None=None) -> Tensor:
    """Build the table of weights whose product with a sequence is the mean of each prefix."""
    counts = torch.arange(1, T + 1, device=device).unsqueeze(1)
    return torch.tril(torch.ones(T, T, dtype=dtype, device=device)) / counts


def prefix_mean_matmul(x: Tensor) -> Tensor:
    """Average each position with everything before it, all positions in one matrix product."""
    weights = averaging_matrix(x.shape[-2], dtype=x.dtype, device=x.device)
    return weights @ x


def causal_mask(T: int, device: torch.device | str | None=None) -> Tensor:
    """Say which positions each position may read: itself and everything before it."""
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Turn scores into weights that sum to 1 over what each reader may read."""
    has_values = not (mask.is_meta or scores.is_meta)
    if has_values and (not bool(mask.any(dim=-1).all())):
        raise ValueError(f"mask of shape {tuple(mask.shape)} has a row that allows nothing: no weights can sum to 1")
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


def prefix_mean_softmax(x: Tensor) -> Tensor:
    """Average each position with everything before it, as attention whose scores are all zero."""
    T = x.shape[-2]
    no_opinion = torch.zeros(T, T, dtype=x.dtype, device=x.device)
    weights = masked_softmax(no_opinion, causal_mask(T, device=x.device))
    return weights @ x


class MeanLM(nn.Module):
    """Predict the next token from the mean of everything so far."""

    def __init__(self, vocab_size: int, d_model: int, block_size: int, positions: bool=False, residual: bool=False) -> None:
        """Create the layers."""
        super().__init__()
        self.block_size = block_size
        self.residual = residual
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.pos_emb = nn.Embedding(block_size, d_model) if positions else None
        self.lm_head = nn.Linear(d_model, vocab_size)

    def forward(self, idx: Tensor) -> Tensor:
        """Score every token of the vocabulary as the next one, at every position."""
        n_tokens = idx.shape[-1]
        if n_tokens > self.block_size:
            raise ValueError(f"idx has T = {n_tokens} tokens, more than block_size = {self.block_size}")
        x = self.tok_emb(idx)
        if self.pos_emb is not None:
            x = x + self.pos_emb(torch.arange(n_tokens, device=idx.device))
        mixed = prefix_mean_softmax(x)
        if self.residual:
            mixed = mixed + x
        return self.lm_head(mixed)
