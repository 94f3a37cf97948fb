"""Part 9's training checks run with tiny Shakespeare and without it, fetch nothing, and judge from both sides."""

from pathlib import Path

import numpy as np
import pytest

from autograder.checks.local import LocalConnection, load_suites, run_check, sources_of
from autograder.config import load_config
from autograder.corpora import text

ROOT = Path(__file__).resolve().parents[2]
MODULE = "part9_engine"
CHECK = "window_mlp_trained_on_its_gradients_beats_the_counts"
BANDS = load_config(ROOT / "grading.yml").bands["part9"]
LETTERS = list("abcdefghij \n")


@pytest.fixture(scope="module")
def connection():
    return LocalConnection(MODULE, sources_of(ROOT / "assignments"))


@pytest.fixture
def check(monkeypatch):
    def fail():
        raise AssertionError("a grading must not fetch anything")

    monkeypatch.setattr(text, "_fetch", fail)
    monkeypatch.delenv(text.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(text, "cache_folder", lambda: Path("/nowhere"))
    return load_suites(ROOT / "assignments" / MODULE, hidden=True)[CHECK]


def judged(check, connection, bands=BANDS, seed=5):
    """Run the check; return its failure, and which bands judged."""
    told = []

    def within(bands, name, value, words):
        told.append((name, words))
        return original(bands, name, value, words)

    space = check.__globals__
    original, space["within"] = space["within"], within
    try:
        return run_check(check, CHECK, connection, seed, bands=bands), told
    finally:
        space["within"] = original


def a_play(pairs: bool) -> str:
    """Write as many characters as are needed: each decided by the one two back, or by chance alone."""
    draw = np.random.default_rng(0)
    ids = draw.integers(0, len(LETTERS), 400_000)
    if pairs:
        for place in range(2, len(ids)):
            if place % 10:
                ids[place] = (5 * ids[place - 2] + 1) % len(LETTERS)
    return "".join(np.array(LETTERS)[ids])


def test_without_the_text_the_language_alone_is_judged(check, connection):
    failure, told = judged(check, connection)
    assert failure is None
    assert [name for name, _ in told] == ["mlp"]


def test_without_pooch_it_is_the_same(check, connection, monkeypatch):
    def no_pooch():
        raise ModuleNotFoundError("No module named 'pooch'")

    monkeypatch.setattr(text, "cache_folder", no_pooch)
    failure, told = judged(check, connection)
    assert failure is None
    assert [name for name, _ in told] == ["mlp"]


def test_another_text_of_that_name_is_left_alone(check, connection, monkeypatch, tmp_path):
    (tmp_path / text.FILE).write_text("To be, or not to be.")
    monkeypatch.setenv(text.FOLDER_VARIABLE, str(tmp_path))
    failure, told = judged(check, connection)
    assert failure is None
    assert [name for name, _ in told] == ["mlp"]


def test_with_the_text_both_are_judged_on_the_same_language(check, connection, monkeypatch):
    _, alone = judged(check, connection)
    monkeypatch.setitem(check.__globals__, "available", lambda: True)
    monkeypatch.setitem(check.__globals__, "whole_shakespeare", lambda: a_play(pairs=True))
    wide = {**BANDS, "mlp_shakespeare": (0.2, 3.0)}
    failure, told = judged(check, connection, wide)
    assert failure is None
    assert told[0] == alone[0]
    assert told[1][0] == "mlp_shakespeare"
    assert told[1][1].startswith("tiny Shakespeare: ")


def test_the_text_is_judged_from_both_sides(check, connection, monkeypatch):
    monkeypatch.setitem(check.__globals__, "available", lambda: True)
    # Where chance alone writes, nothing is gained over the counts; where the letter two back decides, far too much.
    for pairs, words in ((False, "has not learned"), (True, "No right model")):
        monkeypatch.setitem(check.__globals__, "whole_shakespeare", lambda pairs=pairs: a_play(pairs))
        failure, told = judged(check, connection)
        assert failure is not None
        assert "tiny Shakespeare" in failure.message
        assert words in failure.message
        assert [name for name, _ in told] == ["mlp", "mlp_shakespeare"]
