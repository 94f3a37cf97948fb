"""What the labs that look into a model share: a small GPT, targets that count, and the scores of its blocks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from autograder.labs.bench import Bench
from autograder.labs.data import Data

if TYPE_CHECKING:
    from torch import Tensor, nn

NOT_COUNTED = -100  # cross_entropy passes over such a target
SMALL_START = "0.02, as part 6 draws them"
WIDE_START = "1 / sqrt(width)"
WHY_REDRAWN = (
    "Part 6 draws first weights of size 0.02, which is right for a model as wide as GPT-2. In one this narrow, what a "
    "head reads then starts out so faint that training stays at guessing for a long while; the lab therefore draws the "
    "weights anew, of a size that goes with 1 / sqrt(width) as torch's own do, and changes nothing else in your GPT."
)


@dataclass(frozen=True)
class Determined(Data):
    """Rows of which only some targets count: ``targets`` is long like ``train``, NOT_COUNTED where it does not."""

    targets: "Tensor | None" = None

    def batch(self, batch_size: int, block_size: int, generator: torch.Generator) -> "tuple[Tensor, Tensor]":
        """Draw rows, whole, with their targets."""
        if self.targets is None:
            return super().batch(batch_size, block_size, generator)
        rows = torch.randint(len(self.train), (batch_size,), generator=generator)
        return self.train[rows], self.targets[rows]


def small_gpt(bench: Bench, seed: int, *, spread: float | None, **plan: Any) -> "nn.Module":
    """Build the student's GPT and, where ``spread`` says so, draw its matrices anew.

    Args:
        bench: Knows part 6.
        seed: Of the weights.
        spread: Standard deviation of the weights that act on numbers of size 1, times the root of how many are added
            up; None leaves what the student drew.
        plan: What ``GPTConfig`` takes.
    """
    part6 = bench.part("part6")
    model: nn.Module = part6.GPT(part6.GPTConfig(**plan, tie_weights=False))
    if spread is not None:
        generator = bench.generator(seed)
        with torch.no_grad():
            for weights in model.parameters():
                if weights.ndim == 2:
                    drawn = torch.randn(weights.shape, generator=generator)
                    weights.copy_(drawn * (spread / weights.shape[1] ** 0.5))
    return model


def scores_of_blocks(model: Any, idx: "Tensor") -> "list[Tensor]":
    """Compute the scores of each block from its own queries and keys, for each sequence run alone.

    Args:
        model: A GPT of part 6 whose attention is part 5's, without rope or ALiBi.
        idx: Long (n, T).

    Returns:
        For each block float (n, heads, T, T), before the mask and the softmax.
    """
    received: list[list[Tensor]] = [[] for _ in model.blocks]

    def listener(into: "list[Tensor]") -> Any:
        return lambda module, given: into.append(given[0].detach())

    stack = list(zip(model.blocks, received, strict=True))
    handles = [one.attention.register_forward_pre_hook(listener(into)) for one, into in stack]
    with torch.no_grad():
        for row in torch.split(idx, 1):
            model(row)
        for handle in handles:
            handle.remove()
        return [torch.cat([_scores(one.attention, x, model.config.n_heads) for x in into]) for one, into in stack]


def _scores(attention: Any, x: "Tensor", n_heads: int) -> "Tensor":
    q, k = (side(x).unflatten(-1, (n_heads, -1)).transpose(1, 2) for side in (attention.q, attention.k))
    scores: Tensor = torch.einsum("bhtd,bhsd->bhts", q, k) / q.shape[-1] ** 0.5
    return scores


def spread_of(values: "list[float]", style: str = ".0%") -> str:
    """Write what seeds gave: one number, or the least and the most."""
    least, most = (format(pick(values), style) for pick in (min, max))
    return least if least == most else f"{least} to {most}"
