"""List and read a folder without following a link or opening anything but plain files."""

import os
import stat
from functools import partial
from pathlib import Path

from autograder.intake.listing import CHUNK, DEPTH_LIMIT, ENTRY_LIMIT, HIDDEN, MIB, Item, Listing, passed_over
from autograder.intake.names import danger, shown
from autograder.intake.text import Unreadable

# Not to follow a link that takes a file's place, nor to wait for the other end of a FIFO. Windows has neither flag.
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
KINDS = {
    stat.S_IFLNK: "a symbolic link is not followed",
    stat.S_IFIFO: "a named pipe is not opened",
    stat.S_IFSOCK: "a socket is not opened",
    stat.S_IFCHR: "a device is not opened",
    stat.S_IFBLK: "a device is not opened",
}


def list_folder(root: Path) -> Listing:
    """List the files of a folder, level by level and in order of names, so that two machines list the same.

    Args:
        root: The folder of one submission.

    Raises:
        Unreadable: If the folder cannot be listed, or holds too much to be a submission.
    """
    listing = Listing()
    waiting: list[tuple[str, ...]] = [()]
    seen = 0
    while waiting:
        folder = waiting.pop(0)
        try:
            entries = _entries(root.joinpath(*folder))
        except OSError as error:
            if not folder:
                raise Unreadable(f"the folder cannot be opened ({reason_of(error)})") from error
            listing.refuse(folder, f"the folder cannot be opened ({reason_of(error)})")
            listing.warnings.append(f"the folder {shown('/'.join(folder))} cannot be opened ({reason_of(error)})")
            continue
        if folder and any(name == VIRTUAL_ENVIRONMENT for name, _ in entries):
            listing.refuse(folder, "a virtual environment is not looked into")
        elif seen + len(entries) <= ENTRY_LIMIT:
            seen += len(entries)
            waiting.extend(_add(listing, root, folder, entries))
        elif not folder:
            raise Unreadable(f"the folder has more than {ENTRY_LIMIT:,} files; hand in only your part files")
        else:
            listing.refuse(folder, f"not looked into: the submission has more than {ENTRY_LIMIT:,} files")
            listing.warnings.append(f"{shown('/'.join(folder))} was not looked into: more than {ENTRY_LIMIT:,} files")
    return listing


def read_file(path: Path, name: str, limit: int) -> bytes:
    """Read a plain file.

    Args:
        path: Where it is.
        name: What it is called in the sentence for the student.
        limit: The most bytes that it may have.

    Raises:
        Unreadable: If it is no plain file, is larger, or cannot be read.
    """
    try:
        descriptor = os.open(path, OPEN_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise Unreadable(f"{name} is not taken: {KINDS.get(stat.S_IFMT(mode), 'it is not a plain file')}")
            data = bytearray()
            while len(data) <= limit and (chunk := file.read(CHUNK)):
                data += chunk
    except OSError as error:
        raise Unreadable(f"{name} cannot be read ({reason_of(error)})") from error
    if len(data) > limit:
        raise Unreadable(f"{name} is larger than {limit // MIB} MiB")
    return bytes(data)


def reason_of(error: OSError) -> str:
    """Say in a few words why the system refused, without the path of the machine it happened on."""
    return (error.strerror or type(error).__name__).lower()


def _entries(path: Path) -> list[tuple[str, int]]:
    """Name what is in a folder and its kind, sorted; one more than is allowed shows that there are too many."""
    found: list[tuple[str, int]] = []
    with os.scandir(path) as entries:
        for entry in entries:
            found.append((entry.name, entry.stat(follow_symlinks=False).st_mode))
            if len(found) > ENTRY_LIMIT:
                break
    return sorted(found)


def _add(
    listing: Listing, root: Path, folder: tuple[str, ...], entries: list[tuple[str, int]]
) -> list[tuple[str, ...]]:
    """Add one level to the listing; return the folders to look into next."""
    deeper = []
    for name, mode in entries:
        pieces = (*folder, name)
        if passed_over([name]) == 0:
            continue
        if passed_over([name]):
            listing.refuse(pieces, HIDDEN)
        elif stat.S_ISDIR(mode):
            if len(pieces) > DEPTH_LIMIT:
                listing.refuse(pieces, f"not looked into: more than {DEPTH_LIMIT} folders deep")
            else:
                deeper.append(pieces)
        else:
            reason = "" if stat.S_ISREG(mode) else KINDS.get(stat.S_IFMT(mode), "it is not a plain file")
            reader = partial(read_file, root.joinpath(*pieces), shown(name))
            listing.items.append(Item(folder, name, shown("/".join(pieces)), reader, reason or danger(name)))
    return deeper
