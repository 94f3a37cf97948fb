"""``gpt-hw pack``: one zip of the part files, made so that intake reads it back, and read back to be sure."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError
from autograder.intake import read_submission
from autograder.records import Part
from autograder.whole_file import write_whole
from autograder.workspace import PartStatus, Progress, status

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # what a zip can say at the earliest: the same work always gives the same zip
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Packed:
    """The zip, what went into it, what its author should know, and what would not be graded as it is."""

    path: Path
    names: tuple[str, ...]
    warnings: tuple[str, ...]
    problems: tuple[str, ...]


def pack(folder: Path, parts: Mapping[str, Part], out: Path) -> Packed:
    """Zip the file of each part that a grading of this folder would take.

    Args:
        folder: The workspace.
        parts: The parts of the course.
        out: Where the zip goes; an earlier zip is replaced.

    Raises:
        UsageError: There is nothing to hand in, or the zip cannot be written.
    """
    found = [one for one in status(folder, parts) if one.source is not None]
    if not found:
        raise UsageError(f"there is no part file in {folder}", "change to your workspace; gpt-hw init makes one")
    if all(one.progress is Progress.NOT_STARTED for one in found):
        raise UsageError(
            f"every part file in {folder} is still as it was given out", "write an exercise first, and save the file"
        )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in found:
            _add(archive, folder / _name(one))
    _write(out, buffer.getvalue())
    read = read_submission(out, {part.module: part.name for part in parts.values()})
    problems = {one.part.module: one.problem for one in found if one.problem} | dict(read.problems)
    warnings = [warning for one in found if (warning := _warning(one))]
    return Packed(out, tuple(map(_name, found)), (*warnings, *read.warnings), tuple(problems.values()))


def _name(one: PartStatus) -> str:
    return one.source.name if one.source else ""


def _warning(one: PartStatus) -> str:
    if one.progress is Progress.NOT_STARTED:
        return f"{_name(one)} is still as it was given out"
    return f"{_name(one)}: not written yet: {', '.join(one.unwritten)}" if one.unwritten else ""


def _add(archive: zipfile.ZipFile, source: Path) -> None:
    try:
        data = source.read_bytes()
    except OSError as error:
        raise UsageError(f"{source} cannot be read ({error.strerror})", "check who may read it") from None
    entry = zipfile.ZipInfo(source.name, _EARLIEST)
    entry.external_attr = _MODE << 16
    archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


def _write(out: Path, data: bytes) -> None:
    """Write the zip whole or not at all, and over nothing but a zip."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder, not a zip", f"name a file, for example --out {out / 'submission.zip'}")
    if out.exists() and not zipfile.is_zipfile(out):
        raise UsageError(f"{out} is there already and is not a zip", "choose another name with --out")
    try:
        write_whole(out, data)
    except OSError as error:
        raise UsageError(f"cannot write {out} ({error.strerror})", "choose another place with --out") from None
