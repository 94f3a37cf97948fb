"""Intake takes the part files, and nothing else, from whatever is handed in."""

import contextlib
import hashlib
import io
import json
import os
import shutil
import socket
import stat
import struct
import sys
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from autograder import intake
from autograder.errors import SubmissionError
from autograder.intake import archive, folder, listing, notebook, text
from autograder.intake.magics import plain_python
from autograder.intake.names import PartNames, danger, shown, submission_name
from autograder.records import Refusal, Submission

MODULES = {"part1_average": "part1", "part3_attention": "part3"}
PART3 = "part3_attention.py"
SOURCE = "def attention():\n    return 3\n"
SECRET = "SECRET = 42\n"
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs links, pipes and POSIX names")


def hand_in(root: Path, files: Mapping[str, str | bytes], name: str = "ada") -> Path:
    """Write a submission as a folder."""
    submission = root / name
    submission.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        target = submission / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return submission


def zip_in(
    root: Path,
    files: Mapping[str, str | bytes] | list[tuple[zipfile.ZipInfo | str, str | bytes]],
    name: str = "ada.zip",
) -> Path:
    """Write a submission as a zip; a list may hold a name twice."""
    path = root / name
    pairs = files if isinstance(files, list) else list(files.items())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for member, content in pairs:
            target.writestr(member, content)
    return path


def read(path: Path) -> Submission:
    """Read a submission to parts 1 and 3."""
    return intake.read_submission(path, MODULES)


def read_text(root: Path, content: bytes) -> Submission:
    """Read a submission that has only part 3."""
    return read(hand_in(root, {PART3: content}))


def cell(source: object, kind: str = "code", **metadata: object) -> dict[str, Any]:
    """Make a cell of a notebook of format 4."""
    return {"cell_type": kind, "source": source, "metadata": metadata}


def book(*cells: object, **fields: object) -> bytes:
    """Make a notebook of format 4."""
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **fields}).encode()


def read_book(root: Path, content: bytes) -> Submission:
    """Read a submission that has only the notebook of part 3."""
    return read(hand_in(root, {"part3_attention.ipynb": content}))


def reasons(submission: Submission) -> dict[str, str]:
    """Map what was refused to the reason."""
    return {refusal.path: refusal.reason for refusal in submission.refused}


def code_lines(source: str) -> list[str]:
    """Leave out cell marks and blank lines."""
    return [line for line in source.split("\n") if line and line != "# %%"]


# ── finding submissions ──


def test_submissions_are_folders_and_zips_sorted(tmp_path: Path) -> None:
    for name in ("zoe", "ada", "名前 O'Brien Ñ", "a+b[1].*"):
        hand_in(tmp_path, {PART3: SOURCE}, name)
    zip_in(tmp_path, {PART3: SOURCE}, "mia.ZIP")
    found = intake.find_submissions(tmp_path)
    assert [path.name for path in found.entries] == ["a+b[1].*", "ada", "mia.ZIP", "zoe", "名前 O'Brien Ñ"]
    assert found.ignored == ()


def test_clutter_beside_submissions_is_skipped_without_a_word(tmp_path: Path) -> None:
    hand_in(tmp_path, {PART3: SOURCE})
    for name in ("__MACOSX", ".git", "__pycache__"):
        (tmp_path / name).mkdir()
    for name in (".DS_Store", "Thumbs.db", "._ada", "desktop.ini", ".hidden.zip"):
        (tmp_path / name).touch()
    assert intake.find_submissions(tmp_path) == intake.Found((tmp_path / "ada",))


@posix_only
def test_stray_files_and_links_beside_submissions_are_ignored_by_name(tmp_path: Path) -> None:
    hand_in(tmp_path, {PART3: SOURCE})
    (tmp_path / "grades.csv").touch()
    (tmp_path / "bob.tar.gz").touch()
    (tmp_path / "eve").symlink_to(tmp_path / "ada")
    (tmp_path / "eve.zip").symlink_to(tmp_path / "ada")
    os.mkfifo(tmp_path / "pipe.zip")
    found = intake.find_submissions(tmp_path)
    assert found.entries == (tmp_path / "ada",)
    told = {refusal.path: refusal.reason for refusal in found.ignored}
    assert set(told) == {"grades.csv", "bob.tar.gz", "eve", "eve.zip", "pipe.zip"}
    assert "symbolic link" in told["eve"] and "symbolic link" in told["eve.zip"]
    assert "unpack it" in told["bob.tar.gz"]
    assert "pipe" in told["pipe.zip"]


@posix_only
def test_the_folder_of_submissions_itself_may_be_a_link(tmp_path: Path) -> None:
    hand_in(tmp_path / "real", {PART3: SOURCE})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert [path.name for path in intake.find_submissions(tmp_path / "link").entries] == ["ada"]


@pytest.mark.parametrize("kind", ["missing", "file", "empty", "only strays"])
def test_no_submissions_is_an_error_with_a_remedy(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "submissions"
    if kind == "file":
        target.write_text("x")
    elif kind != "missing":
        target.mkdir()
    if kind == "only strays":
        (target / "grades.csv").touch()
    with pytest.raises(SubmissionError) as caught:
        intake.find_submissions(target)
    assert "submissions" in caught.value.message
    assert "one folder or one zip for each submission" in caught.value.remedy
    assert ("grades.csv" in caught.value.message) == (kind == "only strays")


def test_a_folder_that_cannot_be_listed_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", deny)
    with pytest.raises(SubmissionError, match="permission denied") as caught:
        intake.find_submissions(tmp_path)
    assert caught.value.remedy


@pytest.mark.parametrize("name", [PART3, "Part3_Attention.ipynb", "part3_attention (1).py", "part10_more-2.py"])
def test_one_submission_given_for_many_is_answered_with_its_parent(tmp_path: Path, name: str) -> None:
    submission = hand_in(tmp_path, {name: SOURCE, "data/words.txt": "x"})
    with pytest.raises(SubmissionError) as caught:
        intake.find_submissions(submission)
    assert "itself a submission" in caught.value.message
    assert f"parent folder ({tmp_path})" in caught.value.remedy


def test_loose_files_of_many_students_are_answered_with_folders(tmp_path: Path) -> None:
    submission = hand_in(tmp_path, {"ada_1_2_part3_attention.py": SOURCE, "bob_3_4_part3_attention-1.py": SOURCE})
    with pytest.raises(SubmissionError) as caught:
        intake.find_submissions(submission)
    assert "each student" in caught.value.remedy


# ── names of submissions ──


@pytest.mark.parametrize(
    "name", ["名前 O'Brien Ñ", "a+b[1].*", "hw1 (b)", "Ada Lovelace_12345_assignsubmission_file_", "😀"]
)
def test_a_name_in_any_script_is_kept(tmp_path: Path, name: str) -> None:
    assert read(hand_in(tmp_path, {PART3: SOURCE}, name)).name == name


def test_a_zip_is_named_without_its_ending(tmp_path: Path) -> None:
    assert read(zip_in(tmp_path, {PART3: SOURCE}, "v1.2 ada.Zip")).name == "v1.2 ada"


def test_a_folder_that_ends_in_zip_keeps_its_name(tmp_path: Path) -> None:
    assert read(hand_in(tmp_path, {PART3: SOURCE}, "ada.zip")).name == "ada.zip"


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("n\u0303", "\xf1"),  # composed, as another system would write it
        ("a\u202eb\u2066c\u200fd", "abcd"),  # direction marks
        ("a\nb\tc\x1b[31md\x7f", "abc[31md"),  # control characters
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),  # a joiner that Persian spelling needs
        ("a\\b", "a_b"),
        ("..zip", "submission"),
        ("...zip", "submission"),
        (".zip", "submission"),
        ("\u202e", "submission"),
        (" ada ", "ada"),
        ("a\u2028b", "a b"),
        ("caf\udce9", "caf\ufffd"),  # a byte of a file name that is not UTF-8
    ],
)
def test_a_name_is_made_fit_to_be_a_folder(raw: str, clean: str) -> None:
    assert submission_name(Path("/nowhere") / raw) == clean


def test_an_overlong_name_leaves_room_for_endings() -> None:
    name = submission_name(Path("/nowhere") / ("名" * 85))
    assert name == "名" * 66
    assert len(name.encode()) <= 200


def test_the_current_folder_has_the_name_it_is_called_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = hand_in(tmp_path, {PART3: SOURCE, "sub/x": ""})
    monkeypatch.chdir(inner)
    assert read(Path()).name == "ada"
    monkeypatch.chdir(inner / "sub")
    assert read(Path("..")).name == "ada"


def test_names_that_fall_together_are_numbered_whatever_their_order() -> None:
    raw = ["ada", "Ada", "ada.zip", "ada-2", "n\u0303", "\xf1", "bob", "manifest.json"]
    paths = [Path("/nowhere") / name for name in raw]
    names = intake.unique_names(paths)
    assert names == intake.unique_names(reversed(paths))
    assert {path.name: name for path, name in names.items()} == {
        "Ada": "Ada",
        "ada": "ada-3",  # ada-2 is somebody's own name
        "ada-2": "ada-2",
        "ada.zip": "ada-4",
        "bob": "bob",
        "manifest.json": "manifest.json-2",  # a report of that name stands beside the folders
        "n\u0303": "\xf1",
        "\xf1": "\xf1-2",
    }


# ── which files are taken ──


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


# ── text ──


def test_an_empty_file_is_a_source(tmp_path: Path) -> None:
    assert read_text(tmp_path, b"").sources == {"part3_attention": ""}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbfx = 1\r\ny = 2\r", "x = 1\ny = 2\n"),
        ("# \U0001f600 名前\n".encode(), "# \U0001f600 名前\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: utf-8 -*-\nx = '\xe9'\n"),
        (b"\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", "\n# vim: set fileencoding=utf-8 :\nx = '\u20ac'\n"),
        (b"# coding: latin-1\rx = '\xe9'\r", "# coding: utf-8\nx = '\xe9'\n"),
        (b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n"),  # no coding line: code stands before it
        (b"# coding: utf8\nx = 1\n", "# coding: utf8\nx = 1\n"),
    ],
)
def test_text_is_decoded_as_python_would(tmp_path: Path, data: bytes, expected: str) -> None:
    submission = read_text(tmp_path, data)
    assert submission.problems == {}
    assert submission.sources == {"part3_attention": expected}
    assert submission.sha256 == {PART3: hashlib.sha256(data).hexdigest()}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"a = 1\nb = 2\nc = '\xe9'\n", f"{PART3} is not UTF-8 text: byte 0xe9 in line 3; save it as UTF-8"),
        (b"a = 1\rb = 2\r\nc = '\xe9'\n", f"{PART3} is not UTF-8 text: byte 0xe9 in line 3; save it as UTF-8"),
        (b"\xef\xbb\xbf'\xe9'", f"{PART3} is not UTF-8 text: byte 0xe9 in line 1; save it as UTF-8"),
        (
            b"x = 1\r\ny = '\0'",
            f"{PART3} is not Python text: NUL byte in line 2; save it again from a text editor as UTF-8",
        ),
        ("x = 1\n".encode("utf-16"), f"{PART3} is UTF-16 text; save it as UTF-8"),
        (
            b"# coding: ascii\n# \xe9",
            f"{PART3} is not the ascii text that its coding line promises: byte 0xe9 in line 2;",
        ),
        (b"# coding: klingon\nx = 1\n", f"{PART3} has a coding line that cannot be followed"),
        (b"# coding: klingon\nx = '\xe9'\n", f"{PART3} is not UTF-8 text: byte 0xe9 in line 2"),
        (b"# coding: utf-7\nx = 1\n", "coding line that cannot be followed"),
        (b"# coding: unicode_escape\nx = '\\x00'\n", "coding line that cannot be followed"),
        (b"# coding: rot13\nk = 1\n", "coding line that cannot be followed"),
        (b"# coding: zlib\nk = 1\n", "coding line that cannot be followed"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "coding line that cannot be followed"),
        (b"#" * (text.SOURCE_LIMIT + 1), f"{PART3} is larger than 1 MiB"),
    ],
)
def test_what_is_no_text_is_a_problem_in_words(tmp_path: Path, data: bytes, sentence: str) -> None:
    submission = read_text(tmp_path, data)
    assert submission.sources == {}
    assert sentence in submission.problems["part3_attention"]


def test_a_source_of_one_mebibyte_is_read(tmp_path: Path) -> None:
    assert len(read_text(tmp_path, b"#" * text.SOURCE_LIMIT).sources["part3_attention"]) == text.SOURCE_LIMIT


# ── notebooks ──


def test_code_cells_are_joined_with_marks_and_other_cells_left_out(tmp_path: Path) -> None:
    data = book(
        cell("# Title", "markdown"), cell(["x = 1\n", "y = 2"]), cell("raw", "raw"), cell("z = 3\r\n"), cell("")
    )
    submission = read_book(tmp_path, data)
    assert submission.problems == {}
    assert submission.sources == {"part3_attention": "# %%\nx = 1\ny = 2\n\n# %%\nz = 3\n\n# %%\n\n"}
    assert submission.sha256 == {"part3_attention.ipynb": hashlib.sha256(data).hexdigest()}


def test_format_3_is_read_from_its_worksheets(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "language": "python", "input": ["x = 1"]}, {"cell_type": "heading", "source": "T"}]
    data = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, {"cells": cells}]}).encode()
    assert code_lines(read_book(tmp_path, data).sources["part3_attention"]) == ["x = 1", "x = 1"]


@pytest.mark.parametrize(
    "data",
    [
        book(cell("x = 1"))[:-10],
        b"",
        b"null",
        b"[]",
        b"4",
        b'"text"',
        b"\xff\xfe{}",
        b"{} {}",
        b"{}",
        b'{"nbformat": 4}',
        b'{"nbformat": 4, "cells": {}}',
        b'{"nbformat": 4, "cells": [1]}',
        b'{"nbformat": 4, "cells": [{}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": 7}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [7]}]}',
        b'{"nbformat": 3, "worksheets": 1}',
        b'{"nbformat": 3, "worksheets": [1]}',
        b'{"nbformat": 2, "worksheets": []}',
        b'{"nbformat": 5, "cells": []}',
        b'{"nbformat": true, "cells": []}',
        b'{"nbformat": [[4]], "cells": []}',
        b'{"nbformat": ' + b"9" * 5000 + b"}",
        b"[" * 200_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_is_no_notebook_is_a_problem(tmp_path: Path, data: bytes) -> None:
    submission = read_book(tmp_path, data)
    assert submission.sources == {}
    assert submission.problems["part3_attention"].startswith("not gradable: invalid notebook (")


@pytest.mark.parametrize(
    "data",
    [
        book(cell("x <- 1"), metadata={"kernelspec": {"language": "R"}}),
        book(cell("x <- 1"), metadata={"language_info": {"name": "R"}}),
        book(cell("x <- 1", vscode={"languageId": "R"})),
        json.dumps(
            {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "language": "R", "input": "x"}]}]}
        ).encode(),
    ],
)
def test_a_notebook_in_another_language_is_a_problem(tmp_path: Path, data: bytes) -> None:
    submission = read_book(tmp_path, data)
    assert submission.problems == {
        "part3_attention": "not gradable: cell 1 of part3_attention.ipynb is in R, not in Python"
    }


@pytest.mark.parametrize(
    "metadata", [None, 7, [], {"kernelspec": 7}, {"kernelspec": {"language": 7}, "language_info": {"name": "python"}}]
)
def test_odd_metadata_do_not_matter(tmp_path: Path, metadata: object) -> None:
    odd = {"cell_type": "code", "source": "x = 1", "metadata": [1]}
    assert code_lines(read_book(tmp_path, book(odd, metadata=metadata)).sources["part3_attention"]) == ["x = 1"]


def test_check_cells_are_left_out_and_solution_cells_kept(tmp_path: Path) -> None:
    data = book(
        cell("solution = 1", nbgrader={"grade": False, "solution": True, "grade_id": "a"}),
        cell("assert locked", nbgrader={"grade": True, "solution": False, "grade_id": "b"}),
        cell("by_hand = 2", nbgrader={"grade": True, "solution": True, "grade_id": "c"}),
        cell("given = 3", nbgrader={"grade": False, "solution": False, "locked": True, "grade_id": "d"}),
        cell("assert tagged", tags=["active-ipynb"]),
    )
    submission = read_book(tmp_path, data)
    assert code_lines(submission.sources["part3_attention"]) == ["solution = 1", "by_hand = 2", "given = 3"]
    assert submission.warnings == ()


CHECK_CELL = 'from autograder.notebook import check\n\ncheck("part3", "attention")'


@pytest.mark.parametrize(
    ("cells", "left"),
    [
        ([CHECK_CELL], []),
        (["import autograder.notebook"], []),
        (["import autograder.notebook as nb", "nb.check('part3', must_pass=True)"], []),
        (["from autograder.notebook import check as look", "x = 1\nlook()"], ["x = 1", "pass"]),
        (["check('part3')"], []),  # the cell with the import is gone
        ([CHECK_CELL + "\nx = 1"], ["pass", "pass", "x = 1"]),
        ([f'if __name__ == "__main__":\n{indent(CHECK_CELL, "    ")}'], []),
        (
            ["if __name__ == '__main__':\n    check('part3')\n    print(1)"],
            [
                "if __name__ == '__main__':",
                "    check('part3')",
                "    print(1)",
            ],
        ),
        (["check('é'); x = 'é'; check(\n'part3'\n); y = 2"], ["pass; x = 'é'; pass; y = 2"]),
        (["%%time\n" + CHECK_CELL], []),
        (["def check(x):\n    return x", "y = check(1)"], ["def check(x):", "    return x", "y = check(1)"]),
        (["from mine import check", "check(1)"], ["from mine import check", "check(1)"]),
        (["check(", "x = 1"], ["check(", "x = 1"]),
        (["if " + "-" * 3000 + "1: check()"], ["if " + "-" * 3000 + "1: check()"]),
        (["if x" + "[0]" * 3000 + ": check()"], ["if x" + "[0]" * 3000 + ": check()"]),
        (["def f():\n    check('part3')"], ["def f():", "    check('part3')"]),
    ],
)
def test_check_calls_are_left_out_with_or_without_their_tag(tmp_path: Path, cells: list[str], left: list[str]) -> None:
    made = {"tags": ["active-ipynb"], "gpt_hw": {"role": "check"}}
    for name, metadata in (("tagged", made), ("plain", {})):
        (tmp_path / name).mkdir()
        submission = read_book(tmp_path / name, book(*(cell(source, **metadata) for source in cells)))
        assert code_lines(submission.sources["part3_attention"]) == left


def test_a_check_call_leaves_the_lines_where_they_were(tmp_path: Path) -> None:
    submission = read_book(tmp_path, book(cell("check(\n  'part3'\n)\nx = 1")))
    assert submission.sources["part3_attention"].split("\n") == ["# %%", "pass", "", "", "x = 1", ""]


def test_a_check_cell_that_is_locked_for_nbgrader_is_left_out_whole(tmp_path: Path) -> None:
    locked = {"grade": True, "solution": False, "grade_id": "check-attention"}
    data = book(cell(CHECK_CELL + "\nx = 1", gpt_hw={"role": "check"}, nbgrader=locked), cell("y = 2"))
    assert code_lines(read_book(tmp_path, data).sources["part3_attention"]) == ["y = 2"]


def test_a_copied_cell_is_warned_of(tmp_path: Path) -> None:
    metadata = {"grade": True, "solution": False, "grade_id": "test_a"}
    submission = read_book(
        tmp_path, book(cell("assert 1", nbgrader=metadata), cell("assert 1", nbgrader=metadata), cell("x = 1"))
    )
    assert code_lines(submission.sources["part3_attention"]) == ["x = 1"]
    assert submission.warnings == ("part3: part3_attention.ipynb: cell 2 is a second copy of the cell 'test_a'",)


def test_a_cell_in_another_magic_is_left_out_with_a_warning(tmp_path: Path) -> None:
    submission = read_book(tmp_path, book(cell("%%bash\nrm -rf /"), cell("%%time\nx = 1")))
    assert code_lines(submission.sources["part3_attention"]) == ["# %%time", "x = 1"]
    assert submission.warnings == ("part3: part3_attention.ipynb: cell 1 begins with %%bash and was left out",)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
        ("!pip install torch\n!ls \\\n  -l\nx = 1", "# !pip install torch\n# !ls \\\n#   -l\nx = 1"),
        ("if x:\n    !pip install torch\n", "if x:\n    pass  # !pip install torch\n"),
        ("torch.nn?\nx??\n?x\n%time?", "# torch.nn?\n# x??\n# ?x\n# %time?"),
        ("files = !ls\nwhere = %pwd", "# files = !ls\n# where = %pwd"),
        ("\n%%capture out\n%%time\n%time f()\nx = 1", "\n# %%capture out\n# %%time\n# %time f()\nx = 1"),
        ("x = (a\n     % b)\ny = a \\\n  % b", "x = (a\n     % b)\ny = a \\\n  % b"),
        ('"""\n%magic\n!shell\nwhat?\n"""\n%magic', '"""\n%magic\n!shell\nwhat?\n"""\n# %magic'),
        ("# really?\nx = 'why?'\ny = a != b\nz = a % b", "# really?\nx = 'why?'\ny = a != b\nz = a % b"),
        ("x = 'it\\'s (' # )\n%magic", "x = 'it\\'s (' # )\n# %magic"),
        ("x = 'open\n%magic", "x = 'open\n# %magic"),
        ("x = 1\n%%bash", "x = 1\n# %%bash"),
        ("", ""),
    ],
)
def test_magics_become_comments_and_python_stays(source: str, expected: str) -> None:
    text, dropped = plain_python(source)
    assert dropped == ""
    assert text == expected
    assert text.count("\n") == source.count("\n")


@pytest.mark.parametrize(
    "magic", ["%%bash", "%%writefile x.py", "%%html", "%%python", "%%", "\n%%bash", "%%time\n%%bash"]
)
def test_other_cell_magics_drop_the_cell(magic: str) -> None:
    text, dropped = plain_python(f"{magic}\nx = 1")
    assert text == ""
    assert dropped.startswith("%%")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [("x = '\0'", "NUL byte in line 2"), ("x = 1\ny = '\ud800'", "half of a surrogate pair) in line 3")],
)
def test_characters_that_cannot_be_sent_on_are_a_problem(tmp_path: Path, source: str, sentence: str) -> None:
    assert sentence in read_book(tmp_path, book(cell(source))).problems["part3_attention"]


def test_a_coding_line_in_a_notebook_is_made_true(tmp_path: Path) -> None:
    source = read_book(tmp_path, book(cell("# coding: latin-1\nx = '\xe9'"))).sources["part3_attention"]
    assert source == "# %%\n# coding: utf-8\nx = '\xe9'\n"


def test_large_outputs_are_read_past_and_large_sources_refused(tmp_path: Path) -> None:
    large = {**cell("x = 1"), "outputs": [{"data": {"image/png": "A" * (3 << 20)}}]}
    assert code_lines(read_book(tmp_path, book(large)).sources["part3_attention"]) == ["x = 1"]
    submission = read_book(tmp_path, book(*[cell("#" * (300 << 10)) for _ in range(4)]))
    assert "more than 1 MiB of source" in submission.problems["part3_attention"]


def test_too_large_a_notebook_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.intake.taking.NOTEBOOK_LIMIT", 1 << 20)
    submission = read_book(tmp_path, book(cell("x = 1")) + b" " * (1 << 20))
    assert "part3_attention.ipynb is larger than 1 MiB" in submission.problems["part3_attention"]


def test_a_notebook_of_millions_of_values_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "BRACKET_LIMIT", 100)
    submission = read_book(tmp_path, book(cell("x = 1"), outputs=[[]] * 200))
    assert "clear its outputs" in submission.problems["part3_attention"]


# ── folders ──


@posix_only
def test_links_in_a_folder_are_never_followed(tmp_path: Path) -> None:
    outside = hand_in(tmp_path, {PART3: SECRET}, "outside")
    submission = hand_in(tmp_path, {})
    (submission / PART3).symlink_to(outside / PART3)
    (submission / "notes.txt").symlink_to("/etc/passwd")
    (submission / "deeper").symlink_to(outside)
    taken = read(submission)
    assert taken.sources == {}
    assert "a symbolic link is not followed" in taken.problems["part3_attention"]
    assert reasons(taken) == dict.fromkeys([PART3, "notes.txt", "deeper"], "a symbolic link is not followed")


@posix_only
def test_a_link_that_takes_a_files_place_after_listing_is_not_followed(tmp_path: Path) -> None:
    outside = hand_in(tmp_path, {PART3: SECRET}, "outside")
    submission = hand_in(tmp_path, {PART3: SOURCE})
    (item,) = folder.list_folder(submission).items
    (submission / PART3).unlink()
    (submission / PART3).symlink_to(outside / PART3)
    with pytest.raises(text.Unreadable, match="cannot be read"):
        item.read(100)


@posix_only
def test_a_submission_that_is_itself_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "eve").symlink_to(hand_in(tmp_path, {PART3: SECRET}))
    submission = read(tmp_path / "eve")
    assert submission.name == "eve"
    assert submission.sources == {}
    assert set(submission.problems) == set(MODULES)


@posix_only
def test_pipes_and_sockets_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submission = hand_in(tmp_path, {"part1_average.py": "x = 1\n"})
    os.mkfifo(submission / PART3)
    monkeypatch.chdir(submission)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("listening")
        taken = read(submission)
    assert taken.sources == {"part1_average": "x = 1\n"}
    assert taken.problems == {"part3_attention": f"{PART3} is not taken: a named pipe is not opened"}
    assert reasons(taken) == {PART3: "a named pipe is not opened", "listening": "a socket is not opened"}


@posix_only
def test_a_pipe_that_takes_a_files_place_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(text.Unreadable, match="a named pipe is not opened"):
        folder.read_file(tmp_path / "pipe", "pipe", 10)


@posix_only
def test_a_pipe_given_as_a_submission_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    assert "a named pipe is not opened" in read(tmp_path / "pipe.zip").problems["part3_attention"]
    with pytest.raises(text.Unreadable), archive.open_archive(tmp_path / "pipe.zip"):
        pass


def test_a_file_that_may_not_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    submission = hand_in(tmp_path, {PART3: SOURCE, "part1_average.py": ""})
    real_open = os.open

    def deny(path: Any, *rest: Any, **named: Any) -> int:
        if Path(path).name == PART3:
            raise PermissionError(13, "Permission denied", str(path))
        return real_open(path, *rest, **named)

    monkeypatch.setattr(os, "open", deny)
    taken = read(submission)
    assert taken.sources == {"part1_average": ""}
    assert taken.problems == {"part3_attention": f"{PART3} cannot be read (permission denied)"}


@pytest.mark.parametrize("denied", ["ada", "inner"])
def test_a_folder_that_may_not_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, denied: str) -> None:
    submission = hand_in(tmp_path, {PART3: SOURCE, "inner/x": ""})
    real_scandir = os.scandir

    def deny(path: Any) -> Any:
        if Path(path).name == denied:
            raise PermissionError(13, "Permission denied", str(path))
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", deny)
    taken = read(submission)
    assert any("permission denied" in warning for warning in taken.warnings)
    if denied == "ada":
        assert set(taken.problems) == set(MODULES)
        assert str(tmp_path) not in taken.problems["part3_attention"]
    else:
        assert taken.sources == {"part3_attention": SOURCE}
        assert "permission denied" in reasons(taken)["inner"]


def test_a_submission_that_is_gone_is_told(tmp_path: Path) -> None:
    submission = read(tmp_path / "gone")
    assert submission.name == "gone"
    assert set(submission.problems) == set(MODULES)
    assert submission.problems["part3_attention"].startswith("not gradable: ")


def test_a_crowded_inner_folder_does_not_hide_the_part_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "ENTRY_LIMIT", 5)
    crowd = {f"a_crowd/{number}": "" for number in range(9)}
    taken = read(hand_in(tmp_path, {**crowd, f"hw/{PART3}": SOURCE}))
    assert taken.sources == {"part3_attention": SOURCE}
    assert "more than 5 files" in reasons(taken)["a_crowd"]


def test_a_crowded_folder_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "ENTRY_LIMIT", 5)
    taken = read(hand_in(tmp_path, {f"{number}": "" for number in range(9)} | {PART3: SOURCE}))
    assert set(taken.problems) == set(MODULES)
    assert "more than 5 files" in taken.problems["part3_attention"]


def test_a_virtual_environment_is_not_looked_into(tmp_path: Path) -> None:
    files = {PART3: SOURCE, "venv/pyvenv.cfg": "", "venv/lib/torch.py": "", f"venv/lib/{PART3}": SECRET}
    taken = read(hand_in(tmp_path, files))
    assert taken.warnings == ()
    assert reasons(taken) == {"venv": "a virtual environment is not looked into"}


@pytest.mark.parametrize(("depth", "taken"), [(8, True), (9, False)])
@pytest.mark.parametrize("way", [hand_in, zip_in])
def test_only_so_many_nested_folders_are_looked_into(tmp_path: Path, way: Any, depth: int, taken: bool) -> None:
    submission = read(way(tmp_path, {"d/" * depth + PART3: SOURCE}))
    assert bool(submission.sources) == taken
    assert taken or any("8 folders deep" in reason for reason in reasons(submission).values())


@posix_only
def test_a_name_on_disk_that_is_not_text_does_no_harm(tmp_path: Path) -> None:
    submission = hand_in(tmp_path, {PART3: SOURCE})
    (submission / os.fsdecode(b"caf\xe9\n.txt")).touch()
    taken = read(submission)
    assert reasons(taken) == {"caf\ufffd.txt": "not a part file"}
    "".join(refusal.path for refusal in taken.refused).encode()


# ── zips ──


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (f"../../{PART3}", "leaves the submission"),
        (f"a/../{PART3}", "leaves the submission"),
        (f"/{PART3}", "absolute"),
        (f"//host/{PART3}", "absolute"),
        (f"..\\..\\{PART3}", "backslashes"),
        (f"Homework\\{PART3}", "backslashes"),
        (f"C:/{PART3}", "drive letter"),
        (f"C:{PART3}", "drive letter"),
        (f"con/{PART3}", "device"),
        (f"a/NUL.txt/{PART3}", "device"),
        (f"COM\xb9 .x/{PART3}", "device"),
    ],
)
def test_unsafe_paths_in_a_zip_are_refused_and_named(tmp_path: Path, path: str, reason: str) -> None:
    submission = read(zip_in(tmp_path, {path: SECRET, "part1_average.py": "x = 1\n"}))
    assert submission.sources == {"part1_average": "x = 1\n"}
    assert reason in reasons(submission)[path]
    if path.endswith((f"/{PART3}", f"\\{PART3}")):
        assert reason in submission.problems["part3_attention"]


def test_an_unsafe_twin_does_not_stand_in_the_way_of_the_real_file(tmp_path: Path) -> None:
    submission = read(zip_in(tmp_path, {f"../{PART3}": SECRET, PART3: SOURCE}))
    assert submission.sources == {"part3_attention": SOURCE}
    assert submission.problems == {}


@pytest.mark.parametrize("name", ["CON", "nul.txt", "COM1", "lpt9.py", "aux ", "CONIN$"])
def test_device_names_are_dangerous(name: str) -> None:
    assert "device" in danger(name)


@pytest.mark.parametrize("name", ["console.py", "nullify", "com", "auxiliary/x.py", "a:b"])
def test_names_that_only_begin_like_devices_are_harmless(name: str) -> None:
    assert danger(name) in ("", "its path begins with a drive letter")


def member(name: str, mode: int = 0) -> zipfile.ZipInfo:
    """Describe a member with a Unix mode."""
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (stat.S_IFLNK, "symbolic link"),
        (stat.S_IFIFO, "named pipe"),
        (stat.S_IFCHR, "device"),
        (stat.S_IFSOCK, "socket"),
    ],
)
def test_links_and_devices_in_a_zip_are_refused(tmp_path: Path, mode: int, reason: str) -> None:
    submission = read(
        zip_in(tmp_path, [(member(PART3, mode | 0o777), "/etc/passwd"), (member("d/", mode | 0o777), "/etc")])
    )
    assert submission.sources == {}
    assert reason in submission.problems["part3_attention"]
    assert reason in reasons(submission)[PART3] and reason in reasons(submission)["d/"]


def test_folders_in_a_zip_are_nothing_by_themselves(tmp_path: Path) -> None:
    members = [
        (member("hw/", stat.S_IFDIR | 0o755), ""),
        (member(f"hw/{PART3}", stat.S_IFREG | 0o644), SOURCE),
        ("x/", ""),
    ]
    submission = read(zip_in(tmp_path, members))
    assert submission.sources == {"part3_attention": SOURCE}
    assert submission.refused == ()


def test_a_path_with_dots_for_here_is_followed(tmp_path: Path) -> None:
    assert read(zip_in(tmp_path, {f"./hw//{PART3}": SOURCE})).sources == {"part3_attention": SOURCE}


def patch(path: Path, signature: bytes, offset: int, value: bytes) -> None:
    """Overwrite a field of the first record of a kind in a zip."""
    data = bytearray(path.read_bytes())
    start = data.index(signature) + offset
    data[start : start + len(value)] = value
    path.write_bytes(data)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


@pytest.mark.parametrize(
    ("offset", "value", "reason"),
    [
        (8, b"\x01\x00", "encrypted"),
        (8, b"\x40\x00", "encrypted"),
        (8, b"\x20\x00", "packed"),
        (10, b"\x0e\x00", "packed"),
    ],
)
def test_members_that_cannot_be_unpacked_plainly_are_a_problem(
    tmp_path: Path, offset: int, value: bytes, reason: str
) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE, "part1_average.py": "x = 1\n"})
    patch(path, CENTRAL, offset, value)
    submission = read(path)
    assert submission.sources == {"part1_average": "x = 1\n"}
    assert reason in submission.problems["part3_attention"]
    assert reason in reasons(submission)[PART3]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packing_that_unpacks_in_unbounded_steps_is_refused(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "ada.zip", "w", method) as target:
        target.writestr(PART3, SOURCE)
    assert "ordinary compression" in read(tmp_path / "ada.zip").problems["part3_attention"]


@pytest.mark.parametrize("size", [0, 5, 10**6])
def test_a_lying_size_is_not_believed(tmp_path: Path, size: int) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE * 9})
    patch(path, CENTRAL, 24, struct.pack("<I", size))
    submission = read(path)
    assert submission.sources == {}
    assert "damaged inside the zip" in submission.problems["part3_attention"]


def test_a_member_with_a_wrong_checksum_is_a_problem(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE, "part1_average.py": "x = 1\n"})
    patch(path, CENTRAL, 16, b"\0\0\0\0")
    submission = read(path)
    assert submission.sources == {"part1_average": "x = 1\n"}
    assert "damaged inside the zip" in submission.problems["part3_attention"]


def all_refused(submission: Submission, words: str) -> None:
    """Every module has the same problem, and the instructor hears of it."""
    assert submission.sources == {}
    assert submission.name == "ada"
    assert set(submission.problems) == set(MODULES)
    for sentence in (*submission.problems.values(), *submission.warnings):
        assert sentence.startswith("not gradable: ")
        assert words in sentence
    assert submission.warnings


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip at all", END, b"\x1f\x8b" + bytes(100)])
def test_what_is_no_zip_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "ada.zip").write_bytes(data)
    all_refused(read(tmp_path / "ada.zip"), "the zip file is damaged (")


def test_a_truncated_zip_is_told(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE})
    path.write_bytes(path.read_bytes()[:-30])
    all_refused(read(path), "the zip file is damaged (")


def test_a_zip_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE, "b": ""})
    patch(path, CENTRAL, 24, struct.pack("<I", archive.TOTAL_LIMIT + 1))
    all_refused(read(path), "more than 64 MiB")


def test_a_zip_that_claims_to_be_packed_larger_than_all_is_refused(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE})
    patch(path, CENTRAL, 20, struct.pack("<I", archive.TOTAL_LIMIT + 1))
    all_refused(read(path), "more than 64 MiB")


def test_a_member_packed_more_than_200_times_is_refused(tmp_path: Path) -> None:
    all_refused(read(zip_in(tmp_path, {PART3: SOURCE, "zeros.bin": bytes(2 << 20)})), "zeros.bin")


def test_a_small_member_may_pack_as_well_as_it_likes(tmp_path: Path) -> None:
    assert read(zip_in(tmp_path, {PART3: SOURCE, "zeros.bin": bytes(1 << 20)})).problems == {}


@pytest.mark.parametrize(("count", "refused"), [(2000, False), (2001, True)])
def test_a_zip_of_too_many_files_is_refused(tmp_path: Path, count: int, refused: bool) -> None:
    submission = read(zip_in(tmp_path, {PART3: SOURCE, **{f"{number}": "" for number in range(count - 1)}}))
    if refused:
        all_refused(submission, "more than 2,000 files")
    else:
        assert submission.sources == {"part3_attention": SOURCE}


def test_an_endless_table_of_contents_is_not_even_read(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE})
    data = path.read_bytes()
    start = data.index(CENTRAL)
    entry = data[start : data.index(END)]
    count = archive.DIRECTORY_LIMIT // len(entry) + 1
    end = struct.pack("<4s4H2IH", END, 0, 0, 1, 1, count * len(entry), start, 0)
    path.write_bytes(data[:start] + entry * count + end)
    all_refused(read(path), "far more than 2,000 files")


def test_overlapping_members_are_refused(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE, "part1_average.py": SOURCE})
    data = path.read_bytes()
    second = data.index(CENTRAL, data.index(CENTRAL) + 1)
    path.write_bytes(data[: second + 42] + struct.pack("<I", 0) + data[second + 46 :])  # at the first one's place
    all_refused(read(path), "overlap")


def test_a_member_that_runs_into_the_table_of_contents_is_refused(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE})
    patch(path, CENTRAL, 20, struct.pack("<I", 500))
    all_refused(read(path), "overlaps its table of contents")


def test_a_zip_within_a_zip_is_not_opened(tmp_path: Path) -> None:
    inner = zip_in(tmp_path, {PART3: SECRET}, "inner.zip").read_bytes()
    submission = read(zip_in(tmp_path, {"inner.zip": inner}))
    assert submission.sources == {}
    assert "is not opened" in reasons(submission)["inner.zip"]
    assert submission.warnings == ("there is no part file in the submission",)


def test_names_written_as_utf_8_without_saying_so_are_read(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {"n\xf3tes.txt": ""})
    patch(path, LOCAL, 6, b"\0\0")
    patch(path, CENTRAL, 8, b"\0\0")
    assert list(reasons(read(path))) == ["n\xf3tes.txt"]


def test_names_in_a_zip_are_shown_without_control_characters(tmp_path: Path) -> None:
    assert list(reasons(read(zip_in(tmp_path, {"a\u202eb\x1b\n.txt": ""})))) == ["ab.txt"]


def test_a_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {"part3_attention.pyX": SOURCE})
    data = path.read_bytes().replace(b"part3_attention.pyX", b"part3_attention.py\0")
    path.write_bytes(data)
    submission = read(path)
    assert submission.sources == {}
    assert any("NUL" in reason for reason in reasons(submission).values())


@pytest.mark.parametrize("mode", [0, stat.S_IFDIR, stat.S_IFREG])
def test_a_member_without_a_name_is_refused(tmp_path: Path, mode: int) -> None:
    submission = read(zip_in(tmp_path, [(member("", mode), SOURCE), (PART3, SOURCE)]))
    assert submission.sources == {"part3_attention": SOURCE}
    assert reasons(submission) == {"": "it has no name"}


def test_names_of_any_length_are_shown_short() -> None:
    assert len(shown("x" * 10**6)) == 200


def test_a_zip_with_something_before_it_is_read(tmp_path: Path) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE})
    path.write_bytes(b"#!/bin/sh\n" * 10 + path.read_bytes())
    assert read(path).sources == {"part3_attention": SOURCE}


def test_a_zip_written_as_a_stream_is_read(tmp_path: Path) -> None:
    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.data += bytes(data)
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as target:  # cannot seek: sizes stand after the data
        target.writestr(PART3, SOURCE)
    (tmp_path / "ada.zip").write_bytes(pipe.data)
    assert read(tmp_path / "ada.zip").sources == {"part3_attention": SOURCE}


def test_nothing_is_ever_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zip_in(tmp_path, {PART3: SOURCE, "../evil.py": SECRET, "x/y": "z"})
    before = sorted(tmp_path.rglob("*"))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a member was unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "extract", never)
    monkeypatch.setattr(zipfile.ZipFile, "extractall", never)
    monkeypatch.setattr(shutil, "unpack_archive", never)
    assert read(path).sources == {"part3_attention": SOURCE}
    assert sorted(tmp_path.rglob("*")) == before


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


@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_over_the_limit_is_not_read_to_its_end(tmp_path: Path, zipped: bool) -> None:
    submission = hand_in(tmp_path, {PART3: bytes(40 << 20)})
    if zipped:
        with zipfile.ZipFile(tmp_path / "ada.zip", "w", zipfile.ZIP_STORED) as target:
            target.write(submission / PART3, PART3)
        submission = tmp_path / "ada.zip"
    tracemalloc.start()
    taken = read(submission)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken.problems == {"part3_attention": f"{PART3} is larger than 1 MiB"}
    assert peak < 8 << 20


def test_refusals_are_plain_records(tmp_path: Path) -> None:
    assert read(hand_in(tmp_path, {"x.txt": ""})).refused == (Refusal("x.txt", "not a part file"),)


def test_the_public_names_are_these() -> None:
    assert sorted(intake.__all__) == ["Found", "find_submissions", "read_source", "read_submission", "unique_names"]


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
