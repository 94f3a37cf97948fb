"""Languages whose best possible answer is known, and one text from the world.

The four languages need no download and are drawn from a ``numpy.random.Generator``; a suite makes one with
``numpy.random.default_rng(int(rng.integers(0, 2**31)))``. What a model is worth is computed here, from its logits.
"""

from autograder.corpora.copying import Copy, Repeat
from autograder.corpora.pieces import BytePairs, bpe, byte_pairs, characters
from autograder.corpora.referent import Referent, Sentences
from autograder.corpora.score import bigram_perplexity, mean_nats, perplexity_of
from autograder.corpora.skip_induction import SkipInduction
from autograder.corpora.text import available, shakespeare

__all__ = [
    "BytePairs",
    "Copy",
    "Referent",
    "Repeat",
    "Sentences",
    "SkipInduction",
    "available",
    "bigram_perplexity",
    "bpe",
    "byte_pairs",
    "characters",
    "mean_nats",
    "perplexity_of",
    "shakespeare",
]
