"""A course directory for nbgrader: what should be in it, what differs, and what is written."""

import difflib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError
from autograder.nbgrader.source import source_notebook
from autograder.pipeline import Course
from autograder.whole_file import write_whole

CONFIG = "nbgrader_config.py"
RECORD = ".gpt-hw.json"  # what we wrote, so that an instructor's edits can be told from an older version of ours
_SHOWN_LINES = 60


@dataclass(frozen=True, slots=True)
class Change:
    """One file that is not as it should be; ``is_edited`` where somebody has changed what we wrote."""

    name: str
    content: bytes
    is_new: bool
    is_edited: bool
    difference: str


def planned_files(course: Course, course_dir: Path) -> dict[str, bytes]:
    """Compute every file of the course directory.

    Args:
        course: The instructors' checkout.
        course_dir: Where nbgrader will work.

    Returns:
        Path below the course directory (with ``/``) to content.
    """
    files = {CONFIG: _config(course, course_dir).encode()}
    for part in course.parts.values():
        text = source_notebook(part, course.config.hidden_checks)
        files[f"source/{part.name}/{part.module}.ipynb"] = text.encode()
    return files


def changes(planned: Mapping[str, bytes], course_dir: Path) -> list[Change]:
    """Compare the course directory with what it should hold."""
    record = _read_record(course_dir)
    found = []
    for name, content in planned.items():
        path = course_dir / name
        old = path.read_bytes() if path.is_file() else None
        if old == content:
            continue
        is_edited = old is not None and _digest(old) != record.get(name)
        found.append(Change(name, content, old is None, is_edited, _difference(name, old or b"", content)))
    return found


def write(planned: Mapping[str, bytes], wanted: list[Change], course_dir: Path) -> None:
    """Write changes, and remember what we wrote.

    Raises:
        UsageError: The folder cannot be written.
    """
    record = _read_record(course_dir)
    written = {change.name for change in wanted}
    try:
        for change in wanted:
            path = course_dir / change.name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, change.content)
        for name, content in planned.items():
            path = course_dir / name
            if name in written or (path.is_file() and path.read_bytes() == content):
                record[name] = _digest(content)
        write_whole(course_dir / RECORD, (json.dumps(record, indent=1, sort_keys=True) + "\n").encode())
    except OSError as error:
        remedy = "Make the folder writable, or choose another one."
        raise UsageError(f"Cannot write {error.filename or course_dir}: {error.strerror}.", remedy) from error


def _read_record(course_dir: Path) -> dict[str, str]:
    try:
        found = json.loads((course_dir / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in found.items()} if isinstance(found, dict) else {}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _difference(name: str, old: bytes, new: bytes) -> str:
    before, after = _readable(name, old), _readable(name, new)
    labels = (f"{name} (there)", f"{name} (from assignments/)")
    lines = list(difflib.unified_diff(before, after, *labels, lineterm="", n=1))
    rest = len(lines) - _SHOWN_LINES
    return "\n".join([*lines[:_SHOWN_LINES], *([f"... and {rest} more lines"] if rest > 0 else [])])


def _readable(name: str, data: bytes) -> list[str]:
    """Give the lines of a file that a person reads: of a notebook, the cells' names and text."""
    text = data.decode("utf-8", errors="replace")
    if not name.endswith(".ipynb"):
        return text.splitlines()
    try:
        lines = []
        for cell in json.loads(text)["cells"]:
            info = cell["metadata"].get("nbgrader", {})
            points = f", {info['points']:g} points" if "points" in info else ""
            lines.append(f"--- {cell['cell_type']} cell {info.get('grade_id', '')}{points}")
            lines += "".join(cell["source"]).splitlines()
        return lines
    except (ValueError, LookupError, TypeError, AttributeError):
        return text.splitlines()


def _config(course: Course, course_dir: Path) -> str:
    name = "".join(character if character.isalnum() else "-" for character in course_dir.name) or "gpt-hw"
    return _CONFIG.format(course_id=name.strip("-") or "gpt-hw", checkout=str(course.root))


_CONFIG = """# Made by 'gpt-hw nbgrader'. Lines of your own may follow; the command never drops them without a word.
import autograder.nbgrader  # nbgrader then finds its alembic, also where no environment is activated

c = get_config()

c.CourseDirectory.course_id = {course_id!r}

# Where assignments/ and grading.yml are: suites, points, limits and what students may see come from there.
c.Checkout.folder = {checkout!r}

# Nothing runs in nbgrader's kernel. A notebook is read by gpt-hw's intake and graded behind its wall; what comes of it
# stands beneath the cells with points, where nbgrader's gradebook and feedback find it.
c.Autograde.exporter_class = "autograder.nbgrader.grading.SubmissionExporter"
c.Autograde.autograde_preprocessors = [
    "autograder.nbgrader.grading.Grade",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.nbgrader.grading.SaveScores",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

c.GenerateFeedback.exporter_class = "autograder.nbgrader.feedback.FeedbackExporter"

# zip_collect reads zips as a stranger's and knows part files by their names, also as learning platforms rename them.
c.ZipCollectApp.extractor_plugin = "autograder.nbgrader.collect.Extractor"
c.ZipCollectApp.collector_plugin = "autograder.nbgrader.collect.Collector"

# A score that is missing through a fault of the grader is exported as an empty cell, never as 0.
c.ExportApp.plugin_class = "autograder.nbgrader.exporting.CsvExport"

# Stubs as students know them from 'gpt-hw init', in place of nbgrader's one stub for everything.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    "autograder.nbgrader.release.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]
"""
