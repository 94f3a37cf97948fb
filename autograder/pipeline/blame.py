"""Which earlier part is to blame: a failed check is run again with our own earlier parts in place of the student's.

Only whether it then passes is used; what that run prints or returns goes nowhere, since student code could read our
text in it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from autograder.records import CheckResult, Outcome, Part

Run = Callable[[Part, Mapping[str, str]], Sequence[CheckResult]]


def blame(
    part: Part,
    sources: Mapping[str, str],
    right: Mapping[str, str],
    results: Sequence[CheckResult],
    run: Run,
) -> list[CheckResult]:
    """Say in a failed check which earlier part makes it fail, where one does.

    Args:
        part: The part, with every check.
        sources: The submission: module -> text.
        right: Our own text of each earlier part that may be at fault: module -> text.
        results: What came of the checks.
        run: Runs some checks of the part on some sources.

    Returns:
        The results in the same order, some with a sentence more. No outcome changes: marks are for what was handed in.
    """
    failed = [result.check for result in results if result.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)]
    used = _used(part, sources, right)
    earlier = [m for m in part.needs if m in used and m in right and sources.get(m) != right[m]]
    if not failed or not earlier or _is_unwritten(part, results):
        return list(results)
    repaired = _passing(run(replace(part, checks=tuple(failed)), {**sources, **{m: right[m] for m in earlier}}))
    if not repaired:
        return list(results)
    rest = replace(part, checks=tuple(check for check in failed if check.id in repaired))
    if len(earlier) == 1:
        alone = {earlier[0]: repaired}
    else:
        alone = {module: _passing(run(rest, {**sources, module: right[module]})) for module in earlier}
    return [_told(result, [m for m in earlier if result.check.id in alone[m]], repaired, earlier) for result in results]


def suspect(part: Part, results: Sequence[CheckResult], broken: Callable[[], Sequence[str]]) -> list[CheckResult]:
    """Say in each failed check which earlier parts do not pass their own public checks.

    Args:
        part: The part.
        results: What came of its checks.
        broken: Runs the earlier parts' checks and names those that do not pass; asked only where something failed.
    """
    failed = [result for result in results if result.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)]
    if not failed or not part.needs or _is_unwritten(part, results):
        return list(results)
    names = " and ".join(f"{module}.py" for module in broken())
    if not names:
        return list(results)
    verb = "do" if " and " in names else "does"
    sentence = f"{names}, which this part may build on, {verb} not pass the public checks either: begin there."
    return [replace(one, message=f"{one.message}\n{sentence}") if one in failed else one for one in results]


def _used(part: Part, sources: Mapping[str, str], right: Mapping[str, str]) -> set[str]:
    """Name what the part's file names, and what those files name, in the submission or in our own text."""
    used, waiting = set[str](), [part.module]
    while waiting:
        module = waiting.pop()
        texts = [sources.get(module, "")] + ([right[module]] if module != part.module and module in right else [])
        found = {name for name in part.needs if any(name in text for text in texts)} - used
        used |= found
        waiting += found
    return used


def _passing(results: Sequence[CheckResult]) -> set[str]:
    return {result.check.id for result in results if result.outcome is Outcome.PASSED}


def _is_unwritten(part: Part, results: Sequence[CheckResult]) -> bool:
    # Where all that fails is this part's own stub, there is nobody else to ask.
    stub = f"NotImplementedError: {part.name}: "
    return all(stub in result.message for result in results if result.outcome is not Outcome.PASSED)


def _told(result: CheckResult, culprits: Sequence[str], repaired: set[str], earlier: Sequence[str]) -> CheckResult:
    if result.check.id not in repaired:
        return result
    names = [f"{module}.py" for module in culprits]
    if names:
        sentence = f"The fault is in {' or '.join(names)}: with a right one in its place this check passes."
    else:
        sentence = f"The fault is in earlier parts ({', '.join(earlier)}): with right ones this check passes."
    return replace(result, message=f"{result.message}\n{sentence}")
