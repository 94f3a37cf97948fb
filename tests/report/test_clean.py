"""Cleaned text holds nothing that acts on a terminal or a page, and keeps every script's writing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.report.clean import clean, clean_line


@given(st.text(st.characters(codec=None), max_size=200))
def test_clean_leaves_no_control_characters_but_line_breaks(text):
    for cleaned in (clean(text), clean_line(text)):
        assert not any(ord(c) < 32 and c != "\n" for c in cleaned)
        assert not set(map(chr, range(127, 160))) & set(cleaned)
        assert not set("\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2069\ufeff") & set(cleaned)
        cleaned.encode("utf-8")
    assert "\n" not in clean_line(text)


@given(st.text(max_size=200))
def test_clean_twice_is_clean_once(text):
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ttext", "plain   text"),
        ("a\r\nb\rc\n\n", "a\nb\nc"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1bcafter", "after"),
        ("\x9b31mred", "red"),
        ("\x1b", "\\x1b"),
        ("\x1b[31", "\\x1b[31"),
        ("\x1b]0;unfinished", "\\x1b]0;unfinished"),
        ("a\x00b\x08\x7f", "a\\x00b\\x08\\x7f"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud800", "\\ud800"),
        ("名前 O'Brien Ñ 👩‍💻 می‌خواهم", "名前 O'Brien Ñ 👩‍💻 می‌خواهم"),
        ("  indented\n    more", "  indented\n    more"),
        ("e" + "\u0301" * 500, "e" + "\u0301" * 3),
    ],
)
def test_clean_removes_sequences_shows_invisibles_and_keeps_writing(text, expected):
    assert clean(text) == expected


def test_clean_keeps_the_head_or_the_tail_and_says_how_much_is_gone():
    text = "\n".join(f"line {number}" for number in range(100))
    assert clean(text, lines=2) == f"line 0\nline 1\n[… {len(text) - 13} characters not shown]"
    assert clean(text, lines=1, keep="tail") == f"[… {len(text) - 7} characters not shown]\nline 99"
    assert clean("x" * 10, characters=4) == "xxxx\n[… 6 characters not shown]"
    assert clean("x" * 10, characters=10) == "x" * 10


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x9d", "\x9b", "\x1bP", "\x90", "\x1b[1;", "\u0301", "\t", "\r"])
def test_clean_takes_time_in_proportion_to_its_input(unit):
    start = time.perf_counter()
    clean(unit * 200_000)
    assert time.perf_counter() - start < 5  # a quadratic pattern would take minutes


def test_clean_line_runs_white_space_together_and_cuts_with_an_ellipsis():
    assert clean_line("a\n  b\tc ") == "a b c"
    assert clean_line("x" * 20, characters=5) == "xxxx…"
