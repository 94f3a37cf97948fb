"""A language that asks for looking back two ways, and whose exact probabilities are known."""

from math import gcd

import numpy as np
from numpy.typing import NDArray

from autograder.corpora.score import bigram_perplexity

SKIP = 0.4  # probability of the token that the one two back determines
INDUCTION = 0.4  # probability of what followed the current token the last time
BASE = 1.0 - SKIP - INDUCTION
UNIFORM = 0.1  # share of the base that goes to every token alike, so that none is impossible
# The rest of token a's row in the base table goes to the tokens MULTIPLIER * a + offset, by these shares. Chosen among
# a hundred such tables: a bigram is left at a perplexity of 13.4 and the best possible model at 4.40, far enough apart
# for every rung of the ladder to stand between them.
SHARES = {5: 0.4, 11: 0.3, 19: 0.2, 29: 0.1}
MULTIPLIERS = (7, 11, 13)  # the first that has no factor in common with vocab_size
NONE = -1


class SkipInduction:
    """Documents in which the next token comes from two back, from the last time, or from a table.

    p(next) = 0.4 where next = pi[token two back] + 0.4 where next is what followed the last occurrence of the current
    token + 0.2 base[current token]. The mass of a part that is not there yet goes to the base.

    pi is one cycle through all tokens, and a token has as many predecessors in the base table as successors, so no
    token is much rarer than another. All languages of a size are the same one with its tokens renamed: nothing is known
    beforehand of a fresh one, and still all are equally hard, so that a threshold which holds for one holds for all.
    (Tables drawn independently move a bigram's perplexity by 0.4 from language to language.)

    Args:
        rng: Draws which token is which.
        vocab_size: How many tokens there are; at least 2.

    Raises:
        ValueError: ``vocab_size`` is less than 2, or a multiple of 1001.
    """

    def __init__(self, rng: np.random.Generator, vocab_size: int = 32) -> None:
        self.vocab_size = vocab_size
        multiplier = next((m for m in MULTIPLIERS if gcd(m, vocab_size) == 1), None)
        if vocab_size < 2 or multiplier is None:
            raise ValueError(f"vocab_size {vocab_size}: no language of that size is known")
        place = np.arange(vocab_size)
        token = rng.permutation(vocab_size)  # which token stands at each place of the one structure
        self.pi = np.empty(vocab_size, dtype=np.int64)
        self.pi[token] = token[(place + 1) % vocab_size]
        self.base = np.full((vocab_size, vocab_size), UNIFORM / vocab_size)
        for offset, share in SHARES.items():
            self.base[token, token[(multiplier * place + offset) % vocab_size]] += (1 - UNIFORM) * share

    def documents(self, n: int, length: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw documents; the first token of each is uniform.

        Returns:
            int64 (n, length).
        """
        docs = np.empty((n, length), dtype=np.int64)
        docs[:, 0] = rng.integers(0, self.vocab_size, n)
        followers = _Followers(n, self.vocab_size)
        cumulative = self.base.cumsum(axis=1)
        cumulative[:, -1] = 1.0  # rounding must not leave a gap at the end
        for t in range(1, length):
            current = docs[:, t - 1]
            if t > 1:
                followers.note(docs[:, t - 2], current)
            skip, induction = self._skip(docs, t), followers.of(current)
            choice = rng.uniform(size=n)
            drawn = (cumulative[current] <= rng.uniform(size=(n, 1))).sum(axis=1)
            drawn = np.where((choice < SKIP) & (skip != NONE), skip, drawn)
            docs[:, t] = np.where((choice >= 1 - INDUCTION) & (induction != NONE), induction, drawn)
        return docs

    def conditional(self, docs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give the exact probability of every next token.

        Args:
            docs: Integers (n, length).

        Returns:
            Float64 (n, length - 1, V): entry [i, t] is the distribution of ``docs[i, t + 1]`` given
            ``docs[i, : t + 1]``, which is where a model's logits for it stand.
        """
        skip, induction = self._evidence(docs)
        weight = self._base_weight(skip, induction)
        p: NDArray[np.float64] = weight[..., None] * self.base[docs[:, :-1]]  # (n, length - 1, V)
        for token, mass in ((skip, SKIP), (induction, INDUCTION)):
            row, column = np.nonzero(token != NONE)
            p[row, column, token[row, column]] += mass
        return p

    def floor(self, docs: NDArray[np.int64]) -> float:
        """Give the perplexity of the exact conditional on these documents: a model is better by chance alone.

        On 400 documents of 32 tokens it is 4.40, and for one set in twenty 0.1 away from that. A model's own perplexity
        moves with it: their quotient is the steadier measure.

        Args:
            docs: Integers (n, length), each document whole from its first token on.
        """
        skip, induction = self._evidence(docs)
        current, following = docs[:, :-1], docs[:, 1:]
        p = self._base_weight(skip, induction) * self.base[current, following]
        p += SKIP * (skip == following) + INDUCTION * (induction == following)
        return float(np.exp(-np.log(p).mean()))

    def bigram_perplexity(self, train: NDArray[np.int64], test: NDArray[np.int64]) -> float:
        """Score on ``test`` the pairs counted in ``train``: what is possible without looking back."""
        return bigram_perplexity(train, test, self.vocab_size)

    def _skip(self, docs: NDArray[np.int64], t: int) -> NDArray[np.int64]:
        """Say which token the one two back makes likely at position t; NONE at the start."""
        return self.pi[docs[:, t - 2]] if t > 1 else np.full(len(docs), NONE)

    def _evidence(self, docs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Collect for positions 1, ..., length - 1 the two tokens that are more likely, each (n, length - 1)."""
        skip, induction = np.empty_like(docs[:, 1:]), np.empty_like(docs[:, 1:])
        followers = _Followers(len(docs), self.vocab_size)
        for t in range(1, docs.shape[1]):
            if t > 1:
                followers.note(docs[:, t - 2], docs[:, t - 1])
            skip[:, t - 1], induction[:, t - 1] = self._skip(docs, t), followers.of(docs[:, t - 1])
        return skip, induction

    @staticmethod
    def _base_weight(skip: NDArray[np.int64], induction: NDArray[np.int64]) -> NDArray[np.float64]:
        weight: NDArray[np.float64] = BASE + SKIP * (skip == NONE) + INDUCTION * (induction == NONE)
        return weight


class _Followers:
    """Remembers for each document what came after each token the last time."""

    def __init__(self, n: int, vocab_size: int) -> None:
        self._rows = np.arange(n)
        self._last = np.full((n, vocab_size), NONE, dtype=np.int64)

    def note(self, token: NDArray[np.int64], follower: NDArray[np.int64]) -> None:
        self._last[self._rows, token] = follower

    def of(self, token: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._last[self._rows, token]
