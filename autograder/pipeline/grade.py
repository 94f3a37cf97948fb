"""Grade a folder of submissions: one after another, each kept as soon as it is done, none stopping the others."""

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder import gradebook
from autograder.errors import UsageError
from autograder.intake import find_submissions, read_submission, unique_names
from autograder.pipeline.course import Course
from autograder.pipeline.line import Line
from autograder.records import Part, Refusal, Submission


@dataclass(frozen=True, slots=True)
class Progress:
    """What is told after each submission."""

    name: str
    done: int
    total: int
    seconds_left: float
    skipped: bool


@dataclass
class Summary:
    """What came of a run.

    ``moved`` says for a submission that was graded before which scores changed; ``results`` holds every result.json
    below the output folder that belongs to this run's submissions.
    """

    out: Path
    part_names: list[str]
    rung: int = 0
    graded: int = 0
    skipped: int = 0
    interrupted: bool = False
    moved: dict[str, list[str]] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0: every check passed; 1: not; 3: a part is unscored through our fault; 130: stopped by Ctrl-C."""
        parts = [part for result in self.results for part in result["parts"].values()]
        if self.interrupted:
            return 130
        if any(part["score"] is None for part in parts):
            return 3
        return 0 if all(part["outcome"] == "passed" for part in parts) else 1


def grade(
    course: Course,
    folder: Path,
    out: Path,
    *,
    parts: list[Part],
    fresh: bool = False,
    unsafe: bool = False,
    first_rung: int = 1,
    on_start: Callable[[int], None] = lambda rung: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Summary:
    """Grade every submission in a folder and write results, feedback, gradebook and manifest.

    Args:
        course: The rules.
        folder: One folder or zip a submission.
        out: Where results go; what is there from an earlier run is kept and used.
        parts: Which parts; others that an earlier run graded are graded again with them.
        fresh: Grade all again, also what is current.
        unsafe: Grade without a wall where none holds.
        first_rung: Begin further down the ladder of walls.
        on_start: Told the rung once it is known.
        on_progress: Told after each submission.

    Returns:
        What came of it.

    Raises:
        SubmissionError: There is no submission in the folder.
        UsageError: The output cannot be written.
        SandboxError: No wall holds on this machine.
    """
    found = find_submissions(folder)
    _check_output(out, folder)
    names = unique_names(found.entries)
    summary = Summary(out, [part.name for part in parts])
    entries: dict[str, Submission] = {}
    try:
        with Line(course, secrets=[folder, out], unsafe=unsafe, first_rung=first_rung) as line:
            line.start()
            summary.rung = line.rung
            on_start(line.rung)
            _grade_all(line, found.entries, names, parts, fresh, summary, entries, on_progress)
    except KeyboardInterrupt:
        summary.interrupted = True
    _write_tables(course, folder, out, summary, entries, found.ignored)
    return summary


def _grade_all(
    line: Line,
    paths: Iterable[Path],
    names: Mapping[Path, str],
    parts: list[Part],
    fresh: bool,
    summary: Summary,
    entries: dict[str, Submission],
    on_progress: Callable[[Progress], None],
) -> None:
    course, paths = line.course, list(paths)
    modules = {part.module: part.name for part in course.parts.values()}
    started = time.monotonic()
    for number, path in enumerate(paths, start=1):
        submission = replace(read_submission(path, modules, course.templates), name=names[path])
        entries[path.name] = submission
        target = summary.out / submission.name
        old = gradebook.read_result(target / "result.json")
        wanted = _with_earlier(course, parts, old)
        skipped = old is not None and not fresh and _is_current(line, old, submission, wanted)
        if skipped and old is not None:
            summary.skipped += 1
            summary.results.append(old)
        else:
            new = _grade_one(line, submission, wanted, target)
            summary.graded += 1
            summary.results.append(new)
            moved = gradebook.moved_scores(old, new) if old is not None else []
            if moved:
                summary.moved[submission.name] = moved
        spent = time.monotonic() - started
        worked = max(1, summary.graded)
        left = (len(paths) - number) * spent / worked if summary.graded else 0.0
        on_progress(Progress(submission.name, number, len(paths), left, skipped))


def _with_earlier(course: Course, parts: list[Part], old: dict[str, Any] | None) -> list[Part]:
    # A part graded before stays in the gradebook when another part is asked for.
    wanted = {part.name for part in parts} | set(old["parts"] if old else ())
    return [part for name, part in course.parts.items() if name in wanted]


def _is_current(line: Line, old: dict[str, Any], submission: Submission, wanted: list[Part]) -> bool:
    return gradebook.is_current(
        old,
        files=submission.sha256,
        suites_sha256=line.course.suites_sha256,
        config_sha256=line.course.config.sha256,
        parts=[part.name for part in wanted],
        seed=line.course.config.seed,
        sandbox=line.rung,
    )


def _grade_one(line: Line, submission: Submission, parts: list[Part], target: Path) -> dict[str, Any]:
    from autograder.report.feedback import feedback_html

    result = line.grade(submission, parts)
    config = line.course.config
    page = feedback_html(result, title=config.title, show_hidden=config.hidden_checks)
    gradebook.write_atomically(target / "feedback.html", page)
    new = gradebook.to_json(result)
    gradebook.write_atomically(target / "result.json", gradebook.json_text(new))  # last: it says that this one is done
    return new


def _write_tables(
    course: Course,
    folder: Path,
    out: Path,
    summary: Summary,
    entries: Mapping[str, Submission],
    ignored: Iterable[Refusal],
) -> None:
    graded = {name for result in summary.results for name in result["parts"]}
    summary.part_names = [name for name in course.parts if name in graded or name in summary.part_names]
    manifest = gradebook.manifest_json(entries=entries, ignored=ignored)
    gradebook.write_atomically(out / "manifest.json", gradebook.json_text(manifest))
    gradebook.write_gradebook(out / "gradebook.csv", summary.results, summary.part_names)


def _check_output(out: Path, folder: Path) -> None:
    if out.resolve() == folder.resolve() or out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"the results would lie among the submissions ({out})", "choose a folder outside of them with --out"
        )
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file, not a folder", "choose another place with --out")
    probe = out / ".writable"
    gradebook.write_atomically(probe, "")
    with contextlib.suppress(OSError):
        probe.unlink()
