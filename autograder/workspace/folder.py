"""Make a workspace, and say how far each of its parts is."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from autograder.errors import UsageError
from autograder.parts import template_folder
from autograder.records import Part
from autograder.workspace.memory import PublicResult, read_results
from autograder.workspace.source import find_source, is_untouched, read_stubs

_TEMPLATE_FILES = re.compile(r"part[0-9]+_\w+\.(py|ipynb)|README\.md")


class Progress(StrEnum):
    """How far a student's file of one part is."""

    MISSING = "missing"
    NOT_STARTED = "not started"
    IN_PROGRESS = "in progress"
    WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class Initialised:
    """What ``init`` did: the files it made, and those it found there and left as they were."""

    created: tuple[Path, ...]
    kept: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class PartStatus:
    """Where a student stands in one part.

    ``unwritten`` names the exercises that still hold the template's stub. ``problem`` says why the file
    cannot be read as Python, and is empty where it can.
    """

    part: Part
    progress: Progress
    source: Path | None = None
    unwritten: tuple[str, ...] = ()
    problem: str = ""
    last: PublicResult | None = None


def init(target: Path) -> Initialised:
    """Copy the template's part files and README.md into a folder, and overwrite nothing.

    Raises:
        UsageError: The folder cannot be made or written.
        PartError: There is no template.
    """
    template = template_folder()
    names = sorted(path.name for path in template.iterdir() if path.is_file() and _TEMPLATE_FILES.fullmatch(path.name))
    created: list[Path] = []
    kept: list[Path] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            made = _copy_new(template / name, target / name)
            (created if made else kept).append(target / name)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"{target} is a file, not a folder", "Name a folder, for example 'gpt-hw init gpt'.") from None
    except OSError as problem:
        remedy = "Name a folder in which you may write, for example 'gpt-hw init ~/gpt'."
        raise UsageError(f"cannot write in {target} ({problem.strerror})", remedy) from None
    return Initialised(tuple(created), tuple(kept))


def status(folder: Path, parts: Iterable[Part] | Mapping[str, Part]) -> list[PartStatus]:
    """Say how far each part is."""
    results = read_results(folder)
    each = parts.values() if isinstance(parts, Mapping) else parts
    return [_part_status(folder, part, results.get(part.name)) for part in each]


def _copy_new(source: Path, target: Path) -> bool:
    """Copy a file unless the name is taken, even by a dangling link; leave no half of it behind."""
    data = source.read_bytes()
    try:
        file = target.open("xb")
    except FileExistsError:
        return False
    try:
        with file:
            file.write(data)
    except OSError:
        target.unlink(missing_ok=True)
        raise
    return True


def _part_status(folder: Path, part: Part, last: PublicResult | None) -> PartStatus:
    source = find_source(folder, part)
    if source is None:
        return PartStatus(part, Progress.MISSING, last=last)
    unwritten, problem = read_stubs(source)
    if is_untouched(source):
        progress = Progress.NOT_STARTED
    else:
        progress = Progress.IN_PROGRESS if unwritten or problem else Progress.WRITTEN
    return PartStatus(part, progress, source, unwritten, problem, last)
