"""Turn what the checks reported into scores: every declared check counts exactly once.

A check that did not report, or reported twice, is our error and never a zero: the part then has no score,
and the flags of the submission say so to a person.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.records import Check, CheckResult, Outcome, Part, PartScore, Submission, SubmissionResult

SCORE_DECIMALS = 4
NO_SANDBOX = 3  # the last rung of the ladder: the student's code ran without a wall
FLAG_CHARACTERS = 200  # a flag is read in one cell of a spreadsheet

_WORST_FIRST = (Outcome.ERROR, Outcome.TIMED_OUT, Outcome.FAILED)


def score_part(part: Part, results: Sequence[CheckResult], weight: float) -> PartScore:
    """Score one part from the results of its checks.

    The declaration decides: results are matched to the declared checks by id, stand in the declared order, and
    points are always the declared ones, whatever check a result carries.

    Args:
        part: The part with every check that its suites declare.
        results: What came of the checks, in any order.
        weight: What one point of this part is worth in the total.

    Returns:
        The score; None, with outcome ``error``, where any check ended in our error, did not report, reported
        more than once or is not declared, and where the part declares no check at all.
    """
    reported: dict[str, list[CheckResult]] = defaultdict(list)
    for result in results:
        reported[result.check.id].append(result)
    settled = [_settle(check, reported.pop(check.id, [])) for check in part.checks]
    settled += [_undeclared(strays[0].check) for strays in reported.values()]
    declared_once = len({check.id for check in part.checks}) == len(part.checks)
    outcome = _worst(settled) if settled and declared_once else Outcome.ERROR
    score = None
    if outcome is not Outcome.ERROR:
        score = round(math.fsum(result.score or 0.0 for result in settled), SCORE_DECIMALS)
    return PartScore(part=part, results=tuple(settled), score=score, outcome=outcome, weight=weight)


def unanswered(part: Part, outcome: Outcome, message: str) -> tuple[CheckResult, ...]:
    """Give every check of a part the same result, for a file that is missing or does not import.

    Args:
        part: The part that could not be asked anything.
        outcome: ``failed`` or ``timed_out`` where it is the student's doing, ``error`` where it is ours.
        message: What the student is told at every check.

    Returns:
        One result for each declared check, in the declared order.
    """
    return tuple(CheckResult(check=check, outcome=outcome, message=message) for check in part.checks)


def score_submission(
    *,
    submission: Submission,
    parts: Iterable[PartScore],
    seed: int,
    sandbox: int,
    suites_sha256: str,
    config_sha256: str,
    environment: Mapping[str, Any] | None = None,
) -> SubmissionResult:
    """Add up the parts of one submission and say what a person should look at.

    Args:
        submission: What was handed in.
        parts: The score of every part that was graded, in any order.
        seed: The seed that every check drew its numbers from.
        sandbox: The rung of the ladder of protections that the student's code ran on.
        suites_sha256: Digest of the suites.
        config_sha256: Digest of the policy.
        environment: Versions and machine, for the record.

    Returns:
        The result: ``total`` is the sum of weight times score over the parts that have a score, ``max`` the sum
        of weight times points over all graded parts, both rounded to 4 decimals; ``flags`` are sentences for
        the instructor.
    """
    graded = sorted(parts, key=lambda score: score.part.number)
    total = math.fsum(score.weight * score.score for score in graded if score.score is not None)
    most = math.fsum(score.weight * score.points for score in graded)
    return SubmissionResult(
        submission=submission,
        parts={score.part.name: score for score in graded},
        total=round(total, SCORE_DECIMALS),
        max=round(most, SCORE_DECIMALS),
        flags=_flags(submission, graded, sandbox),
        seed=seed,
        sandbox=sandbox,
        suites_sha256=suites_sha256,
        config_sha256=config_sha256,
        environment=dict(environment or {}),
    )


def _settle(check: Check, reported: Sequence[CheckResult]) -> CheckResult:
    """Reduce what one declared check reported to exactly one result."""
    if not reported:
        return CheckResult(check=check, outcome=Outcome.ERROR, message="this check did not report")
    if len(reported) > 1:
        message = f"this check reported {len(reported)} times"
        return CheckResult(check=check, outcome=Outcome.ERROR, message=message)
    return replace(reported[0], check=check)


def _undeclared(check: Check) -> CheckResult:
    """Record a result whose check the part does not declare; it is worth no points."""
    message = "a result came for this check, but the suite does not declare it"
    return CheckResult(check=replace(check, points=0.0), outcome=Outcome.ERROR, message=message)


def _worst(results: Sequence[CheckResult]) -> Outcome:
    """Name the outcome that speaks for all: our error, then a time-out, then a failure."""
    seen = {result.outcome for result in results}
    return next((outcome for outcome in _WORST_FIRST if outcome in seen), Outcome.PASSED)


def _flags(submission: Submission, graded: Sequence[PartScore], sandbox: int) -> tuple[str, ...]:
    """Say in sentences what a person should look at, the most urgent first."""
    names = {score.part.module: score.part.name for score in graded}
    flags = [f"{score.part.name} unscored: {_why_unscored(score)}" for score in graded if score.score is None]
    if sandbox == NO_SANDBOX:
        flags.append("no sandbox: the code of this submission ran without protection")
    for module, problem in sorted(submission.problems.items()):
        flags.append(f"{names.get(module, module)}: {_one_line(problem)}")
    for score in graded:
        if score.part.module not in submission.sources and score.part.module not in submission.problems:
            flags.append(f"{score.part.name} missing")
    flags += [_one_line(warning) for warning in submission.warnings]
    return tuple(dict.fromkeys(flags))


def _why_unscored(score: PartScore) -> str:
    """Name the first check that ended in our error, what it said, and how many others did too."""
    errors = [result for result in score.results if result.outcome is Outcome.ERROR]
    if not errors:
        return "its suites declare no check, or the same check twice"
    reason = f"{errors[0].check.id}: {_one_line(errors[0].message) or 'the grader failed'}"
    others = len(errors) - 1
    return f"{reason} (and {others} more)" if others else reason


def _one_line(text: str) -> str:
    """Reduce a message to its first line with words on it, short enough for a cell."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= FLAG_CHARACTERS else line[: FLAG_CHARACTERS - 1] + "…"
