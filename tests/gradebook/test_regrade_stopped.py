"""A run that is stopped, killed or out of disk at any moment loses nothing, and the next one ends the same."""

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from regrade_stand_in import HEADER, StandIn, change_suite, counts, grade, hand_in

from autograder.errors import UsageError
from autograder.gradebook import results as results_module


def test_ctrl_c_in_a_regrade_keeps_what_counts_and_goes_on_from_there(root: Path) -> None:
    grade(root)
    old = counts(root)
    change_suite(root)
    StandIn.lost = {("ada", "part1"): 1}
    StandIn.stop_after = 2
    stopped = grade(root)
    assert (stopped.exit_code, len(stopped.results)) == (130, 3)
    assert counts(root) == old
    StandIn.stop_after = None
    assert grade(root).waits
    assert StandIn.asked == ["cyd"]


class _Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


@pytest.mark.parametrize("failure", [_Killed(), OSError(28, "No space left on device")], ids=["killed", "disk full"])
def test_a_run_that_ends_at_any_write_loses_nothing_and_the_next_one_ends_the_same(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    """A regrade with a yes, somebody new and something new, stopped before and after each file that it writes."""
    StandIn.lost = {("ada", "part1"): 1}
    grade(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    hand_in(root, "dan", "x = 1\n")
    (root / "overrides.csv").write_text(HEADER + "cyd,part2,5,late,Kim\n")
    shutil.copytree(root, tmp_path / "straight")
    grade(tmp_path / "straight", yes=True)
    wanted = scores(tmp_path / "straight")
    writes = Writes(monkeypatch)
    moments = product(range(40), (False, True) if isinstance(failure, _Killed) else (False,))
    for number, after in moments:
        course = shutil.copytree(root, tmp_path / f"stopped-{number}-{after}")
        writes.fail(number, failure, after=after)
        try:
            grade(course, yes=True)
        except (_Killed, UsageError):
            pass
        else:
            break
        writes.fail(None, failure)
        for path in (course / "results").rglob("*.json"):
            json.loads(path.read_text())
        assert everything_that_counted(course) >= everything_that_counted(root)
        grade(course, yes=True)
        assert scores(course) == wanted
        assert not list((course / "results").rglob("*.tmp"))
        assert not list((course / "results").rglob("pending*"))
    else:
        pytest.fail("the run never came to its end")
    assert number > 10


class Writes:
    """Lets the so-and-so-many-th write of a file end a run, before or after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._write = results_module.write_whole
        self._count = 0
        self._at: int | None = None
        self._failure: BaseException = RuntimeError()
        self._after = False
        monkeypatch.setattr(results_module, "write_whole", self._counted)

    def fail(self, at: int | None, failure: BaseException, *, after: bool = False) -> None:
        self._count, self._at, self._failure, self._after = 0, at, failure, after

    def _counted(self, path: Path, content: bytes, *, durable: bool = False) -> None:
        here = self._count == self._at
        self._count += 1
        if here and not self._after:
            if isinstance(self._failure, _Killed):
                path.with_name(".0123456789abcdef.tmp").write_bytes(content[:100])
            raise self._failure
        self._write(path, content, durable=durable)
        if here:
            raise self._failure


def scores(root: Path) -> dict[str, Any]:
    """Read everything that a run decides: results without times, pages, history and gradebook."""
    found: dict[str, Any] = {"gradebook": (root / "results" / "gradebook.csv").read_bytes()}
    for path in sorted((root / "results").rglob("*.json")):
        found[str(path.relative_to(root))] = path.read_bytes()
    for path in sorted((root / "results").rglob("*.html")):
        found[str(path.relative_to(root))] = path.read_bytes()
    return found


def everything_that_counted(root: Path) -> set[bytes]:
    """Read each result that is there, the old ones included, by what it says."""
    return {path.read_bytes() for path in (root / "results").rglob("*.json") if path.name != "manifest.json"}
