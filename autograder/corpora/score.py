"""What predictions are worth, computed in float64 where nobody but the grader computes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def mean_nats(logits: ArrayLike, targets: ArrayLike) -> float:
    """Average the negative log-likelihood of the targets.

    Args:
        logits: Float (..., V), of any size and not normalised; computed with in float64.
        targets: Integers (...), each in 0, ..., V - 1.

    Returns:
        Mean nats per token; infinite where a target is impossible, NaN where a logit is NaN or +inf.

    Raises:
        ValueError: The shapes do not fit, there is no target, or one is not in the vocabulary.
    """
    scores = np.asarray(logits, dtype=np.float64)
    wanted = np.asarray(targets)
    if scores.ndim == 0 or scores.shape[:-1] != wanted.shape or wanted.size == 0:
        raise ValueError(f"logits of shape {scores.shape} do not fit targets of shape {wanted.shape}")
    if not np.issubdtype(wanted.dtype, np.integer) or wanted.min() < 0 or wanted.max() >= scores.shape[-1]:
        raise ValueError(f"targets must be integers from 0 to {scores.shape[-1] - 1}")
    with np.errstate(invalid="ignore", divide="ignore"):  # inf - inf and log 0 are answers, told in Returns
        scores = scores - scores.max(axis=-1, keepdims=True)
        of_target = np.take_along_axis(scores, wanted[..., None], axis=-1)[..., 0]
        nats = np.log(np.exp(scores).sum(axis=-1)) - of_target  # (...)
    return float(nats.mean())


def perplexity_of(logits: ArrayLike, targets: ArrayLike) -> float:
    """Give exp of the mean nats per token; arguments and errors as in ``mean_nats``."""
    with np.errstate(over="ignore"):
        return float(np.exp(mean_nats(logits, targets)))


def bigram_perplexity(train: ArrayLike, test: ArrayLike, vocab_size: int, smoothing: float = 1.0) -> float:
    """Score counted pairs of neighbours: the best that a model can do which sees the current token alone.

    Args:
        train: Integers (..., T) to count in; pairs lie within a row.
        test: Integers (..., T) to predict; every token of a row but its first.
        vocab_size: How many tokens there are.
        smoothing: Added to every count, so that an unseen pair is not impossible.

    Returns:
        Perplexity on ``test``.
    """
    seen, asked = np.asarray(train), np.asarray(test)
    pairs = seen[..., :-1].ravel() * vocab_size + seen[..., 1:].ravel()
    counts = np.bincount(pairs, minlength=vocab_size**2).reshape(vocab_size, vocab_size) + smoothing
    logits: NDArray[np.float64] = np.log(counts)
    return perplexity_of(logits[asked[..., :-1]], asked[..., 1:])
