"""One run of ``nbgrader autograde``: what was handed in, read by intake, and the line that grades it."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from autograder.errors import UsageError
from autograder.intake.folder import list_folder
from autograder.intake.names import PartNames, shown
from autograder.intake.notebook import NOTEBOOK_LIMIT, read_notebook
from autograder.intake.text import Unreadable
from autograder.pipeline import Course, Line, open_course
from autograder.records import Part, Submission, SubmissionResult


@dataclass(frozen=True)
class HandedIn:
    """What a student handed in for one part; ``notebook`` has the bytes to show, None where there is none to read."""

    submission: Submission
    notebook: bytes | None
    missing: tuple[str, ...] = ()  # modules that the part may import and that were never handed in


@dataclass
class Batch:
    """What a run of autograde keeps from one notebook to the next.

    Args:
        checkout: The instructors' checkout.
        course_dir: nbgrader's course directory, which no worker may read.
        unscored: What a person must grade because the grader failed, a sentence each.
    """

    checkout: Path
    course_dir: Path
    unscored: list[str] = field(default_factory=list)
    _line: Line | None = None

    @cached_property
    def course(self) -> Course:
        """The course, read once a run."""
        return open_course(self.checkout)

    def part_of(self, notebook: str) -> Part:
        """Find the part that a notebook belongs to.

        Raises:
            UsageError: It is no notebook of this course, so nothing here can grade it.
        """
        for part in self.course.parts.values():
            if part.module == notebook:
                return part
        raise UsageError(
            f"{notebook}.ipynb is no part of this course, and is not graded",
            "keep other assignments in a course directory of their own: here nothing runs in nbgrader's kernel",
        )

    def read(self, student: str, part: Part, folder_of: Callable[[str], Path]) -> HandedIn:
        """Read what a student handed in for one part.

        Args:
            student: The student's name.
            part: The part.
            folder_of: Where nbgrader keeps what the student handed in for a part. Earlier parts that were not handed
                in again with this one are taken from their own folders.
        """
        folder = folder_of(part.name)
        submission = self.course.read(folder, student)
        sources, problems = dict(submission.sources), dict(submission.problems)
        missing = []
        for module in part.needs:
            if module in sources or module in problems:
                continue
            earlier = folder_of(self.course.modules[module])
            read = self.course.read(earlier, student) if earlier.is_dir() else Submission(student)
            if module in read.sources:
                sources[module] = read.sources[module]
            elif module in read.problems:
                problems[module] = read.problems[module]
            else:
                missing.append(module)
        notebook = _notebook_to_show(folder, submission, part)
        return HandedIn(replace(submission, sources=sources, problems=problems), notebook, tuple(missing))

    def grade(self, submission: Submission, part: Part) -> SubmissionResult:
        """Grade one part through the wall.

        Raises:
            SandboxError: No wall holds on this machine.
        """
        if self._line is None:
            line = Line(self.course, secrets=[self.course_dir])
            try:
                line.start()
            except BaseException:
                line.close()
                raise
            self._line = line
        return self._line.grade(submission, [part])

    def close(self) -> None:
        """End the line."""
        if self._line is not None:
            self._line.close()
            self._line = None


def _notebook_to_show(folder: Path, submission: Submission, part: Part) -> bytes | None:
    """Find the notebook that was graded, else one that lies beside the module that was."""
    names = PartNames([part.module])
    with contextlib.suppress(Unreadable):
        found = [item for item in list_folder(folder).items if not item.blocked and item.name.endswith(".ipynb")]
        found = [item for item in found if names.read(item.name) is not None]
        for item in sorted(found, key=lambda item: (shown(item.name) not in submission.sha256, len(item.folder))):
            data = item.read(NOTEBOOK_LIMIT)
            read_notebook(data, item.name)
            return data
    return None
