"""How much of its tolerance each comparison used: recorded where somebody asks, for the proof of the suites."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

_shares: ContextVar[list[float] | None] = ContextVar("shares", default=None)


def note(gap: Tensor | float, allowed: Tensor | float) -> None:
    """Record the largest share of its tolerance that a comparison used; above 1 it failed.

    Args:
        gap: Distances from what was expected.
        allowed: How large each may be.
    """
    shares = _shares.get()
    if shares is not None:
        gaps = torch.as_tensor(gap, dtype=torch.float64)
        ratio = torch.where(gaps == 0, 0.0, gaps / torch.as_tensor(allowed, dtype=torch.float64))
        finite = ratio[torch.isfinite(gaps)]
        shares.append(finite.max().item() if finite.numel() else 0.0)


@contextmanager
def recorded() -> Iterator[list[float]]:
    """Collect the shares of every comparison inside the block."""
    shares: list[float] = []
    token = _shares.set(shares)
    try:
        yield shares
    finally:
        _shares.reset(token)
