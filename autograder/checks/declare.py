"""The two decorators: ``check`` in a suite, ``mistake`` in a part's catalogue of wrong solutions."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def check(
    *, points: float, exercise: str, hint: str = "", timeout_s: float | None = None, trains: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a check; the values are read from the suite's text before anything runs, so they are literals.

    Args:
        points: What passing is worth.
        exercise: The function or class that the check is about.
        hint: A question for the student who fails it.
        timeout_s: Seconds that this check may take, where the course's limit does not fit.
        trains: The check trains a model. Its numbers then fit no single mistake, so none is replayed through it.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        return function

    return declare


def mistake(*, of: str, trains: str | tuple[str, ...] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a wrong solution; its docstring is the sentence that a student is told.

    Args:
        of: What it replaces in the solution: ``attention`` or ``Head.forward``.
        trains: The training checks that it must lose; it need not be named where no other check sees it.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        return function

    return declare


def equivalent(*, of: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a right solution in other words: equal by mathematics, so it must keep full marks.

    Args:
        of: What it replaces in the solution: ``attention`` or ``Head.forward``.
    """

    def declare(function: Callable[P, R]) -> Callable[P, R]:
        return function

    return declare
