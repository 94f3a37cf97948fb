"""What students type: init, test, status, hint, pack, doctor."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.pipeline import PartRun, Practice
    from autograder.records import Part
    from autograder.workspace import Hint, PartStatus

PUBLIC_END = "Public checks passed. The hidden checks run later, when the work is graded."

_LOOK_EVERY_S = 0.1

Parts = Annotated[list[str] | None, typer.Argument(help="part3, 3 or attention; all where none is named.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(init)
    app.command()(test)
    app.command()(status)
    app.command()(hint)
    app.command()(pack)
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
    pdb: Annotated[bool, typer.Option("--pdb", help="Stop in the debugger where something fails.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever you save, until Ctrl-C.")] = False,
) -> None:
    """Run the public checks on your work."""
    from autograder.errors import UsageError
    from autograder.parts import find_parts, public_parts
    from autograder.pipeline import Practice
    from autograder.workspace import find_source

    if watch and (json or pdb):
        raise UsageError("--watch goes with neither --json nor --pdb", "leave one of them out")

    folder = Path.cwd()
    known = public_parts()
    chosen = find_parts(parts, known) if parts else list(known.values())
    _require_workspace(folder, known.values())
    if not parts:
        chosen = [part for part in chosen if find_source(folder, part) is not None]
    console = None if json else _console()
    practice = Practice(folder, chosen, pdb=pdb)
    try:
        runs = _run_once(practice, folder, console, pdb)
        while watch and console is not None:
            runs = _run_when_saved(practice, folder, console, runs)
    finally:
        practice.close()
    if console is None:
        _print_json(runs)
    raise typer.Exit(_exit_code(runs, pdb))


def _run_once(practice: "Practice", folder: Path, console: "Console | None", pdb: bool = False) -> list["PartRun"]:
    from autograder.workspace import record_result

    runs = []
    for run in practice.run():
        runs.append(run)
        if run.results and not pdb:
            passed = [result for result in run.results if result.outcome == "passed"]
            points = sum(result.score or 0 for result in passed)
            record_result(folder, run.part.name, len(passed), len(run.results), points, run.part.points)
        if console is not None:
            _print_run(console, run, pdb)
    return runs


def _run_when_saved(practice: "Practice", folder: Path, console: "Console", before: list["PartRun"]) -> list["PartRun"]:
    """Wait until a file is saved, run again, and say what changed."""
    import time

    console.print("watching: save a file to run again, Ctrl-C to stop", style="dim")
    while practice.stamp() == practice.seen:
        time.sleep(_LOOK_EVERY_S)
    runs = _run_once(practice, folder, console)
    old, new = (
        {(run.part.name, result.check.title): result.outcome == "passed" for run in some for result in run.results}
        for some in (before, runs)
    )
    for words, style, passes in (("now passing", "green", True), ("now failing", "red", False)):
        for (part, title), passed in new.items():
            if passed is passes and old.get((part, title)) is (not passes):
                console.print(f"{words}: {part}, {title}", style=style, markup=False)
    return runs


def _require_workspace(folder: Path, parts: "Iterable[Part]") -> None:
    from autograder.errors import UsageError
    from autograder.workspace import find_source

    if all(find_source(folder, part) is None for part in parts):
        raise UsageError(f"there is no part file in {folder}", "make a workspace with gpt-hw init, or change to yours")


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


def _print_run(console: "Console", run: "PartRun", pdb: bool) -> None:
    from autograder.report.terminal import print_part

    if run.problem:
        typer.echo(f"{run.part.name}: {run.problem}", err=True)
        typer.echo(f"        mend {run.part.module}.py, or have it made anew with gpt-hw init", err=True)
        return
    if pdb:  # the debugger has told already; an exception that reached it is no fault of the grader's here
        passed = sum(result.outcome == "passed" for result in run.results)
        console.print(f"{run.part.name}: {passed} of {len(run.part.checks)} public checks passed in the debugger")
        return
    print_part(console, run.part, run.results)
    if all(result.outcome == "passed" for result in run.results):
        console.print(PUBLIC_END)
    console.print()


def _print_json(runs: list["PartRun"]) -> None:
    from autograder.report.terminal import results_json

    found: list[dict[str, Any]] = []
    for run in runs:
        one = results_json(run.part, run.results)
        found.append({**one, "problem": run.problem} if run.problem else one)
    _echo_json({"parts": found})


def _exit_code(runs: list["PartRun"], pdb: bool) -> int:
    outcomes = {result.outcome for run in runs for result in run.results}
    is_whole = all(len(run.results) == len(run.part.checks) for run in runs if not run.problem)
    if not pdb and ("error" in outcomes or not is_whole):
        return 3
    if any(run.problem for run in runs):
        return 2
    return 0 if is_whole and outcomes == {"passed"} else 1  # who leaves the debugger leaves the rest undone


def status(json: AsJson = False) -> None:
    """Say how far each part is."""
    from autograder import workspace
    from autograder.parts import public_parts

    known = public_parts()
    _require_workspace(Path.cwd(), known.values())
    found = workspace.status(Path.cwd(), known)
    if json:
        _echo_json({"parts": [_status_json(one) for one in found]})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("part", "title", "state", "last public run"):
        table.add_column(column, overflow="fold")
    for one in found:
        last = f"{one.last.passed} of {one.last.total} checks, {one.last.points:g} points" if one.last else "-"
        is_begun = one.progress is workspace.Progress.IN_PROGRESS
        left = f": {', '.join(one.unwritten)} left" if is_begun and one.unwritten else ""
        state = f"{one.progress.value}{left}" if not one.problem else one.problem
        table.add_row(one.part.name, one.part.title, state, last)
    _console().print(table, markup=False)


def _status_json(one: "PartStatus") -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "part": one.part.name,
        "title": one.part.title,
        "progress": one.progress.value,
        "source": str(one.source) if one.source else None,
        "unwritten": list(one.unwritten),
        "problem": one.problem,
        "last": asdict(one.last) if one.last else None,
    }


def _echo_json(found: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps({"version": 1, **found}, ensure_ascii=False, indent=2))


def hint(
    part: Annotated[str, typer.Argument(help="part3, 3 or attention.")],
    check: Annotated[
        str | None, typer.Argument(help="An exercise or a check; the next one where none is named.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Give a hint: first a question, then the idea, then the line of reasoning. Never the code."""
    from autograder import workspace
    from autograder.parts import find_part, public_parts

    known = public_parts()
    wanted = find_part(part, known)
    _require_workspace(Path.cwd(), known.values())
    found = workspace.hint(Path.cwd(), wanted, check)
    if json:
        _echo_json(_hint_json(found))
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


def _hint_json(found: "Hint") -> dict[str, Any]:
    # This rung alone: the part would bring the whole ladder of every exercise along.
    return {
        "part": found.part.name,
        "exercise": found.exercise,
        "rung": found.rung,
        "text": found.text,
        "level": found.level,
        "levels": found.levels,
        "is_repeated": found.is_repeated,
        "others": list(found.others),
    }


def pack(
    out: Annotated[Path, typer.Option(help="The zip to make; an earlier one is replaced.")] = Path("submission.zip"),
) -> None:
    """Zip the part files of your work, to hand it in."""
    from autograder.cli.packing import pack as make_zip
    from autograder.parts import public_parts

    made = make_zip(Path.cwd(), public_parts(), out)
    for name in made.names:
        typer.echo(f"took  {name}")
    for warning in made.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for problem in made.problems:
        typer.echo(f"problem: {problem}; as it is, it scores 0", err=True)
    typer.echo(f"\nHand in {made.path}")
    raise typer.Exit(1 if made.problems else 0)


def doctor(json: AsJson = False) -> None:
    """Say what this machine can do: versions, and which wall holds, by trying."""
    from autograder.cli.examine import examine, print_examination

    found = examine(Path.cwd())
    if json:
        _echo_json(found.to_json())
    else:
        print_examination(_console(), found)
    raise typer.Exit(0 if found.is_well else 1)
