"""A plain training loop that shows how far it is, and goes on exactly where it was stopped."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.labs import checkpoint
from autograder.labs.bench import Bench
from autograder.labs.data import Data
from autograder.labs.device import living_on

if TYPE_CHECKING:
    import torch
    from torch import nn

_SAVE_EVERY_S = 20.0  # what a Ctrl-C can cost
_LATE = 0.7  # of the steps; after them the learning rate is multiplied by ``late``


def fit(
    bench: Bench,
    model: "nn.Module",
    data: Data,
    *,
    steps: int,
    batch_size: int,
    block_size: int,
    lr: float,
    seed: int,
    warmup_steps: int = 0,
    late: float = 1.0,
    label: str = "",
    on_step: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train a model inside a measurement, on the bench's device, with AdamW's defaults.

    Args:
        bench: Shows progress; knows where the state of this measurement is kept.
        model: ``model(idx) -> logits``; it is trained in place, and on the processor before and after.
        data: What to train on.
        steps: How many updates.
        batch_size: Sequences a step.
        block_size: Tokens of each.
        lr: The learning rate.
        seed: Of the batches.
        warmup_steps: Over how many steps the learning rate grows to ``lr``.
        late: What the learning rate is multiplied by for the last 30 % of the steps.
        label: Tells two trainings of one measurement apart.
        on_step: Called with the step's number and its loss, after each update. It is not called again for steps
            that an earlier run has made. The model takes ids from anywhere meanwhile; a piece of it (an embedding, a
            head) wants them where it is: ``device_of(model)``.

    Returns:
        The loss of each step in nats, before its update.
    """
    import torch
    from torch.nn import functional as F
    from torch.optim import AdamW

    with living_on(model, bench.device):
        adamw = AdamW(model.parameters(), lr)
        generator = bench.generator(seed)
        path = None if bench.partial is None else bench.partial.with_name(f"{bench.partial.name}{label}")
        losses = _resume(path, model, adamw, generator)
        saved = time.monotonic()
        model.train()
        for step in range(len(losses), steps):
            growing = min(1.0, (step + 1) / warmup_steps) if warmup_steps else 1.0
            for options in adamw.param_groups:
                options["lr"] = lr * growing * (late if step >= _LATE * steps else 1.0)
            inputs, targets = (ids.to(bench.device) for ids in data.batch(batch_size, block_size, generator))
            mean_nats = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
            adamw.zero_grad()
            torch.autograd.backward(mean_nats)
            adamw.step()
            value = float(mean_nats.detach())
            losses.append(value)
            if on_step is not None:
                on_step(step, value)
            bench.tick((step + 1) / steps, f"{label} step {step + 1} of {steps}, loss {value:.3f}".strip())
            if path is not None and time.monotonic() - saved > _SAVE_EVERY_S:
                _keep(path, model, adamw, generator, losses)
                saved = time.monotonic()
    if path is not None:
        path.unlink(missing_ok=True)
    return losses


def _keep(
    path: Path,
    model: "nn.Module",
    optimizer: "torch.optim.Optimizer",
    generator: "torch.Generator",
    losses: list[float],
) -> None:
    tensors, groups = checkpoint.training_state(model, optimizer, generator)
    checkpoint.save(path, tensors, {"groups": groups, "losses": losses})


def _resume(
    path: Path | None, model: "nn.Module", optimizer: "torch.optim.Optimizer", generator: "torch.Generator"
) -> list[float]:
    """Take up what a stopped run kept, and give its losses; none where there is nothing to take up."""
    if path is None or not path.is_file():
        return []
    try:
        tensors, facts = checkpoint.load(path)
    except UsageError:  # a state that cannot be read costs some time, and nothing else
        return []
    model.load_state_dict(checkpoint.model_weights(tensors))
    checkpoint.restore_optimizer(tensors, facts["groups"], optimizer)
    checkpoint.restore_generators(tensors, generator)
    losses: list[Any] = facts["losses"]
    return losses
