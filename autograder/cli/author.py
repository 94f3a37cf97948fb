"""What authors type: build."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from autograder.records import Part


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(build)


def build(
    check: Annotated[bool, typer.Option("--check", help="Change nothing; show what is not current, and fail.")] = False,
) -> None:
    """Make solutions/ and student_template/ from assignments/."""
    from autograder.build import check as compare
    from autograder.build import plan, write
    from autograder.errors import UsageError
    from autograder.parts import course_root

    root = course_root(Path.cwd())
    if root is None:
        raise UsageError("there is no course here or above", "change to the folder with grading.yml and assignments/")
    planned = plan(root / "assignments", _diagnose)
    if check:
        difference = compare(planned, root)
        if difference:
            typer.echo(difference)
            raise typer.Exit(1)
        typer.echo("solutions/ and student_template/ are current")
        return
    for change in write(planned, root) or ["nothing to change"]:
        typer.echo(change)


def _diagnose(part: "Part") -> Mapping[str, Any]:
    """Compile the fingerprints of a part's mistakes on its public suite, which students receive."""
    from autograder.checks.catalogue import PUBLIC_SEED, Replays
    from autograder.checks.local import sources_of

    return Replays(part, sources_of(part.folder.parent), PUBLIC_SEED, hidden=False).compiled()
