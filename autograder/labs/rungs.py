"""The rungs of the ladder: language models made of the student's pieces, each one piece more than the last."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from torch import nn

from autograder.labs.bench import Bench

if TYPE_CHECKING:
    from torch import Tensor

# In the order of the course. "+ token": what was read is added to the token instead of taking its place.
RUNGS = (
    "token",
    "mean",
    "mean + token",
    "head",
    "4 heads",
    "head + token",
    "4 heads + token",
    "block without LayerNorm",
    "block",
    "2 blocks",
    "3 blocks",
)
_BLOCKS = {"block without LayerNorm": 1, "block": 1, "2 blocks": 2, "3 blocks": 3}


class LanguageModel(nn.Module):
    """Embed, run some layers, and score the vocabulary.

    Args:
        vocab_size: Number of tokens V.
        d_model: Width d.
        layers: Modules that map (B, T, d) to (B, T, d).
        add: Whether what a layer returns is added to what it was given; a block does that itself.
        positions: A module that adds positions to (B, T, d), if any.
        ln_f: A norm before the last layer, if any.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        layers: Iterable[nn.Module] = (),
        *,
        add: bool = False,
        positions: nn.Module | None = None,
        ln_f: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.places = positions
        self.layers = nn.ModuleList(layers)
        self.add = add
        self.ln_f = ln_f
        self.to_logits = nn.Linear(d_model, vocab_size)

    def forward(self, idx: "Tensor") -> "Tensor":
        """Give logits, float (B, T, V), for ids, long (B, T)."""
        x = self.embed(idx)  # (B, T, d)
        if self.places is not None:
            x = self.places(x)
        for layer in self.layers:
            x = x + layer(x) if self.add else layer(x)
        logits: Tensor = self.to_logits(x if self.ln_f is None else self.ln_f(x))
        return logits


def build_rung(
    bench: Bench,
    rung: str,
    *,
    vocab_size: int,
    d_model: int,
    block_size: int,
    n_heads: int = 4,
    positions: bool = False,
    residual: bool = True,
) -> nn.Module:
    """Build a rung of RUNGS from the student's parts 1, 3, 4 and, with positions, 5.

    Args:
        bench: Knows the parts; a rung asks for no part that it does not need.
        rung: One of RUNGS.
        vocab_size: Number of tokens.
        d_model: Width.
        block_size: Tokens of context.
        n_heads: Of the rungs with several heads.
        positions: Whether learned positions are added to the token ("token" alone has none).
        residual: Whether blocks add to what they are given.
    """
    if rung in ("mean", "mean + token"):
        add = rung != "mean"
        model: nn.Module = bench.part("part1").MeanLM(
            vocab_size, d_model, block_size, positions=positions, residual=add
        )
        return model
    where: Any = {}
    if positions and rung != "token":
        where = {"positions": bench.part("part5").LearnedPositions(block_size, d_model)}
    if rung == "token":
        return LanguageModel(vocab_size, d_model)
    if rung in ("head", "head + token"):
        head = bench.part("part3").Head(d_model, d_model, block_size)
        return LanguageModel(vocab_size, d_model, [head], add=rung != "head", **where)
    if rung in ("4 heads", "4 heads + token"):
        heads = bench.part("part3").MultiHeadAttention(d_model, n_heads, block_size)
        return LanguageModel(vocab_size, d_model, [heads], add=rung != "4 heads", **where)
    if rung not in _BLOCKS:
        raise ValueError(f"no rung is called '{rung}'; there are {', '.join(RUNGS)}")
    norm = "none" if rung == "block without LayerNorm" else "pre"
    ln_f = None if norm == "none" else bench.part("part4").LayerNorm(d_model)
    blocks = [
        build_block(bench, d_model, n_heads, block_size, norm=norm, residual=residual) for _ in range(_BLOCKS[rung])
    ]
    return LanguageModel(vocab_size, d_model, blocks, ln_f=ln_f, **where)


def build_block(
    bench: Bench, d_model: int, n_heads: int, block_size: int, *, norm: str = "pre", residual: bool = True
) -> nn.Module:
    """Build part 4's block around part 3's heads and part 4's MLP."""
    part4 = bench.part("part4")
    heads = bench.part("part3").MultiHeadAttention(d_model, n_heads, block_size)
    block: nn.Module = part4.Block(d_model, attention=heads, mlp=part4.MLP(d_model), norm=norm, residual=residual)
    return block


def count(model: nn.Module) -> int:
    """Count the numbers that are learned."""
    return sum(parameter.numel() for parameter in model.parameters())
