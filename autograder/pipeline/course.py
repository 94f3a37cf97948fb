"""An instructors' checkout, read once: policy, parts, and the solutions that a diagnosis replays."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from autograder.config import Config, load_config
from autograder.errors import PartError, UsageError
from autograder.intake import read_submission
from autograder.parts import course_root, find_parts, load_parts, suites_sha256, template_folder
from autograder.records import Part, Submission


@dataclass(frozen=True)
class Course:
    """Everything that decides a score, apart from the submission."""

    root: Path
    config: Config
    parts: Mapping[str, Part]

    @cached_property
    def suites_sha256(self) -> str:
        """Digest of all suites."""
        return suites_sha256(self.parts)

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """Module -> name of its part."""
        return {part.module: part.name for part in self.parts.values()}

    @cached_property
    def sources(self) -> Mapping[str, str]:
        """Module -> text of our own solution; the markers in it are comments."""
        files = {part.module: part.folder / f"{part.module}.py" for part in self.parts.values()}
        return {module: path.read_text(encoding="utf-8") for module, path in files.items()}

    @cached_property
    def templates(self) -> Mapping[str, str]:
        """Module -> the text that students were given, where there is one."""
        try:
            folder = template_folder()
        except PartError:
            return {}
        files = {part.module: folder / f"{part.module}.py" for part in self.parts.values()}
        return {module: path.read_text(encoding="utf-8") for module, path in files.items() if path.is_file()}

    def read(self, path: Path, name: str) -> Submission:
        """Read a submission, and call it by the name that is unique among those graded with it."""
        return replace(read_submission(path, self.modules, self.templates), name=name)

    def select(self, words: str | Iterable[str] | None) -> list[Part]:
        """Return the parts that are asked for, all where none is named."""
        return list(self.parts.values()) if words is None else find_parts(words, self.parts)


def open_course(start: Path) -> Course:
    """Find the checkout around a folder and read it.

    Args:
        start: Usually the current folder.

    Raises:
        UsageError: There is no course around it.
        ConfigError: grading.yml cannot be followed.
        PartError: A part's folder cannot be followed.
    """
    root = course_root(start)
    if root is None:
        raise UsageError(
            f"there is no course in {start} or above it (a folder with grading.yml and assignments/)",
            "change to the instructors' checkout; students use gpt-hw test",
        )
    parts = load_parts(root / "assignments")
    return Course(root, load_config(root / "grading.yml", parts=parts), parts)
