"""One submission, from its sources to its score. Whatever breaks on our side becomes an unscored part, never a zero."""

import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder import scoring
from autograder.errors import GptHwError
from autograder.pipeline.course import Course
from autograder.records import CheckResult, Outcome, Part, PartScore, Submission, SubmissionResult
from autograder.sandbox import ForkServer, RungReport, choose_rung

if TYPE_CHECKING:
    from autograder.checks.catalogue import Catalogue

_ATTEMPTS = 3  # a failure of ours is tried again on a fresh fork server before a person is asked


class Line:
    """A fork server behind the wall, and the catalogues of mistakes: what is set up once and used for every submission.

    Args:
        course: What is graded, by which rules.
        secrets: Files and folders that no worker may read; the self-test tries.
        unsafe: Grade without a wall where none holds.
        first_rung: Begin further down the ladder, to try how a weaker machine would grade.
    """

    def __init__(
        self, course: Course, *, secrets: Sequence[Path] = (), unsafe: bool = False, first_rung: int = 1
    ) -> None:
        self.course = course
        self._secrets = [course.root / "assignments", course.root / "grading.yml", *secrets]
        self._unsafe = unsafe
        self._first_rung = first_rung
        self._catalogues: dict[str, Catalogue] = {}
        self._server = self._new_server()
        self.rung = 0
        self.reports: list[RungReport] = []

    def _new_server(self) -> ForkServer:
        groups = sorted({group for part in self.course.parts.values() for group in part.forbidden})
        return ForkServer(("torch", "full", *groups))

    def start(self) -> None:
        """Wait for the fork server and choose the rung.

        Raises:
            SandboxError: No wall holds here.
        """
        import torch  # in this process, while the fork server imports it in its own

        torch.set_num_threads(1)
        limits = self.course.config.limits
        self.rung, self.reports = choose_rung(
            self._server, limits, self._secrets, unsafe=self._unsafe, first=self._first_rung
        )

    def grade(self, submission: Submission, parts: Iterable[Part]) -> SubmissionResult:
        """Grade one submission; never raises for what is in it.

        Args:
            submission: As intake read it.
            parts: Which parts.

        Returns:
            Its result, with a flag for whatever a person should look at.
        """
        scores = [self._score(submission, part) for part in parts]
        return scoring.score_submission(
            submission=submission,
            parts=scores,
            seed=self.course.config.seed,
            sandbox=self.rung,
            suites_sha256=self.course.suites_sha256,
            config_sha256=self.course.config.sha256,
            environment=environment(),
        )

    def _score(self, submission: Submission, part: Part) -> PartScore:
        weight = self.course.config.weight(part.name)
        problem = submission.problems.get(part.module)
        if part.module not in submission.sources:
            message = problem or f"{part.module}.py was not handed in."
            return scoring.score_part(part, scoring.unanswered(part, Outcome.FAILED, message), weight)
        score = self._attempt(submission, part, weight)
        for _ in range(_ATTEMPTS - 1):
            if score.outcome is not Outcome.ERROR:
                break
            self._restart()
            score = self._attempt(submission, part, weight)
        return score

    def _attempt(self, submission: Submission, part: Part, weight: float) -> PartScore:
        from autograder.suite import run_part

        results: Sequence[CheckResult]
        try:
            results = run_part(
                part,
                submission.sources,
                lambda: self._server.worker(self.rung, self.course.config.limits, part.forbidden),
                seed=self.course.config.seed,
                limits=self.course.config.limits,
                catalogue=self._catalogue(part),
            )
        except Exception as error:  # ours, by definition: what student code does is a result
            text = error.message if isinstance(error, GptHwError) else f"{type(error).__name__}: {error}"
            results = scoring.unanswered(part, Outcome.ERROR, f"the grader failed: {text}")
        return scoring.score_part(part, results, weight)

    def _catalogue(self, part: Part) -> "Catalogue":
        from autograder.checks.catalogue import NoCatalogue, Replays

        if part.name not in self._catalogues:
            try:
                seed = self.course.config.seed
                self._catalogues[part.name] = Replays(part, self.course.sources, seed, hidden=True)
            except Exception:
                # A suite or catalogue that does not load costs the diagnosis here; the run itself reports the suite.
                self._catalogues[part.name] = NoCatalogue()
        return self._catalogues[part.name]

    def _restart(self) -> None:
        self._server.close()
        self._server = self._new_server()
        self._server.wait_until_ready()

    def close(self) -> None:
        """End the fork server and its workers."""
        self._server.close()

    def __enter__(self) -> "Line":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


def environment() -> dict[str, Any]:
    """Say on what a score was computed, for its record."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in ("torch", "numpy"):
        module = sys.modules.get(name)
        if module is not None:
            found[name] = str(module.__version__)
    return found
