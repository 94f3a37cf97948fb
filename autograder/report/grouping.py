"""Which checks are told together: by exercise, and once where many say the same."""

import re
from collections.abc import Iterable, Sequence

from autograder.records import CheckResult, Outcome

_STUB = re.compile(r"NotImplementedError: (part\d+): ([\w.]+) is not written yet")


def by_exercise(results: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    """Group results by the exercise that their checks are about.

    Args:
        results: Results in the order of the suites.

    Returns:
        Exercise to results; both keep the order of first appearance.
    """
    groups: dict[str, list[CheckResult]] = {}
    for result in results:
        groups.setdefault(result.check.exercise, []).append(result)
    return groups


def not_written(result: CheckResult, part_name: str) -> str | None:
    """Recognise a check that failed because an exercise is still as it was handed out.

    Args:
        result: What came of the check.
        part_name: The part of the check; an exercise of another part is named with its part.

    Returns:
        ``not written yet`` where it is the check's own exercise, ``needs causal_mask, which is not written yet``
        where the check's exercise calls another one, None where the check ended in any other way.
    """
    lines = result.traceback.strip().splitlines()
    stub = _STUB.fullmatch(lines[-1].strip()) if lines else None
    if stub is None or result.outcome is not Outcome.FAILED:
        return None
    part, name = stub.groups()
    if part == part_name and _top(name) == _top(result.check.exercise):
        return "not written yet"
    where = name if part == part_name else f"{name} of {part}"
    return f"needs {where}, which is not written yet"


def shared_failure(results: Sequence[CheckResult]) -> CheckResult | None:
    """Find the one reason why every check of a part fails, for example a file that does not import.

    Args:
        results: All results of a part that are to be told.

    Returns:
        The first result where there are several, none passed and all say the same; otherwise None.
    """
    if len(results) < 2 or not results[0].message or results[0].outcome is Outcome.PASSED:
        return None
    return results[0] if len({(result.outcome, told(result)) for result in results}) == 1 else None


def told(result: CheckResult) -> tuple[str, ...]:
    """Give what a result says, to tell whether another one says the same.

    Args:
        result: What came of a check.

    Returns:
        Its message, diagnosis, picture and traceback; empty where it says nothing.
    """
    texts = (result.message, result.diagnosis, result.picture, result.traceback)
    return texts if any(texts) else ()


def _top(name: str) -> str:
    """Take the function or class that a dotted name begins with."""
    return name.split(".", 1)[0]
