"""The nouns of the house: what travels from one stage to the next.

Part ─ has ─▶ Check.   Submission ─ graded against a Part ─▶ CheckResult ─▶ PartScore ─▶ SubmissionResult.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Outcome(StrEnum):
    """How a check or a part ended. The first three are the student's, the last is ours."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one check may use; every limit is enforced from outside the student's process."""

    check_s: float = 10.0
    memory_mib: int = 1024
    file_mib: int = 8
    open_files: int = 64
    output_kib: int = 64


@dataclass(frozen=True, slots=True)
class Check:
    """One graded property, as its suite declares it before anything runs.

    ``exercise`` is the function or class that the check is about, for example ``Head``.
    ``timeout_s`` is None where the limits of the course hold. ``trains`` marks a check that trains a model: seconds of
    work whose numbers say how good a model became, and not which line of it is wrong.
    """

    id: str
    title: str
    points: float
    exercise: str
    hint: str
    hidden: bool
    line: int
    timeout_s: float | None = None
    trains: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the course: its folder, what it is called and what is checked.

    ``name`` is ``part3``, ``topic`` is ``attention``, ``module`` is ``part3_attention``.
    ``needs`` names the modules that this part's file may import, ``libraries`` what else may be imported beside
    Python's own: ``torch`` (which brings numpy) or ``numpy`` alone. ``hints`` has a ladder of three
    sentences for each exercise: the question, the idea, the line of reasoning.
    """

    name: str
    topic: str
    module: str
    folder: Path
    title: str
    version: int
    needs: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("torch",)
    hints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()

    @property
    def points(self) -> float:
        """Sum of the points of all checks."""
        return sum(check.points for check in self.checks)

    @property
    def number(self) -> int:
        """3 for part3."""
        return int(self.name.removeprefix("part"))


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing inside a submission that was not taken, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Submission:
    """What one student handed in, read and made harmless.

    ``sources`` maps a module (``part3_attention``) to its text. ``sha256`` maps the name of each file
    taken to the digest of its bytes as handed in. ``problems`` maps a module that could not be taken to
    a sentence for the student; such a part scores 0. ``refused`` is for the manifest, ``warnings`` for
    the instructor.
    """

    name: str
    sources: Mapping[str, str] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What came of one check.

    ``message`` says what was expected and what came; ``diagnosis`` is the sentence of the mistake that
    fits exactly, ``mistake`` its name; ``traceback`` holds the student's own frames only; ``picture`` is
    plain text; ``printed`` is what the student's code wrote while the check ran (capped).
    """

    check: Check
    outcome: Outcome
    message: str = ""
    diagnosis: str = ""
    mistake: str | None = None
    traceback: str = ""
    picture: str = ""
    printed: str = ""
    seconds: float = 0.0

    @property
    def score(self) -> float | None:
        """Points earned; None where the failure is ours."""
        if self.outcome is Outcome.ERROR:
            return None
        return self.check.points if self.outcome is Outcome.PASSED else 0.0


@dataclass(frozen=True, slots=True)
class PartScore:
    """What one submission earned in one part; ``score`` is None where a check ended in our error."""

    part: Part
    results: tuple[CheckResult, ...]
    score: float | None
    outcome: Outcome
    weight: float = 1.0

    @property
    def points(self) -> float:
        """The most that could be earned."""
        return self.part.points


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """Everything known about one graded submission; ``total`` counts weighted scores."""

    submission: Submission
    parts: Mapping[str, PartScore]
    total: float
    max: float
    flags: tuple[str, ...]
    seed: int
    sandbox: int
    suites_sha256: str
    config_sha256: str
    environment: Mapping[str, Any] = field(default_factory=dict)
