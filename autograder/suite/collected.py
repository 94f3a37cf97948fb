"""Suites stay collected from one submission to the next: pytest's start takes longer than many a part's mathematics.

``pytest.main`` configures, collects, runs and forgets. Here the same steps are taken one by one, and the last again and
again, as plugins do that run a failed test once more. Nothing of a run is left for the next: pytest sets every item and
fixture up anew.
"""

import contextlib
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.suite.plugin import SuitePlugin, SuiteRun

_Stamp = tuple[tuple[int, int], ...]  # of each file: when it was written, and its size


@dataclass(frozen=True, slots=True)
class _Collected:
    stamp: _Stamp
    session: pytest.Session
    items: Sequence[pytest.Item]  # of the suites, of which a run takes some
    plugin: SuitePlugin


_kept: dict[tuple[str, ...], _Collected] = {}  # what loaded, and did not stop pytest, when it was last run


def run_collected(run: SuiteRun, suites: Sequence[str], options: Sequence[str]) -> str:
    """Let pytest run the checks of these suites, quietly, and collect them first where that was not done before.

    Args:
        run: Takes the results.
        suites: Paths of the files.
        options: Of pytest.

    Returns:
        Why checks were left out; empty where none was.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    key = tuple(suites)
    silence = io.StringIO()
    with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence), only_these_options():
        kept = _kept.pop(key, None)
        try:
            if kept is None or kept.stamp != _stamp(suites):
                kept = _collect(run, suites, options)
            kept.plugin.run = run
            kept.session.items[:] = [item for item in kept.items if item.name in run.checks]
            kept.session.config.hook.pytest_runtestloop(session=kept.session)
        except pytest.UsageError as error:
            return str(error)
        except pytest.exit.Exception as end:
            return f"pytest was told to stop: {end.msg}"
    if not run.broken:  # one that does not load is read anew the next time
        _kept[key] = kept
    return ""


def is_broken(suites: Sequence[str]) -> bool:
    """Tell whether one of these suites did not load, or stopped pytest, when they were last run."""
    return tuple(suites) not in _kept


def _collect(run: SuiteRun, suites: Sequence[str], options: Sequence[str]) -> _Collected:
    finders, modules = sys.meta_path[:], set(sys.modules)
    plugin = SuitePlugin(run)
    try:
        config = pytest.Config.fromdictargs({}, [*options, *suites])
        config.pluginmanager.register(plugin)
        config._do_configure()  # only ``pytest.main`` calls it, and that ends what it began
        session = pytest.Session.from_config(config)
        config.hook.pytest_sessionstart(session=session)
        config.hook.pytest_collection(session=session)
    finally:
        # Asserts are rewritten when a suite is imported, and all parts call their suites alike: neither pytest's
        # finder nor a suite may be left where the next part's would be looked for.
        sys.meta_path[:] = finders
        for name in set(sys.modules) - modules:
            if getattr(sys.modules[name], "__file__", None) in suites:
                del sys.modules[name]
    return _Collected(_stamp(suites), session, list(session.items), plugin)


@contextlib.contextmanager
def only_these_options() -> Iterator[None]:
    """Let neither options nor plugins of this machine take part (PYTEST_ADDOPTS, PYTEST_PLUGINS, an entry point)."""
    before: Mapping[str, str] = {name: value for name, value in os.environ.items() if name.startswith("PYTEST_")}
    for name in before:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # a checkout stays as it is
    try:
        yield
    finally:
        sys.dont_write_bytecode = bytecode
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update(before)


def _stamp(suites: Sequence[str]) -> _Stamp:
    try:
        found = [Path(file).stat() for file in suites]
    except OSError:  # it is gone, which pytest will say
        return ()
    return tuple((status.st_mtime_ns, status.st_size) for status in found)
