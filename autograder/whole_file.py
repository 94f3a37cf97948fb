"""Write a file whole or not at all: a reader finds the old content or the new one, never half of it."""

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write beside the target and move into place.

    Args:
        path: Where to write; its folder is there.
        content: What to write.
        durable: Also wait until the disk has it under its name, so that a power cut loses neither.

    Raises:
        OSError: It cannot be written; what was there before still is.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")  # not the target's name: that may be as long as names get
    try:
        with draft.open("xb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the names in a folder, so that a power cut does not bring old ones back."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):  # some file systems cannot; then they order what is written by themselves
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
