"""What labs train on: a language whose best possible perplexity is known, and tiny Shakespeare where it is at hand."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import torch
    from torch import Tensor, nn

    from autograder.labs.bench import Bench

HELD_OUT_DOCUMENTS = 400
TRAIN_DOCUMENTS = 10_000
_TRAIN_SHARE = 0.9
_EVALUATED_AT_ONCE = 16_384  # tokens: the logits of more do not stay in a processor's cache
_LANGUAGE_SEED = 0  # one language for all seeds of a lab: what differs is then the training alone


@dataclass(frozen=True)
class Data:
    """Tokens to train on and others to judge by.

    ``train`` and ``held_out`` are documents, long (n, length), or one stream, long (N,). ``floor`` is the perplexity
    of the exact probabilities on the held-out documents, where those are known.
    """

    name: str
    vocab_size: int
    train: "Tensor"
    held_out: "Tensor"
    floor: float | None = None

    def batch(self, batch_size: int, block_size: int, generator: "torch.Generator") -> "tuple[Tensor, Tensor]":
        """Draw inputs and what follows each of their tokens, both long (batch_size, block_size)."""
        import torch

        reach = torch.arange(block_size + 1)
        if self.train.ndim == 2:  # a document begins where it begins: its first token is no one's successor
            chosen = torch.randint(len(self.train), (batch_size,), generator=generator)
            taken = self.train[chosen, : block_size + 1]
        else:
            begins = torch.randint(len(self.train) - block_size, (batch_size, 1), generator=generator)
            taken = self.train[begins + reach]
        return taken[:, :-1], taken[:, 1:]

    def held_out_windows(self, block_size: int, most: int | None = None) -> "tuple[Tensor, Tensor]":
        """Cut what is held out into inputs and targets, both (n, block_size), at most ``most`` of them."""
        if self.held_out.ndim == 2:
            taken = self.held_out[:most, : block_size + 1]
        else:
            taken = self.held_out.unfold(0, block_size + 1, block_size)[:most]
        return taken[:, :-1], taken[:, 1:]


def skip_induction(length: int, *, train: int = TRAIN_DOCUMENTS, held_out: int = HELD_OUT_DOCUMENTS) -> Data:
    """Draw documents of the language that asks for looking back two ways; the same ones every time.

    Args:
        length: Tokens of a document. Training at T wants T + 1.
        train: How many to train on.
        held_out: How many to judge by.
    """
    import numpy as np

    from autograder.corpora import SkipInduction

    rng = np.random.default_rng(_LANGUAGE_SEED)
    language = SkipInduction(rng)
    docs = language.documents(train, length, rng)
    held = language.documents(held_out, length, rng)
    return Data(
        f"the embedded language ({language.vocab_size} tokens)",
        language.vocab_size,
        tokens(docs),
        tokens(held),
        language.floor(held),
    )


def has_shakespeare(bench: "Bench") -> bool:
    """Say whether tiny Shakespeare is at hand, without asking the network."""
    from autograder.corpora import available

    try:
        return available(bench.data_folder)
    except ModuleNotFoundError:  # what would look into the cache is an extra, so there is none
        return False


def require_shakespeare(folder: Path) -> None:
    """Refuse a folder that was named for its text and does not have it.

    Raises:
        UsageError: The text is not there, or another one is.
    """
    from autograder.corpora import available

    if not available(folder):
        raise UsageError(f"tiny Shakespeare is not in {folder}", "name the folder that holds tinyshakespeare.txt")


def shakespeare_characters(bench: "Bench") -> Data:
    """Read tiny Shakespeare as characters, the last tenth held out."""
    from autograder.corpora import characters, shakespeare

    ids, vocabulary = characters(shakespeare(bench.data_folder))
    return _split("tiny Shakespeare, characters", ids, len(vocabulary))


def shakespeare_bpe(bench: "Bench", vocab_size: int = 1024) -> Data:
    """Read tiny Shakespeare as byte pairs, the last tenth held out."""
    from autograder.corpora import bpe, shakespeare

    ids = bpe(shakespeare(bench.data_folder), vocab_size)
    return _split(f"tiny Shakespeare, {vocab_size} byte pairs", ids, vocab_size)


def tokens(ids: "np.ndarray") -> "Tensor":
    """Turn numpy ids into torch's, long."""
    import torch

    return torch.as_tensor(ids, dtype=torch.long)


def nats(model: "nn.Module", inputs: "Tensor", targets: "Tensor") -> float:
    """Judge a model: mean negative log-likelihood of the targets, in nats, computed in float64 from its logits.

    Args:
        model: ``model(idx (n, T)) -> logits (n, T, V)``; it is in eval mode during this, and as before after it.
        inputs: Long (n, T).
        targets: Long (n, T).
    """
    import torch

    from autograder.corpora import mean_nats

    mode = model.training
    model.eval()
    total = 0.0
    at_once = max(1, _EVALUATED_AT_ONCE // inputs.shape[1])
    with torch.no_grad():
        for x, y in zip(torch.split(inputs, at_once), torch.split(targets, at_once), strict=True):
            total += mean_nats(model(x).double().numpy(), y.numpy()) * y.numel()
    model.train(mode)
    return total / targets.numel()


def perplexity(model: "nn.Module", data: Data, block_size: int, most: int | None = None) -> float:
    """Judge a model on what is held out: exp of the nats per token, in windows of ``block_size``."""
    return math.exp(nats(model, *data.held_out_windows(block_size, most)))


def _split(name: str, ids: "np.ndarray", vocab_size: int) -> Data:
    cut = int(len(ids) * _TRAIN_SHARE)
    return Data(name, vocab_size, tokens(ids[:cut]), tokens(ids[cut:]))
