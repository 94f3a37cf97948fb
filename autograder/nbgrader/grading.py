"""What runs inside ``nbgrader autograde``: nbgrader reads, stores and shows; the wall grades.

``SubmissionExporter`` stands where nbgrader reads a notebook, ``Grade`` where its kernel would run it, ``SaveScores``
where it writes the gradebook.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_markdown_cell
from nbgrader import preprocessors
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.errors import GptHwError, PartError
from autograder.nbgrader import recover
from autograder.nbgrader.batch import Batch, HandedIn
from autograder.nbgrader.cell_output import cell_output
from autograder.nbgrader.cells import cells_of, nbgrader_of
from autograder.nbgrader.settings import Checkout
from autograder.nbgrader.tolerance import Tolerance
from autograder.records import Part, SubmissionResult
from autograder.report.clean import clean_line

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
NOTE_CHARACTERS = 500
NOTE = "gpt-hw-note"  # tag of the cell that says what was noticed


class SubmissionExporter(NotebookExporter, Checkout):
    """Read a submission as intake reads it, and give nbgrader a sound notebook in its place."""

    def __init__(self, config: Any = None, **kw: Any) -> None:
        super().__init__(config=config, **kw)  # type: ignore[no-untyped-call]
        self.batch: Batch | None = None
        self._last: tuple[Path, HandedIn] | None = None
        if isinstance(self.parent, Autograde):
            self.batch = Batch(self.checkout, Path(self.parent.coursedir.root))
            Tolerance(self.parent, self.batch, self.log).install()

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> tuple[Any, Any]:
        """Read a notebook; one that was handed in is mended first."""
        folder = Path(filename).parent
        if self.batch is None or folder != self.folder_of(resources):
            read: tuple[Any, Any] = super().from_filename(filename, resources, **kw)
            return read
        info = resources["nbgrader"]
        part = self.batch.part_of(info["notebook"])
        handed_in = self.handed_in(resources, part)
        with Gradebook(info["db_url"]) as gradebook:
            known = recover.known_cells(gradebook.find_notebook(info["notebook"], info["assignment"]))
        if handed_in.notebook is None:
            notebook, told = recover.blank(known, KERNELSPEC)
        else:
            notebook, told = recover.mend(handed_in.notebook, known, KERNELSPEC)
        notes = [*_problems(handed_in, part), *handed_in.submission.warnings, *told]
        for note in notes:
            self.log.warning("%s, %s: %s", info["student"], part.name, clean_line(note))
        if notes:
            notebook.cells.insert(0, _note(notes))
        resources["metadata"] = {"name": info["notebook"], "path": str(folder)}
        made: tuple[Any, Any] = self.from_notebook_node(notebook, resources, **kw)  # type: ignore[no-untyped-call]
        return made

    def folder_of(self, resources: Any, assignment: str = "") -> Path:
        """Give where nbgrader keeps what a student handed in for an assignment."""
        converter: Any = self.parent
        info, courses = resources["nbgrader"], converter.coursedir
        name = assignment or info["assignment"]
        return Path(courses.format_path(courses.submitted_directory, info["student"], name))

    def handed_in(self, resources: Any, part: Part) -> HandedIn:
        """Read a submission, once for both of nbgrader's passes over it."""
        assert self.batch is not None
        folder = self.folder_of(resources)
        if self._last is None or self._last[0] != folder:
            places = {part.name: folder}
            read = self.batch.read(
                resources["nbgrader"]["student"],
                part,
                lambda name: places.get(name) or self.folder_of(resources, name),
            )
            self._last = (folder, read)
        return self._last[1]


class Grade(NbGraderPreprocessor):  # type: ignore[misc]
    """Grade the notebook through the wall and put scores and messages beneath the cells that carry them."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade one notebook."""
        exporter = self.parent
        if not isinstance(exporter, SubmissionExporter) or exporter.batch is None:
            raise GptHwError("Grade works inside nbgrader autograde with SubmissionExporter", "see nbgrader_config.py")
        batch, info = exporter.batch, resources["nbgrader"]
        part = batch.part_of(info["notebook"])
        result = batch.grade(exporter.handed_in(resources, part).submission, part)
        for flag in result.flags:
            self.log.warning("%s: %s", info["student"], clean_line(flag))
        points = {name: meta["points"] for name, meta in _scored(nb).items()}
        shown = batch.course.config.hidden_checks
        _put_results(nb, part, points, result, shown)
        return nb, resources


class SaveScores(preprocessors.SaveAutoGrades):  # type: ignore[misc]
    """nbgrader's preprocessor; only a cell that the grader failed on is left to a person, without a number."""

    def _add_score(self, cell: Any, resources: Any) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        if cell.cell_type != "code" or any(output.output_type == "execute_result" for output in cell.outputs):
            super()._add_score(cell, resources)
            return
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        grade.auto_score, grade.needs_manual_grade = None, True
        self.gradebook.db.commit()
        why = "the grader failed" if cell.outputs else "it is no cell of the course's, and nothing here can run it"
        sentence = f"{self.student_id}, {self.notebook_id}: {name} is not scored: {why}"
        self.log.error("%s", sentence)
        self.parent.batch.unscored.append(sentence)


def _scored(nb: Any) -> dict[str, Mapping[str, Any]]:
    """Give nbgrader's metadata of the cells that the wall scores, by name."""
    found = {}
    for cell in nb.cells:
        info = nbgrader_of(cell)
        if info.get("grade") is True and not info.get("solution") and cell.cell_type == "code":
            found[str(info["grade_id"])] = info
    return found


def _put_results(
    nb: Any, part: Part, points: Mapping[str, float], result: SubmissionResult, shown: Sequence[str]
) -> None:
    """Write each result beneath its cell.

    Raises:
        PartError: The notebook was given out with other checks than the suites now have.
    """
    outputs = {}
    for one in cells_of(part, points):
        if points.get(one.name) != one.points:
            raise PartError(
                f"{part.name}: the cell {one.name} was given out with {points.get(one.name, 'no')} points, "
                f"and the suites now have {one.points:g} for it",
                "Run 'gpt-hw nbgrader COURSE_DIR' and 'nbgrader generate_assignment' again, or take those suites back.",
            )
        outputs[one.name] = cell_output(one, part, result.parts[part.name].results, result, shown)
    for cell in nb.cells:
        if cell.cell_type == "code":
            name = nbgrader_of(cell).get("grade_id")
            cell.outputs = [outputs[name]] if name in outputs else []


def _problems(handed_in: HandedIn, part: Part) -> list[str]:
    """Say what kept a part from being taken, and which earlier parts are nowhere."""
    submission = handed_in.submission
    found = [submission.problems[module] for module in (part.module, *part.needs) if module in submission.problems]
    if part.module not in submission.sources and part.module not in submission.problems:
        found.append(f"there is no {part.module}.ipynb in what was handed in")
    return [*found, *(f"{module} was not handed in, and this part may import it" for module in handed_in.missing)]


def _note(notes: Sequence[str]) -> Any:
    """Say at the head of the notebook what was noticed; as text, since it may quote a student's words."""
    lines = "\n".join(f"    {clean_line(note, characters=NOTE_CHARACTERS)}" for note in notes)
    text = f"**What was noticed about this notebook**\n\n{lines}"
    return new_markdown_cell(text, metadata={"tags": [NOTE]})  # type: ignore[no-untyped-call]
