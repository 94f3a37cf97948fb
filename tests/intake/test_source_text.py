"""The text of a part file is decoded as Python would, or is a problem in words."""

import hashlib
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from intake_cases import PART3, hand_in, read

from autograder.intake import text
from autograder.records import Submission


def read_text(root: Path, content: bytes) -> Submission:
    """Read a submission that has only part 3."""
    return read(hand_in(root, {PART3: content}))


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
