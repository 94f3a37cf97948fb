"""Sentences in which one word far back decides which of two nouns is meant."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ANIMALS = ("dog", "cat", "horse", "fox", "goat", "hen", "duck", "mouse")
PLACES = ("street", "river", "bridge", "field", "road", "yard", "lake", "path")
OF_CROSSER = ("tired", "hungry", "scared", "lazy")  # why the one who crosses did not
OF_CROSSED = ("wet", "wide", "muddy", "icy")  # why what is crossed was not
SENTENCE = "the {x} did not cross the {y} because it was too {adjective} , so the {referent} waited ."
FRAME = SENTENCE.split()
HELD_OUT, HELD_OUT_LEAKY = 40, 16  # a sixth of 240 pairs, a quarter of 64


class Sentences(NamedTuple):
    """Sentences as numbers, each with the noun it ends on and the other one.

    ``idx`` is int64 (N, 18), whole sentences; ``answers`` and ``others`` are int64 (N,).
    """

    idx: NDArray[np.int64]
    answers: NDArray[np.int64]
    others: NDArray[np.int64]

    @property
    def questions(self) -> NDArray[np.int64]:
        """Give the sentences up to the word after which the referent must come, int64 (N, 15)."""
        return self.idx[:, : Referent.asked_at + 1]


class Referent:
    """Two nouns, an adjective, and the question which of the two waited.

    In the fair language any of sixteen nouns crosses any other: the adjective tells whether the crosser or the crossed
    is meant, and only their order tells which noun that is. In the leaky one animals cross places, so the words alone
    tell it, in whatever order.

    Args:
        leaky: Animals cross, places are crossed.
        rng: Numbers the words in a drawn order; None: as they are listed.
    """

    crosser_at = FRAME.index("{x}")
    crossed_at = FRAME.index("{y}")
    adjective_at = FRAME.index("{adjective}")
    asked_at = FRAME.index("{referent}") - 1  # the logits here name the referent
    length = len(FRAME)

    def __init__(self, leaky: bool = False, rng: np.random.Generator | None = None) -> None:
        frame = dict.fromkeys(word for word in FRAME if not word.startswith("{"))
        words = [*frame, *ANIMALS, *PLACES, *OF_CROSSER, *OF_CROSSED]
        order = range(len(words)) if rng is None else rng.permutation(len(words))
        self.leaky = leaky
        self.words = [words[i] for i in order]
        self._number = {word: i for i, word in enumerate(self.words)}

    @property
    def vocab_size(self) -> int:
        """Say how many words there are."""
        return len(self.words)

    def encode(self, text: str) -> NDArray[np.int64]:
        """Turn words with spaces between them into numbers, int64 (n,)."""
        return np.array([self._number[word] for word in text.split()], dtype=np.int64)

    def decode(self, idx: NDArray[np.int64]) -> str:
        """Turn numbers (n,) into words with spaces between them."""
        return " ".join(self.words[i] for i in idx)

    def pairs(self) -> NDArray[np.int64]:
        """List who can cross what.

        Returns:
            int64 (n, 2), the numbers of the crosser and of the crossed: 240 in the fair language, 64 in the leaky one.
        """
        crossers, crossed = (ANIMALS, PLACES) if self.leaky else (ANIMALS + PLACES, ANIMALS + PLACES)
        return np.array([self.encode(f"{x} {y}") for x in crossers for y in crossed if x != y])

    def split(
        self, rng: np.random.Generator, n_held_out: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Hold pairs out of training.

        In the fair language the reverse of each held-out pair is trained. In both, each noun is trained in each place
        where it can stand.

        Args:
            rng: Draws which.
            n_held_out: How many; by default 40 in the fair language and 16 in the leaky one.

        Returns:
            The pairs to train on and those held out, each int64 (n, 2), in a drawn order.

        Raises:
            ValueError: So many cannot be held out.
        """
        pairs = self.pairs()
        wanted = n_held_out if n_held_out is not None else HELD_OUT_LEAKY if self.leaky else HELD_OUT
        most = len(pairs) // (4 if self.leaky else 3)  # far fewer than would leave a noun untrained in some place
        if not 0 <= wanted <= most:
            raise ValueError(f"n_held_out {wanted}: it must be from 0 to {most}")
        while True:
            pairs = rng.permutation(pairs)
            # Of a pair and its reverse only the one that comes first may be held out; a leaky pair has no reverse.
            keys = [frozenset(pair) for pair in pairs.tolist()]
            first = np.zeros(len(pairs), dtype=bool)
            first[[keys.index(key) for key in set(keys)]] = True
            chosen = np.flatnonzero(first)[:wanted]
            held_out, trained = pairs[chosen], np.delete(pairs, chosen, axis=0)
            if all(set(trained[:, place]) == set(pairs[:, place]) for place in (0, 1)):
                return trained, held_out

    def sentences(self, pairs: NDArray[np.int64]) -> Sentences:
        """Write for each pair the eight sentences that the adjectives make.

        Args:
            pairs: Int64 (n, 2).

        Returns:
            8 n sentences: a pair's lie together, those on the crosser first.
        """
        adjectives = self.encode(" ".join(OF_CROSSER + OF_CROSSED))
        is_crosser = np.arange(len(adjectives)) < len(OF_CROSSER)
        n = len(pairs)
        return self._write(np.repeat(pairs, len(adjectives), axis=0), np.tile(adjectives, n), np.tile(is_crosser, n))

    def twins(self, pairs: NDArray[np.int64], rng: np.random.Generator) -> tuple[Sentences, Sentences]:
        """Write for each pair two sentences that differ in the adjective, and so in the referent.

        Args:
            pairs: Int64 (n, 2).
            rng: Draws the adjectives.

        Returns:
            n sentences on the crosser and n on the crossed, in the order of the pairs.
        """
        of_crosser, of_crossed = (
            rng.choice(self.encode(" ".join(words)), len(pairs)) for words in (OF_CROSSER, OF_CROSSED)
        )
        everywhere = np.ones(len(pairs), dtype=bool)
        return self._write(pairs, of_crosser, everywhere), self._write(pairs, of_crossed, ~everywhere)

    def _write(
        self, pairs: NDArray[np.int64], adjectives: NDArray[np.int64], is_crosser: NDArray[np.bool_]
    ) -> Sentences:
        idx = np.empty((len(pairs), self.length), dtype=np.int64)
        fixed = [at for at, word in enumerate(FRAME) if not word.startswith("{")]
        idx[:, fixed] = self.encode(" ".join(FRAME[at] for at in fixed))
        answers, others = (np.where(meant, pairs[:, 0], pairs[:, 1]) for meant in (is_crosser, ~is_crosser))
        idx[:, self.crosser_at], idx[:, self.crossed_at] = pairs[:, 0], pairs[:, 1]
        idx[:, self.adjective_at], idx[:, self.asked_at + 1] = adjectives, answers
        return Sentences(idx, answers, others)
