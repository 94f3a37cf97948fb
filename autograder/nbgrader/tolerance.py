"""Take out of nbgrader's way what would stop it at one submission, and tell at the end what a person must grade."""

import contextlib
import glob
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nbgrader.converters.base import NbGraderException

from autograder.intake.folder import list_folder, read_file
from autograder.intake.names import shown
from autograder.intake.text import Unreadable
from autograder.nbgrader.batch import Batch

TIMESTAMP = "timestamp.txt"
TIMESTAMP_LIMIT = 1024  # bytes; a date has some 30


class Tolerance:
    """Changes to one run of nbgrader's converter.

    Args:
        converter: nbgrader's ``Autograde``, not yet at work.
        batch: What the run keeps.
        log: nbgrader's.
    """

    def __init__(self, converter: Any, batch: Batch, log: Any) -> None:
        self._converter = converter
        self._courses = converter.coursedir
        self._batch = batch
        self._log = log

    def install(self) -> None:
        """Make the changes; they last as long as the converter."""
        self._folders = take_every_folder(self._converter, self._courses.submitted_directory, self._modules())
        self._leave_links_alone()
        forgive_timestamps(self._courses, self._log)
        self._converter.convert_notebooks = self._ending_with_the_unscored(self._converter.convert_notebooks)

    def _modules(self) -> dict[str, str]:
        return {part.name: part.module for part in self._batch.course.parts.values()}

    def _leave_links_alone(self) -> None:
        """Keep nbgrader from copying what a link leads to, or from waiting at a pipe."""
        names = set()
        for folder in self._folders:
            for root, _, files in os.walk(folder):
                for name in files:
                    with contextlib.suppress(OSError):
                        if not stat.S_ISREG(os.lstat(os.path.join(root, name)).st_mode):
                            names.add(name)
                            self._log.warning("%s is no plain file and is left alone", shown(os.path.join(root, name)))
        # Formgrader keeps this list from one run to the next.
        self._courses.ignore = list(dict.fromkeys([*self._courses.ignore, *map(glob.escape, sorted(names))]))

    def _ending_with_the_unscored(self, convert: Callable[[], None]) -> Callable[[], None]:
        def convert_notebooks() -> None:
            try:
                convert()
            finally:
                self._batch.close()
            if self._batch.unscored:
                for sentence in self._batch.unscored:
                    self._log.error("%s", sentence)
                message = "A person must grade what is not scored: see formgrader, or run nbgrader autograde --force."
                self._log.error(message)
                raise NbGraderException(message)

        return convert_notebooks


def forgive_timestamps(courses: Any, log: Any) -> None:
    """Let a timestamp that is no date be as good as none.

    nbgrader means to say so and fails at saying it: its object has no such method.

    Args:
        courses: nbgrader's ``CourseDirectory``.
        log: nbgrader's.
    """
    get = courses.get_existing_timestamp
    if "get_existing_timestamp" in vars(courses):  # formgrader keeps the object from one run to the next
        return

    def get_existing_timestamp(dest_path: str) -> Any:
        path = Path(dest_path) / TIMESTAMP
        try:
            if path.exists():
                read_file(path, TIMESTAMP, TIMESTAMP_LIMIT)
            return get(dest_path)
        except (Unreadable, AttributeError, ValueError, OSError, OverflowError):
            log.warning("%s holds no date, so nobody knows when this was handed in", shown(str(path)))
            return None

    courses.get_existing_timestamp = get_existing_timestamp


def take_every_folder(converter: Any, directory: str, modules: Mapping[str, str]) -> list[Path]:
    """Give a converter the assignment's notebook of every student, under whatever name it arrived.

    nbgrader takes what matches a pattern: it passes over a student whose name has brackets, and stops at one whose
    notebook was renamed.

    Args:
        converter: nbgrader's, not yet at work.
        directory: What nbgrader calls the folder that it reads from, such as ``submitted``.
        modules: The module of each part.

    Returns:
        The folders of the students.
    """
    courses = converter.coursedir
    pattern = courses.format_path(directory, courses.student_id, glob.escape(courses.assignment_id))
    folders = sorted(Path(path) for path in glob.glob(pattern) if os.path.isdir(path))
    module = modules.get(courses.assignment_id)
    if module is not None and courses.notebook_id in ("*", module):
        for folder in folders:
            if any(not item.name.endswith(".txt") for item in _items(folder)):
                converter.assignments[str(folder)] = [str(folder / f"{module}.ipynb")]
    return folders


def _items(folder: Path) -> list[Any]:
    try:
        return list_folder(folder).items
    except Unreadable:
        return []
