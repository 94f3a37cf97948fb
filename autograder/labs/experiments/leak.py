"""Remove the causal mask: the loss falls to almost nothing, and the model is worth nothing."""

from typing import TYPE_CHECKING, Any

from torch import nn

from autograder.labs.bench import Bench
from autograder.labs.data import Data, nats
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.experiments._leaks import Pair, pairs, table_of
from autograder.labs.report import Plot, Report, Series
from autograder.labs.rungs import LanguageModel

if TYPE_CHECKING:
    from torch import Tensor

PARTS = ("part1", "part3", "part4", "part5")
ON_DEVICE = True

HEADS = 4
STEPS = 200  # as many as the exercise says
EVERY = 20  # steps between two looks at what is held out
LOOKED_AT, IN_THE_END = 16, 64  # held-out windows: an honest look runs the model once for every position
AROUND = 6  # tokens back and ahead that the picture shows


class Heads(nn.Module):
    """Several heads around the student's attention, with the student's mask or with none.

    The heads of part 3 cannot be built without their mask, and that is as it should be.
    """

    mask: "Tensor | None"

    def __init__(self, bench: Bench, d_model: int, block_size: int, masked: bool) -> None:
        super().__init__()
        self.q, self.k, self.v, self.proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.attention = bench.part("part3").attention
        mask = bench.part("part1").causal_mask(block_size) if masked else None
        self.register_buffer("mask", mask, persistent=False)
        self.weights: Tensor | None = None  # of the last pass: (B, h, T, T)

    def forward(self, x: "Tensor") -> "Tensor":
        """Attend, for any number of tokens up to ``block_size``: (B, T, d_model) to the same."""
        n_tokens = x.shape[-2]
        mask = None if self.mask is None else self.mask[:n_tokens, :n_tokens]
        q, k, v = (layer(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for layer in (self.q, self.k, self.v))
        mixed, weights = self.attention(q, k, v, mask)
        self.weights = weights.detach()
        out: Tensor = self.proj(mixed.transpose(1, 2).flatten(-2))
        return out


def opened(bench: Bench, masked: bool, seed: int, **ground: Any) -> dict[str, Any]:
    """Train a block with or without a mask, and judge it both ways while it learns."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    part4 = bench.part("part4")
    heads = Heads(bench, here.width, here.context, masked)
    block = part4.Block(here.width, attention=heads, mlp=part4.MLP(here.width))
    places = bench.part("part5").LearnedPositions(here.context, here.width)
    model = LanguageModel(data.vocab_size, here.width, [block], positions=places, ln_f=part4.LayerNorm(here.width))
    followed: dict[str, list[float]] = {"step": [], "same": [], "honest": []}

    def on_step(step: int, loss: float) -> None:
        if step == 0 or (step + 1) % EVERY == 0:
            looks = (step + 1, *judged_both_ways(model, data, here.context, LOOKED_AT))
            for key, value in zip(followed, looks, strict=True):
                followed[key].append(value)

    losses = on.trained(bench, here, model, seed, on_step=on_step)
    same, honest = judged_both_ways(model, data, here.context, IN_THE_END)
    assert heads.weights is not None
    weights = heads.weights.mean((0, 1))
    around = range(-min(AROUND, len(weights) - 1), min(AROUND, len(weights) - 1) + 1)
    return {
        "losses": losses,
        "train": sum(losses[-EVERY:]) / len(losses[-EVERY:]),
        "same": same,
        "honest": honest,
        "followed": followed,
        "around": list(around),
        "looks": [weights.diagonal(step).mean().item() for step in around],
    }


def judged_both_ways(model: nn.Module, data: Data, context: int, windows: int) -> tuple[float, float]:
    """Judge a model as it is trained, and honestly: each token from the tokens before it, and from nothing else.

    Returns:
        Nats with all of a window in view, and nats where every prefix is run alone and its last scores count.
    """
    x, y = data.held_out_windows(context, windows)
    honest = [nats(_Last(model), x[:, : t + 1], y[:, t : t + 1]) for t in range(context)]
    return nats(model, x, y), sum(honest) / context


class _Last(nn.Module):
    """Gives the scores of the last position alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, idx: "Tensor") -> "Tensor":
        last: Tensor = self.model(idx)[:, -1:]
        return last


def run(bench: Bench) -> Report:
    """Train with and without the mask, and judge each both ways."""
    chosen = on.grounds(bench, steps=STEPS, lr=3e-3, warmup=20, late=1.0)
    plan = [{"masked": masked, **ground.settings()} for ground in chosen for masked in (True, False)]
    found = bench.measure(opened, plan, lambda s: s["steps"] * s["batch"] * s["context"])
    judged = pairs(bench, chosen, found)
    return Report(
        findings=tuple(finding for pair in judged for finding in pair.findings()),
        grids=(table_of(row for pair in judged for row in pair.rows()),),
        plots=tuple(plot for pair in judged for plot in _plots(pair)),
        notes=(
            *on.notes_on(chosen),
            "Two ways to judge one model. As it was trained: a whole window goes in, and the scores at each position "
            "are compared with the next token, which an unmasked model has in view. Honestly: each prefix goes in "
            "alone, as in generation, and only its last scores count. With a mask the two agree, and that is what the "
            "mask is for.",
        ),
        data=on.data_line(chosen),
    )


def _plots(pair: Pair) -> list[Plot]:
    levels = {f"guessing evenly, {pair.uniform:.2f}": pair.uniform}
    if pair.floor is not None:
        levels[f"the best possible, {pair.floor:.2f}"] = pair.floor
    models = (("mask", pair.masked), ("no mask", pair.bare))
    looks = tuple(Series(word, one["around"], one["looks"]) for word, one in models)
    return [
        Plot(f"Falling, and worth nothing: {pair.name}", "step", "nats", pair.curves(), levels=levels),
        Plot(f"Where it looks: {pair.name}", "tokens ahead (the answer is at 1)", "mean weight", looks),
    ]
