"""Pytest's side of a run: a small plugin gives the checks their arguments, and one run's results are kept."""

import copy
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from autograder.checks import CheckFailure, Rng, Student, describe
from autograder.checks.bands import Bands
from autograder.checks.failures import restart_steps
from autograder.checks.replies import forget_replies, is_reply, is_type_of_reply, numbers_in
from autograder.records import Check, CheckResult, Outcome, Part
from autograder.suite.connection import NotImportable, PartConnection

_NOT_CALLABLE = re.compile(r"'([\w.]+)' object is not callable")
_MOST_NUMBERS = 1_000_000  # in the evidence of one check


class SuiteRun:
    """The checks of a part on one submission, and what came of them.

    Args:
        part: With its checks.
        connection: To the submission.
        seed: All inputs are drawn from it.
        bands: Of the part's training checks.
    """

    def __init__(self, part: Part, connection: PartConnection, seed: int, bands: Bands) -> None:
        self.checks = {f"test_{check.id}": check for check in part.checks}  # by the function's name
        self.connection = connection
        self.seed = seed
        self.bands = bands
        self.results: list[CheckResult] = []
        self.failures: dict[str, CheckFailure | None] = {}
        self.broken: dict[str, str] = {}  # suite -> why it was not collected

    def take(self, check: Check, error: BaseException | None, seconds: float) -> None:
        """Keep the result of a check that raised this, or nothing."""
        self.results.append(replace(self._result(check, error), seconds=seconds))

    def unheard(self, reason: str) -> list[CheckResult]:
        """Return an error of ours for each declared check that gave no result."""
        heard = {result.check.id for result in self.results}
        missing = [check for check in self.checks.values() if check.id not in heard]
        other = f"the suite did not run this check ({reason or 'pytest did not find it'})"
        return [CheckResult(check, Outcome.ERROR, self.broken.get(suite_of(check), other)) for check in missing]

    def _result(self, check: Check, error: BaseException | None) -> CheckResult:
        printed = self.connection.printed
        if error is None:
            self.failures[check.id] = None
            return CheckResult(check, Outcome.PASSED, printed=printed())
        if isinstance(error, NotImportable):
            outcome = Outcome.TIMED_OUT if error.timed_out else Outcome.FAILED
            return CheckResult(check, outcome, error.message, traceback=error.traceback, printed=printed())
        if isinstance(error, CheckFailure):
            self.failures[check.id] = _kept(error)
            return CheckResult(
                check,
                error.outcome,
                error.message,
                traceback=error.traceback,
                picture=error.picture,
                printed=printed(),
            )
        if isinstance(error, AssertionError):  # a suite's own assert: a property of the student's work
            text: str | None = str(error) or "the property does not hold"
        else:
            text = _wrong_reply(error)
        if text is not None:
            self.failures[check.id] = CheckFailure(text)
            return CheckResult(check, Outcome.FAILED, text, printed=printed())
        text = f"the grader failed, not the work: {type(error).__name__}: {error}{_place(error)}"
        return CheckResult(check, Outcome.ERROR, text)


class SuitePlugin:
    """What pytest asks while it collects and runs.

    Args:
        run: The first run; another takes its place when what was collected is run again.
        is_brief: Nobody looks at what pytest itself says, and it may be run again.
    """

    def __init__(self, run: SuiteRun, *, is_brief: bool = True) -> None:
        self.run = run
        self._is_brief = is_brief
        self._check: Check  # the one that runs
        self._started = 0.0

    @pytest.fixture
    def student(self) -> Student:
        """The student's module, through the wall."""
        self.run.connection.begin(self._check, self.run.seed)
        return Student(self.run.connection)

    @pytest.fixture
    def rng(self) -> Rng:
        """The inputs of this check."""
        return Rng(self.run.seed, self._check.id)

    @pytest.fixture
    def bands(self) -> Bands:
        """The bands of this part's training checks."""
        return self.run.bands

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the run's checks, where there is no other run that will want others."""
        if not self._is_brief:
            items[:] = [item for item in items if item.name in self.run.checks]

    def pytest_exception_interact(self, call: pytest.CallInfo[Any], report: object) -> None:
        """Note why a suite does not load."""
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            error = _cause(call.excinfo.value)
            name = os.path.basename(report.nodeid)
            self.run.broken[name] = f"{name} does not load: {type(error).__name__}: {error}{_place(error)}"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        """Begin a check."""
        self._check, self._started = self.run.checks[item.name], time.perf_counter()
        restart_steps()
        forget_replies()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> pytest.TestReport | None:
        """Take what came of a check, or of making it ready."""
        if call.when == "call" or call.excinfo is not None:
            error = call.excinfo.value if call.excinfo else None
            self.run.take(self._check, error, time.perf_counter() - self._started)
            if error is not None and self._is_brief:
                # Pytest's own report draws the source around every frame, which nobody sees and takes a tenth of a
                # second; one whose reason is a plain text is made at once.
                plain = copy.copy(call)
                plain.excinfo = "see the result"  # type: ignore[assignment]
                return pytest.TestReport.from_item_and_call(item, plain)
        return None  # pytest makes its own


def suite_of(check: Check) -> str:
    """Name the file that a check stands in."""
    return "test_hidden.py" if check.hidden else "test_public.py"


def _kept(failure: CheckFailure) -> CheckFailure:
    # Without its traceback, whose frames hold every value of the check, and without evidence of a size that no suite
    # asks for: a submission that answers with a hundred MiB each time must not fill this process.
    evidence = failure.evidence
    if evidence is not None and numbers_in(evidence.content) > _MOST_NUMBERS:
        evidence = None
    return CheckFailure(failure.message, evidence=evidence, outcome=failure.outcome)


def _wrong_reply(error: BaseException) -> str | None:
    # A suite goes on with an object of the student's, and plain data came in its place. What stumbles over anything
    # else than an answer is a broken suite, which is ours.
    if isinstance(error, AttributeError) and is_reply(error.obj):
        return f"{describe.kind_of(error.obj)} came back where an object with '{error.name}' is expected."
    if isinstance(error, TypeError) and (found := _NOT_CALLABLE.fullmatch(str(error))) and is_type_of_reply(found[1]):
        return f"{found[1]} came back where something to call is expected."
    return None


def _cause(error: BaseException) -> BaseException:
    # pytest wraps what a suite raises when it is imported.
    return error.__cause__ if isinstance(error, pytest.Collector.CollectError) and error.__cause__ else error


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    place = ""
    while trace is not None:
        name = os.path.basename(trace.tb_frame.f_code.co_filename)
        if name.startswith("test_"):
            place = f" ({name}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place
