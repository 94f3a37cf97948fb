"""Part 2, with sums over pairs in place of matrix products."""

import torch


def dot_product_scores(q, k):
    return torch.einsum("...td,...sd->...ts", q, k)


def scaled_scores(q, k):
    return torch.einsum("...td,...sd->...ts", q * q.shape[-1] ** -0.5, k)


def dot_product_variance(d, n_pairs=20_000, generator=None):
    total = 0.0
    for _ in range(10):
        n = n_pairs // 10
        total += (torch.randn(n, d, generator=generator) * torch.randn(n, d, generator=generator)).sum(1).pow(2).sum()
    return float(total / (n_pairs // 10 * 10))


def effective_tokens(weights):
    return torch.exp(torch.special.entr(weights).sum(-1))


def softmax_jacobian(weights):
    n = weights.shape[-1]
    columns = []
    for j in range(n):
        own = torch.zeros(n, dtype=weights.dtype, device=weights.device)
        own[j] = 1
        columns.append(weights * (own - weights[..., j : j + 1]))
    return torch.stack(columns, dim=-1)


def frozen_fraction(weights, threshold=0.99):
    rows = weights.reshape(-1, weights.shape[-1])
    return sum(float(row.max()) > threshold for row in rows) / len(rows)
