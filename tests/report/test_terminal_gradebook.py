"""The gradebook fits a terminal, and tells once what a person should look at."""

import io

from rich.console import Console
from terminal_results import NASTY

from autograder.report.terminal import print_gradebook

PARTS = [f"part{number}" for number in range(1, 10)]


def gradebook(rows, width: int = 80, encoding: str = "utf-8", flags=None) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    print_gradebook(Console(file=stream, width=width), rows, PARTS, flags)
    stream.flush()
    return raw.getvalue().decode(encoding)


def make_row(name: str = "ada", flag: str = "") -> dict[str, str]:
    return {"submission": name, **dict.fromkeys(PARTS, "17.5"), "part2": "", "total": "140", "max": "180", "flag": flag}


def test_gradebook_of_nine_parts_fits_eighty_columns():
    text = gradebook([make_row("ada"), make_row("a-long-name-of-a-submission")])
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("17.5") == 16
    assert "140" in text


def test_part_that_is_not_scored_is_a_dash_and_not_a_zero():
    row = next(line for line in gradebook([make_row()]).splitlines() if line.startswith("ada"))
    assert row.split() == ["ada", "17.5", "-", *["17.5"] * 7, "140", "180"]


def test_flags_stand_beneath_the_table_and_only_where_there_are_any():
    text = gradebook([make_row("ada", "part2 unscored: no report"), make_row("bob")])
    assert "  ada: part2 unscored: no report" in text
    assert "to look at" not in gradebook([make_row("bob")])


def test_what_was_not_handed_in_is_told_once_for_all_who_left_out_the_same():
    rows = [make_row(f"s{number}") for number in range(6)]
    flags = [("", "part4-6,9")] * 4 + [("two files", "part9"), ("", "")]
    text = gradebook(rows, flags=flags)
    assert text.split("\n\n")[1:] == [
        "to look at\n  s4: two files",
        "not handed in\n  part4-6,9: s0, s1, s2 and 1 more\n  part9: s4\n",
    ]
    assert "part9: none of the 6 submissions has it" in gradebook(rows, flags=[("", "part9")] * 6)


def test_gradebook_shows_hostile_names_as_text():
    text = gradebook([make_row(NASTY, NASTY)], width=200)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("[bold]x[/bold] [/] :smile: red") == 3, "the name twice, the flag once"
    assert gradebook([make_row("名前", "Ñ…")], encoding="ascii").isascii()
