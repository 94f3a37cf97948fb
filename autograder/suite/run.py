"""Pytest runs the suites in this process, against student code in another."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from autograder.checks.bands import Band, Bands
from autograder.checks.catalogue import Catalogue
from autograder.checks.diagnosis import diagnose
from autograder.records import CheckResult, Limits, Part
from autograder.suite.collected import is_broken, only_these_options, run_collected
from autograder.suite.connection import PartConnection, WorkerLike
from autograder.suite.plugin import SuitePlugin, SuiteRun, suite_of

# No file of the machine or of the submission configures this run, and no other plugin takes part in it.
_OPTIONS = (
    "-c", os.devnull, "--noconftest", "--import-mode=importlib", "--continue-on-collection-errors",
    "-p", "no:cacheprovider", "-p", "no:unraisableexception", "-p", "no:threadexception", "-p", "no:logging",
    "-p", "no:doctest", "-p", "no:junitxml", "-p", "no:faulthandler", "-p", "no:warnings", "-p", "no:stepwise",
)  # fmt: skip
_UNSEEN = ("-p", "no:terminal", "--capture=no")  # output is dropped as a whole, which costs less than check by check
_SEEN = ("-q", "--tb=no", "--no-header")


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
    run = SuiteRun(part, connection, seed, Bands(bands or {}, part.name))
    suites = _suites(part)
    try:
        if extra_options:
            return _watched(run, [*options(part), *_SEEN, *extra_options, *suites], catalogue)
        reason = run_collected(run, suites, [*options(part), *_UNSEEN])
    finally:
        connection.close()
    return [*_named(run, catalogue), *run.unheard(reason)]


def suite_is_broken(part: Part) -> bool:
    """Tell whether a suite of the part did not load when it was last run, so that another attempt ends alike."""
    return is_broken(_suites(part))


def _suites(part: Part) -> list[str]:
    # Public ones first: what student code learns from a hidden check's arguments then comes too late to be shown.
    files = {suite_of(check) for check in part.checks}
    return [str(part.folder / name) for name in sorted(files, reverse=True)]


def options(part: Part) -> list[str]:
    """Return what pytest is told for every run of a part."""
    # Without a root of its own, pytest goes through every folder on the way from the system's.
    return [*_OPTIONS, "--rootdir", str(part.folder), "--confcutdir", str(part.folder)]


def _watched(run: SuiteRun, arguments: list[str], catalogue: Catalogue) -> list[CheckResult]:
    plugin = SuitePlugin(run, is_brief=False)
    with only_these_options():
        status = pytest.main(arguments, plugins=[plugin])
    # A person who leaves the debugger has seen enough.
    left = status == pytest.ExitCode.INTERRUPTED
    return [*_named(run, catalogue), *([] if left else run.unheard(f"pytest ended with {status}"))]


def _named(run: SuiteRun, catalogue: Catalogue) -> list[CheckResult]:
    exercises = {check.id: check.exercise for check in run.checks.values()}
    try:
        names = diagnose(run.failures, catalogue.lookup, exercises) if any(run.failures.values()) else {}
    except Exception:
        names = {}  # a broken mistakes.py costs the diagnosis, never a result; `prove` finds it
    results = []
    for result in run.results:
        name = names.get(result.check.id)
        results.append(replace(result, mistake=name, diagnosis=catalogue.told(name)) if name else result)
    return results
