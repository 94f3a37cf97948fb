"""What a check cell calls: the words in it, one run, what is shown. Nothing that goes wrong becomes a traceback."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograder.errors import GptHwError, UsageError, did_you_mean
from autograder.intake.text import Unreadable
from autograder.notebook.checker import Checker
from autograder.notebook.earlier import EarlierParts
from autograder.notebook.executed import Executed, Module, shell, watch_shell
from autograder.notebook.page import Page
from autograder.parts import find_part, public_parts
from autograder.records import CheckResult, Outcome, Part
from autograder.workspace import find_source, record_result

# Set to 1 by programs that run notebooks and look for errors; the second one by nbgrader's validate.
MUST_PASS = ("GPT_HW_MUST_PASS", "NBGRADER_VALIDATING")


class ChecksFailed(Exception):
    """Checks did not pass, in a cell that says that they must."""

    def _render_traceback_(self) -> list[str]:
        """Let IPython show one line: what failed stands above it."""
        return [f"{type(self).__name__}: {self}"]


class _Desk:
    """What one kernel keeps between its check cells."""

    def __init__(self) -> None:
        self.folder = Path.cwd()
        self.executed = Executed()
        self.checker = Checker()
        self.part: Part | None = None  # the last one that was checked


_desk: _Desk | None = None


def watch() -> None:
    """Begin to watch which cells are run, once; outside of IPython, do nothing."""
    global _desk
    ipython = shell()
    if ipython is None or _desk is not None:
        return
    _desk = _Desk()
    watch_shell(ipython, _desk.executed)
    EarlierParts(_desk.folder).install()
    _desk.checker.start()


def check(*words: str, must_pass: bool = False) -> None:
    """Run the public checks on the cells that were run so far, and show what came of them.

    Args:
        words: The part and which of its exercises, ``check("part3", "attention")``; all of them in ``check("part3")``.
            The part may be left out where the notebook has named it before.
        must_pass: Raise where a check does not pass, for programs that run notebooks.

    Raises:
        ChecksFailed: A check did not pass that must.
        UsageError: There is no notebook.
    """
    watch()
    if _desk is None:
        raise UsageError("check() looks at the cells of a notebook", "without one, use gpt-hw test")
    try:
        page = _checked(_desk, words)
    except (GptHwError, Unreadable) as error:
        page = Page(notices=[str(error)])
    shell().display_pub.publish({"text/html": page.html(), "text/plain": page.text()})
    if (must_pass or any(os.environ.get(name) == "1" for name in MUST_PASS)) and not page.is_passed:
        raise ChecksFailed("not all of these checks pass")


def _checked(desk: _Desk, words: Sequence[str]) -> Page:
    part, exercises = _asked(desk, words)
    desk.part = part
    wanted = [
        check
        for check in part.checks
        if not exercises or check.exercise in exercises or _top(check.exercise) in exercises
    ]
    module = desk.executed.module("this notebook")
    absent = [name for name in dict.fromkeys(_top(check.exercise) for check in wanted) if name not in module.names]
    asked = replace(part, checks=tuple(check for check in wanted if _top(check.exercise) not in absent))
    notices = [_not_run(absent)] if absent else []
    results: list[CheckResult] = []
    if asked.checks:
        results = desk.checker.run(asked, module.text, desk.folder)
        notices += _advice(results, f"{part.module}.py")
        results = [_with_cells(result, module, f"{part.module}.py") for result in results]
    if not exercises and not absent and find_source(desk.folder, part) is not None:
        passed = sum(result.outcome is Outcome.PASSED for result in results)
        points = sum(result.score or 0 for result in results)
        record_result(desk.folder, part.name, passed, len(results), points, part.points)
    return Page(replace(part, checks=tuple(wanted)), results, notices, exercises)


def _asked(desk: _Desk, words: Sequence[str]) -> tuple[Part, list[str]]:
    """Find the part and the exercises that the words of a check cell mean.

    Raises:
        UsageError: A word means nothing here.
    """
    known = public_parts()
    if desk.part is not None and (not words or words[0] in _exercises(desk.part)):
        return desk.part, _known_exercises(desk.part, words)
    if not words:
        raise UsageError("check() does not say which part", 'Write check("part3"), for example.')
    part = find_part(words[0], known)
    return part, _known_exercises(part, words[1:])


def _known_exercises(part: Part, words: Sequence[str]) -> list[str]:
    known = _exercises(part)
    for word in words:
        if word not in known:
            raise UsageError(f"{part.name} has no checks of '{word}'", did_you_mean(word, known))
    return list(words)


def _exercises(part: Part) -> list[str]:
    return list(dict.fromkeys(name for check in part.checks for name in (_top(check.exercise), check.exercise)))


def _top(exercise: str) -> str:
    return exercise.partition(".")[0]


def _not_run(absent: Sequence[str]) -> str:
    names = " or ".join(", ".join(absent).rsplit(", ", 1))
    return (
        f"No cell that was run defines {names}. Run {'its cell' if len(absent) == 1 else 'their cells'}, then this one."
    )


def _advice(results: Sequence[CheckResult], file: str) -> list[str]:
    """Say what to do where the cells do not run as a module."""
    message = results[0].message if results else ""
    if not message.startswith((f"{file} does not import", f"Importing {file}")) or "No module named 'part" in message:
        return []
    return [
        "The checks run your cells again, from the top, as the grader will. Mend that cell or delete it, or put what "
        'only tries something out under if __name__ == "__main__": (the grader leaves that out). If you have deleted '
        "it already, restart the kernel and run all cells."
    ]


def _with_cells(result: CheckResult, module: Module, file: str) -> CheckResult:
    message, traceback = (module.with_cells(text, file) for text in (result.message, result.traceback))
    return replace(result, message=message, traceback=traceback)
