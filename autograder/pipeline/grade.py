"""Grade a folder of submissions: one after another, each kept as soon as it is done, none stopping the others."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder import gradebook
from autograder.errors import UsageError
from autograder.intake import find_submissions, unique_names
from autograder.pipeline.course import Course
from autograder.pipeline.crew import Crew, Job
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
    jobs: int = 1,
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
        jobs: How many submissions are graded at once.
        fresh: Grade all again, also what is current.
        unsafe: Grade without a wall where none holds.
        first_rung: Begin further down the ladder of walls.
        on_start: Told the rung once it is known.
        on_progress: Told after each submission.

    Returns:
        What came of it.

    Raises:
        SubmissionError: There is no submission in the folder.
        UsageError: The output cannot be written, or another grader is at work in it.
        SandboxError: No wall holds on this machine.
    """
    found = find_submissions(folder)
    _check_output(out, folder)
    names = unique_names(found.entries)
    summary = Summary(out, [part.name for part in parts])
    run = _Run(course, summary, parts, fresh, on_progress)
    with _locked(out):
        try:
            crew = Crew(course, out, [folder, out], min(jobs, len(found.entries)), unsafe=unsafe, first_rung=first_rung)
            with contextlib.closing(crew):
                summary.rung = crew.start()
                on_start(summary.rung)
                run.grade_all(crew, found.entries, names)
        except KeyboardInterrupt:
            summary.interrupted = True
        _write_tables(course, out, summary, names.values(), run.entries, found.ignored)
    return summary


class _Run:
    """One run over a folder: what is current is kept, the rest is given to the crew."""

    def __init__(
        self,
        course: Course,
        summary: Summary,
        parts: list[Part],
        fresh: bool,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._course = course
        self._summary = summary
        self._parts = parts
        self._fresh = fresh
        self._on_progress = on_progress
        self._started = time.monotonic()
        self._done = 0
        self._total = 0
        self.entries: dict[str, Submission] = {}

    def grade_all(self, crew: Crew, paths: Sequence[Path], names: Mapping[Path, str]) -> None:
        """Go through every submission."""
        self._total = len(paths)
        queue: list[Job] = []
        before: list[dict[str, Any] | None] = []
        for path in paths:
            submission = self._course.read(path, names[path])
            self.entries[path.name] = replace(submission, sources={})  # the manifest needs no texts
            old = gradebook.read_result(self._summary.out / submission.name / "result.json")
            wanted = _with_earlier(self._course, self._parts, old)
            if old is not None and not self._fresh and self._is_current(old, submission, wanted):
                self._summary.skipped += 1
                self._keep(old, None, skipped=True)
            else:
                queue.append(Job(path, submission.name, tuple(part.name for part in wanted)))
                before.append(old)
        self._started = time.monotonic()
        for number, new in crew.run(queue):
            self._summary.graded += 1
            self._keep(new, before[number], skipped=False)

    def _is_current(self, old: dict[str, Any], submission: Submission, wanted: list[Part]) -> bool:
        return gradebook.is_current(
            old,
            files=submission.sha256,
            suites_sha256=self._course.suites_sha256,
            config_sha256=self._course.config.sha256,
            parts=[part.name for part in wanted],
            seed=self._course.config.seed,
            sandbox=self._summary.rung,
        )

    def _keep(self, new: dict[str, Any], old: dict[str, Any] | None, *, skipped: bool) -> None:
        self._summary.results.append(new)
        moved = gradebook.moved_scores(old, new) if old is not None else []
        if moved:
            self._summary.moved[new["submission"]] = moved
        self._done += 1
        spent = time.monotonic() - self._started
        left = (self._total - self._done) * spent / self._summary.graded if self._summary.graded else 0.0
        self._on_progress(Progress(new["submission"], self._done, self._total, left, skipped))


def _with_earlier(course: Course, parts: list[Part], old: dict[str, Any] | None) -> list[Part]:
    # A part graded before stays in the gradebook when another part is asked for.
    wanted = {part.name for part in parts} | set(old["parts"] if old else ())
    return [part for name, part in course.parts.items() if name in wanted]


def _write_tables(
    course: Course,
    out: Path,
    summary: Summary,
    names: Iterable[str],
    entries: Mapping[str, Submission],
    ignored: Iterable[Refusal],
) -> None:
    if summary.interrupted:  # what an earlier run has graded and this one did not reach keeps its row
        reached = {result["submission"] for result in summary.results}
        earlier = [gradebook.read_result(out / name / "result.json") for name in names if name not in reached]
        summary.results += [result for result in earlier if result is not None]
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


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[None]:
    # The system lets go of the lock when its process ends, however it ends.
    lock = FileLock(out / ".lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(f"another gpt-hw grade is writing to {out}", "wait for it, or choose another --out") from None
    try:
        yield
    finally:
        lock.release()
