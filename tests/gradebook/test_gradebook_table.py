"""Gradebook and manifest are exact, harmless to open and the same for the same input."""

import csv
import io
from pathlib import Path

import pytest
from gradebook_cases import PARTS, make_result, make_row, scored
from hypothesis import given
from hypothesis import strategies as st

from autograder.gradebook.manifest import manifest_json
from autograder.gradebook.results import brief, json_text, read_result, to_json, unresolved, write_atomically
from autograder.gradebook.table import gradebook_rows, split_flag, write_gradebook
from autograder.records import Refusal, Submission

# unscored through our fault


def test_unresolved_names_what_has_no_score():
    results = [make_row("ada", {"part1": scored(None), "part2": scored(0)}), make_row("bob", {"part1": scored(0)})]
    assert unresolved(results) == {"ada": ["part1"]}


def test_brief_keeps_what_the_gradebook_needs_and_counts_the_checks():
    data = to_json(make_result())
    kept = brief(data)
    assert gradebook_rows([kept], PARTS) == gradebook_rows([data], PARTS)
    assert kept["parts"]["part3"]["outcomes"] == {"passed": 1, "failed": 1}
    assert "checks" not in kept["parts"]["part3"]
    assert "files" not in kept


# gradebook.csv


def read_csv(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))


def test_gradebook_has_one_sorted_row_a_submission_and_the_documented_columns(tmp_path):
    path = tmp_path / "gradebook.csv"
    write_gradebook(path, [make_row("bob", {"part1": scored(4)}, 4), make_row("ada", {"part2": scored(5)}, 5)], PARTS)
    assert read_csv(path) == [
        ["submission", "part1", "part2", "part3", "total", "max", "flag"],
        ["ada", "", "5", "", "5", "10", ""],
        ["bob", "4", "", "", "4", "10", ""],
    ]


def test_part_columns_are_weighted_and_have_no_trailing_zeros():
    parts = {"part1": scored(3, 1.5), "part2": scored(10, 1), "part3": scored(1, 1 / 3)}
    (row,) = gradebook_rows([make_row(parts=parts, total=14.8333)], PARTS)
    assert [row[name] for name in [*PARTS, "total"]] == ["4.5", "10", "0.3333", "14.8333"]


def test_unscored_part_is_empty_and_flagged_and_zero_is_zero():
    parts = {"part1": scored(None), "part2": scored(0)}
    (row,) = gradebook_rows([make_row(parts=parts, total=0, flags=("two files",))], PARTS)
    assert (row["part1"], row["part2"], row["total"]) == ("", "0", ""), "a total without a part would be a number too"
    assert row["flag"] == "two files; part1 unscored"


@pytest.mark.parametrize(
    ("numbers", "words"),
    [([], ""), ([4], "part4"), ([4, 5], "part4-5"), ([9, 4, 6, 5], "part4-6,9"), ([1, 3, 10, 11], "part1,3,10-11")],
)
def test_parts_not_handed_in_take_one_word(numbers, words):
    flags = (*(f"part{number} missing" for number in numbers), "two files")
    (row,) = gradebook_rows([make_row(flags=flags)], PARTS)
    assert row["flag"] == (f"two files; missing: {words}" if words else "two files")
    assert split_flag(row["flag"]) == ("two files", words)


def test_a_flag_that_ends_like_ours_is_not_taken_for_ours():
    (row,) = gradebook_rows([make_row(flags=("x; missing: part1", "part2 missing"))], PARTS)
    assert split_flag(row["flag"]) == ("x; missing: part1", "part2")


def test_unscored_part_that_is_already_flagged_is_flagged_once():
    rows = gradebook_rows([make_row(parts={"part1": scored(None)}, flags=("part1 unscored: no report",))], PARTS)
    assert rows[0]["flag"] == "part1 unscored: no report"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n+", "  =", "＝", "＠", "\t-", " \t@"])
def test_cell_that_a_spreadsheet_would_run_begins_with_an_apostrophe(start):
    (row,) = gradebook_rows([make_row(f"{start}cmd()", flags=(f"{start}cmd()",))], PARTS)
    assert row["submission"].startswith("'")
    assert row["flag"].startswith("'")


def test_negative_looking_name_is_defended_and_ordinary_names_are_untouched():
    names = ["-1", "O'Brien", "a+b[1].*", "hw1 (b)", "名前 Ñ"]
    rows = gradebook_rows([make_row(name) for name in names], PARTS)
    assert {row["submission"] for row in rows} == {"'-1", "O'Brien", "a+b[1].*", "hw1 (b)", "名前 Ñ"}


def test_two_names_that_differ_in_invisible_characters_stay_different():
    rows = gradebook_rows([make_row("ada"), make_row("ada\u200b"), make_row("ada\u202e")], PARTS)
    assert [row["submission"] for row in rows] == ["ada", "ada\\u200b", "ada\\u202e"]


@given(st.text(st.characters(codec=None), max_size=40))
def test_no_name_can_put_invisible_characters_or_a_formula_into_a_cell(name):
    (row,) = gradebook_rows([make_row(name, flags=(name,))], PARTS)
    for cell in (row["submission"], row["flag"]):
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in cell)
        assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029") & set(cell)
        assert not cell.lstrip().startswith(("=", "+", "-", "@"))


def test_gradebook_is_utf8_without_byte_order_mark_and_quotes_what_needs_it(tmp_path):
    path = tmp_path / "gradebook.csv"
    write_gradebook(path, [make_row('Ñ, "x"\n', flags=("a,b", "c"))], PARTS)
    assert not path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert read_csv(path)[1][0] == 'Ñ, "x" '
    assert read_csv(path)[1][-1] == "a,b; c"


def test_gradebook_made_from_result_files_equals_the_one_made_from_results(tmp_path):
    data = to_json(make_result())
    write_atomically(tmp_path / "result.json", json_text(data))
    old = read_result(tmp_path / "result.json")
    assert old is not None
    assert gradebook_rows([old], PARTS) == gradebook_rows([data], PARTS)
    assert gradebook_rows([old], PARTS)[0]["part3"] == "3"


def test_empty_gradebook_has_its_header(tmp_path):
    write_gradebook(tmp_path / "gradebook.csv", [], PARTS)
    assert (tmp_path / "gradebook.csv").read_text() == "submission,part1,part2,part3,total,max,flag\n"


# manifest.json


def test_manifest_accounts_for_everything_found():
    ada = Submission(
        "ada",
        sha256={"b.py": "2", "a.py": "1"},
        problems={"part1_average": "NUL byte"},
        refused=(Refusal("../evil.py", "leaves the folder"), Refusal("CON", "device name")),
        warnings=("torch.py is not taken",),
    )
    manifest = manifest_json(
        entries={"ada.zip": ada},
        unreadable={"broken.zip": "not a zip"},
        ignored=[Refusal(".DS_Store", "no submission")],
    )
    assert manifest == {
        "version": 1,
        "submissions": [
            {
                "name": "ada",
                "path": "ada.zip",
                "files": {"a.py": "1", "b.py": "2"},
                "problems": {"part1_average": "NUL byte"},
                "refused": [
                    {"path": "../evil.py", "reason": "leaves the folder"},
                    {"path": "CON", "reason": "device name"},
                ],
                "warnings": ["torch.py is not taken"],
            }
        ],
        "unreadable": [{"path": "broken.zip", "reason": "not a zip"}],
        "ignored": [{"path": ".DS_Store", "reason": "no submission"}],
    }


def test_manifest_does_not_depend_on_the_order_of_discovery():
    first, second = Submission("a", sha256={"x": "1", "y": "2"}), Submission("b")
    ignored = [Refusal("z", "r"), Refusal("y", "r")]
    one = manifest_json(entries={"a": first, "b": second}, ignored=ignored)
    turned = Submission("a", sha256={"y": "2", "x": "1"})
    two = manifest_json(entries={"b": second, "a": turned}, ignored=ignored[::-1])
    assert json_text(one) == json_text(two)
