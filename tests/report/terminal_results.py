"""Results of a part, and what is printed of them, byte for byte."""

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from autograder.records import Check, CheckResult, Outcome, Part
from autograder.report.terminal import print_part

PASSED, FAILED, TIMED_OUT, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.ERROR
STUB = "part3_attention.py, line 92, in __init__\nNotImplementedError: part3: {} is not written yet"
NASTY = "[bold]x[/bold] [/] :smile: \x1b[31mred\x1b]0;title\x07 \u202eevil \x00 [link=http://x]y[/link]"


def make_check(id: str = "test_a", **changes) -> Check:
    check = Check(id=id, title=f"Title of {id}.", points=2, exercise="attention", hint="", hidden=False, line=1)
    return replace(check, **changes)


def make_part(*results: CheckResult) -> Part:
    return Part(
        name="part3",
        topic="attention",
        module="part3_attention",
        folder=Path("x"),
        title="One head, many heads",
        version=1,
        checks=tuple(result.check for result in results),
    )


def not_written_yet(exercise: str, name: str | None = None, id: str = "test_x") -> CheckResult:
    traceback = STUB.format(name or exercise)
    return CheckResult(make_check(id, exercise=exercise), FAILED, "your code raised", traceback=traceback)


def printed(*results: CheckResult, width: int = 80, encoding: str = "utf-8", colour: bool = False) -> str:
    """What print_part writes, byte for byte, on a console of that width and encoding."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    print_part(Console(file=stream, width=width, force_terminal=colour), make_part(*results), results)
    stream.flush()
    return raw.getvalue().decode(encoding)
