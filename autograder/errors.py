"""The errors a person can meet, each with what to do about it.

GptHwError
├── ConfigError       grading.yml says something we cannot follow
├── PartError         a part's folder or suite is not as it should be
├── BuildError        assignments/ cannot be turned into solutions/ and student_template/
├── SubmissionError   what was handed in cannot be read at all
├── SandboxError      the wall cannot be built, or broke through no fault of the student
└── UsageError        a command was given words it cannot act on

A failing check is not an error: it is a result (see ``records.CheckResult``).
"""

import difflib
from collections.abc import Iterable


class GptHwError(Exception):
    """Something went wrong that the person at the keyboard can mend.

    Args:
        message: What happened and where, one sentence.
        remedy: What to do about it, one sentence; empty where there is nothing to do.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Travel between the grader's own processes whole, with the remedy."""
        return type(self), (self.message, self.remedy)

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class ConfigError(GptHwError):
    """grading.yml says something we cannot follow."""


class PartError(GptHwError):
    """A part's folder or suite is not as it should be."""


class BuildError(GptHwError):
    """assignments/ cannot be turned into solutions/ and student_template/."""


class SubmissionError(GptHwError):
    """What was handed in cannot be read at all."""


class SandboxError(GptHwError):
    """The wall cannot be built, or broke through no fault of the student."""


class UsageError(GptHwError):
    """A command was given words it cannot act on."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Name the known word closest to an unknown one, or list them all.

    Args:
        name: What was written.
        known: What could have been meant.

    Returns:
        A sentence such as ``Did you mean 'part3'?``.
    """
    choices = sorted(known)
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Known: {', '.join(choices)}." if choices else ""
