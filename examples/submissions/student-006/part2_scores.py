"""Part 2: where the weights come from."""

import math
import torch
from torch import Tensor


def dot_product_scores(q: Tensor, k: Tensor) -> Tensor:
    """Score every query against every key by their dot product."""
    return q @ k.transpose(-2, -1)


def dot_product_variance(d: int, n_pairs: int=20000, generator: torch.Generator | None=None) -> float:
    """Measure the variance of q·k for independent standard normal q and k in R^d."""
    device = generator.device if generator is not None else torch.device("cpu")
    q = torch.randn(n_pairs, d, generator=generator, device=device)
    k = torch.randn(n_pairs, d, generator=generator, device=device)
    return (q * k).sum(dim=-1).square().mean().item()


def effective_tokens(weights: Tensor) -> Tensor:
    """Count how many tokens each row of weights reads: the exponential of its entropy in nats."""
    logs = weights.masked_fill(weights == 0, 1.0).log()
    return (-(weights * logs).sum(dim=-1)).exp()


def softmax_jacobian(weights: Tensor) -> Tensor:
    """Give the derivative of each row of softmax weights with respect to its scores."""
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return torch.diag_embed(weights) - outer


def frozen_fraction(weights: Tensor, threshold: float=0.99) -> float:
    """Measure the share of rows that put nearly all their weight on one token."""
    frozen = weights.amax(dim=-1) > threshold
    return frozen.double().mean().item()


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """Score every query against every key, with a spread that does not depend on the width."""
    return dot_product_scores(q, k) / math.sqrt(q.size(-1))
