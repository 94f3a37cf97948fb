"""What a lab found, in the terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autograder.labs.device import CPU
from autograder.labs.report import Report, Verdict, shown

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    Verdict.REPRODUCED: "green",
    Verdict.IN_DIRECTION: "yellow",
    Verdict.NOT_HERE: "red",
    Verdict.NOT_MEASURED: "dim",
}


def about_line(about: Mapping[str, Any]) -> str:
    """Say in one line how the figures came about."""
    machine = about["machine"]
    code = "the solutions" if about["code"] == "solutions" else "your code"
    threads = "1 thread" if machine["threads"] == 1 else f"{machine['threads']} threads"
    where = "" if machine["device"] == CPU else f"{machine['device']} and "
    return (
        f"{code}, {about['settings']} settings, seed {about['seed']}, {about['seconds']:g} s of processor time, "
        f"{where}{threads} of {machine['processor']}, torch {machine['torch']}, {machine['date']}"
    )


def print_report(console: "Console", report: Report, about: Mapping[str, Any]) -> None:
    """Print title, tables, reasons and notes."""
    from rich.table import Table
    from rich.text import Text

    console.print(Text(f"{about['lab']} · {about['title']}", style="bold"))
    if report.data:
        console.print(Text(report.data))
    for grid in report.grids:
        console.print()
        console.print(Text(grid.title, style="italic"))
        table = Table(box=None, pad_edge=False, header_style="bold")
        for i, column in enumerate(grid.columns):
            table.add_column(Text(column), justify="right" if i else "left", overflow="fold")
        for row in grid.cells():
            table.add_row(*map(Text, row))
        console.print(table)
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("claim", overflow="fold")
    for name in ("text", "here"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for one in report.findings:
        cells = [Text(shown(value, one.style)) for value in (one.chapter, one.here)]
        table.add_row(Text(one.claim), *cells, Text(one.verdict.value, style=STYLES[one.verdict]))
    console.print(table)
    reasons: dict[str, list[str]] = {}
    for one in report.findings:
        if one.why:
            reasons.setdefault(one.why, []).append(one.claim)
    for why, claims in reasons.items():
        console.print(Text(f"\n{'; '.join(claims)}: {why}"))
    for note in report.notes:
        console.print(Text(f"\n{note}"))
    console.print(Text(f"\n{about_line(about)}", style="dim"))
