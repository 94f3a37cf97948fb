"""Let a trained model write, by the student's ``generate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.labs import checkpoint
from autograder.labs.device import CPU, find_device, living_on, only_processor
from autograder.labs.lm.corpus import Codec
from autograder.labs.lm.settings import CHECKPOINT, ModelSettings
from autograder.labs.work import Work

if TYPE_CHECKING:
    from torch import nn


def sample(
    work: Work,
    folder: Path,
    *,
    prompt: str | None = None,
    tokens: int = 300,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int = 0,
    device: str = CPU,
) -> str:
    """Write on from a prompt.

    Args:
        work: The student's modules.
        folder: What ``gpt-hw train`` wrote.
        prompt: Where to begin; with a new line or the corpus's first piece where None.
        tokens: How many to add.
        temperature: 0 always takes the likeliest.
        top_k: Draw among so many only.
        seed: Of the draws.
        device: Where the model computes; the draws are made on the processor.

    Returns:
        The prompt and what follows it.

    Raises:
        StudentCodeError: A part is missing or fails.
        UsageError: There is no checkpoint, the prompt has pieces that the corpus lacks, or the device is
            not there.
    """
    import torch

    torch.set_num_threads(1)
    state = checkpoint.load(folder / CHECKPOINT)
    facts = state[1]
    settings, codec = ModelSettings(**facts["settings"]), Codec.of(facts["corpus"]["codec"])
    ids = codec.encode(prompt) if prompt else [codec.pieces.index("\n") if "\n" in codec.pieces else 0]
    if not ids:
        raise UsageError("the prompt is empty", "leave --prompt out to begin anywhere")
    if top_k is not None:
        top_k = min(top_k, len(codec.pieces))
    on_processor = settings.engine == "numpy"
    device = only_processor(device, "the numpy engine") if on_processor else find_device(device)
    with work.active(), work.guarded(("part6", "part9") if on_processor else ("part6",)):
        model = _model(work, settings, codec, state)
        draws = torch.Generator().manual_seed(seed)
        with living_on(model, device):
            written = work.part("part6").generate(
                model, torch.tensor([ids]), tokens, temperature=temperature, top_k=top_k, generator=draws
            )
        return codec.decode(written[0].tolist())


def _model(work: Work, settings: ModelSettings, codec: Codec, state: Any) -> "nn.Module":
    if settings.engine == "numpy":
        return _numpy_model(work, settings, codec, state)
    from autograder.labs.lm import by_torch

    model = by_torch.build(work, settings, len(codec.pieces))
    by_torch.load(model, state)
    return model


def _numpy_model(work: Work, settings: ModelSettings, codec: Codec, state: Any) -> "nn.Module":
    """Dress part 9's model as the kind that part 6's ``generate`` asks."""
    from types import SimpleNamespace

    import numpy as np
    import torch
    from torch import Tensor, nn

    from autograder.labs.lm import by_numpy

    inner = by_numpy.build(work, settings, len(codec.pieces), np.random.default_rng(0))
    by_numpy.load(inner, state)

    class Dressed(nn.Module):
        config = SimpleNamespace(block_size=settings.context)

        def forward(self, idx: Tensor) -> Tensor:
            return torch.as_tensor(inner.logits(idx.numpy()).data)

    return Dressed()
