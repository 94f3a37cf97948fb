"""A result is written exactly and whole, and reads back equal or as none."""

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from gradebook_cases import make_result

from autograder import __version__
from autograder.errors import UsageError
from autograder.gradebook.results import json_text, read_result, to_json, write_atomically
from autograder.records import Outcome

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
