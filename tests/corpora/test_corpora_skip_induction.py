"""Skip-induction gives the words that its definition gives, and no model comes below its floor."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from language_draws import generator, quick, seeds

from autograder.corpora import SkipInduction, perplexity_of


def slow_conditional(language: SkipInduction, prefix: list[int]) -> np.ndarray:
    """Say the definition word by word, for one prefix."""
    p, rest = np.zeros(language.vocab_size), 1.0
    current, earlier = prefix[-1], prefix[:-1]
    if len(prefix) >= 2:
        p[language.pi[prefix[-2]]] += 0.4
        rest -= 0.4
    if current in earlier:
        last = len(earlier) - 1 - earlier[::-1].index(current)
        p[prefix[last + 1]] += 0.4
        rest -= 0.4
    return p + rest * language.base[current]


@given(seeds, st.integers(1, 20), st.sampled_from([2, 5, 7, 11, 32, 77]))
@quick
def test_skip_induction_conditional_is_the_definition(seed, length, vocab_size):
    rng = generator(seed)
    language = SkipInduction(rng, vocab_size)
    docs = language.documents(3, length, rng)
    p = language.conditional(docs)
    assert docs.dtype == np.int64 and docs.min() >= 0 and docs.max() < vocab_size
    assert p.shape == (3, length - 1, vocab_size)
    np.testing.assert_allclose(p.sum(axis=-1), 1, rtol=0, atol=1e-12)
    for i, doc in enumerate(docs.tolist()):
        for t in range(length - 1):
            np.testing.assert_allclose(p[i, t], slow_conditional(language, doc[: t + 1]), rtol=0, atol=1e-12)


def test_skip_induction_documents_come_as_often_as_the_conditional_says():
    language = SkipInduction(generator(3), 5)
    docs = language.documents(400_000, 5, generator(4))
    code = (docs * 5 ** np.arange(5)).sum(axis=1)
    one_of_each, counts = np.unique(code, return_index=True, return_counts=True)[1:]
    p = language.conditional(docs[one_of_each])
    chances = np.take_along_axis(p, docs[one_of_each, 1:, None], axis=2)[..., 0].prod(axis=1) / 5
    assert chances.sum() == pytest.approx(1, abs=1e-3)  # what never came in 400,000 is rare
    surprise = (counts - 400_000 * chances) / np.sqrt(400_000 * chances)
    assert (surprise[chances > 1e-4] ** 2).mean() == pytest.approx(1, abs=0.25)  # some 900 terms of a chi-square
    assert (chances > 1e-4).sum() > 500


@given(seeds)
@quick
def test_skip_induction_floor_is_the_perplexity_of_the_conditional(seed):
    rng = generator(seed)
    language = SkipInduction(rng)
    docs = language.documents(20, 32, rng)
    expected = perplexity_of(np.log(language.conditional(docs)), docs[:, 1:])
    assert language.floor(docs) == pytest.approx(expected, rel=1e-12)


@given(seeds)
@settings(max_examples=8, deadline=None)
def test_skip_induction_floor_lies_below_everything_else(seed):
    rng = generator(seed)
    language = SkipInduction(rng)
    train, test = language.documents(2000, 32, rng), language.documents(1000, 32, rng)
    p = language.conditional(test)
    no_skip = p.copy()
    rows, columns = np.nonzero(np.ones((1000, 30)))
    no_skip[rows, columns + 1, language.pi[test[rows, columns]]] -= 0.3
    blurred = 0.9 * p + 0.1 / 32
    for rival in (no_skip, blurred, p**1.3, p**0.8):
        assert perplexity_of(np.log(rival), test[:, 1:]) > language.floor(test)
    # From the same text, even: 1024 counts do not make up for what a pair cannot know.
    assert language.bigram_perplexity(test, test) > 2.5 * language.floor(test)
    assert language.bigram_perplexity(train, test) > language.bigram_perplexity(test, test)


def test_skip_induction_languages_are_equally_hard():
    # Twenty languages, 1000 documents each: 0.03 is the sampling noise of a floor, 0.16 of a bigram's perplexity.
    floors, bigrams = [], []
    for seed in range(20):
        rng = generator(seed)
        language = SkipInduction(rng)
        train, test = language.documents(4000, 32, rng), language.documents(1000, 32, rng)
        floors.append(language.floor(test))
        bigrams.append(language.bigram_perplexity(train, test))
    assert min(floors) > 4.28 and max(floors) < 4.52
    assert min(bigrams) > 12.8 and max(bigrams) < 14.1


def test_skip_induction_languages_differ_and_a_seed_gives_one_again():
    one, again, other = (SkipInduction(generator(seed)) for seed in (1, 1, 2))
    assert (one.pi == again.pi).all() and (one.base == again.base).all()
    assert (one.pi != other.pi).sum() > 16 and (one.base != other.base).any(axis=1).all()
    assert (one.documents(5, 9, generator(7)) == again.documents(5, 9, generator(7))).all()


@given(seeds, st.integers(2, 80))
@quick
def test_skip_induction_pi_is_one_cycle_and_the_base_has_equal_columns(seed, vocab_size):
    language = SkipInduction(generator(seed), vocab_size)
    token, visited = 0, set()
    while token not in visited:
        visited.add(token)
        token = int(language.pi[token])
    assert len(visited) == vocab_size
    for axis in (0, 1):
        np.testing.assert_allclose(language.base.sum(axis=axis), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("vocab_size", [0, 1, 1001])
def test_skip_induction_refuses_a_size_it_cannot_make(vocab_size):
    with pytest.raises(ValueError, match=f"vocab_size {vocab_size}"):
        SkipInduction(generator(0), vocab_size)
