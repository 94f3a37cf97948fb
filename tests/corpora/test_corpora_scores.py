"""Perplexity is what it is said to be: blind to shifts, equal to torch's, and none where a logit is no number."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from language_draws import generator, quick, seeds

from autograder.corpora import bigram_perplexity, mean_nats, perplexity_of


@given(seeds, st.floats(-1e6, 1e6))
@quick
def test_perplexity_of_does_not_change_when_all_logits_of_a_row_move(seed, shift):
    rng = generator(seed)
    logits, targets = rng.normal(size=(3, 5, 11)), rng.integers(0, 11, (3, 5))
    # 1e6 has 9 digits left behind the point
    assert perplexity_of(logits + shift, targets) == pytest.approx(perplexity_of(logits, targets), rel=1e-8)


def test_perplexity_of_equal_logits_is_the_vocabulary_size():
    assert perplexity_of(np.zeros((2, 4, 65)), np.zeros((2, 4), dtype=int)) == pytest.approx(65, rel=1e-12)
    assert mean_nats(np.zeros(65), 3) == pytest.approx(np.log(65), rel=1e-12)


def test_perplexity_of_equals_torch():
    torch = pytest.importorskip("torch")
    logits, targets = torch.randn(4, 7, 11) * 30, torch.randint(0, 11, (4, 7))
    expected = torch.nn.functional.cross_entropy(logits.double().flatten(0, 1), targets.flatten()).item()
    assert mean_nats(logits, targets) == pytest.approx(expected, rel=1e-12)


def test_perplexity_of_survives_huge_and_impossible_logits():
    assert perplexity_of([[1e30, -1e30]], [0]) == 1.0
    assert perplexity_of([[1e30, -1e30]], [1]) == np.inf
    assert perplexity_of([[0.0, 0.0, -np.inf]], [0]) == pytest.approx(2, rel=1e-12)
    assert perplexity_of([[0.0, -np.inf]], [1]) == np.inf


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_perplexity_of_logits_that_are_no_numbers_is_none_and_below_no_bound(bad):
    value = perplexity_of([[0.0, bad, 0.0], [0.0, 0.0, 0.0]], [0, 0])
    assert np.isnan(value) and not value < 1e9


@pytest.mark.parametrize(
    ("logits", "targets"),
    [
        (np.zeros((2, 3, 5)), np.zeros((2, 4), dtype=int)),
        (np.zeros((2, 3, 5)), np.full((2, 3), 5)),
        (np.zeros((2, 3, 5)), np.full((2, 3), -1)),
        (np.zeros((2, 3, 5)), np.zeros((2, 3))),
        (np.zeros((0, 5)), np.zeros(0, dtype=int)),
        (np.float64(1.0), np.zeros((), dtype=int)),
    ],
)
def test_perplexity_of_refuses_targets_that_do_not_fit(logits, targets):
    with pytest.raises(ValueError, match="targets"):
        perplexity_of(logits, targets)


def test_bigram_perplexity_counts_within_rows():
    rows = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    # 3 of each pair: (3 + s) / (3 + 2 s) with s = 1 is 4/5; a pair across the rows (1, 1) would make it less
    assert bigram_perplexity(rows, rows, vocab_size=2) == pytest.approx(5 / 4, rel=1e-12)
