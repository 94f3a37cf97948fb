"""Pytest runs the suites in this process; a small plugin gives them their arguments and keeps the results."""

import contextlib
import copy
import io
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.checks import CheckFailure, Rng, Student, describe
from autograder.checks.bands import Band, Bands
from autograder.checks.catalogue import Catalogue
from autograder.checks.diagnosis import diagnose
from autograder.checks.failures import restart_steps
from autograder.checks.replies import forget_replies, is_reply, is_type_of_reply, numbers_in
from autograder.records import Check, CheckResult, Limits, Outcome, Part
from autograder.suite.connection import NotImportable, PartConnection, WorkerLike
from autograder.suite.loaded import loaded

# No file of the machine or of the submission configures this run, and no other plugin takes part in it.
_OPTIONS = (
    "-c", os.devnull, "--noconftest", "--import-mode=importlib", "-q", "--tb=no", "--no-header",
    "--continue-on-collection-errors",
    "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:threadexception", "-p", "no:logging",
    "-p", "no:doctest", "-p", "no:junitxml", "-p", "no:faulthandler", "-p", "no:warnings", "-p", "no:stepwise",
)  # fmt: skip

_NOT_CALLABLE = re.compile(r"'([\w.]+)' object is not callable")
_MOST_NUMBERS = 1_000_000  # in the evidence of one check


def run_part(
    part: Part,
    sources: Mapping[str, str],
    open_worker: Callable[[], WorkerLike],
    *,
    seed: int,
    limits: Limits,
    catalogue: Catalogue,
    bands: Mapping[str, Band] | None = None,
    extra_options: tuple[str, ...] = (),
) -> list[CheckResult]:
    """Run every declared check of a part against one submission.

    Args:
        part: With its checks; hidden ones are run where it has them.
        sources: The submission: module -> text.
        open_worker: Starts a fresh worker.
        seed: All inputs are drawn from it.
        limits: Of the course.
        catalogue: Names mistakes.
        bands: Of this part's training checks.
        extra_options: For pytest, where a person watches (``--pdb``).

    Returns:
        One result for each check that ran, and an error of ours for each that a broken suite kept from running.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    # Only what this part may import crosses the wall with it.
    visible = {name: text for name, text in sources.items() if name == part.module or name in part.needs}
    connection = PartConnection(open_worker, part.module, visible, limits)
    plugin = _Plugin(part, connection, seed, Bands(bands or {}, part.name))
    plugin.is_brief = not extra_options
    # Public ones first: what student code learns from a hidden check's arguments then comes too late to be shown.
    files = {_suite(check) for check in part.checks}
    suites = [str(part.folder / name) for name in sorted(files, reverse=True)]
    arguments = [*_OPTIONS, *_looking_in(part.folder), *extra_options]
    try:
        status = _run_pytest(arguments, suites, plugin, quiet=not extra_options)
    finally:
        connection.close()
    if plugin.interrupted and not extra_options:
        raise KeyboardInterrupt
    left = extra_options and status == pytest.ExitCode.INTERRUPTED  # a person who leaves the debugger has seen enough
    return [*_named(plugin, catalogue), *([] if left else plugin.unheard(status))]


def _looking_in(folder: Path) -> tuple[str, ...]:
    # Or pytest goes through every folder on the way from the system's root.
    return ("--rootdir", str(folder), "--confcutdir", str(folder))


def _run_pytest(arguments: list[str], suites: list[str], plugin: "_Plugin", *, quiet: bool) -> int:
    # Neither options nor plugins of this machine take part (PYTEST_ADDOPTS, PYTEST_PLUGINS, a broken entry point).
    before = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_")}
    for name in before:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # a checkout stays as it is
    try:
        quietly = contextlib.redirect_stdout(io.StringIO()) if quiet else contextlib.nullcontext()
        with loaded(suites, lambda name: plugin.interrupted or name in plugin.broken), quietly:
            return int(pytest.main([*arguments, *suites], plugins=[plugin]))
    finally:
        sys.dont_write_bytecode = bytecode
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(before)


def _named(plugin: "_Plugin", catalogue: Catalogue) -> list[CheckResult]:
    try:
        names = diagnose(plugin.failures, catalogue.lookup, plugin.exercises) if any(plugin.failures.values()) else {}
    except Exception:
        names = {}  # a broken mistakes.py costs the diagnosis, never a result; `prove` finds it
    results = []
    for result in plugin.results:
        name = names.get(result.check.id)
        results.append(replace(result, mistake=name, diagnosis=catalogue.told(name)) if name else result)
    return results


class _Plugin:
    def __init__(self, part: Part, connection: PartConnection, seed: int, bands: Bands) -> None:
        self._checks = {check.id: check for check in part.checks}
        self._connection = connection
        self._seed = seed
        self._bands = bands
        self._started = 0.0
        self.results: list[CheckResult] = []
        self.failures: dict[str, CheckFailure | None] = {}
        self.interrupted = False
        self.is_brief = True  # nobody looks at what pytest itself says
        self.broken: dict[str, str] = {}  # suite -> why it was not collected

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Student:
        """The student's module, through the wall."""
        self._connection.begin(self._check(request.node.name), self._seed)
        return Student(self._connection)

    @pytest.fixture
    def rng(self, request: pytest.FixtureRequest) -> Rng:
        """The inputs of this check."""
        return Rng(self._seed, self._check(request.node.name).id)

    @pytest.fixture
    def bands(self) -> Bands:
        """The bands of this part's training checks."""
        return self._bands

    @property
    def exercises(self) -> dict[str, str]:
        """What each check is about."""
        return {check.id: check.exercise for check in self._checks.values()}

    def _check(self, node_name: str) -> Check:
        return self._checks[node_name.removeprefix("test_")]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.name.removeprefix("test_") in self._checks]

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.interrupted = excinfo.errisinstance(KeyboardInterrupt)  # pytest.exit() in a suite comes here too

    def pytest_exception_interact(self, call: pytest.CallInfo[Any], report: object) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            error = _cause(call.excinfo.value)
            name = os.path.basename(report.nodeid)
            self.broken[name] = f"{name} does not load: {type(error).__name__}: {error}{_place(error)}"

    def unheard(self, status: int) -> list[CheckResult]:
        """Return an error of ours for each declared check that gave no result."""
        heard = {result.check.id for result in self.results}
        missing = [check for check in self._checks.values() if check.id not in heard]
        other = f"the suite did not run this check (pytest ended with {status})"
        return [CheckResult(check, Outcome.ERROR, self.broken.get(_suite(check), other)) for check in missing]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        self._started = time.perf_counter()
        restart_steps()
        forget_replies()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> pytest.TestReport | None:
        check = self._checks.get(item.name.removeprefix("test_"))
        if check is not None and (call.when == "call" or call.excinfo is not None):
            error = call.excinfo.value if call.excinfo else None
            result = self._result(check, error)
            self.results.append(replace(result, seconds=time.perf_counter() - self._started))
            if error is not None and self.is_brief:
                # Pytest's own report draws the source around every frame, which nobody sees and takes a tenth of a
                # second; one whose reason is a plain text is made at once.
                plain = copy.copy(call)
                plain.excinfo = "see the result"  # type: ignore[assignment]
                return pytest.TestReport.from_item_and_call(item, plain)
        return None  # pytest makes its own

    def _result(self, check: Check, error: BaseException | None) -> CheckResult:
        if error is None:
            self.failures[check.id] = None
            return CheckResult(check, Outcome.PASSED, printed=self._connection.printed())
        if isinstance(error, NotImportable):
            outcome = Outcome.TIMED_OUT if error.timed_out else Outcome.FAILED
            printed = self._connection.printed()
            return CheckResult(check, outcome, error.message, traceback=error.traceback, printed=printed)
        if isinstance(error, CheckFailure):
            self.failures[check.id] = _kept(error)
            return CheckResult(
                check,
                error.outcome,
                error.message,
                traceback=error.traceback,
                picture=error.picture,
                printed=self._connection.printed(),
            )
        if isinstance(error, AssertionError):  # a suite's own assert: a property of the student's work
            failure = CheckFailure(str(error) or "the property does not hold")
            self.failures[check.id] = failure
            return CheckResult(check, Outcome.FAILED, failure.message, printed=self._connection.printed())
        if (text := _wrong_reply(error)) is not None:
            self.failures[check.id] = CheckFailure(text)
            return CheckResult(check, Outcome.FAILED, text, printed=self._connection.printed())
        text = f"the grader failed, not the work: {type(error).__name__}: {error}{_place(error)}"
        return CheckResult(check, Outcome.ERROR, text)


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


def _suite(check: Check) -> str:
    return "test_hidden.py" if check.hidden else "test_public.py"


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
