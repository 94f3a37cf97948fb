"""Referent holds out pairs and no words, answers as a reader would, and tells nothing by counting."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from language_draws import generator, quick, seeds

from autograder.corpora import Referent
from autograder.corpora.referent import ANIMALS, PLACES


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
