"""What ``gpt-hw`` prints: the checks of a part, and a gradebook.

Everything goes through rich's Text objects, so brackets in a student's text are never taken for markup, and
through ``clean``, so escape sequences never reach the terminal.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.records import CheckResult, Outcome, Part
from autograder.report.clean import clean, clean_line
from autograder.report.grouping import by_exercise, not_written, shared_failure, told

PRINTED_LINES = 10  # what a student's code wrote last is what they look for
TRACEBACK_LINES = 30
PICTURE_LINES = 40
DETAIL_COLUMN = 6  # details stand under the title, past the symbol
NAMES_IN_A_LINE = 3  # of submissions that left out the same parts; the gradebook has all
NARROWEST_COLUMNS = 20  # below this, wrapping makes a text harder to read rather than easier

_SYMBOLS = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.TIMED_OUT: "✗", Outcome.ERROR: "!"}
_STYLES = {Outcome.PASSED: "green", Outcome.FAILED: "red", Outcome.TIMED_OUT: "red", Outcome.ERROR: "magenta"}
_SUFFIXES = {Outcome.TIMED_OUT: "  (out of time)", Outcome.ERROR: "  (not scored: the grader failed, not you)"}
_ASCII = str.maketrans(
    {"✓": "ok", "✗": "x", "·": "-", "→": "->", "…": "...", "–": "-", "—": "-", "×": "x", "√": "sqrt", "≤": "<="}  # noqa: RUF001
    | {"≥": ">=", "≠": "!=", "‘": "'", "’": "'", "“": '"', "”": '"', "│": "|", "─": "-"}  # noqa: RUF001
    | {"░": ".", "▒": "+", "▓": "*", "█": "#", "■": "#", "□": "."}
)


def print_part(console: Console, part: Part, results: Sequence[CheckResult]) -> None:
    """Print what came of the checks of one part, exercise by exercise, and the sum.

    Args:
        console: Where to print; without UTF-8 only ASCII is written, without a terminal no colour.
        part: The part.
        results: What came of its checks, in the order of the suites.
    """
    page = _Page(console)
    page.say(Text(f"{part.name} · {clean_line(part.title)}", style="bold"))
    page.gap()
    reason = shared_failure(results)
    if reason is not None and not_written(reason, part.name) is None:
        _print_shared(page, reason, len(results))
    else:
        seen: dict[tuple[str, ...], str] = {}
        for exercise, group in by_exercise(results).items():
            _print_exercise(page, part, exercise, group, seen)
    page.gap()
    passed = bool(results) and all(result.outcome is Outcome.PASSED for result in results)
    page.say(Text(summary_line(part, results), style="bold green" if passed else "bold"))


def summary_line(part: Part, results: Sequence[CheckResult]) -> str:
    """Sum up a part in one line.

    Args:
        part: The part.
        results: What came of the checks that ran.

    Returns:
        For example ``part3: 7 of 9 public checks pass (14 of 18 points)``; checks that ended in our error are
        counted apart.
    """
    passed = sum(result.outcome is Outcome.PASSED for result in results)
    errors = sum(result.outcome is Outcome.ERROR for result in results)
    kind = "checks" if any(result.check.hidden for result in results) else "public checks"
    earned = sum(result.score or 0.0 for result in results)
    points = sum(result.check.points for result in results)
    line = f"{part.name}: {passed} of {len(results)} {kind} pass ({earned:g} of {points:g} points)"
    return f"{line}; {errors} not scored, the grader failed" if errors else line


def print_gradebook(
    console: Console,
    rows: Sequence[Mapping[str, str]],
    part_names: Sequence[str],
    flags: Sequence[tuple[str, str]] | None = None,
) -> None:
    """Print the gradebook as a table, with what a person should look at beneath.

    Args:
        console: Where to print.
        rows: The rows that the gradebook holds.
        part_names: The parts, in the order of their columns.
        flags: For each row its flag and, apart, what was not handed in; told once for all who left out the same.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("submission", overflow="fold")
    for name in [*part_names, "total", "max"]:
        # "part" over the number keeps nine columns within 80 characters
        table.add_column(name.replace("part", "part\n"), justify="right", no_wrap=True)
    for row in rows:
        cells = [row["submission"], *(row[name] or "-" for name in part_names), row["total"] or "-", row["max"]]
        table.add_row(*(Text(_fit(console, clean_line(cell))) for cell in cells))
    console.print(table, highlight=False)
    told = flags if flags is not None else [(row["flag"], "") for row in rows]
    page = _Page(console)
    names = [clean_line(row["submission"]) for row in rows]
    flagged = [(name, flag) for name, (flag, _) in zip(names, told, strict=True) if flag]
    if flagged:
        page.gap()
        page.say(Text("to look at", style="bold"))
    for name, flag in flagged:
        page.say(Text.assemble((f"{name}: ", "yellow"), clean(flag)), indent=2, hang=2)
    groups: dict[str, list[str]] = {}
    for name, (_, missing) in zip(names, told, strict=True):
        groups.setdefault(missing, []).append(name)
    groups.pop("", None)
    if groups:
        page.gap()
        page.say(Text("not handed in", style="bold"))
    for missing, who in groups.items():
        page.say(Text.assemble((f"{missing}: ", "yellow"), _listed(who, len(rows))), indent=2, hang=2)


def _listed(names: Sequence[str], of: int) -> str:
    """List a few names, and say how many there are beside them."""
    if len(names) == of > NAMES_IN_A_LINE:
        return f"none of the {of} submissions has it"
    if len(names) <= NAMES_IN_A_LINE:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_IN_A_LINE])} and {len(names) - NAMES_IN_A_LINE} more"


def results_json(part: Part, results: Sequence[CheckResult]) -> dict[str, Any]:
    """Give the results of a part to programs.

    Args:
        part: The part.
        results: What came of its checks.

    Returns:
        Plain JSON values; ``score`` is None where the failure is ours. Texts are clean and capped.
    """
    scores = [result.score for result in results]
    return {
        "part": part.name,
        "title": part.title,
        "points": sum(result.check.points for result in results),
        "score": None if None in scores else sum(score for score in scores if score is not None),
        "summary": summary_line(part, results),
        "checks": [_check_json(result) for result in results],
    }


def _check_json(result: CheckResult) -> dict[str, Any]:
    """Give one result to programs."""
    check = result.check
    return {
        "id": check.id,
        "title": check.title,
        "exercise": check.exercise,
        "points": check.points,
        "score": result.score,
        "outcome": result.outcome.value,
        "message": clean(result.message),
        "diagnosis": clean(result.diagnosis),
        "mistake": result.mistake,
        "hint": check.hint,
        "picture": clean(result.picture),
        "traceback": clean(result.traceback),
        "printed": clean(result.printed, keep="tail"),
        "seconds": round(result.seconds, 3),  # milliseconds
    }


class _Page:
    """A console on which paragraphs keep their indent and blank lines never double."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_blank = False

    def gap(self) -> None:
        """Leave one blank line."""
        if not self._is_blank:
            self._console.print()
        self._is_blank = True

    def say(self, text: Text, *, indent: int = 0, hang: int = 0, verbatim: bool = False) -> None:
        """Print one paragraph; verbatim text is left to the terminal to wrap.

        Args:
            text: One line of text.
            indent: Columns before every line.
            hang: Columns more before every line but the first.
            verbatim: Keep the line whole, however long.
        """
        if self._console.options.ascii_only:
            text = _ascii_copy(text)
        width = max(self._console.width - indent - hang, NARROWEST_COLUMNS)
        lines = [text] if verbatim or not text else text.wrap(self._console, width)
        for number, line in enumerate(lines):
            line.rstrip()
            margin = Text(" " * (indent + hang if number else indent)) if line else Text()
            self._console.print(margin.append_text(line), soft_wrap=True, highlight=False)
        self._is_blank = False


def _print_shared(page: _Page, reason: CheckResult, count: int) -> None:
    """Print once what all checks of a part say."""
    symbol = (f"{_SYMBOLS[reason.outcome]} ", _STYLES[reason.outcome])
    page.say(Text.assemble(symbol, f"all {count} checks end in the same way"), indent=2)
    _print_details(page, reason, hint=False)


def _print_exercise(
    page: _Page, part: Part, exercise: str, group: Sequence[CheckResult], seen: dict[tuple[str, ...], str]
) -> None:
    """Print the checks of one exercise; what is not written yet takes one line for all its checks."""
    stubs: dict[str, int] = {}
    rest = []
    for result in group:
        stub = not_written(result, part.name)
        if stub is None:
            rest.append(result)
        else:
            stubs[stub] = stubs.get(stub, 0) + 1
    name = clean_line(exercise)
    if rest:
        page.gap()
        page.say(Text(name, style="bold cyan"))
    for result in rest:
        _print_check(page, result, seen)
    for stub, count in stubs.items():
        checks = "1 check" if count == 1 else f"{count} checks"
        page.say(Text(f"· {name}: {clean_line(stub)} ({checks})", style="yellow"), indent=2 if rest else 0, hang=2)
    if rest:
        page.gap()


def _print_check(page: _Page, result: CheckResult, seen: dict[tuple[str, ...], str]) -> None:
    """Print the line of one check and, where it did not pass, what there is to know."""
    check, outcome = result.check, result.outcome
    title = clean_line(check.title)
    earned = "-" if result.score is None else f"{result.score:g}"
    points = f"  {earned}/{check.points:g}{_SUFFIXES.get(outcome, '')}"
    page.say(Text.assemble((f"{_SYMBOLS[outcome]} ", _STYLES[outcome]), title, (points, "dim")), indent=2, hang=2)
    if outcome is Outcome.PASSED:
        return
    words = told(result)
    if words in seen:
        page.say(Text(f"the same as at: {seen[words]}", style="dim"), indent=DETAIL_COLUMN, hang=2)
    else:
        _print_details(page, result, hint=True)
    if words:
        seen.setdefault(words, title)
    page.gap()


def _print_details(page: _Page, result: CheckResult, *, hint: bool) -> None:
    """Print what a check that did not pass has to tell, indented under its title."""

    def say(text: str, style: str = "", label: str = "") -> None:
        if text and label:
            page.say(Text(label, style="dim"), indent=DETAIL_COLUMN)
        for line in text.split("\n") if text else ():
            page.say(Text(line, style=style), indent=DETAIL_COLUMN + (2 if label else 0), verbatim=bool(label))

    say(clean(result.message))
    if result.diagnosis:
        arrow = Text(f"→ {clean(result.diagnosis)}", style="bold yellow")
        page.say(arrow, indent=DETAIL_COLUMN, hang=len("→ "))
    if hint and result.check.hint:
        thought = Text(f"Think: {clean(result.check.hint)}", style="italic")
        page.say(thought, indent=DETAIL_COLUMN, hang=len("Think: "))
    say(clean(result.picture, lines=PICTURE_LINES), label="picture:")
    say(clean(result.traceback, lines=TRACEBACK_LINES, keep="tail"), label="your code:")
    say(clean(result.printed, lines=PRINTED_LINES, keep="tail"), label="printed:")


def _ascii_copy(text: Text) -> Text:
    """Write a text in ASCII, span by span so that styles stay where they were."""
    pieces = text.divide(sorted({edge for span in text.spans for edge in (span.start, span.end)}))
    copy = Text(style=text.style)
    for piece in pieces:
        style = piece.spans[0].style if piece.spans else ""
        copy.append(_ascii(piece.plain), style=style)
    return copy


def _fit(console: Console, text: str) -> str:
    """Write a text as the console can take it."""
    return _ascii(text) if console.options.ascii_only else text


def _ascii(text: str) -> str:
    """Write a text in ASCII: our own symbols by look-alikes, everything else as its code."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
