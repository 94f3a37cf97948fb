"""What instructors type: grade."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.pipeline import Progress, Summary


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
    json: Annotated[bool, typer.Option("--json", help="Print the gradebook as JSON, for programs.")] = False,
    unsafe_no_sandbox: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Run student code without a wall where none holds.")
    ] = False,
    rung: Annotated[
        int, typer.Option(min=1, max=2, help="Begin at this rung of the sandbox; 2 does without namespaces.")
    ] = 1,
) -> None:
    """Grade a folder of submissions: gradebook, feedback pages, results and a manifest."""
    from rich.console import Console

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
        )
    _print_summary(console, summary, as_json=json)
    raise typer.Exit(summary.exit_code)


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
            console.status("starting: importing torch and testing the sandbox") if console.is_terminal else None
        )

    def __enter__(self) -> "_Meter":
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
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


def _print_summary(console: "Console", summary: "Summary", *, as_json: bool) -> None:
    from autograder.gradebook import gradebook_rows
    from autograder.report.clean import clean_line
    from autograder.report.terminal import print_gradebook

    rows = gradebook_rows(summary.results, summary.part_names)
    if as_json:
        import json

        found = {
            "version": 1,
            "rows": rows,
            "graded": summary.graded,
            "kept": summary.skipped,
            "moved": summary.moved,
            "interrupted": summary.interrupted,
            "out": str(summary.out),
        }
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    print_gradebook(console, rows, summary.part_names)
    if summary.moved:
        console.print("\nscores that moved since the last run", style="bold")
        for name, phrases in sorted(summary.moved.items()):
            console.print(f"  {clean_line(name)}: {', '.join(phrases)}", markup=False)
    kept = f", {summary.skipped} kept from before" if summary.skipped else ""
    console.print(f"\n{summary.graded} graded{kept}, sandbox rung {summary.rung}.")
    console.print(f"gradebook: {summary.out / 'gradebook.csv'}", markup=False, soft_wrap=True)
    console.print(f"feedback:  {summary.out}/<submission>/feedback.html", markup=False, soft_wrap=True)
    if summary.interrupted:
        console.print("Stopped. What was done is kept; the same command goes on from here.", style="yellow")
