"""What ``nbgrader zip_collect`` does with downloads: zips are read as a stranger's, part files found by their names."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from autograder.intake.archive import open_archive
from autograder.intake.names import PartNames, shown, submission_name
from autograder.intake.notebook import NOTEBOOK_LIMIT
from autograder.intake.text import Unreadable
from autograder.nbgrader.settings import Checkout
from autograder.parts import load_parts
from autograder.whole_file import write_whole

# What a learning platform writes behind a name: name_12_345_ (Canvas), name_12_assignsubmission_file_ (Moodle)
_PLATFORM = re.compile(r"(?P<student>.+?)_(?:[0-9]+_[0-9]+|[0-9]+_assignsubmission_file)(?:_.*)?", re.DOTALL)


def student_of(name: str) -> str:
    """Read whose a zip, a folder or a loose file is.

    Args:
        name: Without its ending, and without a part file's own name.
    """
    found = _PLATFORM.fullmatch(name)
    return (found["student"] if found else name).strip()


class _Parts(Checkout):
    def part_names(self) -> PartNames:
        return PartNames(part.module for part in load_parts(self.checkout / "assignments", hidden=False).values())


class Extractor(ExtractorPlugin, _Parts):  # type: ignore[misc]
    """Unpack part files and nothing else; a zip that cannot be read is named and left, and the others go on."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack or copy what was downloaded.

        Args:
            archive_path: The folder of downloads.
            extracted_path: Where the files go, a folder for each student.
        """
        names = self.part_names()
        for path in _plain_files(Path(archive_path)):
            inside = path.relative_to(archive_path)
            target = Path(extracted_path) / inside.parent
            try:
                if path.suffix.lower() == ".zip":
                    self._unpack(path, target / student_of(submission_name(path)), names)
                else:
                    target.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target / path.name)
            except (Unreadable, OSError) as error:
                self.log.error("%s is not collected: %s", shown(str(inside)), error)

    def _unpack(self, path: Path, target: Path, names: PartNames) -> None:
        with open_archive(path) as listing:
            for item in listing.items:
                if item.blocked:
                    self.log.warning("%s: %s is left out: %s", shown(path.name), item.path, item.blocked)
                elif names.read(item.name) is not None:
                    folder = target.joinpath(*item.folder)
                    folder.mkdir(parents=True, exist_ok=True)
                    write_whole(folder / item.name, item.read(NOTEBOOK_LIMIT))


class Collector(FileNameCollectorPlugin, _Parts):  # type: ignore[misc]
    """Find each student's part files among what was unpacked; of several copies the newest, as grade does."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Tell nbgrader whose a file is and what it is called; None where it is not taken."""
        path = Path(submitted_file)
        root = self._root(path)
        if not hasattr(self, "_chosen"):
            self._names = self.part_names()
            self._chosen = _newest(root, self._names)
        for (student, module, _), chosen in self._chosen.items():
            if chosen == path:
                return {"student_id": student, "file_id": module}
        return None

    def _root(self, path: Path) -> Path:
        """Find the folder that everything was unpacked into."""
        application: Any = self.parent
        wanted = application.extracted_directory
        return next((folder for folder in path.parents if folder.name == wanted), path.parent)


def _newest(root: Path, names: PartNames) -> Mapping[tuple[str, str, str], Path]:
    """Choose one file for each student and part file: the shallowest, then the newest copy."""
    found: dict[tuple[str, str, str], tuple[tuple[Any, ...], Path]] = {}
    for path in _plain_files(root):
        name = names.read(path.name)
        if name is None:
            continue
        folders = path.relative_to(root).parts[:-1]
        start = path.name.lower().rindex(name.module.lower())
        loose = path.name[:start].rstrip("_ ")
        student = student_of(folders[0] if folders else loose)
        if not student:
            continue
        rank = (-len(folders), name.copy)
        key = (student, name.module, name.kind)
        if key not in found or rank > found[key][0]:
            found[key] = (rank, path)
    return {key: path for key, (_, path) in found.items()}


def _plain_files(root: Path) -> Iterator[Path]:
    """Go through the plain files below a folder, in order of names; no link is followed."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path
