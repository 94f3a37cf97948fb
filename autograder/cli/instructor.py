"""What instructors type: grade."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.gradebook import Move
    from autograder.pipeline import Progress


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(grade)


def grade(
    submissions: Annotated[
        Path | None, typer.Argument(help="One folder or zip a submission; from grading.yml where not named.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where results go; from grading.yml where not named.")] = None,
    parts: Annotated[str | None, typer.Option(help="Only these parts, such as 3,5.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many submissions at once; as many as cores where not named.")
    ] = None,
    fresh: Annotated[bool, typer.Option(help="Grade all again, also what is current, and say what moved.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Let new scores take the place of old ones where the course has changed.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the gradebook as JSON, for programs.")] = False,
    unsafe_no_sandbox: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Run student code without a wall where none holds.")
    ] = False,
    rung: Annotated[
        int, typer.Option(min=1, max=2, help="Begin at this rung of the sandbox; 2 does without namespaces.")
    ] = 1,
) -> None:
    """Grade a folder of submissions: gradebook, feedback pages, results and a manifest.

    Where suites, weights, limits or the seed have changed, it first shows whose scores would move, and asks.
    """
    from rich.console import Console

    from autograder.cli.summary import print_summary, summary_json
    from autograder.pipeline import grade as grade_all
    from autograder.pipeline import open_course

    course = open_course(Path.cwd())
    folder = submissions or course.config.submissions
    target = course.config.results if out is None else out
    _keep_out_of_the_course(target, course.root)
    console = Console(highlight=False, stderr=json)
    with _Meter(Console(stderr=True, highlight=False)) as meter:
        summary = grade_all(
            course,
            folder,
            target,
            parts=course.select(parts),
            jobs=jobs or os.cpu_count() or 1,
            fresh=fresh,
            unsafe=unsafe_no_sandbox,
            first_rung=rung,
            on_start=lambda chosen: _tell_rung(console, chosen),
            on_progress=meter.show,
            agree=lambda moves: _agreed(console, meter, moves, yes=yes, as_json=json),
        )
    if json:
        typer.echo(summary_json(summary))
    else:
        print_summary(console, summary)
    if summary.waits and not summary.interrupted:
        count = len({move.submission for move in summary.moves})
        typer.echo(f"gpt-hw: the scores of {count} submissions would move, and no old result was replaced", err=True)
        typer.echo("        to replace them, add --yes to the same command; what is graded is kept for it", err=True)
    raise typer.Exit(summary.exit_code)


def _agreed(console: "Console", meter: "_Meter", moves: "Sequence[Move]", *, yes: bool, as_json: bool) -> bool:
    """Show what would move; take --yes for an answer, or ask where somebody is there."""
    from autograder.cli.summary import print_moves

    meter.stop()
    if not as_json:
        print_moves(console, moves, "scores that would move")
    if yes or as_json or not (sys.stdin.isatty() and console.is_terminal):
        return yes
    try:
        return typer.confirm("Replace the old scores?")
    except typer.Abort:
        return False


def _keep_out_of_the_course(target: Path, root: Path) -> None:
    from autograder.errors import UsageError

    place, assignments = target.resolve(), (root / "assignments").resolve()
    if root.resolve().is_relative_to(place) or place.is_relative_to(assignments):
        raise UsageError(
            f"the results would lie among the files of the course ({place})", "choose a folder of their own with --out"
        )


class _Meter:
    """A progress line on a terminal; a line for each submission where nobody watches, so that logs show life."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._status = (
            console.status("starting: reading, importing torch, testing the sandbox") if console.is_terminal else None
        )

    def __enter__(self) -> "_Meter":
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Leave the terminal to others."""
        if self._status is not None:
            self._status.stop()

    def show(self, progress: "Progress") -> None:
        from autograder.report.clean import clean_line

        name = clean_line(progress.name)
        left = f", about {progress.seconds_left:.0f} s left" if progress.seconds_left >= 1 else ""
        line = f"{progress.done} of {progress.total}: {name}{' (kept from before)' if progress.skipped else ''}{left}"
        if self._status is not None:
            from rich.markup import escape

            self._status.update(escape(line))
        else:
            print(line, file=sys.stderr, flush=True)


def _tell_rung(console: "Console", rung: int) -> None:
    from autograder.sandbox import RUNG_NAMES, UNSAFE

    if rung == UNSAFE:
        console.print(f"NO SANDBOX: {RUNG_NAMES[rung]}. Every record is marked so.", style="bold red", markup=False)
