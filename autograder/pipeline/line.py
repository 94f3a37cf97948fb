"""One submission, from its sources to its score. Whatever breaks on our side becomes an unscored part, never a zero."""

import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder import scoring
from autograder.errors import GptHwError
from autograder.pipeline.blame import blame
from autograder.pipeline.course import Course
from autograder.records import CheckResult, Outcome, Part, PartScore, Submission, SubmissionResult
from autograder.sandbox import ForkServer, Placement, RungReport, Worker, choose_rung

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
        self._servers = {"torch": self._new_server("torch")}
        self._workers: list[Worker] = []  # of the last attempt
        self._placement = Placement()
        self._is_lost = False  # the last worker that was wished for did not come
        self._failing: set[str] = set()  # parts whose last error stayed on fresh fork servers
        self.rung = 0
        self.reports: list[RungReport] = []

    def _new_server(self, library: str) -> ForkServer:
        if library != "torch":
            return ForkServer((library,))
        groups = sorted({group for part in self.course.parts.values() for group in part.forbidden})
        return ForkServer(("torch", "full", *groups))

    def _server(self, part: Part) -> ForkServer:
        library = part.libraries[0]  # a worker for numpy alone must come from a server that has no torch
        if library not in self._servers:
            self._servers[library] = self._new_server(library)
        return self._servers[library]

    def start(self) -> None:
        """Wait for the fork server and choose the rung.

        Raises:
            SandboxError: No wall holds here.
        """
        import torch  # in this process, while the fork server imports it in its own

        torch.set_num_threads(1)
        limits = self.course.config.limits
        self.rung, self.reports = choose_rung(
            self._servers["torch"], limits, self._secrets, unsafe=self._unsafe, first=self._first_rung
        )

    def grade(self, submission: Submission, parts: Iterable[Part]) -> SubmissionResult:
        """Grade one submission; never raises for what is in it.

        Args:
            submission: As intake read it.
            parts: Which parts.

        Returns:
            Its result, with a flag for whatever a person should look at.
        """
        scores: list[PartScore] = []
        suspects = dict(self.course.sources)  # a part that passes all its checks is not asked whether it fails others
        for part in parts:
            scores.append(self._score(submission, part, suspects))
            if scores[-1].score == part.points:
                suspects.pop(part.module, None)
        return result_of(self.course, submission, scores, self.rung)

    def _score(self, submission: Submission, part: Part, suspects: Mapping[str, str]) -> PartScore:
        weight = self.course.config.weight(part.name)
        problem = submission.problems.get(part.module)
        if part.module not in submission.sources:
            message = problem or f"{part.module}.py was not handed in."
            return scoring.score_part(part, scoring.unanswered(part, Outcome.FAILED, message), weight)
        from autograder.suite import suite_is_broken

        score = self._attempt(submission, part, weight, suspects)
        # Code that is shut in can hardly send itself SIGKILL: a machine out of memory ends it so, or a person. What its
        # own work brings about comes again.
        if any(worker.was_killed for worker in self._workers):
            score = self._attempt(submission, part, weight, suspects)
        for _ in range(_ATTEMPTS - 1):
            if score.outcome is not Outcome.ERROR or suite_is_broken(part):
                break
            # A slip in a suite comes again whatever is started anew: one submission waits for that, and not the class.
            if self._is_lost or part.name not in self._failing:
                self._restart(part)
            score = self._attempt(submission, part, weight, suspects)
        if score.outcome is Outcome.ERROR:
            self._failing.add(part.name)
        else:
            self._failing.discard(part.name)
        return score

    def _attempt(self, submission: Submission, part: Part, weight: float, suspects: Mapping[str, str]) -> PartScore:
        from autograder.checks.catalogue import NoCatalogue

        results: Sequence[CheckResult]
        self._workers.clear()
        try:
            results = self._run(part, submission.sources, self._catalogue(part))
            results = blame(
                part,
                submission.sources,
                suspects,
                results,
                lambda asked, sources: self._run(asked, sources, NoCatalogue()),
            )
        except Exception as error:  # ours, by definition: what student code does is a result
            text = error.message if isinstance(error, GptHwError) else f"{type(error).__name__}: {error}"
            results = scoring.unanswered(part, Outcome.ERROR, f"the grader failed: {text}")
        return scoring.score_part(part, results, weight)

    def _run(self, part: Part, sources: Mapping[str, str], catalogue: "Catalogue") -> Sequence[CheckResult]:
        from autograder.suite import run_part

        limits = self.course.config.limits
        return run_part(
            part,
            sources,
            lambda: self._worker(part),
            seed=self.course.config.seed,
            limits=limits,
            catalogue=catalogue,
            bands=self.course.config.bands.get(part.name),
        )

    def _worker(self, part: Part) -> Worker:
        places = self._placement.choose()
        self._is_lost = True
        worker = self._server(part).worker(self.rung, self.course.config.limits, part.forbidden, places)
        self._is_lost = False
        self._workers.append(worker)
        return worker

    def _catalogue(self, part: Part) -> "Catalogue":
        from autograder.checks.catalogue import NoCatalogue, Replays

        if part.name not in self._catalogues:
            try:
                seed = self.course.config.seed
                self._catalogues[part.name] = Replays(
                    part, self.course.sources, seed, hidden=True, cache=_cache_folder()
                )
            except Exception:
                # A suite or catalogue that does not load costs the diagnosis here; the run itself reports the suite.
                self._catalogues[part.name] = NoCatalogue()
        return self._catalogues[part.name]

    def _restart(self, part: Part) -> None:
        self._servers.pop(part.libraries[0]).close()
        self._server(part).wait_until_ready()

    def close(self) -> None:
        """End the fork servers and their workers, and keep what diagnoses have learned for the next run."""
        for catalogue in self._catalogues.values():
            catalogue.remember()
        for server in self._servers.values():
            server.close()
        self._placement.release()

    def __enter__(self) -> "Line":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


def result_of(course: Course, submission: Submission, scores: Iterable[PartScore], rung: int) -> SubmissionResult:
    """Put the scores of one submission together with what they were computed by."""
    return scoring.score_submission(
        submission=submission,
        parts=scores,
        seed=course.config.seed,
        sandbox=rung,
        suites_sha256=course.suites_sha256,
        config_sha256=course.config.sha256,
        environment=environment(),
    )


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpt-hw" / "replays"


def environment() -> dict[str, Any]:
    """Say on what a score was computed, for its record."""
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name in ("torch", "numpy"):
        module = sys.modules.get(name)
        if module is not None:
            found[name] = str(module.__version__)
    found["tiny Shakespeare"] = _has_shakespeare()
    return found


@cache
def _has_shakespeare() -> bool:
    # Checks that train on it where it is at hand ask the same; in this process, so that one answer holds for a run.
    try:
        from autograder.corpora import available

        return available()
    except ImportError:  # pooch, which finds it, is of an extra
        return False
