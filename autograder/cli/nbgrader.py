"""What instructors type who work with nbgrader: nbgrader."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(nbgrader)


def nbgrader(
    course_dir: Annotated[Path, typer.Argument(help="nbgrader's course directory; made where it is not there.")],
    yes: Annotated[bool, typer.Option("--yes", help="Overwrite also what somebody has edited.")] = False,
) -> None:
    """Make a course directory for nbgrader from assignments/, or bring one up to date."""
    from autograder.errors import UsageError
    from autograder.nbgrader.course import changes, planned_files, write
    from autograder.pipeline import open_course

    course = open_course(Path.cwd())
    target = course_dir.absolute()
    if target.exists() and not target.is_dir():
        raise UsageError(f"{course_dir} is a file, not a folder", "name a folder")
    if target.resolve() == course.root.resolve() or target.resolve().is_relative_to(course.root / "assignments"):
        raise UsageError(f"{course_dir} holds the course itself", "choose a folder of its own for nbgrader")
    planned = planned_files(course, target)
    found = changes(planned, target)
    edited = [change for change in found if change.is_edited]
    wanted = found if yes else [change for change in found if not change.is_edited]
    write(planned, wanted, target)
    for change in wanted:
        typer.echo(f"{'new' if change.is_new else 'changed'} {change.name}")
    for change in edited:
        typer.echo(change.difference)
    if edited and not yes:
        names = ", ".join(change.name for change in edited)
        typer.echo(f"\nNot changed, because somebody has edited it since: {names}")
        typer.echo("To take the version above all the same, run the command again with --yes.")
        raise typer.Exit(1)
    if not found:
        typer.echo("nothing to change")
