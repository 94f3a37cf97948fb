"""Feedback pages of made-up results, read as a browser would read them."""

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from autograder.records import Check, CheckResult, Outcome, Part, PartScore, Submission, SubmissionResult
from autograder.report.feedback import feedback_html

PASSED, FAILED, TIMED_OUT, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.ERROR
VOID = {"meta", "link", "br", "img", "hr", "input", "base"}


class Page(HTMLParser):
    """Read a page as a browser would: which elements, which attributes, which text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "elements are nested"

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def make_check(id: str = "test_a", hidden: bool = False, **changes) -> Check:
    check = Check(
        id=id, title=f"Title of {id}.", points=2, exercise="attention", hint=f"Hint of {id}?", hidden=hidden, line=1
    )
    return replace(check, **changes)


def make_score(*results: CheckResult, number: int = 3, weight: float = 1.0) -> PartScore:
    part = Part(
        name=f"part{number}",
        topic="attention",
        module=f"part{number}_attention",
        folder=Path("x"),
        title=f"Title of part {number}",
        version=1,
        checks=tuple(result.check for result in results),
    )
    scores = [result.score for result in results]
    outcomes = [result.outcome for result in results]
    worst = next((outcome for outcome in (ERROR, TIMED_OUT, FAILED) if outcome in outcomes), PASSED)
    score = None if None in scores else sum(score for score in scores if score is not None)
    return PartScore(part, results, score, worst, weight)


def make_result(*scores: PartScore, submission: Submission | None = None, **changes) -> SubmissionResult:
    result = SubmissionResult(
        submission=submission or Submission("ada", sources={score.part.module: "" for score in scores}),
        parts={score.part.name: score for score in scores},
        total=sum((score.score or 0) * score.weight for score in scores),
        max=sum(score.points * score.weight for score in scores),
        flags=("a flag for the instructor",),
        seed=7,
        sandbox=1,
        suites_sha256="s",
        config_sha256="c",
    )
    return replace(result, **changes)


def page_of(*scores: PartScore, show_hidden=(), **changes) -> str:
    return feedback_html(make_result(*scores, **changes), title="Course", show_hidden=show_hidden)


def full_result(check: Check, word: str, outcome: Outcome = FAILED) -> CheckResult:
    """A result whose every text can be told from all others."""
    return CheckResult(
        check,
        outcome,
        message=f"{word}-message",
        diagnosis=f"{word}-diagnosis",
        mistake=f"{word}-mistake",
        traceback=f"{word}-traceback",
        picture=f"{word}-picture",
        printed=f"{word}-printed",
    )


SECRET = make_check("test_secret_id", hidden=True, exercise="secret_exercise", hint="secret-hint", title="secret-title")
