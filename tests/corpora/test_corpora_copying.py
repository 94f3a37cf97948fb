"""Copy scores exactly what a prefix determines, and Repeat says everything twice."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from language_draws import generator, quick, seeds

from autograder.corpora import Copy, Repeat, mean_nats


@given(seeds, st.integers(1, 60), st.integers(14, 40))
@quick
def test_copy_scores_exactly_what_the_prefix_determines(seed, length, vocab_size):
    docs, scored = Copy(vocab_size).documents(6, length, generator(seed))
    assert docs.shape == scored.shape == (6, length) and docs.dtype == np.int64 and scored.dtype == bool
    for doc, marks in zip(docs.tolist(), scored.tolist(), strict=True):
        for t in range(length):
            seen = doc[:t]
            # Once a token came twice, what followed it the last time must come; before, nothing is sure.
            is_determined = t > 0 and seen[-1] in seen[:-1]
            assert marks[t] == is_determined
            if is_determined:
                assert doc[t] == seen[seen.index(seen[-1]) + 1]


def test_copy_segments_have_every_length_from_6_to_14_and_use_all_tokens():
    docs, scored = Copy().documents(2000, 32, generator(0))
    lengths = {len(set(doc)) for doc in docs.tolist()}
    assert lengths == set(range(6, 15))
    assert set(docs.ravel().tolist()) == set(range(32))
    assert scored[:, 15:].all() and not scored[:, :7].any()


def test_copy_refuses_a_vocabulary_smaller_than_a_segment():
    with pytest.raises(ValueError, match="vocab_size 13"):
        Copy(13)


@given(seeds, st.integers(2, 60))
@quick
def test_repeat_says_everything_twice(seed, length):
    language = Repeat(11)
    docs, period = language.documents(7, length, generator(seed)), Repeat.period(length)
    assert docs.shape == (7, length) and docs.min() >= 0 and docs.max() < 11
    assert (docs[:, period:] == docs[:, : length - period]).all()
    # The best model: uniform before the repetition, sure from there on.
    logits = np.zeros((7, length - 1, 11))
    for t in range(period, length):
        logits[np.arange(7), t - 1, docs[:, t - period]] = 1e9
    assert mean_nats(logits, docs[:, 1:]) == pytest.approx(language.floor_nats(length), rel=1e-12)
    assert np.log(language.floor(docs)) == pytest.approx(language.floor_nats(length), rel=1e-12)


def test_repeat_of_odd_length_costs_half_the_logarithm_of_the_vocabulary():
    assert Repeat(32).floor_nats(33) == pytest.approx(np.log(32) / 2, rel=1e-15)
