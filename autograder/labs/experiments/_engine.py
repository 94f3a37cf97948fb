"""Part 9's transformer for labs: composed anew of the student's Tensor operations, so that a piece can be left out."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.corpora import mean_nats
from autograder.labs.bench import Bench
from autograder.labs.data import Data, has_shakespeare
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.lm.by_numpy import Adam

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LATE = 0.7  # of the steps; after them the learning rate is multiplied by ``late``
JUDGED = 4_000  # held-out tokens: this engine is slow
WIDTH = 128  # the text's, at every setting
QUICK = Ground("", WIDTH, 32, 16, 200, 3e-3, warmup=20, late=0.3)
FULL = replace(QUICK, steps=1000)


@dataclass(frozen=True)
class Shape:
    """What is built: heads, blocks, and which pieces are there."""

    heads: int = 4
    blocks: int = 1
    masked: bool = True
    residual: bool = True

    def settings(self) -> dict[str, Any]:
        """Give it as a part of a measurement's settings."""
        return asdict(self)


class Engine:
    """The student's TransformerLM, whose parameters are run through a forward pass of ours.

    The pass is made of the student's Tensor operations alone, so every gradient comes from the student's graph. It
    repeats what part 9 prescribes, except for the pieces that ``shape`` leaves out.

    Args:
        bench: Knows part 9.
        shape: What is built.
        vocab_size: Number of tokens.
        context: Positions.
        seed: Of the initial weights.
    """

    def __init__(self, bench: Bench, shape: Shape, vocab_size: int, context: int, seed: int) -> None:
        part9 = bench.part("part9")
        self.shape = shape
        self.model: Any = part9.TransformerLM(
            vocab_size, context, shape.blocks, shape.heads, WIDTH, rng=np.random.default_rng(seed)
        )
        self.parameters: dict[str, Any] = self.model.parameters()
        for parameter in self.parameters.values():
            parameter.data = parameter.data.astype(np.float32)  # takes half of the time

    def logits(self, idx: "NDArray[np.int64]") -> Any:
        """Score every next token: ids (B, T) to the student's Tensor (B, T, V)."""
        p, (n, length) = self.parameters, idx.shape
        x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(length))).reshape(n * length, WIDTH)
        for i in range(self.shape.blocks):
            own = {
                name.removeprefix(f"blocks.{i}."): each for name, each in p.items() if name.startswith(f"blocks.{i}.")
            }
            read = self._attend(x.layer_norm(own["ln1.weight"], own["ln1.bias"]), own, n, length)
            x = x.add(read) if self.shape.residual else read
            wide = x.layer_norm(own["ln2.weight"], own["ln2.bias"]).matmul(own["up"]).add(own["up_bias"]).gelu()
            thought = wide.matmul(own["down"]).add(own["down_bias"])
            x = x.add(thought) if self.shape.residual else thought
        final = {"weight": p["ln_f.weight"], "bias": p["ln_f.bias"]}
        x = x.layer_norm(**final)
        return x.matmul(p["tok_emb"].transpose(0, 1)).reshape(n, length, -1)

    def _attend(self, x: Any, own: dict[str, Any], n: int, length: int) -> Any:
        d_head = WIDTH // self.shape.heads
        q, k, v = (
            x.matmul(own[name]).reshape(n, length, self.shape.heads, d_head).transpose(1, 2) for name in ("q", "k", "v")
        )
        scores = q.matmul(k.transpose(-1, -2)).mul(d_head**-0.5)  # (B, h, T, T)
        scores = scores.causal_mask() if self.shape.masked else scores
        mixed = scores.softmax_rows().matmul(v).transpose(1, 2).reshape(n * length, WIDTH)
        return mixed.matmul(own["proj"])

    def difference(self, idx: "NDArray[np.int64]") -> float:
        """Measure how far this pass is from the student's own: rounding, where no piece is left out."""
        return float(np.abs(self.logits(idx).data - self.model.logits(idx).data).max())

    def nats(self, x: "NDArray[np.int64]", y: "NDArray[np.int64]") -> float:
        """Judge all positions of windows, in float64 from the logits."""
        return mean_nats(self.logits(x).data, y)

    def honest_nats(self, x: "NDArray[np.int64]", y: "NDArray[np.int64]") -> float:
        """Judge each position from the prefix alone: nothing after it is even given to the model."""
        length = x.shape[1]
        return fmean(mean_nats(self.logits(x[:, : t + 1]).data[:, -1], y[:, t]) for t in range(length))

    def gradients(self, x: "NDArray[np.int64]", y: "NDArray[np.int64]") -> tuple[float, dict[str, "NDArray[Any]"]]:
        """Run forward and back: the loss, and a gradient for each parameter."""
        for parameter in self.parameters.values():
            parameter.zero_grad()
        loss = self.logits(x).cross_entropy(y)
        loss.backward_all()
        return float(loss.data), {name: parameter.grad for name, parameter in self.parameters.items()}


def grounds(bench: Bench, **changes: Any) -> list[Ground]:
    """Choose the grounds of a run: the embedded language, and characters where tiny Shakespeare is at hand."""
    names = [on.EMBEDDED, on.CHARACTERS] if has_shakespeare(bench) else [on.EMBEDDED]
    return [replace(bench.choose(QUICK, FULL), on=name, **changes) for name in names]


def windows(data: Data, context: int) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """Take what is held out as inputs and targets, for numpy."""
    x, y = data.held_out_windows(context, max(1, JUDGED // context))
    return x.numpy(), y.numpy()


def rates(ground: Ground) -> Iterator[float]:
    """Give the learning rate of each step: it grows, stays, and falls."""
    for step in range(ground.steps):
        growing = min(1.0, (step + 1) / ground.warmup) if ground.warmup else 1.0
        yield ground.lr * growing * (ground.late if step >= _LATE * ground.steps else 1.0)


def train(
    bench: Bench,
    engine: Engine,
    ground: Ground,
    seed: int,
    after: Callable[[int, float], None] = lambda step, seconds: None,
) -> tuple[list[float], list[float]]:
    """Train with an Adam of ours on the student's gradients.

    Args:
        bench: Shows progress.
        engine: What is trained.
        ground: Where and how.
        seed: Of the batches.
        after: Called after each step with how many there were and the processor's seconds in them.

    Returns:
        The loss of each step in nats, and the processor's seconds of each.
    """
    data, generator = on.open_ground(bench, ground), bench.generator(seed)
    adam = Adam({name: parameter.data for name, parameter in engine.parameters.items()})
    losses: list[float] = []
    seconds: list[float] = []
    for step, lr in enumerate(rates(ground), start=1):
        x, y = (ids.numpy() for ids in data.batch(ground.batch, ground.context, generator))
        began = time.process_time()
        loss, grads = engine.gradients(x, y)
        for name, update in adam.updates(grads, lr, step).items():
            engine.parameters[name].data = engine.parameters[name].data + update.astype(np.float32)
        seconds.append(time.process_time() - began)
        losses.append(loss)
        bench.tick(step / ground.steps, f"step {step} of {ground.steps}, loss {loss:.3f}")
        after(step, sum(seconds))
    return losses, seconds


def data_line(chosen: list[Ground]) -> str:
    """Describe all grounds, for a report's ``data``."""
    return "; ".join(one.words().replace("AdamW", "Adam") for one in chosen) + "; float32, your graph's gradients"
