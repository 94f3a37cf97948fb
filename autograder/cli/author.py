"""What authors type: build, prove."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from autograder.records import Part


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(build)
    app.command()(prove)


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


def prove(
    parts: Annotated[str | None, typer.Option(help="Only these parts, such as 3,5.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="On how many seeds both right solutions are run.")] = 50,
    runs: Annotated[int, typer.Option(min=1, help="How often every check is run on right work in all.")] = 200,
    training_seeds: Annotated[int, typer.Option(min=0, help="On how many seeds the checks that train are run.")] = 2,
    wall_every: Annotated[int, typer.Option(min=1, help="Each so-manyth mistake also goes through the wall.")] = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; all cores where not named.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Prove the suites: right work passes on every seed, every mistake loses points and is named."""
    from rich.console import Console

    from autograder.cli.proof import print_proof, proof_json
    from autograder.pipeline import open_course
    from autograder.prove import prove as try_all
    from autograder.prove.table import kill_table
    from autograder.whole_file import write_whole

    course = open_course(Path.cwd())
    console = Console(highlight=False)
    with Console(stderr=True).status("trying solutions, mistakes and flakes") as status:
        proof = try_all(
            course,
            course.select(parts),
            seeds=seeds,
            runs=runs,
            training_seeds=training_seeds,
            wall_every=wall_every,
            jobs=jobs,
            on_progress=lambda done, total: status.update(f"{done} of {total} groups of trials"),
        )
    if parts is None:
        write_whole(course.root / "docs" / "kill-table.md", kill_table(proof).encode())
    if json:
        typer.echo(proof_json(proof))
    else:
        print_proof(console, proof)
    raise typer.Exit(0 if proof.holds else 1)


def _diagnose(part: "Part") -> Mapping[str, Any]:
    """Compile the fingerprints of a part's mistakes on its public suite, which students receive."""
    from autograder.checks.catalogue import PUBLIC_SEED, Replays
    from autograder.checks.local import sources_of

    return Replays(part, sources_of(part.folder.parent), PUBLIC_SEED, hidden=False).compiled()
