"""Why a check did not pass, as the student is told it and as a diagnosis reads it."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch

from autograder.records import Outcome

# Two values that differ by less than this share of their size are the same number, rounded differently; wider than
# any tolerance of a check in that dtype, so that rounding never hides a mistake that fits.
ROUNDING = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}

_steps: ContextVar[int] = ContextVar("steps", default=0)


def next_step() -> int:
    """Count the comparisons and failures of a check, so that two runs of it can be laid side by side."""
    step = _steps.get()
    _steps.set(step + 1)
    return step


def restart_steps() -> None:
    """Begin counting for a new check."""
    _steps.set(0)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What student code did where a check failed: the place in the check, and the value or the exception.

    Attributes:
        kind: ``value`` (a number or tensor), ``exact`` (anything compared exactly) or ``raised``.
        content: The value, or (type, message) of what was raised.
        tolerance: How far apart two values may be and still be the same to rounding.
        step: How many comparisons and calls came before, counted from 0.
    """

    kind: str
    content: Any
    tolerance: float = 0.0
    step: int = 0


class CheckFailure(AssertionError):
    """A check did not pass, through the student's work.

    Args:
        message: What was expected and what came.
        evidence: What a diagnosis compares.
        traceback: The student's own frames.
        picture: Plain text that shows what words do not.
        outcome: ``FAILED`` or ``TIMED_OUT``.
    """

    def __init__(
        self,
        message: str,
        *,
        evidence: Evidence | None = None,
        traceback: str = "",
        picture: str = "",
        outcome: Outcome = Outcome.FAILED,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.evidence = evidence
        self.traceback = traceback
        self.picture = picture
        self.outcome = outcome
