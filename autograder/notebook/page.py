"""What a check cell shows: a table in HTML without scripts, and the same as plain text.

Notebooks show it in a light or a dark theme and take most style sheets away, so every style stands beside its element;
text keeps the theme's colour, and only what brings its own background has a colour of its own.
"""

import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

from autograder.notebook.figure import figure
from autograder.records import CheckResult, Outcome, Part
from autograder.report.clean import clean, clean_line
from autograder.report.grouping import by_exercise, not_written, shared_failure, told
from autograder.report.terminal import print_part

PRINTED_LINES = 20
TEXT_COLUMNS = 100

_GREEN, _RED, _BROWN, _VIOLET, _GREY = "#1b7346", "#b02a2a", "#8a5300", "#5b3fa8", "#62656d"  # white on each: 5 to 1
_BADGES = {
    Outcome.PASSED: ("✓ passed", _GREEN),
    Outcome.FAILED: ("✗ failed", _RED),
    Outcome.TIMED_OUT: ("✗ out of time", _BROWN),
    Outcome.ERROR: ("! not scored", _VIOLET),
}
_TO_DO = ("· to do", _GREY)
_OURS = "The grader failed at this check, not you."
_END = "These are the public checks; hidden ones run when the work is graded. What you hand in is the file: save it."

_LINE = "1px solid rgba(128,128,128,.35)"
_CELL = f"padding:.45em .7em;text-align:left;vertical-align:top;border:0;border-top:{_LINE};white-space:normal;"
_BOX = "margin:.5em 0 0;padding:.5em .75em;border-radius:4px;"
_MONO = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.92em;"
_PRE = f"{_MONO}{_BOX}background:rgba(128,128,128,.13);color:inherit;white-space:pre-wrap;overflow-x:auto;"
_SOFT = "opacity:.75;"


@dataclass
class Page:
    """What came of one check cell.

    ``part`` has the checks that were asked for, None where the cell could not be understood; ``exercises`` is empty
    where the whole part was.
    """

    part: Part | None = None
    results: Sequence[CheckResult] = ()
    notices: Sequence[str] = ()
    exercises: Sequence[str] = ()

    @property
    def is_passed(self) -> bool:
        """Whether everything that was asked for passes."""
        checks = self.part.checks if self.part else ()
        passed = [result for result in self.results if result.outcome is Outcome.PASSED]
        return bool(checks) and len(passed) == len(checks)

    def text(self) -> str:
        """Write it as ``gpt-hw test`` does."""
        from rich.console import Console

        stream = io.StringIO()
        if self.part and self.results:
            # force_jupyter: rich would answer the notebook itself, cell by cell
            console = Console(file=stream, width=TEXT_COLUMNS, color_system=None, highlight=False, force_jupyter=False)
            print_part(console, self.part, self.results)
        return "\n".join([*self.notices, stream.getvalue()]).strip()

    def html(self) -> str:
        """Write it as HTML."""
        pieces = [self._head()] if self.part else []
        pieces += [_notice(text) for text in self.notices]
        if self.part and self.results:
            reason = shared_failure(self.results)
            if reason is not None and not_written(reason, self.part.name) is None:
                pieces.append(_shared(reason, len(self.results)))
            else:
                pieces.append(self._checks(self.part))
        if self.is_passed and not self.exercises:
            pieces.append(f'<div style="{_SOFT}margin-top:.5em">{_END}</div>')
        style = "max-width:60em;margin:.3em 0;font-size:14px;line-height:1.45;color:inherit;"
        return f'<div style="{style}">{"".join(pieces)}</div>'

    def _head(self) -> str:
        part = self.part
        assert part is not None
        passed = [result for result in self.results if result.outcome is Outcome.PASSED]
        about = ", ".join(self.exercises) or clean_line(part.title)
        points = f"{sum(result.score or 0 for result in passed):g} of {sum(c.points for c in part.checks):g} points"
        count = f"{len(passed)} of {len(part.checks)} public checks pass"
        colour = _GREEN if self.is_passed else _GREY
        return (
            '<div style="padding:0 0 .45em">'
            f"{_badge(count, colour)}&ensp;<b>{escape(part.name)} · {escape(about)}</b> "
            f'<span style="{_SOFT}white-space:nowrap">· {points}</span></div>'
        )

    def _checks(self, part: Part) -> str:
        rows = _Rows(part)
        groups = by_exercise(self.results)
        for exercise, group in groups.items():
            if len(groups) > 1:
                rows.name(exercise)
            rows.add(exercise, group)
        return _table(rows.text)


class _Rows:
    """The rows of a table, which say nothing twice."""

    def __init__(self, part: Part) -> None:
        self.text = ""
        self._part = part
        self._told: dict[tuple[str, ...], str] = {}  # what a check said -> its title
        self._above: set[str] = set()  # diagnoses and tracebacks

    def name(self, exercise: str) -> None:
        """Write the name of an exercise over its checks."""
        name = f'<code style="{_MONO}background:none;padding:0;color:inherit">{escape(exercise)}</code>'
        self.text += f'<tr style="background:none"><th colspan="3" style="{_CELL}">{name}</th></tr>'

    def add(self, exercise: str, group: Sequence[CheckResult]) -> None:
        """Write the checks of one exercise; those that fail because something is not written yet take one row."""
        stubs: dict[str, list[CheckResult]] = {}
        for result in group:
            stub = not_written(result, self._part.name)
            if stub is None:
                self._add(result)
            else:
                stubs.setdefault(stub, []).append(result)
        for stub, results in stubs.items():
            count = "1 check" if len(results) == 1 else f"{len(results)} checks"
            title = f"{clean_line(exercise)}: {clean_line(stub)} ({count})"
            self.text += _row(*_TO_DO, title, f"0 of {sum(result.check.points for result in results):g}", "")

    def _add(self, result: CheckResult) -> None:
        title = clean_line(result.check.title)
        words = told(result) if result.outcome is not Outcome.PASSED else ()
        if words in self._told:
            details = _paragraph(f"The same as at: {self._told[words]}", _SOFT)
        else:
            details = _details(result, self._above)
        if words:
            self._told.setdefault(words, title)
        self._above |= {result.diagnosis, result.traceback}
        earned = "–" if result.score is None else f"{result.score:g}"  # noqa: RUF001  # as wide as a digit
        self.text += _row(*_BADGES[result.outcome], title, f"{earned} of {result.check.points:g}", details)


def _row(word: str, colour: str, title: str, points: str, details: str) -> str:
    weight = "font-weight:600;" if details else ""
    return (
        '<tr style="background:none">'
        f'<td style="{_CELL}width:1%;white-space:nowrap">{_badge(word, colour)}</td>'
        f'<td style="{_CELL}"><div style="{weight}">{escape(title)}</div>{details}</td>'
        f'<td style="{_CELL}width:1%;white-space:nowrap;text-align:right">{points}</td></tr>'
    )


def _badge(word: str, colour: str) -> str:
    style = "display:inline-block;padding:.05em .65em;border-radius:1em;color:#fff;font-size:.88em;font-weight:600;"
    return f'<span style="{style}background:{colour};white-space:nowrap">{escape(word)}</span>'


def _shared(reason: CheckResult, count: int) -> str:
    """Write once what all checks say."""
    word, colour = _BADGES[reason.outcome]
    return _table(_row(word, colour, f"All {count} checks end in the same way", "", _details(reason, hint=False)))


def _table(rows: str) -> str:
    style = "border-collapse:collapse;width:100%;margin:0;table-layout:auto;font-size:inherit;"
    return f'<table style="{style}"><tbody>{rows}</tbody></table>'


def _notice(text: str) -> str:
    style = f"{_BOX}margin:0 0 .5em;background:rgba(230,160,30,.18);border-left:3px solid #c98a1b;white-space:pre-line;"
    return f'<div style="{style}">{escape(clean(text))}</div>'


def _details(result: CheckResult, above: Collection[str] = (), *, hint: bool = True) -> str:
    """Write what a check that did not pass has to tell, apart from diagnoses and tracebacks that stand above."""
    if result.outcome is Outcome.PASSED:
        return ""
    pieces = [_paragraph(_OURS)] if result.outcome is Outcome.ERROR else []
    pieces += [_paragraph(clean(result.message))] if result.message else []
    if result.diagnosis:
        style = f"{_BOX}background:rgba(230,160,30,.18);white-space:pre-line;"
        diagnosis = "the same mistake as above." if result.diagnosis in above else escape(clean(result.diagnosis))
        pieces.append(f'<div style="{style}"><b>What this looks like:</b> {diagnosis}</div>')
    if hint and result.check.hint:
        pieces.append(_paragraph(f"Think: {clean(result.check.hint)}", "font-style:italic;"))
    if result.picture:
        text = clean(result.picture)
        pieces.append(figure(text) or f'<pre style="{_PRE}line-height:1.2;white-space:pre">{escape(text)}</pre>')
    if result.traceback in above and result.traceback:
        pieces.append(_paragraph("The same error in the same line as above.", _SOFT))
    elif result.traceback:
        pieces.append(f'<pre style="{_PRE}">{escape(clean(result.traceback, keep="tail"))}</pre>')
    if result.printed:
        printed = escape(clean(result.printed, lines=PRINTED_LINES, keep="tail"))
        summary = f'<summary style="{_SOFT}cursor:pointer">What your code printed</summary>'
        pieces.append(f'<details style="margin-top:.5em">{summary}<pre style="{_PRE}">{printed}</pre></details>')
    return "".join(pieces)


def _paragraph(text: str, style: str = "") -> str:
    return f'<div style="margin-top:.35em;white-space:pre-line;overflow-wrap:anywhere;{style}">{escape(text)}</div>'
