"""In a folder no link is followed and no pipe opened, and what cannot be read is told."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from intake_cases import MODULES, PART3, SECRET, SOURCE, hand_in, posix_only, read, reasons, zip_in

from autograder.intake import archive, folder, text


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
