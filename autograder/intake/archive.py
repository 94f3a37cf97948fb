"""List and read a zip as a stranger's: nothing it says about itself is believed, nothing is unpacked to disk."""

import io
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from autograder.intake.folder import KINDS, OPEN_FLAGS, reason_of
from autograder.intake.listing import CHUNK, ENTRY_LIMIT, HIDDEN, MIB, Item, Listing, passed_over, too_deep
from autograder.intake.names import danger, shown
from autograder.intake.text import Unreadable

TOTAL_LIMIT = 64 * MIB  # of all members, unpacked
RATIO_LIMIT = 200  # unpacked size by packed size
RATIO_MATTERS = MIB  # small members may be as empty as they like
DIRECTORY_LIMIT = MIB  # bytes; 2,000 members with ordinary names need a quarter of it
LOCAL_HEADER = 30  # bytes before a member's name and data
ENCRYPTED = 0x01  # general purpose flags, see APPNOTE 4.4.4
PATCHED = 0x20
STRONGLY_ENCRYPTED = 0x40
UTF_8_NAME = 0x800
# zipfile unpacks these two in bounded memory; bzip2 and LZMA members can demand gigabytes at one step.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
REMEDY = "; zip only your part files (gpt-hw pack does it)"


class _Careful(io.BufferedReader):
    """A file that refuses to be read in one gulp, as zipfile does with a table of contents of any size."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > DIRECTORY_LIMIT:
            raise Unreadable(f"the zip lists far more than {ENTRY_LIMIT:,} files{REMEDY}")
        return super().read(DIRECTORY_LIMIT if size is None or size < 0 else size)


@contextmanager
def open_archive(path: Path) -> Iterator[Listing]:
    """Open a zip and list it; its members can be read until the block ends.

    Args:
        path: The zip of one submission.

    Raises:
        Unreadable: If it is damaged, or made to exhaust whoever opens it.
    """
    try:
        file = _Careful(io.FileIO(os.open(path, OPEN_FLAGS)))
    except OSError as error:
        raise Unreadable(f"the zip file cannot be opened ({reason_of(error)})") from error
    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable("it is neither a folder nor a zip file")
        try:
            archive = zipfile.ZipFile(file)
        except Unreadable:
            raise
        except Exception as error:  # zipfile raises a dozen kinds of error at bad input, not all of them documented
            raise Unreadable(f"the zip file is damaged ({_words(error)})") from error
        with archive:
            _refuse_bombs(archive)
            yield _list(archive)


def _refuse_bombs(archive: zipfile.ZipFile) -> None:
    """Refuse what no honest zip needs, going by its table of contents; reading is capped besides."""
    members = archive.infolist()
    if len(members) > ENTRY_LIMIT:
        raise Unreadable(f"the zip has more than {ENTRY_LIMIT:,} files{REMEDY}")
    if max(sum(member.file_size for member in members), sum(member.compress_size for member in members)) > TOTAL_LIMIT:
        raise Unreadable(f"the zip unpacks to more than {TOTAL_LIMIT // MIB} MiB{REMEDY}")
    for member in members:
        if member.file_size > max(RATIO_MATTERS, RATIO_LIMIT * member.compress_size):
            name = shown(member.filename)
            raise Unreadable(f"{name} in the zip unpacks to more than {RATIO_LIMIT} times its size{REMEDY}")
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise Unreadable(f"files in the zip overlap ({shown(member.filename)}); make the zip again")
        end = _end_of(member)
    if members and end > archive.start_dir:
        raise Unreadable("a file in the zip overlaps its table of contents; make the zip again")


def _end_of(member: zipfile.ZipInfo) -> int:
    """Work out where a member ends at the earliest: the extra field's length is in a header not yet read."""
    encoding = "utf-8" if member.flag_bits & UTF_8_NAME else "cp437"
    return member.header_offset + LOCAL_HEADER + len(member.orig_filename.encode(encoding)) + member.compress_size


def _list(archive: zipfile.ZipFile) -> Listing:
    """List the files that the zip has, with a reason beside those that must not be opened."""
    listing = Listing()
    for member in archive.infolist():
        path = _path_of(member)
        # Nothing is written, so an unsafe path harms nobody here; it is refused because no honest tool makes one.
        reason = danger(path) or _kind(member)
        pieces = [piece for piece in path.replace("\\", "/").split("/") if piece not in ("", ".")]
        if not reason:
            hidden = passed_over(pieces)
            if hidden:
                listing.refuse(pieces[:hidden], HIDDEN)
            if hidden is not None or path.endswith("/"):
                continue
        name = pieces[-1] if pieces else path
        reader = partial(_read_member, archive, member, shown(name))
        listing.items.append(Item(tuple(pieces[:-1]), name, shown(path), reader, reason or too_deep(pieces)))
    return listing


def _path_of(member: zipfile.ZipInfo) -> str:
    """Read a member's path; older tools write UTF-8 without saying so."""
    path = member.orig_filename
    if member.flag_bits & UTF_8_NAME:
        return path
    try:
        return path.encode("cp437").decode("utf-8")
    except UnicodeError:
        return path


def _kind(member: zipfile.ZipInfo) -> str:
    """Say why a member may not be read, going by its attributes; empty if it may be."""
    kind = stat.S_IFMT(member.external_attr >> 16)  # Unix keeps the file's mode in the upper half
    if kind == stat.S_IFDIR and member.orig_filename.endswith("/"):  # is_dir() fails at an empty name
        return ""
    if kind not in (0, stat.S_IFREG):
        return KINDS.get(kind, "it is not a plain file")
    if member.flag_bits & (ENCRYPTED | STRONGLY_ENCRYPTED):
        return "it is encrypted; make the zip without a password"
    if member.flag_bits & PATCHED or member.compress_type not in METHODS:
        return "it is packed by a method that is not read; make the zip again with ordinary compression"
    return ""


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, limit: int) -> bytes:
    """Read a member, no further than the limit whatever its header says."""
    data = bytearray()
    try:
        with archive.open(member) as file:
            while len(data) <= limit and (chunk := file.read(CHUNK)):
                data += chunk
    except Exception as error:  # as above
        raise Unreadable(f"{name} is damaged inside the zip ({_words(error)}); make the zip again") from error
    if len(data) > limit:
        raise Unreadable(f"{name} is larger than {limit // MIB} MiB")
    if len(data) != member.file_size:
        raise Unreadable(f"{name} is damaged inside the zip (its size is not as announced); make the zip again")
    return bytes(data)


def _words(error: Exception) -> str:
    """Shorten an error of zipfile for a sentence."""
    return shown(str(error)) or type(error).__name__
