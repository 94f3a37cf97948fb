"""The folder of results: each result is there whole as soon as it is known, and none that was there is lost.

    results/<submission>/result.json, feedback.html      what counts
    results/<submission>/pending.json, pending.html      a regrade that waits for somebody's yes
    results/<submission>/history/001.json, 001.html      what counted before, the oldest first

result.json is written last: it says that the rest is there. Whatever moment the grader is killed at, it is either the
old one or the new one, and the next run does again what is not in it. Only the process that holds the folder's lock
writes; lanes hand over what they found.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.gradebook.results import json_text, read_result, unwritable, write_atomically
from autograder.whole_file import sync_folder, write_whole

RESULT, PAGE = "result.json", "feedback.html"
PENDING_RESULT, PENDING_PAGE = "pending.json", "pending.html"
HISTORY = "history"
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")  # as ``whole_file`` calls them


class Journal:
    """Reads and writes one folder of results.

    Args:
        out: The folder.
    """

    def __init__(self, out: Path) -> None:
        self._out = out

    def result(self, name: str) -> dict[str, Any] | None:
        """Read what counts for a submission."""
        return read_result(self._out / name / RESULT)

    def pending(self, name: str) -> dict[str, Any] | None:
        """Read the regrade that waits, where there is one, whole."""
        folder = self._out / name
        return read_result(folder / PENDING_RESULT) if (folder / PENDING_PAGE).is_file() else None

    def page(self, name: str) -> str | None:
        """Read the feedback page that counts."""
        return _text(self._out / name / PAGE)

    def settle(self, name: str, result: Mapping[str, Any], page: str | None) -> None:
        """Let a result count, and keep the one before where it says something else.

        Raises:
            UsageError: It cannot be written; what counted before still does.
        """
        folder = self._out / name
        old = read_result(folder / RESULT)
        if old is not None and _judged(old) != _judged(result):
            self._archive(folder)
        if page is not None:
            write_atomically(folder / PAGE, page)
        write_atomically(folder / RESULT, json_text(result))

    def stage(self, name: str, result: Mapping[str, Any], page: str) -> None:
        """Put a regrade beside what counts.

        Raises:
            UsageError: It cannot be written.
        """
        write_atomically(self._out / name / PENDING_PAGE, page)
        write_atomically(self._out / name / PENDING_RESULT, json_text(result))

    def staged_page(self, name: str) -> str | None:
        """Read the feedback page of the regrade that waits."""
        return _text(self._out / name / PENDING_PAGE)

    def drop(self, name: str) -> None:
        """Forget a regrade that waited."""
        for file in (PENDING_RESULT, PENDING_PAGE):
            with contextlib.suppress(OSError):
                (self._out / name / file).unlink()

    def clean(self, names: Iterable[str]) -> None:
        """Remove the drafts that a killed run left behind."""
        folders = [self._out / name for name in names]
        for folder in (self._out, *folders, *(folder / HISTORY for folder in folders)):
            with contextlib.suppress(OSError):
                for path in list(folder.iterdir()):
                    if _DRAFT.fullmatch(path.name):
                        path.unlink()

    def _archive(self, folder: Path) -> None:
        history = folder / HISTORY
        try:
            history.mkdir(exist_ok=True)
            kept = sorted((path for path in history.glob("*.json") if path.stem.isdecimal()), key=lambda p: int(p.stem))
            old = (folder / RESULT).read_bytes()
            if kept and kept[-1].read_bytes() == old:  # a run that was killed right after this step
                return
            number = int(kept[-1].stem) + 1 if kept else 1
            for file in (PAGE, RESULT):
                if (folder / file).is_file():
                    _keep(folder / file, history / f"{number:03}{Path(file).suffix}")
            sync_folder(history)
        except OSError as error:
            raise unwritable(history, error) from error


def _keep(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)  # the page of a number whose result was not reached
    try:
        os.link(source, target)  # takes no room on a disk that may be full
    except OSError:
        write_whole(target, source.read_bytes(), durable=True)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _judged(result: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a result what no two runs share: times and the machine."""
    parts = {
        name: {**part, "checks": [{**check, "seconds": 0} for check in part.get("checks", ())]}
        for name, part in result["parts"].items()
    }
    return {key: value for key, value in result.items() if key != "environment"} | {"parts": parts}
