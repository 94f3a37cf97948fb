"""What ``nbgrader export`` writes: nbgrader's columns, with no number where a person must still look."""

import csv
from collections.abc import Iterator
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.plugins import ExportPlugin

COLUMNS = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
    "flag",
)


class CsvExport(ExportPlugin):  # type: ignore[misc]
    """nbgrader's own table counts what has no score as 0; here it stays empty, and a flag says why."""

    def export(self, gradebook: Any) -> None:
        """Write the table.

        Args:
            gradebook: nbgrader's.
        """
        path = self.to or "grades.csv"
        self.log.info("Exporting grades to %s", path)
        with open(path, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self._rows(gradebook))

    def _rows(self, gradebook: Any) -> Iterator[dict[str, Any]]:
        names, students = set(map(str, self.assignment)), set(map(str, self.student))
        for assignment in gradebook.assignments:
            for student in gradebook.students:
                if (not names or assignment.name in names) and (not students or student.id in students):
                    yield self._row(gradebook, assignment, student)

    def _row(self, gradebook: Any, assignment: Any, student: Any) -> dict[str, Any]:
        row = {name: getattr(student, name) for name in ("last_name", "first_name", "email")}
        row |= {"assignment": assignment.name, "duedate": assignment.duedate, "max_score": assignment.max_score}
        row |= {"student_id": student.id, "late_submission_penalty": 0.0, "raw_score": 0.0, "score": 0.0}
        try:
            submission = gradebook.find_submission(assignment.name, student.id)
        except MissingEntry:
            return {**row, "flag": "not handed in"}
        unscored, ungraded = _open_grades(submission)
        penalty = submission.late_submission_penalty or 0.0
        row |= {"timestamp": submission.timestamp, "late_submission_penalty": penalty}
        if unscored:
            self.log.warning("%s, %s: no score, since %s", student.id, assignment.name, ", ".join(unscored))
            row |= {"raw_score": None, "score": None}
        else:
            row |= {"raw_score": submission.score, "score": max(0.0, submission.score - penalty)}
        return {**row, "flag": "; ".join([*unscored, *([f"to grade by hand: {ungraded}"] if ungraded else [])])}


def _open_grades(submission: Any) -> tuple[list[str], int]:
    """Say which checks have no score through a fault of the grader, and count the answers nobody has graded yet."""
    unscored, ungraded = [], 0
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            if grade.auto_score is None and grade.manual_score is None:
                if grade.cell.cell_type == "code":
                    unscored.append(f"{grade.name} is not scored")
                else:
                    ungraded += 1
    return unscored, ungraded
