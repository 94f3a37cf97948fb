"""Nothing that a student wrote acts on the terminal, whatever its width, colours and encoding."""

import re

import pytest
from terminal_results import FAILED, NASTY, PASSED, make_check, not_written_yet, printed

from autograder.records import CheckResult


def test_nothing_that_a_student_wrote_acts_on_the_terminal():
    result = CheckResult(make_check(title=NASTY, exercise=NASTY), FAILED, NASTY, NASTY, None, NASTY, NASTY, NASTY)
    text = printed(result, width=200)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x00" not in text
    assert text.count("[bold]x[/bold] [/] :smile: red \\u202eevil \\x00 [link=http://x]y[/link]") == 7


def test_coloured_terminal_gets_only_our_own_colours():
    result = CheckResult(make_check(), FAILED, NASTY, NASTY, None, NASTY, NASTY, NASTY)
    sequences = set(re.findall(r"\x1b.", printed(result, colour=True)))
    assert sequences == {"\x1b["}
    assert set(re.findall(r"\x1b\[[\d;]*(.)", printed(result, colour=True))) == {"m"}


def test_pipe_gets_no_colour_and_no_trailing_spaces():
    result = CheckResult(make_check(hint="word " * 50), FAILED, "word " * 50, "word " * 50)
    text = printed(result)
    assert "\x1b" not in text
    assert not re.search(r" $", text, re.MULTILINE)


def test_words_are_wrapped_and_code_is_not():
    line = "scores = " + "q @ k.transpose(-2, -1) + " * 8
    text = printed(CheckResult(make_check(), FAILED, "word " * 50, traceback=line), width=60)
    assert f"        {line.rstrip()}\n" in text
    assert all(len(row) <= 60 for row in text.splitlines() if "word" in row)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_console_without_utf8_gets_ascii_only(encoding):
    result = CheckResult(make_check(hint="√d?"), FAILED, "名前 × Ñ", "d ≠ 4…", None, "", "█ ░ │", "👩")
    text = printed(result, CheckResult(make_check("b"), PASSED), not_written_yet("Head"), encoding=encoding)
    assert text.isascii()
    assert "  x Title of test_a.  0/2" in text
    assert "  ok Title of b.  2/2" in text
    assert "- Head: not written yet" in text
    assert "-> d != 4..." in text
    assert "\\u540d" in text


def test_narrow_console_still_prints():
    assert "Title" in printed(CheckResult(make_check(), FAILED, "word " * 20, "word " * 20), width=10)


def test_part_without_results_prints_its_sum():
    assert "part3: 0 of 0 public checks pass (0 of 0 points)" in printed()
