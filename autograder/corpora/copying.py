"""Two languages that repeat themselves: what a model needs two layers for, and what nobody can know beforehand."""

import numpy as np
from numpy.typing import NDArray

SHORTEST, LONGEST = 6, 14  # tokens in a segment


class Copy:
    """A segment of distinct tokens, of a length that is not told, over and over.

    A model has to find the last occurrence of the current token and to say what came after it there. One layer of
    attention cannot do both.

    Args:
        vocab_size: How many tokens there are; at least the longest segment's.
    """

    def __init__(self, vocab_size: int = 32) -> None:
        if vocab_size < LONGEST:
            raise ValueError(f"vocab_size {vocab_size}: a segment has up to {LONGEST} distinct tokens")
        self.vocab_size = vocab_size

    def documents(self, n: int, length: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Draw documents and say which of their tokens are determined by what came before.

        The first token of the first repetition is not: the segment could have gone on.

        Returns:
            int64 (n, length), and bool (n, length): True where the token *at* that position follows from the earlier
            ones. Logits for it stand one position to the left: compare ``logits[:, :-1]`` with ``docs[:, 1:]``
            where ``scored[:, 1:]``.
        """
        periods = rng.integers(SHORTEST, LONGEST + 1, size=(n, 1))
        tokens = rng.uniform(size=(n, self.vocab_size)).argsort(axis=1)  # a permutation in each row
        place = np.arange(length)
        docs = np.take_along_axis(tokens, place % periods, axis=1)  # (n, length)
        return docs, place > periods


class Repeat:
    """Random tokens and then the same once more: the first half cannot be predicted, the second can.

    Args:
        vocab_size: How many tokens there are.
    """

    def __init__(self, vocab_size: int = 32) -> None:
        self.vocab_size = vocab_size

    @staticmethod
    def period(length: int) -> int:
        """Say after how many tokens a document of this length starts again; of an odd one the last token is cut."""
        return (length + 1) // 2

    def documents(self, n: int, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw documents.

        Returns:
            int64 (n, length): column t equals column t - period(length) from there on.
        """
        once = rng.integers(0, self.vocab_size, size=(n, self.period(length)))
        return np.concatenate([once, once], axis=1)[:, :length]

    def floor_nats(self, length: int) -> float:
        """Give the least mean nats per predicted token (all but the first) that are possible.

        Of an odd length, T + 1 tokens for T predictions, this is half ln V exactly.
        """
        return (self.period(length) - 1) / (length - 1) * float(np.log(self.vocab_size))

    def floor(self, docs: NDArray[np.int64]) -> float:
        """Give the least perplexity that is possible on documents of this length."""
        return float(np.exp(self.floor_nats(docs.shape[1])))
