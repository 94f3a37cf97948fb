"""What students type: init, test, status, hint, doctor."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.pipeline import PartRun

PUBLIC_END = "Public checks passed. The hidden checks run later, when the work is graded."

Parts = Annotated[list[str] | None, typer.Argument(help="part3, 3 or attention; all where none is named.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(init)
    app.command()(test)
    app.command()(status)
    app.command()(hint)
    app.command()(doctor)


def init(
    folder: Annotated[Path, typer.Argument(help="Where to put the course; this folder where none is named.")] = Path(),
) -> None:
    """Make a workspace: every part as a file and as a notebook. Nothing that is there is overwritten."""
    from autograder import workspace

    made = workspace.init(folder)
    for path in made.created:
        typer.echo(f"new   {path}")
    for path in made.kept:
        typer.echo(f"kept  {path}")
    where = "" if folder == Path() else f"cd {folder} && "
    typer.echo(f"\nBegin with: {where}gpt-hw test part1")


def test(
    parts: Parts = None,
    json: AsJson = False,
    pdb: Annotated[bool, typer.Option(help="Stop in the debugger where something fails, in one process.")] = False,
) -> None:
    """Run the public checks on your work."""
    from autograder.parts import find_parts, public_parts
    from autograder.pipeline import practise
    from autograder.workspace import find_source, record_result

    folder = Path.cwd()
    known = public_parts()
    if parts:
        chosen = find_parts(parts, known)
    else:
        chosen = [part for part in known.values() if find_source(folder, part) is not None]
        if not chosen:
            _no_workspace(folder)
    runs = []
    console = None if json else _console()
    for run in practise(folder, chosen, pdb=pdb):
        runs.append(run)
        if run.results and not pdb:
            passed = [result for result in run.results if result.outcome == "passed"]
            points = sum(result.score or 0 for result in passed)
            record_result(folder, run.part.name, len(passed), len(run.results), points, run.part.points)
        if console is not None:
            _print_run(console, run)
    if console is None:
        _print_json(runs)
    raise typer.Exit(_exit_code(runs))


def _no_workspace(folder: Path) -> None:
    from autograder.errors import UsageError

    raise UsageError(f"there is no part file in {folder}", "make a workspace with gpt-hw init, or change to yours")


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


def _print_run(console: "Console", run: "PartRun") -> None:
    from autograder.report.terminal import print_part

    if run.problem:
        console.print(f"{run.part.name}: {run.problem}", style="red", markup=False)
        return
    print_part(console, run.part, run.results)
    if all(result.outcome == "passed" for result in run.results):
        console.print(PUBLIC_END)
    console.print()


def _print_json(runs: list["PartRun"]) -> None:
    import json

    from autograder.report.terminal import results_json

    found: list[dict[str, Any]] = []
    for run in runs:
        one = results_json(run.part, run.results)
        found.append({**one, "problem": run.problem} if run.problem else one)
    typer.echo(json.dumps({"version": 1, "parts": found}, ensure_ascii=False, indent=2))


def _exit_code(runs: list["PartRun"]) -> int:
    outcomes = {result.outcome for run in runs for result in run.results}
    if any(len(run.results) != len(run.part.checks) for run in runs if not run.problem) or "error" in outcomes:
        return 3
    if any(run.problem for run in runs):
        return 2
    return 0 if outcomes == {"passed"} else 1


def status(json: AsJson = False) -> None:
    """Say how far each part is."""
    from dataclasses import asdict

    from autograder import workspace
    from autograder.parts import public_parts

    found = workspace.status(Path.cwd(), public_parts())
    if json:
        import json as json_module

        typer.echo(json_module.dumps([asdict(one) for one in found], default=_plain, ensure_ascii=False, indent=2))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("part", "title", "state", "last public run"):
        table.add_column(column)
    for one in found:
        last = f"{one.last.passed} of {one.last.total} checks, {one.last.points:g} points" if one.last else "-"
        left = f": {', '.join(one.unwritten)} left" if one.unwritten else ""
        state = f"{one.progress.value}{left}" if not one.problem else one.problem
        table.add_row(one.part.name, one.part.title, state, last)
    _console().print(table)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else getattr(value, "name", repr(value))


def hint(
    part: Annotated[str, typer.Argument(help="part3, 3 or attention.")],
    check: Annotated[str | None, typer.Argument(help="An exercise or a check; the next one where none is named.")] = None,
    json: AsJson = False,
) -> None:
    """Give a hint: first a question, then the idea, then the line of reasoning. Never the code."""
    from autograder import workspace
    from autograder.parts import find_part, public_parts

    found = workspace.hint(Path.cwd(), find_part(part, public_parts()), check)
    if json:
        import json as json_module
        from dataclasses import asdict

        typer.echo(json_module.dumps(asdict(found), default=_plain, ensure_ascii=False, indent=2))
        return
    console = _console()
    console.print(f"{found.exercise}, {found.rung} ({found.level} of {found.levels})", style="bold", markup=False)
    console.print(found.text, markup=False)
    if found.level < found.levels:
        console.print(f"\nAsk again for the next one: gpt-hw hint {part} {found.exercise}", style="dim", markup=False)
    elif found.is_repeated:
        console.print("\nThat was the last hint for this exercise.", style="dim", markup=False)
    if found.others:
        console.print(f"Hints for other exercises here: {', '.join(found.others)}", style="dim", markup=False)


def doctor(json: AsJson = False) -> None:
    """Say what this machine can do: versions, and which wall holds, by trying."""
    from autograder.cli.examine import examine, print_examination

    found = examine(Path.cwd())
    if json:
        import json as json_module

        typer.echo(json_module.dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        print_examination(_console(), found)
    raise typer.Exit(0 if found.is_well else 1)


