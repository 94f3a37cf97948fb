"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import math

import torch

from autograder.checks import equivalent


@equivalent(of="dot_product_scores")
def by_einsum(q, k):
    """Name the axes."""
    return torch.einsum("...td,...sd->...ts", q, k)


@equivalent(of="dot_product_scores")
def as_a_sum_of_products(q, k):
    """Multiply elementwise and add."""
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1)


@equivalent(of="scaled_scores")
def both_sides_divided_by_the_fourth_root(q, k):
    """Share the division between queries and keys."""
    root = q.shape[-1] ** 0.25
    return (q / root) @ (k / root).transpose(-1, -2)


@equivalent(of="scaled_scores")
def queries_divided_first(q, k):
    """Divide the smaller tensor."""
    return (q / math.sqrt(k.size(-1))) @ k.mT


@equivalent(of="dot_product_variance")
def mean_of_squares(d, n_pairs=20_000, generator=None):
    """Use that the mean is known to be 0; draw the keys first."""
    k = torch.randn(n_pairs, d, generator=generator)
    q = torch.randn(n_pairs, d, generator=generator)
    return float((q * k).sum(-1).square().mean())


@equivalent(of="effective_tokens")
def with_xlogy(weights):
    """Let the library settle 0 log 0."""
    return torch.special.entr(weights).sum(-1).exp()


@equivalent(of="softmax_jacobian")
def entry_by_entry(weights):
    """Use the Kronecker delta."""
    delta = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    return weights.unsqueeze(-1) * (delta - weights.unsqueeze(-2))


@equivalent(of="frozen_fraction")
def counted_in_a_list(weights, threshold=0.99):
    """Count rows in Python."""
    rows = weights.reshape(-1, weights.shape[-1]).tolist()
    return sum(max(row) > threshold for row in rows) / len(rows)
