"""feedback.html: one self-contained page for a student, with nothing on it that could act or tell too much."""

import base64
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from autograder.errors import UsageError
from autograder.records import CheckResult, Outcome, PartScore, SubmissionResult
from autograder.report.clean import clean, clean_line
from autograder.report.grouping import by_exercise, not_written, shared_failure
from autograder.report.standing import number, standing_html

if TYPE_CHECKING:
    from jinja2 import Template

SHOWABLE = frozenset({"title", "score", "diagnosis", "hint", "message"})
PRINTED_LINES = 80

_WORDS = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "out of time",
    Outcome.ERROR: "not scored",
}
_PART_WORDS = {
    Outcome.PASSED: "all pass",
    Outcome.FAILED: "not all pass",
    Outcome.TIMED_OUT: "out of time",
    Outcome.ERROR: "not scored",
}
_SYMBOLS = {"passed": "✓", "failed": "✗", "timed_out": "✗", "error": "!", "unknown": "·", "unwritten": "·"}


@dataclass(frozen=True, slots=True)
class _CheckView:
    """One line of the page and what unfolds beneath it; an empty text is not shown."""

    title: str
    kind: str  # an outcome, "unwritten" or "unknown": it picks colour and symbol
    word: str
    points: str
    message: str = ""
    diagnosis: str = ""
    hint: str = ""
    picture: str = ""
    traceback: str = ""
    printed: str = ""

    @property
    def symbol(self) -> str:
        """The sign that stands beside the word."""
        return _SYMBOLS[self.kind]

    @property
    def has_body(self) -> bool:
        """Tell whether anything stands beneath the line."""
        texts = (self.message, self.diagnosis, self.hint, self.picture, self.traceback, self.printed)
        return self.kind == "error" or any(texts)

    def bare(self) -> "_CheckView":
        """Leave only the line."""
        return replace(self, message="", diagnosis="", hint="", picture="", traceback="", printed="")


@dataclass(frozen=True, slots=True)
class PartView:
    """One part on the page."""

    name: str
    number: int
    title: str
    kind: str
    word: str
    score: str
    points: str
    weighted: str
    percent: float
    notice: str
    notice_traceback: str
    groups: dict[str, list[_CheckView]] = field(default_factory=dict)

    @property
    def symbol(self) -> str:
        """The sign that stands beside the word."""
        return _SYMBOLS[self.kind]


def feedback_html(result: SubmissionResult, *, title: str, show_hidden: Collection[str]) -> str:
    """Write the feedback page of one submission.

    The page needs no other file and no network, runs no script, and a strict Content-Security-Policy keeps it so
    even if a text from a submission should ever escape its escaping.

    Args:
        result: The graded submission.
        title: What stands at the head, for example the name of the course.
        show_hidden: What a student may see of hidden checks, out of ``SHOWABLE``. Without ``title`` they are
            called "a hidden check", without ``score`` neither outcome nor points are shown, and their traceback,
            picture and printed text come with ``message`` only. Unknown words allow nothing.

    Returns:
        The HTML text.

    Raises:
        UsageError: jinja2 is not installed.
    """
    allowed = frozenset(show_hidden) & SHOWABLE
    parts = [part_view(score, result, allowed) for score in result.parts.values()]
    style = files("autograder.report").joinpath("feedback.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return _template().render(
        title=clean_line(title),
        submission=clean_line(result.submission.name),
        style=style,
        style_sha256=digest,
        parts=parts,
        standing=standing_html(result.total, result.max, [one.number for one in parts if one.kind == Outcome.ERROR]),
        is_weighted=any(score.weight != 1 for score in result.parts.values()),
    )


@cache
def _template() -> "Template":
    """Load the template; jinja2 is imported only where a page is written, students need not have it."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise UsageError("Feedback pages need jinja2.", "Run: pip install 'gpt-hw[instructor]'") from error
    loader = PackageLoader("autograder.report", package_path="")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("feedback.html.jinja")


def part_view(score: PartScore, result: SubmissionResult, allowed: frozenset[str]) -> PartView:
    """Prepare one part."""
    part = score.part
    public = [check for check in score.results if not check.check.hidden]
    notice, notice_traceback = _notice(score, result, public)
    groups = _groups(score, allowed)
    if notice:
        groups = {name: [view.bare() for view in views] for name, views in groups.items()}
    earned = score.score
    weighted = None if earned is None else earned * score.weight
    missing = score.outcome is Outcome.FAILED and _is_missing(score, result)
    return PartView(
        name=part.name,
        number=part.number,
        title=clean_line(part.title),
        kind=score.outcome.value,
        word="not handed in" if missing else _PART_WORDS[score.outcome],
        score=_points(earned),
        points=number(score.points),
        weighted=f"{_points(weighted)} of {number(score.points * score.weight)}",
        percent=0.0 if earned is None or score.points <= 0 else round(100 * earned / score.points, 1),
        notice=notice,
        notice_traceback=notice_traceback,
        groups=groups,
    )


def _notice(score: PartScore, result: SubmissionResult, public: Sequence[CheckResult]) -> tuple[str, str]:
    """Say once, with a traceback if there is one, what holds for the whole part, for example a missing file."""
    module = score.part.module
    reason = shared_failure(public)
    if module in result.submission.problems:
        return clean(result.submission.problems[module]), ""
    if _is_missing(score, result):
        return f"{module}.py was not in what you handed in, so none of its checks could pass.", ""
    if reason is None or reason.outcome is Outcome.ERROR or not_written(reason, score.part.name):
        return "", ""
    return clean(reason.message), clean(reason.traceback)


def _is_missing(score: PartScore, result: SubmissionResult) -> bool:
    """Tell whether the file of a part was not handed in at all."""
    submission = result.submission
    return score.part.module not in submission.sources and score.part.module not in submission.problems


def _groups(score: PartScore, allowed: frozenset[str]) -> dict[str, list[_CheckView]]:
    """Prepare the lines of a part by exercise; hidden checks without a title come last, under no exercise."""
    groups: dict[str, list[_CheckView]] = {}
    named = [result for result in score.results if not result.check.hidden or "title" in allowed]
    for exercise, results in by_exercise(named).items():
        stubs: dict[str, list[CheckResult]] = {}
        views = groups.setdefault(clean_line(exercise), [])
        for result in results:
            sees_why = not result.check.hidden or {"message", "score"} <= allowed
            stub = not_written(result, score.part.name) if sees_why else None
            if stub is None:
                views.append(_check_view(result, allowed))
            else:
                stubs.setdefault(stub, []).append(result)
        views += [_stub_view(stub, results) for stub, results in stubs.items()]
    unnamed = [
        _check_view(result, allowed) for result in score.results if result.check.hidden and "title" not in allowed
    ]
    if unnamed:
        groups["Hidden checks"] = _merged(unnamed)
    return groups


def _stub_view(stub: str, results: Sequence[CheckResult]) -> _CheckView:
    """Tell once that the exercise of several checks is not written."""
    points = number(sum(result.check.points for result in results))
    count = "1 check" if len(results) == 1 else f"{len(results)} checks"
    return _CheckView(title=f"{clean_line(stub)} ({count})", kind="unwritten", word="to do", points=f"0 of {points}")


def _check_view(result: CheckResult, allowed: frozenset[str]) -> _CheckView:
    """Prepare one check, with no more than a student may see of it."""
    check = result.check
    may = allowed if check.hidden else SHOWABLE
    passed, error = result.outcome is Outcome.PASSED, result.outcome is Outcome.ERROR
    view = _CheckView(
        title=clean_line(check.title) if "title" in may else "a hidden check",
        kind=result.outcome.value if "score" in may or error else "unknown",
        word=_WORDS[result.outcome] if "score" in may or error else "not shown",
        points=f"{_points(result.score)} of {number(check.points)}" if "score" in may else "",
    )
    if error:  # what the grader says about its own failure is for the instructor, not for the student
        return view
    return replace(
        view,
        message=clean(result.message) if "message" in may and not passed else "",
        diagnosis=clean(result.diagnosis) if "diagnosis" in may and not passed else "",
        hint=clean(check.hint) if "hint" in may and not passed else "",
        picture=clean(result.picture) if "message" in may and not passed else "",
        traceback=clean(result.traceback) if "message" in may and not passed else "",
        printed=clean(result.printed, lines=PRINTED_LINES, keep="tail") if "message" in may else "",
    )


def _merged(views: Sequence[_CheckView]) -> list[_CheckView]:
    """Tell hidden checks that look alike in one line: ``a hidden check x 4``."""
    counts: dict[_CheckView, int] = {}
    for view in views:
        counts[view] = counts.get(view, 0) + 1
    merged = []
    for view, count in counts.items():
        each = f"{view.points} each" if view.points else ""
        merged.append(view if count == 1 else replace(view, title=f"{view.title} × {count}", points=each))  # noqa: RUF001
    return merged


def _points(score: float | None) -> str:
    """Write a score; a dash, never 0, where there is none."""
    return "–" if score is None else number(score)  # noqa: RUF001  # an en dash is as wide as a digit
