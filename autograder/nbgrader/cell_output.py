"""What stands beneath a cell with a score: its checks, as far as the policy of the term shows them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from autograder.nbgrader.cells import GradeCell
from autograder.records import CheckResult, Outcome, Part, SubmissionResult
from autograder.report.feedback import SHOWABLE, part_view
from autograder.scoring import score_part

if TYPE_CHECKING:
    from jinja2 import Template

# Dark enough on white and light enough on black: a notebook may be shown on either.
_COLOURS = {
    "passed": "#1a7f37",
    "failed": "#cf222e",
    "timed_out": "#cf222e",
    "error": "#9a6700",
    "unknown": "#6e7781",
    "unwritten": "#6e7781",
}


def cell_output(
    cell: GradeCell, part: Part, results: Sequence[CheckResult], result: SubmissionResult, shown: Collection[str]
) -> Any:
    """Make the output of one cell; its plain text is the number that nbgrader reads the score from.

    Args:
        cell: Which checks.
        part: The part that they belong to.
        results: What came of the part's checks.
        result: The graded submission.
        shown: What a student may see of a hidden check.
    """
    from nbformat.v4 import new_output

    names = {check.id for check in cell.checks}
    own = [one for one in results if one.check.id in names]
    score = score_part(replace(part, checks=cell.checks), own, 1.0)
    view = part_view(score, result, frozenset(shown) & SHOWABLE)
    page = _template().render(part=view, colours=_COLOURS)
    if score.outcome is Outcome.ERROR:
        return new_output("display_data", data={"text/html": page, "text/plain": "not scored"})  # type: ignore[no-untyped-call]
    # Not a stream and no error: nbgrader takes those for a failure of the whole cell.
    data = {"text/html": page, "text/plain": repr(float(score.score or 0.0))}
    return new_output("execute_result", data=data, execution_count=None)  # type: ignore[no-untyped-call]


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("autograder.nbgrader", package_path="")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("cell.html.jinja")
