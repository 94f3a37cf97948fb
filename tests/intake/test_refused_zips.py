"""A zip that is damaged, that lies or that unpacks to too much is refused as a whole, in words."""

import struct
from pathlib import Path

import pytest
from intake_cases import CENTRAL, END, MODULES, PART3, SOURCE, patch, read, zip_in

from autograder.intake import archive
from autograder.records import Submission


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
