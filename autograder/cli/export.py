"""What instructors type when other programs are to have the scores: export."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from autograder.pipeline import Course

_UNSCORED = 3


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be exported, and where to."""

    course: "Course"
    results: Sequence[Mapping[str, Any]]
    to: Path | None


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(export)


def export(
    to: Annotated[str, typer.Option("--to", help="The format: csv or nbgrader.")],
    results: Annotated[
        Path | None, typer.Option(help="What gpt-hw grade wrote; from grading.yml where not named.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="csv: the file, else it is printed. nbgrader: its course directory.")
    ] = None,
) -> None:
    """Write the scores for another program; what has no score through a fault of ours never becomes a number."""
    from autograder.errors import UsageError, did_you_mean
    from autograder.gradebook import read_result
    from autograder.pipeline import open_course

    if to not in FORMATS:
        raise UsageError(f"there is no format called '{to}'", did_you_mean(to, FORMATS))
    course = open_course(Path.cwd())
    folder = course.config.results if results is None else results
    read = [read_result(path) for path in sorted(folder.glob("*/result.json"))]
    found = [result for result in read if result is not None]
    if not found:
        raise UsageError(f"there are no results in {folder}", "run gpt-hw grade first, or name the folder: --results")
    flags = FORMATS[to](Export(course, found, out))
    for flag in flags:
        typer.echo(flag, err=True)
    raise typer.Exit(_UNSCORED if flags else 0)


def _to_csv(asked: Export) -> list[str]:
    """Write the gradebook's table; a part without a score is an empty cell."""
    import csv

    from autograder.gradebook import gradebook_rows, unresolved, write_gradebook

    graded = {name for result in asked.results for name in result["parts"]}
    names = [name for name in asked.course.parts if name in graded]
    if asked.to is not None:
        write_gradebook(asked.to, asked.results, names)
    else:
        rows = gradebook_rows(asked.results, names)
        writer = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return [f"{name} has no score for {', '.join(parts)}" for name, parts in unresolved(asked.results).items()]


def _to_nbgrader(asked: Export) -> list[str]:
    """Write scores and comments into nbgrader's gradebook."""
    from autograder.errors import UsageError

    if asked.to is None:
        raise UsageError("which course directory of nbgrader is meant?", "name it: --out COURSE_DIR")
    try:
        from autograder.nbgrader.database import bring_in
    except ModuleNotFoundError as error:
        raise UsageError("nbgrader is not installed here", "run: pip install 'gpt-hw[nbgrader]'") from error
    told, flags = bring_in(asked.course, asked.results, asked.to)
    for line in told:
        typer.echo(line)
    return flags


FORMATS: Mapping[str, Callable[[Export], list[str]]] = {"csv": _to_csv, "nbgrader": _to_nbgrader}
