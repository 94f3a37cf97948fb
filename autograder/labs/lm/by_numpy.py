"""Part 9's TransformerLM, trained by an Adam of ours on the gradients that the student's graph gives."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.errors import UsageError
from autograder.labs.device import CPU
from autograder.labs.lm.corpus import Corpus
from autograder.labs.lm.journal import Journal, State
from autograder.labs.lm.settings import ModelSettings
from autograder.labs.work import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS = ("part9",)
_BETAS, _EPS = (0.9, 0.999), 1e-8  # Adam's own defaults
_EVALUATED = 4_000  # tokens, held out: this engine is slow
_PARAMETER, _FIRST, _SECOND = "parameter.", "first.", "second."


class Adam:
    """Keeps running means of gradients and of their squares, and steps by their ratio (Kingma and Ba 2015)."""

    def __init__(self, arrays: "dict[str, NDArray[Any]]") -> None:
        self.first = {name: np.zeros_like(array) for name, array in arrays.items()}
        self.second = {name: np.zeros_like(array) for name, array in arrays.items()}

    def updates(self, grads: "dict[str, NDArray[Any]]", lr: float, step: int) -> "dict[str, NDArray[Any]]":
        """Return what to add to each array in the given step, which counts from 1."""
        found = {}
        for name, grad in grads.items():
            for mean, beta, value in ((self.first, _BETAS[0], grad), (self.second, _BETAS[1], grad * grad)):
                mean[name] += (1 - beta) * (value - mean[name])
            slope = self.first[name] / (1 - _BETAS[0] ** step)
            size = np.sqrt(self.second[name] / (1 - _BETAS[1] ** step))
            found[name] = -lr * slope / (size + _EPS)
        return found


def build(work: Work, settings: ModelSettings, vocab_size: int, rng: np.random.Generator) -> Any:
    """Build part 9's TransformerLM in float32, which takes half of the time.

    Raises:
        UsageError: It has no such variant.
    """
    for name, only in (("positions", "learned"), ("norm", "pre")):
        if getattr(settings, name) != only:
            raise UsageError(
                f"part 9's model has no --{name} {getattr(settings, name)}", f"leave it at {only}, or use torch"
            )
    model = work.part("part9").TransformerLM(
        vocab_size, settings.context, settings.blocks, settings.heads, settings.embed, rng=rng
    )
    for parameter in model.parameters().values():
        parameter.data = parameter.data.astype(np.float32)
    return model


def load(model: Any, state: State) -> None:
    """Give a model the weights of a checkpoint."""
    for name, parameter in model.parameters().items():
        parameter.data = state[0][_PARAMETER + name].numpy().copy()


def run(
    work: Work, settings: ModelSettings, corpus: Corpus, journal: Journal, state: State | None, device: str = CPU
) -> None:
    """Make the steps that are left; numpy knows the processor alone."""
    import torch

    rng = np.random.default_rng(settings.seed)
    model = build(work, settings, len(corpus.codec.pieces), rng)
    adam = Adam({name: parameter.data for name, parameter in model.parameters().items()})
    if state is not None:
        load(model, state)
        rng.bit_generator.state = state[1]["rng"]
        for name in adam.first:
            adam.first[name] = state[0][_FIRST + name].numpy().copy()
            adam.second[name] = state[0][_SECOND + name].numpy().copy()

    def capture() -> State:
        arrays = {_PARAMETER + name: parameter.data for name, parameter in model.parameters().items()}
        for prefix, means in ((_FIRST, adam.first), (_SECOND, adam.second)):
            arrays |= {prefix + name: mean for name, mean in means.items()}
        tensors = {name: torch.as_tensor(np.ascontiguousarray(array)) for name, array in arrays.items()}
        return tensors, {"rng": rng.bit_generator.state}

    windows = corpus.held_out[: _EVALUATED - _EVALUATED % (settings.context + 1)].reshape(-1, settings.context + 1)
    journal.capture, journal.evaluated = capture, windows.size
    journal.evaluate = lambda: math.exp(float(model.loss(windows[:, :-1], windows[:, 1:]).data))
    reach = np.arange(settings.context + 1)
    while journal.left:
        step = len(journal.losses) + 1
        begins = rng.integers(0, len(corpus.train) - settings.context, (settings.batch, 1))
        taken = corpus.train[begins + reach]
        loss = model.loss(taken[:, :-1], taken[:, 1:])
        parameters = model.parameters()
        for parameter in parameters.values():
            parameter.zero_grad()
        loss.backward_all()
        lr = settings.lr * min(1.0, step / settings.warmup if settings.warmup else 1.0)
        for name, update in adam.updates({name: p.grad for name, p in parameters.items()}, lr, step).items():
            parameters[name].data = parameters[name].data + update.astype(np.float32)
        journal.after_step(float(loss.data))
