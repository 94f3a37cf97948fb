"""The gradebook: what is written is exact, whole, harmless to open and the same for the same input."""

import csv
import io
import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import __version__
from autograder.errors import UsageError
from autograder.gradebook.manifest import manifest_json
from autograder.gradebook.moves import moves
from autograder.gradebook.results import (
    brief,
    is_current,
    json_text,
    read_result,
    to_json,
    unresolved,
    write_atomically,
)
from autograder.gradebook.table import gradebook_rows, split_flag, write_gradebook
from autograder.records import Check, CheckResult, Outcome, Part, PartScore, Refusal, Submission, SubmissionResult

PARTS = ["part1", "part2", "part3"]


def make_result(**changes) -> SubmissionResult:
    checks = (
        Check(id="test_a", title="A.", points=2, exercise="f", hint="", hidden=False, line=1),
        Check(id="test_b", title="B.", points=3.5, exercise="f", hint="", hidden=True, line=2),
    )
    part = Part(
        name="part3",
        topic="attention",
        module="part3_attention",
        folder=Path("x"),
        title="T",
        version=1,
        checks=checks,
    )
    results = (
        CheckResult(checks[0], Outcome.PASSED, seconds=0.12345),
        CheckResult(
            checks[1],
            Outcome.FAILED,
            message="expected 1\n",
            diagnosis="not scaled",
            mistake="scores_not_scaled",
            traceback="line 3\nValueError",
        ),
    )
    result = SubmissionResult(
        submission=Submission("ada", sha256={"part3_attention.py": "f00"}),
        parts={"part3": PartScore(part, results, 2.0, Outcome.FAILED, 1.5)},
        total=3.0,
        max=8.25,
        flags=("part2 missing",),
        seed=7,
        sandbox=1,
        suites_sha256="s",
        config_sha256="c",
        environment={"torch": "2.13"},
    )
    return replace(result, **changes)


def make_row(name: str = "ada", parts: dict | None = None, total: float = 0, flags: tuple = (), top: float = 10):
    return {"submission": name, "parts": parts or {}, "total": total, "max": top, "flags": list(flags)}


def scored(score: float | None, weight: float = 1) -> dict:
    return {"points": 10, "score": score, "weight": weight}


# result.json


def test_result_has_exactly_the_documented_format():
    assert to_json(make_result()) == {
        "version": 1,
        "submission": "ada",
        "files": {"part3_attention.py": "f00"},
        "suites": "s",
        "config": "c",
        "seed": 7,
        "sandbox": 1,
        "environment": {"gpt-hw": __version__, "torch": "2.13"},
        "parts": {
            "part3": {
                "points": 5.5,
                "score": 2,
                "outcome": "failed",
                "weight": 1.5,
                "checks": [
                    {
                        "id": "test_a",
                        "title": "A.",
                        "points": 2,
                        "score": 2,
                        "outcome": "passed",
                        "message": "",
                        "mistake": None,
                        "seconds": 0.123,
                    },
                    {
                        "id": "test_b",
                        "title": "B.",
                        "points": 3.5,
                        "score": 0,
                        "outcome": "failed",
                        "message": "expected 1\n\nnot scaled\n\nline 3\nValueError",
                        "mistake": "scores_not_scaled",
                        "seconds": 0.0,
                    },
                ],
            }
        },
        "total": 3,
        "max": 8.25,
        "flags": ["part2 missing"],
    }


def test_unscored_part_and_check_are_null_in_json():
    result = make_result()
    part = result.parts["part3"]
    broken = replace(part.results[0], outcome=Outcome.ERROR)
    result = replace(result, parts={"part3": replace(part, results=(broken,), score=None, outcome=Outcome.ERROR)})
    data = json.loads(json_text(to_json(result)))
    assert data["parts"]["part3"]["score"] is None
    assert data["parts"]["part3"]["checks"][0]["score"] is None


def test_json_text_escapes_what_acts_on_a_terminal_and_keeps_letters_and_values():
    data = {"name": "名前 O'Brien Ñ", "text": "\x1b[31m \x9b31m \u202e \ud800 \u2028 \ufeff"}
    text = json_text(data)
    assert "名前 O'Brien Ñ" in text
    assert not set("\x1b\x9b\u202e\ud800\u2028\ufeff") & set(text)
    assert json.loads(text) == data


def test_json_text_writes_a_path_in_the_environment_as_text():
    assert json.loads(json_text({"environment": Path("a")})) == {"environment": "a"}


# writing


def test_written_result_reads_back_equal(tmp_path):
    data = to_json(make_result())
    path = tmp_path / "new" / "folder" / "result.json"
    write_atomically(path, json_text(data))
    assert read_result(path) == data


def test_writing_replaces_and_leaves_nothing_else_behind(tmp_path):
    path = tmp_path / "result.json"
    write_atomically(path, "old")
    write_atomically(path, "new\r\nñ")
    assert path.read_bytes() == "new\r\nñ".encode()
    assert os.listdir(tmp_path) == ["result.json"]


def test_writing_replaces_a_link_rather_than_following_it(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / "result.json").symlink_to(precious)
    write_atomically(tmp_path / "result.json", "new")
    assert precious.read_text() == "precious"
    assert not (tmp_path / "result.json").is_symlink()


def test_failed_write_keeps_the_old_text_and_leaves_no_draft(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_atomically(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device") as caught:
        write_atomically(path, "new")
    assert caught.value.remedy
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_interrupted_write_keeps_the_old_text(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_atomically(path, "old")

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_output_below_a_file_is_a_usage_error_with_a_remedy(tmp_path):
    (tmp_path / "results").write_text("a file, not a folder")
    with pytest.raises(UsageError) as caught:
        write_atomically(tmp_path / "results" / "ada" / "result.json", "x")
    assert "results" in caught.value.message
    assert "--out" in caught.value.remedy


def test_output_onto_a_folder_is_a_usage_error(tmp_path):
    (tmp_path / "result.json").mkdir()
    with pytest.raises(UsageError):
        write_atomically(tmp_path / "result.json", "x")
    assert os.listdir(tmp_path) == ["result.json"]


def test_written_file_follows_the_umask_and_is_readable_by_colleagues(tmp_path):
    before = os.umask(0o022)
    try:
        write_atomically(tmp_path / "gradebook.csv", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "gradebook.csv").stat().st_mode) == 0o644


def test_longest_allowed_name_can_be_written(tmp_path):
    path = tmp_path / ("n" * 255)
    write_atomically(path, "x")
    assert path.read_text() == "x"


# reading


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "1",
        "{}",
        '{"version": 2}',
        '{"version": 1}',
        "[" * 100_000,
        '{"version": 1, "submission": "a", "environment": {}, "parts": {"p": {}}, "total": 1, "max": 1, "flags": []}',
        '{"version": 1, "submission": "a", "environment": {}, "parts": {}, "total": NaN, "max": 1, "flags": []}',
        '{"version": true, "submission": "a", "environment": {}, "parts": {}, "total": 1, "max": 1, "flags": []}',
        '{"version": 1, "submission": "a", "environment": {}, "parts": {}, "total": 1, "max": 1, "flags": [1]}',
    ],
)
def test_broken_or_foreign_result_reads_as_none(tmp_path, text):
    path = tmp_path / "result.json"
    path.write_text(text)
    assert read_result(path) is None


def test_missing_or_undecodable_result_reads_as_none(tmp_path):
    assert read_result(tmp_path / "result.json") is None
    (tmp_path / "result.json").write_bytes(b"\xff\xfe{}")
    assert read_result(tmp_path / "result.json") is None
    assert read_result(tmp_path) is None


def test_every_truncation_of_a_result_reads_as_none(tmp_path):
    text = json_text(to_json(make_result()))
    path = tmp_path / "result.json"
    for length in range(len(text.rstrip())):
        path.write_text(text[:length])
        assert read_result(path) is None


# reruns

SAME = {"files": {"part3_attention.py": "f00"}, "suites_sha256": "s", "config_sha256": "c"}


def test_unchanged_submission_is_current():
    assert is_current(to_json(make_result()), **SAME)
    assert is_current(to_json(make_result()), **SAME, parts=["part3"], seed=7, sandbox=1)


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"part3_attention.py": "other"}},
        {"files": {}},
        {"files": {"part3_attention.py": "f00", "part1_average.py": "new"}},
        {"suites_sha256": "other"},
        {"config_sha256": "other"},
        {"version": "another version"},
        {"parts": ["part3", "part4"]},
        {"seed": 8},
        {"sandbox": 3},
    ],
)
def test_any_change_makes_a_result_out_of_date(change):
    assert not is_current(to_json(make_result()), **{**SAME, **change})


def test_unscored_part_is_tried_again_unless_it_is_not_asked_for():
    old = to_json(make_result())
    old["parts"]["part4"] = {**old["parts"]["part3"], "score": None, "outcome": "error"}
    assert not is_current(old, **SAME)
    assert is_current(old, **SAME, parts=["part3"])


def moved(old: dict, new: dict) -> list[str]:
    return [move.phrase for move in moves(old, {"submission": "ada", **new})]


def test_moves_tell_each_part_that_moved():
    old = {"parts": {"part1": scored(2), "part2": scored(3), "part3": scored(None)}}
    new = {"parts": {"part1": scored(2.5), "part2": scored(3), "part3": scored(0), "part4": scored(1)}}
    assert moved(old, new) == ["part1: 2 -> 2.5", "part3: unscored -> 0", "part4: - -> 1"]
    assert moved(old, old) == []


def test_moves_count_weights_and_say_where_the_most_moved():
    old, new = {"parts": {"part1": scored(2)}}, {"parts": {"part1": scored(2, 1.5)}}
    (move,) = moves(old, {"submission": "ada", **new})
    assert (move.phrase, move.change) == ("part1: 2 of 10 -> 3 of 15", 1)
    longer = {"parts": {"part1": {**scored(2), "points": 12}}}
    assert moved(old, longer) == ["part1: 2 of 10 -> 2 of 12"]


def test_only_a_score_that_was_there_can_be_taken_away():
    old = {"parts": {"part1": scored(2), "part2": scored(None), "part3": scored(1), "part4": scored(1)}}
    new = {"parts": {"part1": scored(None), "part2": scored(0), "part3": scored(2), "part5": scored(1)}}
    found = moves(old, {"submission": "ada", **new})
    assert [move.part for move in found if move.takes_the_place_of_a_score] == ["part1", "part3", "part4"]
    assert [move.change for move in found] == [None, None, 1, None, None]


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
