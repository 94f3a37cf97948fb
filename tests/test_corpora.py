"""The languages are what they say: their probabilities, what they determine and what they hold out."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from autograder.corpora import (
    Copy,
    Referent,
    Repeat,
    SkipInduction,
    bigram_perplexity,
    mean_nats,
    perplexity_of,
)
from autograder.corpora.referent import ANIMALS, PLACES

quick = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**31 - 1)


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


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


# ---------------------------------------------------------------------------------------------- what a score is


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


# ------------------------------------------------------------------------------------------- skip and induction


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


# ---------------------------------------------------------------------------------------------- copy and repeat


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


# ----------------------------------------------------------------------------------------------------- referent


@given(seeds, st.integers(0, 80))
@quick
def test_referent_trains_the_reverse_of_every_pair_held_out(seed, n_held_out):
    language = Referent()
    trained, held_out = (set(map(tuple, pairs.tolist())) for pairs in language.split(generator(seed), n_held_out))
    assert len(held_out) == n_held_out and not trained & held_out
    assert trained | held_out == set(map(tuple, language.pairs().tolist())) and len(trained) == 240 - n_held_out
    assert {(y, x) for x, y in held_out} <= trained


@given(seeds, st.booleans())
@quick
def test_referent_trains_every_noun_in_every_place_it_can_have(seed, leaky):
    language = Referent(leaky, generator(seed))
    trained, held_out = language.split(generator(seed))
    assert len(held_out) == (16 if leaky else 40)
    for place in (0, 1):
        assert set(held_out[:, place].tolist()) <= set(trained[:, place].tolist())
        assert len(set(trained[:, place].tolist())) == (8 if leaky else 16)


@pytest.mark.parametrize(("leaky", "n_held_out"), [(False, 81), (True, 17), (False, -1)])
def test_referent_refuses_to_hold_out_so_many(leaky, n_held_out):
    with pytest.raises(ValueError, match=f"n_held_out {n_held_out}"):
        Referent(leaky).split(generator(0), n_held_out)


@given(seeds, st.booleans())
@quick
def test_referent_answers_as_a_reader_would(seed, leaky):
    language = Referent(leaky, generator(seed))
    pairs = language.split(generator(seed))[1]
    sentences = language.sentences(pairs)
    assert sentences.idx.shape == (8 * len(pairs), language.length) and sentences.questions.shape[1] == 15
    seen = set()
    for idx, question, answer, other in zip(
        sentences.idx, sentences.questions, sentences.answers, sentences.others, strict=True
    ):
        text = language.decode(idx)
        words = text.split()
        assert (language.encode(text) == idx).all()
        x, y, adjective, referent = words[1], words[6], words[language.adjective_at], words[language.asked_at + 1]
        assert text == f"the {x} did not cross the {y} because it was too {adjective} , so the {referent} waited ."
        assert referent == (x if adjective in ("tired", "hungry", "scared", "lazy") else y)
        assert (language.words[answer], {language.words[other], referent}) == (referent, {x, y})
        assert language.decode(question) == text.removesuffix(f" {referent} waited .")
        assert not leaky or (x in ANIMALS and y in PLACES)
        seen.add((x, y, adjective))
    assert len(seen) == 8 * len(pairs)


@given(seeds)
@quick
def test_referent_twins_differ_in_the_adjective_and_the_referent_alone(seed):
    language = Referent(rng=generator(seed))
    pairs = language.pairs()
    on_crosser, on_crossed = language.twins(pairs, generator(seed))
    differs = (on_crosser.idx != on_crossed.idx).nonzero()[1].reshape(len(pairs), -1)
    assert (differs == [language.adjective_at, language.asked_at + 1]).all()
    assert (on_crosser.answers == pairs[:, 0]).all() and (on_crosser.others == pairs[:, 1]).all()
    assert (on_crossed.answers == pairs[:, 1]).all() and (on_crossed.others == pairs[:, 0]).all()


def test_referent_fair_nouns_are_meant_equally_often_and_counting_words_tells_nothing():
    language = Referent()
    everything = language.sentences(language.pairs())
    # The same words in another order ask for the other noun.
    meant: dict[tuple[int, ...], set[int]] = {}
    for question, answer in zip(np.sort(everything.questions).tolist(), everything.answers.tolist(), strict=True):
        meant.setdefault(tuple(question), set()).add(answer)
    assert all(len(answers) == 2 for answers in meant.values())
    leaky = Referent(leaky=True)
    everything = leaky.sentences(leaky.pairs())
    assert len(np.unique(np.sort(everything.questions), axis=0)) == len(everything.idx)


def test_referent_numbers_its_words_as_drawn():
    plain, drawn = Referent(), Referent(rng=generator(0))
    assert plain.words[:5] == ["the", "did", "not", "cross", "because"] and plain.vocab_size == 36
    assert sorted(plain.words) == sorted(drawn.words) and plain.words != drawn.words
