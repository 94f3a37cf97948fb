"""Grade a folder of submissions: one after another, each kept as soon as it is done, none stopping the others."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from filelock import FileLock, Timeout

from autograder import gradebook
from autograder.errors import UsageError
from autograder.gradebook import Journal, Move
from autograder.intake import find_submissions, unique_names
from autograder.pipeline.book import Book, Summary
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
    agree: Callable[[Sequence[Move]], bool] = lambda moves: False,
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
        on_start: Told the rung once it is known; not where everything is current, and nothing is started.
        on_progress: Told after each submission.
        agree: Asked once, where a regrade would move scores: whether they may take the place of what counts. Until
            then, and where the answer is no, the new results wait beside the old ones, and the next run asks again.

    Returns:
        What came of it.

    Raises:
        SubmissionError: There is no submission in the folder.
        ConfigError: overrides.csv cannot be followed.
        UsageError: The output cannot be written, or another grader is at work in it.
        SandboxError: No wall holds on this machine.
    """
    found = find_submissions(folder)
    _check_output(out, folder)
    names = unique_names(found.entries)
    rows = gradebook.read_overrides(course.root / gradebook.OVERRIDES, course.parts)
    overrides, warnings = gradebook.by_submission(rows, names.values())
    summary = Summary(out, [part.name for part in parts], warnings=warnings)
    book = Book(course, summary, parts, overrides, fresh=fresh)
    entries: dict[str, Submission] = {}
    with _locked(out):
        Journal(out).clean(names.values())
        most = min(jobs, len(names))
        crew = Crew(course, [folder, out], most, unsafe=unsafe, first_rung=first_rung)
        went_well = False
        try:
            # What was graded on the best rung that this run can have is kept without trying whether it holds today.
            summary.rung = first_rung
            submissions = _Reader(course, names, entries)
            needed = (submission for _, submission in submissions if not book.keeps(submission))
            if count := len(list(islice(needed, most))):
                summary.rung = crew.start(count)
                on_start(summary.rung)
            _grade_all(submissions, crew, book, on_progress)
            if not (moves := book.regraded()) or agree(moves):
                book.accept()
            went_well = True
        except KeyboardInterrupt:
            summary.interrupted = True
        finally:
            crew.close(at_once=not went_well)
        book.close(list(names.values()))
        _write_tables(course, out, summary, entries, found.ignored)
    return summary


class _Reader:
    """Gives every submission, as often as it is asked; each is read once, and its texts are not kept.

    Args:
        course: Says what a part's file is called.
        names: Path -> what the results are called.
        entries: Told what was read: name in the folder -> submission.
    """

    def __init__(self, course: Course, names: Mapping[Path, str], entries: dict[str, Submission]) -> None:
        self._course = course
        self._names = names
        self._entries = entries

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[tuple[Path, Submission]]:
        for path, name in self._names.items():
            if path.name not in self._entries:
                self._entries[path.name] = replace(self._course.read(path, name), sources={})
            yield path, self._entries[path.name]


def _grade_all(submissions: _Reader, crew: Crew, book: Book, on_progress: Callable[[Progress], None]) -> None:
    """Keep what is current, and give the rest to the crew."""
    queue: list[Job] = []
    total, done = len(submissions), 0
    for path, submission in submissions:
        wanted = book.open(submission)
        if wanted:
            queue.append(Job(path, submission.name, wanted))
        else:
            done += 1
            on_progress(Progress(submission.name, done, total, 0.0, skipped=True))
    if not queue:
        return
    started = time.monotonic()
    for number, (_, graded) in enumerate(crew.run(queue), 1):
        book.enter(graded)
        left = (len(queue) - number) * (time.monotonic() - started) / number
        on_progress(Progress(graded.result["submission"], done + number, total, left, skipped=False))


def _write_tables(
    course: Course, out: Path, summary: Summary, entries: Mapping[str, Submission], ignored: Iterable[Refusal]
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
