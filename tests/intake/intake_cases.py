"""Submissions to two parts, as folders, zips and notebooks, and what intake says of them."""

import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder import intake
from autograder.records import Submission

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


def patch(path: Path, signature: bytes, offset: int, value: bytes) -> None:
    """Overwrite a field of the first record of a kind in a zip."""
    data = bytearray(path.read_bytes())
    start = data.index(signature) + offset
    data[start : start + len(value)] = value
    path.write_bytes(data)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
