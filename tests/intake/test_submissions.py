"""Submissions are found beside any clutter, and each has a name of its own that is fit to be a folder."""

import os
from pathlib import Path

import pytest
from intake_cases import PART3, SOURCE, hand_in, posix_only, read, zip_in

from autograder import intake
from autograder.errors import SubmissionError
from autograder.intake.names import submission_name

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


def test_the_public_names_are_these() -> None:
    assert sorted(intake.__all__) == ["Found", "find_submissions", "read_source", "read_submission", "unique_names"]
