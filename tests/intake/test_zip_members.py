"""Of a zip only the members that are taken are read, none is unpacked, and each that is unsafe is refused by name."""

import io
import shutil
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from intake_cases import CENTRAL, LOCAL, PART3, SECRET, SOURCE, patch, read, reasons, zip_in

from autograder.intake.names import danger, shown


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
