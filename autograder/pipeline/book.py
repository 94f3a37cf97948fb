"""What counts and what waits: a run's results on their way into the folder, none replacing another unseen.

A submission that is new, or handed in anew under the same rules, counts as soon as it is graded. Whatever else is
graded again is a regrade: it is put beside what counts, until all are known and somebody has seen whose scores move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder import gradebook
from autograder.gradebook import Journal, Move, Override
from autograder.pipeline.course import Course
from autograder.pipeline.crew import Graded
from autograder.records import Part, Submission
from autograder.report.standing import with_standing


@dataclass
class Summary:
    """What came of a run.

    ``moves`` are the scores that a regrade moves; they count where ``accepted`` is true, and else wait. ``moved`` are
    those that moved because something was handed in anew, or was unscored. ``results`` has what is left of each
    result.json below the output folder that belongs to this run's submissions (see ``gradebook.brief``).
    """

    out: Path
    part_names: list[str]
    rung: int = 0
    graded: int = 0
    skipped: int = 0
    interrupted: bool = False
    accepted: bool = False
    moves: list[Move] = field(default_factory=list)
    moved: list[Move] = field(default_factory=list)
    slowest: tuple[str, float] | None = None
    by_hand: int = 0
    warnings: list[str] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Tell whether scores would move and nobody has agreed yet."""
        return bool(self.moves) and not self.accepted

    @property
    def unresolved(self) -> dict[str, list[str]]:
        """Say which parts are unscored through our fault: submission -> parts."""
        return gradebook.unresolved(self.results)

    @property
    def exit_code(self) -> int:
        """0: all passed; 1: not; 2: a regrade waits for a yes; 3: a part is unscored by our fault; 130: Ctrl-C."""
        if self.interrupted:
            return 130
        if self.waits:
            return 2
        if self.unresolved:
            return 3
        parts = [part for result in self.results for part in result["parts"].values()]
        return 0 if all(part["outcome"] == "passed" for part in parts) else 1


class Book:
    """Decides for each submission whether it must be graded, and where what came of it goes.

    Args:
        course: The rules.
        summary: Told what happens; its ``rung`` is that of the run, or the best that the run can have, before the
            first question.
        parts: Which parts are asked for.
        overrides: Submission -> part -> score set by hand.
        fresh: Whether what is current is graded again too.
    """

    def __init__(
        self,
        course: Course,
        summary: Summary,
        parts: Sequence[Part],
        overrides: Mapping[str, Mapping[str, Override]],
        *,
        fresh: bool,
    ) -> None:
        self._course = course
        self._summary = summary
        self._parts = parts
        self._overrides = overrides
        self._fresh = fresh
        self._journal = Journal(summary.out)
        self._before: dict[str, tuple[dict[str, Any], bool] | None] = {}
        self._staged: dict[str, dict[str, Any]] = {}
        self._arrived: list[Move] = []

    def keeps(self, submission: Submission) -> bool:
        """Tell whether ``open`` would ask for no grading; changes nothing."""
        return self._standing(submission, *self._found(submission.name)) is not None

    def open(self, submission: Submission) -> tuple[str, ...]:
        """Return the parts of a submission that must be graded; none where what is there says it already."""
        name = submission.name
        old, pending = self._found(name)
        standing = self._standing(submission, old, pending)
        if standing is not None:
            assert old is not None
            if standing == "waits":
                self._staged[name] = gradebook.brief(old)
            else:
                self._journal.drop(name)
                self._count(name, old, None)
            self._summary.skipped += 1
            return ()
        is_new = old is None or (old["files"] != submission.sha256 and self._follows(old))
        self._before[name] = None if old is None else (gradebook.brief(old), is_new)
        return tuple(self._wanted(old))

    def enter(self, graded: Graded) -> None:
        """Write down what came of a submission that had to be graded.

        Raises:
            UsageError: It cannot be written.
        """
        name = graded.result["submission"]
        summary = self._summary
        summary.graded += 1
        if summary.slowest is None or graded.seconds > summary.slowest[1]:
            summary.slowest = name, graded.seconds
        before = self._before.pop(name)
        if before is None or before[1]:
            counted = self._count(name, graded.result, graded.page)
            if before is not None:
                summary.moved += gradebook.moves(before[0], counted)
        else:
            self._journal.stage(name, graded.result, graded.page)
            self._staged[name] = before[0]

    def regraded(self) -> list[Move]:
        """Say whose scores the regrades move: those that somebody may have been told already.

        A score set by hand stays as it is, and does not move.
        """
        found: list[Move] = []
        for name, old in sorted(self._staged.items()):
            new = self._journal.pending(name)
            if new is not None:
                overrides = self._overrides.get(name, {})
                found += gradebook.moves(
                    gradebook.with_overrides(old, overrides), gradebook.with_overrides(gradebook.brief(new), overrides)
                )
        self._summary.moves = [move for move in found if move.takes_the_place_of_a_score]
        self._arrived = [move for move in found if not move.takes_the_place_of_a_score]
        return self._summary.moves

    def accept(self) -> None:
        """Let the regrades count, and keep what counted before.

        Raises:
            UsageError: One cannot be written; those before it count.
        """
        for name in sorted(self._staged):
            new, page = self._journal.pending(name), self._journal.staged_page(name)
            if new is not None and page is not None:
                self._count(name, new, page)
                del self._staged[name]
        self._summary.moved += self._arrived
        self._summary.accepted = True

    def close(self, names: Sequence[str]) -> None:
        """Give every submission that waits, or that this run did not reach, the row that an earlier one has written."""
        reached = {result["submission"] for result in self._summary.results}
        for name in names:
            old = None if name in reached else self._journal.result(name)
            if old is not None:
                self._count(name, old, None)

    def _count(self, name: str, result: dict[str, Any], page: str | None) -> dict[str, Any]:
        """Let a result count, with the scores set by hand; what is on the disk already is not written again."""
        counted = gradebook.with_overrides(result, self._overrides.get(name, {}))
        if page is not None or counted != result:
            text = page if page is not None else self._journal.page(name)
            self._journal.settle(name, counted, None if text is None else with_standing(text, counted))
        if page is not None:
            self._journal.drop(name)
        kept = gradebook.brief(counted)
        self._summary.by_hand += sum("by_hand" in part for part in kept["parts"].values())
        self._summary.results.append(kept)
        return kept

    def _found(self, name: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        return self._journal.result(name), self._journal.pending(name)

    def _wanted(self, old: Mapping[str, Any] | None) -> list[str]:
        # A part graded before stays in the gradebook when another part is asked for.
        asked = {part.name for part in self._parts} | set(old["parts"] if old else ())
        return [part for part in self._course.parts if part in asked]

    def _standing(
        self, submission: Submission, old: Mapping[str, Any] | None, pending: Mapping[str, Any] | None
    ) -> Literal["waits", "counts"] | None:
        """Tell which of the two results there are says what grading again would say."""
        if self._fresh or old is None:
            return None
        wanted = self._wanted(old)
        if pending is not None and self._is_current(pending, submission, wanted):
            return "waits"
        return "counts" if self._is_current(old, submission, wanted) else None

    def _is_current(self, old: Mapping[str, Any], submission: Submission, wanted: Sequence[str]) -> bool:
        return gradebook.is_current(old, files=submission.sha256, parts=wanted, **self._rules)

    def _follows(self, old: Mapping[str, Any]) -> bool:
        return gradebook.follows(old, **self._rules)

    @property
    def _rules(self) -> dict[str, Any]:
        config = self._course.config
        return {
            "suites_sha256": self._course.suites_sha256,
            "config_sha256": config.sha256,
            "seed": config.seed,
            "sandbox": self._summary.rung,
        }
