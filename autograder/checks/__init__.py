"""What a suite is written with: declare a check, call the student, draw inputs, compare.

A suite reads as plain pytest and never touches student code itself: ``student`` reaches it through the wall.
"""

from autograder.checks.compare import agree, equal, expect, no_gradient, number, raises_value_error, tensor, tuple_of
from autograder.checks.declare import check, equivalent, mistake
from autograder.checks.draws import Rng
from autograder.checks.failures import CheckFailure
from autograder.checks.student import Connection, Handle, Student

__all__ = [
    "CheckFailure",
    "Connection",
    "Handle",
    "Rng",
    "Student",
    "agree",
    "check",
    "equal",
    "equivalent",
    "expect",
    "mistake",
    "no_gradient",
    "number",
    "raises_value_error",
    "tensor",
    "tuple_of",
]
