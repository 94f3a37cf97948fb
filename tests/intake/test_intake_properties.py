"""Whatever bytes and names are handed in, intake answers in records and stays where it was sent."""

import io
import json
import struct
import tempfile
import warnings
import zipfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from autograder.intake import read_submission, unique_names
from autograder.intake.magics import plain_python
from autograder.intake.names import LONGEST_NAME, PartNames, danger, shown, submission_name
from autograder.intake.text import Unreadable, decode_source
from autograder.records import Submission

MODULES = {"part1_average": "part1", "part3_attention": "part3"}
SECRET = "THE_SECRET_OUTSIDE"
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

NAME_PIECES = st.sampled_from(
    [
        "part3_attention",
        "Part3_Attention",
        ".py",
        ".ipynb",
        "-1",
        " (2)",
        "/",
        "..",
        "\\",
        "C:",
        "CON",
        "a_1_2_",
        ".",
        "torch",
    ]
)
paths = st.lists(NAME_PIECES | st.text(max_size=3), min_size=1, max_size=6).map("".join)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
cells = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw"]) | json_values},
    optional={
        "source": st.text() | st.lists(st.text(), max_size=4) | json_values,
        "input": json_values,
        "language": json_values,
        "metadata": json_values
        | st.fixed_dictionaries({}, optional={"nbgrader": json_values, "tags": json_values, "vscode": json_values}),
    },
)
notebooks = st.fixed_dictionaries(
    {"nbformat": st.sampled_from([3, 4]) | json_values},
    optional={
        "cells": st.lists(cells, max_size=4) | json_values,
        "worksheets": json_values | st.lists(st.fixed_dictionaries({"cells": st.lists(cells, max_size=2)}), max_size=2),
        "metadata": json_values,
    },
)


def check(submission: Submission) -> None:
    """See that a submission holds what its type promises, and can be written down and sent on."""
    assert set(submission.sources) <= set(MODULES)
    assert set(submission.problems) <= set(MODULES)
    assert not set(submission.sources) & set(submission.problems)
    for source in submission.sources.values():
        source.encode()
        assert "\0" not in source and "\r" not in source
        assert SECRET not in source
    told = [submission.name, *submission.problems.values(), *submission.warnings, *submission.sha256]
    told += [refusal.path for refusal in submission.refused] + [refusal.reason for refusal in submission.refused]
    for sentence in told:
        sentence.encode()
        assert not any(ord(character) < 0x20 for character in sentence)
        assert len(sentence) < 2000


def read_file(name: str, data: bytes, within: str = "") -> Submission:
    """Hand in one file, see that nothing else appears on disk, and check the answer."""
    with tempfile.TemporaryDirectory() as holder:
        root = Path(holder)
        (root / "secret.py").write_text(SECRET)
        (root / "part3_attention.py").write_text(SECRET)
        target = root / "all" / within / name
        target.parent.mkdir(parents=True)
        target.write_bytes(data)
        before = sorted(root.rglob("*"))
        submission = read_submission(root / "all" / (within or name), MODULES)
        assert sorted(root.rglob("*")) == before
        assert target.read_bytes() == data
    check(submission)
    return submission


def zip_of(members: list[tuple[str, bytes, int]]) -> bytes:
    """Make a zip of members with any names and Unix modes."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        warnings.simplefilter("ignore")  # names that are there twice
        for path, data, mode in members:
            info = zipfile.ZipInfo(path.encode(errors="ignore").decode())
            info.external_attr = mode << 16
            target.writestr(info, data)
    return buffer.getvalue()


members = st.lists(
    st.tuples(paths, st.binary(max_size=30), st.sampled_from([0, 0o100644, 0o120777, 0o040755, 0o010644])), max_size=6
)


@quick
@given(st.binary(max_size=400))
def test_any_bytes_as_a_zip_are_answered(data: bytes) -> None:
    read_file("ada.zip", data)


@quick
@given(st.binary(max_size=400), st.sampled_from(["part3_attention.py", "part3_attention.ipynb"]))
def test_any_bytes_as_a_part_file_are_answered(name_data: bytes, name: str) -> None:
    submission = read_file(name, name_data, "ada")
    assert set(submission.sources) | set(submission.problems) == {"part3_attention"}


@quick
@given(members)
def test_a_zip_of_any_paths_is_answered_and_never_escapes(content: list[tuple[str, bytes, int]]) -> None:
    submission = read_file("ada.zip", zip_of(content))
    texts = [data for _, data, mode in content if mode in (0, 0o100644)]
    if "part3_attention" in submission.sources and not any(path.endswith("b") for path, _, _ in content):
        assert texts


@quick
@given(members, st.data())
def test_a_zip_with_any_bytes_changed_is_answered(content: list[tuple[str, bytes, int]], data: st.DataObject) -> None:
    changed = bytearray(zip_of([("part3_attention.py", b"x = 1\n", 0), *content]))
    for _ in range(data.draw(st.integers(1, 6))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    read_file("ada.zip", bytes(changed))


@quick
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_a_zip_that_lies_about_sizes_and_places_is_answered(packed: int, size: int, place: int) -> None:
    changed = bytearray(zip_of([("part3_attention.py", b"x = 1\n", 0)]))
    start = changed.index(b"PK\x01\x02")
    changed[start + 20 : start + 28] = struct.pack("<2I", packed, size)
    changed[start + 42 : start + 46] = struct.pack("<I", place)
    submission = read_file("ada.zip", bytes(changed))
    assert submission.sources.get("part3_attention", "x = 1\n") == "x = 1\n"


@quick
@given(notebooks)
def test_any_json_as_a_notebook_is_answered(content: object) -> None:
    submission = read_file("part3_attention.ipynb", json.dumps(content).encode(), "ada")
    assert set(submission.sources) | set(submission.problems) == {"part3_attention"}


@quick
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=80))
def test_text_in_utf_8_comes_through_unchanged(source: str) -> None:
    if "coding" not in source and not source.startswith("\ufeff"):
        assert decode_source(source.encode(), "x.py") == source


@quick
@given(
    st.sampled_from([b"# coding: ", b"\n# vim: fileencoding=", b"#!/usr/bin/python\n# coding="]),
    st.sampled_from(
        ["latin-1", "cp1252", "shift_jis", "gbk", "utf-16", "utf-7", "hex", "idna", "punycode", "utf8", "mbcs"]
    )
    | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=8),
    st.binary(max_size=30),
)
def test_a_decoded_source_means_the_same_when_encoded_again(before: bytes, encoding: str, after: bytes) -> None:
    try:
        source = decode_source(before + encoding.encode() + b"\n" + after, "x.py")
    except Unreadable:
        return
    assert decode_source(source.encode(), "x.py") == source


PYTHON_OR_MAGIC = st.lists(
    st.sampled_from(["%", "%%", "!", "?", "'", '"', '"""', "(", ")", "\\", "\n", "#", "x", " ", "=", "time", "bash"]),
    max_size=25,
).map("".join)


@quick
@given(PYTHON_OR_MAGIC)
def test_taking_out_magics_keeps_the_lines(source: str) -> None:
    text, dropped = plain_python(source)
    assert bool(dropped) or text.count("\n") == source.count("\n")


@quick
@given(st.sampled_from([Path(__file__), Path(json.__file__), Path(tempfile.__file__), Path(zipfile.__file__)]))
def test_real_python_has_no_magics(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert plain_python(source) == (source, "")


@quick
@given(st.lists(st.text(max_size=12).filter(lambda name: "/" not in name and "\0" not in name), max_size=8))
def test_names_of_submissions_are_unique_and_safe_folders(raw: list[str]) -> None:
    listed = [Path("/nowhere") / name for name in raw]
    names = unique_names(listed)
    assert set(names) == set(listed)
    assert len({name.casefold() for name in names.values()}) == len(names)
    for name in names.values():
        assert name not in ("", ".", "..")
        assert not set(name) & set("/\\\0\n")
        assert len(name.encode()) <= LONGEST_NAME


@quick
@given(st.text(max_size=300))
def test_a_shown_name_is_short_and_stays_as_it_is(name: str) -> None:
    once = shown(name)
    once.encode()
    assert len(once) <= 200
    assert shown(once) == once
    submission_name(Path("/nowhere") / name.replace("\0", ""))


@quick
@given(paths)
def test_a_path_without_danger_stays_inside(path: str) -> None:
    if not danger(path):
        assert ".." not in path.split("/")
        assert not path.startswith("/") and "\\" not in path


@quick
@given(paths)
def test_only_names_of_known_modules_are_recognised(name: str) -> None:
    found = PartNames(MODULES).read(name)
    if found is not None:
        assert found.module in name.lower()
        assert found.kind in (".py", ".ipynb")
