"""Intake takes the part files, and nothing else, from whatever is handed in."""

import contextlib
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from intake_cases import MODULES, PART3, SOURCE, book, cell, hand_in, read, reasons, zip_in

from autograder import intake
from autograder.intake import listing
from autograder.intake.names import PartNames
from autograder.records import Refusal


@pytest.mark.parametrize("way", [hand_in, zip_in])
def test_the_part_files_are_taken_and_all_else_is_refused_by_name(tmp_path: Path, way: Any) -> None:
    files = {PART3: SOURCE, "pytest.ini": "[pytest]", "data/words.txt": "x", "inner.zip": "PK", "pyproject.toml": ""}
    submission = read(way(tmp_path, files))
    assert submission.name == "ada"
    assert submission.sources == {"part3_attention": SOURCE}
    assert submission.sha256 == {PART3: hashlib.sha256(SOURCE.encode()).hexdigest()}
    assert submission.problems == {}
    assert submission.warnings == ()
    assert reasons(submission) == {
        "pytest.ini": "not a part file",
        "data/words.txt": "not a part file",
        "inner.zip": "not a part file: a zip inside the submission is not opened",
        "pyproject.toml": "not a part file",
    }


@pytest.mark.parametrize("way", [hand_in, zip_in])
def test_files_that_would_shadow_a_library_are_warned_of(tmp_path: Path, way: Any) -> None:
    names = ["json.py", "conftest.py", "numpy.py", "torch/__init__.py"]
    submission = read(way(tmp_path, dict.fromkeys([PART3, *names, "notes.py"], SOURCE)))
    assert set(submission.sources) == {"part3_attention"}
    assert set(reasons(submission)) == {*names, "notes.py"}
    (warning,) = submission.warnings
    assert "cannot shadow" in warning
    assert all(name in warning for name in names)
    assert "notes.py" not in warning


@pytest.mark.parametrize("way", [hand_in, zip_in])
def test_clutter_is_skipped_without_a_word_and_hidden_folders_are_named_once(tmp_path: Path, way: Any) -> None:
    clutter = ["__MACOSX/._part3_attention.py", "._part3_attention.py", ".DS_Store", "hw/Thumbs.db"]
    hidden = [
        ".git/HEAD",
        ".git/objects/aa",
        "__pycache__/part3_attention.pyc",
        ".ipynb_checkpoints/part3_attention.ipynb",
    ]
    submission = read(way(tmp_path, dict.fromkeys([PART3, *clutter, *hidden, ".env"], SOURCE)))
    assert submission.sources == {"part3_attention": SOURCE}
    assert reasons(submission) == dict.fromkeys([".git", "__pycache__", ".ipynb_checkpoints", ".env"], listing.HIDDEN)
    assert submission.warnings == ()


@pytest.mark.parametrize("way", [hand_in, zip_in])
def test_a_nested_folder_is_unwrapped(tmp_path: Path, way: Any) -> None:
    submission = read(way(tmp_path, {f"Homework 1/Homework 1/{PART3}": SOURCE}))
    assert submission.sources == {"part3_attention": SOURCE}
    assert submission.warnings == ()


def test_modules_in_folders_of_their_own_are_all_found(tmp_path: Path) -> None:
    submission = read(hand_in(tmp_path, {f"b/{PART3}": SOURCE, "a/x/part1_average.py": "x = 1\n"}))
    assert submission.sources == {"part1_average": "x = 1\n", "part3_attention": SOURCE}


def test_the_shallowest_file_wins_with_a_warning(tmp_path: Path) -> None:
    submission = read(zip_in(tmp_path, {f"old/{PART3}": "old", PART3: SOURCE}))
    assert submission.sources == {"part3_attention": SOURCE}
    (warning,) = submission.warnings
    assert warning.startswith("part3: part3_attention.py was taken, not old/part3_attention.py")
    assert "was taken" in reasons(submission)[f"old/{PART3}"]


def test_equally_shallow_files_are_a_problem_that_names_both(tmp_path: Path) -> None:
    submission = read(hand_in(tmp_path, {f"a/{PART3}": SOURCE, f"b/{PART3}": SOURCE, "a/part1_average.py": ""}))
    assert submission.sources == {"part1_average": ""}
    assert f"is in several folders: a/{PART3}, b/{PART3};" in submission.problems["part3_attention"]
    assert {f"a/{PART3}", f"b/{PART3}"} <= set(reasons(submission))


@pytest.mark.parametrize(
    ("newest", "others"),
    [
        ("part3_attention-2.py", ["part3_attention.py", "part3_attention-1.py"]),
        ("part3_attention-10.py", ["part3_attention-9.py"]),
        ("part3_attention (1).py", ["part3_attention.py"]),
        ("part3_attention(3).py", ["part3_attention-2.py"]),
        ("part3_attention (1)-4.py", ["part3_attention (2).py"]),
        ("student001_12345_67890_part3_attention-2.py", ["student001_12345_67889_part3_attention-1.py"]),
        ("o_brien_LATE_12_34_Part3_Attention-1.py", ["part3_attention.py"]),
    ],
)
def test_the_newest_of_renamed_copies_wins_with_a_warning(tmp_path: Path, newest: str, others: list[str]) -> None:
    submission = read(hand_in(tmp_path, {newest: SOURCE, **dict.fromkeys(others, "old")}))
    assert submission.sources == {"part3_attention": SOURCE}
    assert set(submission.sha256) == {newest}
    (warning,) = submission.warnings
    assert f"{newest} was taken" in warning
    assert all(name in warning for name in others)


@pytest.mark.parametrize(
    "name",
    [
        "part3_attention.py",
        "PART3_attention.PY",
        "ann_1_2_part3_attention.py",
        "1_2_part3_attention.ipynb",
        "Ann B_7_assignsubmission_file_part3_attention.py",
        "ann_late_1_2_part3_attention (2)-3.py",
    ],
)
def test_names_that_platforms_give_are_recognised(name: str) -> None:
    found = PartNames(MODULES).read(name)
    assert found is not None
    assert found.module == "part3_attention"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "part3.py",
        "part9_other.py",
        "part3_attention.pyc",
        "part3_attention.py.txt",
        "my_part3_attention.py",
        "part3_attention copy.py",
        "part3_attention\n.py",
        "part3_attention-.py",
        "part3_attention-1234567890.py",
        "part3_attent\u0131on.py",  # a letter that some case rules take for an i
        "part3_attention-\u0662.py",  # a digit, but not one of ours
        "x" * 300 + "_1_2_part3_attention.py",
    ],
)
def test_other_names_are_not_recognised(name: str) -> None:
    assert PartNames(MODULES).read(name) is None


def test_copies_that_nothing_tells_apart_are_a_problem(tmp_path: Path) -> None:
    files = {"ann_1_2_part3_attention.py": SOURCE, "bob_3_4_part3_attention.py": SOURCE}
    submission = read(hand_in(tmp_path, files))
    assert submission.sources == {}
    assert all(name in submission.problems["part3_attention"] for name in files)


def test_a_source_goes_before_a_notebook_with_a_warning(tmp_path: Path) -> None:
    submission = read(hand_in(tmp_path, {PART3: SOURCE, "part3_attention-5.ipynb": book(cell("x = 1"))}))
    assert submission.sources == {"part3_attention": SOURCE}
    (warning,) = submission.warnings
    assert "part3_attention-5.ipynb" in warning


def test_another_case_is_accepted_where_it_is_the_only_one(tmp_path: Path) -> None:
    submission = read(hand_in(tmp_path, {"Part3_Attention.py": SOURCE}))
    assert submission.sources == {"part3_attention": SOURCE}
    assert set(submission.sha256) == {"Part3_Attention.py"}


@pytest.mark.parametrize("twin", ["Part3_Attention.py", PART3])
def test_twins_are_refused(tmp_path: Path, twin: str) -> None:
    with pytest.warns(UserWarning) if twin == PART3 else contextlib.nullcontext():  # zipfile warns who writes such
        path = zip_in(tmp_path, [(PART3, SOURCE), (twin, "other")])
    submission = read(path)
    assert submission.sources == {}
    assert "differ only in case" in submission.problems["part3_attention"]
    assert PART3 in reasons(submission)


def test_a_module_not_handed_in_is_no_problem_but_an_empty_submission_is_warned_of(tmp_path: Path) -> None:
    submission = read(hand_in(tmp_path, {"essay.txt": "x"}))
    assert (submission.sources, submission.problems) == ({}, {})
    assert submission.warnings == ("there is no part file in the submission",)


def test_a_near_miss_is_pointed_out(tmp_path: Path) -> None:
    submission = read(hand_in(tmp_path, {"part3_attention.py.txt": SOURCE, "part1_average.py": ""}))
    assert "part3_attention" not in submission.sources
    (warning,) = submission.warnings
    assert "part3_attention.py.txt" in warning and "may be meant for part3_attention.py" in warning


def test_only_what_is_taken_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real_open = zipfile.ZipFile.open

    def spy(self: zipfile.ZipFile, name: Any, *rest: Any, **named: Any) -> Any:
        opened.append(name.filename)
        return real_open(self, name, *rest, **named)

    path = zip_in(tmp_path, {"part3_attention.ipynb": "{", PART3: SOURCE, f"old/{PART3}": SOURCE, "torch.py": "x"})
    monkeypatch.setattr(zipfile.ZipFile, "open", spy)
    read(path)
    assert opened == [PART3]


def test_refusals_are_plain_records(tmp_path: Path) -> None:
    assert read(hand_in(tmp_path, {"x.txt": ""})).refused == (Refusal("x.txt", "not a part file"),)


@pytest.mark.parametrize(("python_text", "taken"), [("x = 1\n", "notebook"), ("x = 2\n", "python")])
def test_a_py_that_is_still_the_template_gives_way_to_the_notebook(
    tmp_path: Path, python_text: str, taken: str
) -> None:
    (tmp_path / "part3_attention.py").write_text(python_text)
    cell = {"cell_type": "code", "source": "x = 3", "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "part3_attention.ipynb").write_text(json.dumps(notebook))
    given = {"part3_attention": "x = 1\r\n"}
    submission = intake.read_submission(tmp_path, {"part3_attention": "part3"}, given)
    expected = "x = 3" if taken == "notebook" else "x = 2"
    assert expected in submission.sources["part3_attention"]
    assert submission.warnings
