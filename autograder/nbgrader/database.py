"""Bring what ``gpt-hw grade`` found into nbgrader's gradebook; what a person decided there stays and wins."""

import ast
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import SAWarning

from autograder.errors import UsageError
from autograder.nbgrader.cells import GradeCell, cells_of
from autograder.pipeline import Course
from autograder.records import Check, Outcome, Part
from autograder.report.clean import clean_line

DATABASE = "gradebook.db"
_SIGNS = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.TIMED_OUT: "✗ (out of time)", Outcome.ERROR: "!"}


def bring_in(course: Course, results: Iterable[Mapping[str, Any]], course_dir: Path) -> tuple[list[str], list[str]]:
    """Write scores and comments of every submission.

    Args:
        course: The rules by which the submissions were graded.
        results: The content of each result.json.
        course_dir: nbgrader's course directory.

    Returns:
        A line for each part that was written, and one for each that a person must look at.

    Raises:
        UsageError: There is no gradebook, or a result comes from other suites than those of now.
    """
    path = course_dir / DATABASE
    remedy = "Run 'gpt-hw nbgrader COURSE_DIR' and there 'nbgrader generate_assignment PART' first."
    if not path.is_file():
        raise UsageError(f"There is no {DATABASE} in {course_dir}.", remedy)
    told: list[str] = []
    flags: list[str] = []
    found = sorted(results, key=lambda result: str(result["submission"]))
    for result in found:
        if result["suites"] != course.suites_sha256:
            raise UsageError(
                f"The results of {clean_line(str(result['submission']))} come from other suites than those of now.",
                "Run gpt-hw grade again.",
            )
    with warnings.catch_warnings(), Gradebook(f"sqlite:///{path.absolute()}") as gradebook:
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own words to SQLAlchemy, which has become stricter
        for part in course.parts.values():
            try:
                notebook = gradebook.find_notebook(part.module, part.name)
            except MissingEntry:
                continue
            cells = cells_of(part, [cell.name for cell in notebook.grade_cells])
            _refuse_other_points(part, cells, {cell.name: cell.max_score for cell in notebook.grade_cells})
            solutions = {cell.name for cell in notebook.solution_cells}
            writer = _Writer(gradebook, part, cells, solutions, course.config.hidden_checks)
            graded = [result for result in found if part.name in result["parts"]]
            for result in graded:
                flags += writer.write(str(result["submission"]), result["parts"][part.name])
            told.append(f"{part.name}: {len(graded)} submission{'s' if len(graded) != 1 else ''}")
    if not told:
        raise UsageError(f"The gradebook in {course_dir} knows no part of this course.", remedy)
    return told, flags


class _Writer:
    """Writes the results of one part."""

    def __init__(
        self, gradebook: Any, part: Part, cells: list[GradeCell], solutions: set[str], shown: Collection[str]
    ) -> None:
        self._gradebook = gradebook
        self._part = part
        self._cells = cells
        self._solutions = solutions
        self._shown = frozenset(shown)
        self._sentences = _sentences(part)

    def write(self, student: str, graded: Mapping[str, Any]) -> list[str]:
        """Write one submission, and say what a person must look at."""
        part, gradebook = self._part, self._gradebook
        checks = {check["id"]: check for check in graded["checks"]}
        where = (part.module, part.name, student)
        gradebook.update_or_create_student(student)
        gradebook.update_or_create_submission(part.name, student)
        flags = []
        comments: dict[str, list[str]] = {}
        for cell in self._cells:
            scores = [checks.get(check.id, {}).get("score") for check in cell.checks]
            score = None if any(one is None for one in scores) else float(sum(scores))
            grade = gradebook.find_grade(cell.name, *where)
            is_new = grade.auto_score != score
            grade.auto_score = score
            if score is None and grade.manual_score is None:
                flags.append(f"{clean_line(student)}, {part.name}: {cell.name} is not scored; a person must grade it")
            # A score that a person gave counts; that person should hear when the one beneath it moved.
            if grade.manual_score is None:
                grade.needs_manual_grade = score is None
            elif is_new:
                grade.needs_manual_grade = True
            for check in cell.checks:
                line = self._line(check, checks.get(check.id, {}))
                comments.setdefault(cell.solution, []).append(line)
        for name in self._solutions & comments.keys():
            gradebook.find_comment(name, *where).auto_comment = "\n\n".join(dict.fromkeys(comments[name]))
        if "by_hand" in graded:
            flags.append(
                f"{clean_line(student)}, {part.name}: overrides.csv gives {graded['score']:g} points for the whole "
                "part; the checks' own scores were written, so set it in formgrader too"
            )
        gradebook.db.commit()
        return flags

    def _line(self, check: Check, found: Mapping[str, Any]) -> str:
        """Tell one check in a line, with no more than a student may see of it."""
        may = self._shown if check.hidden else frozenset(("title", "score", "diagnosis", "message"))
        title = check.title if "title" in may else "a hidden check"
        outcome = Outcome(found.get("outcome", Outcome.ERROR))
        if outcome is Outcome.ERROR:
            return f"! not scored: {title}"
        head = f"{_SIGNS[outcome]} {found['score']:g} of {check.points:g}: {title}" if "score" in may else title
        why = self._sentences.get(found.get("mistake") or "", "") if "diagnosis" in may else ""
        if not why and "message" in may and outcome is not Outcome.PASSED:
            why = clean_line(str(found.get("message", "")))
        return f"{head}. {why}" if why and "score" in may else head


def _refuse_other_points(part: Part, cells: Iterable[GradeCell], points: Mapping[str, float]) -> None:
    for cell in cells:
        if points.get(cell.name) != cell.points:
            raise UsageError(
                f"{part.name}: the gradebook has {points.get(cell.name, 'no')} points for {cell.name}, and the suites "
                f"{cell.points:g}.",
                "Run 'gpt-hw nbgrader COURSE_DIR' and 'nbgrader generate_assignment' again.",
            )


def _sentences(part: Part) -> dict[str, str]:
    """Read what a student is told about each mistake, from the text: the catalogue itself would load torch."""
    path = part.folder / "mistakes.py"
    if not path.is_file():
        return {}
    functions = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.FunctionDef)]
    return {node.name: " ".join((ast.get_docstring(node) or "").split()) for node in functions}
