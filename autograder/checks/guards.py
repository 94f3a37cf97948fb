"""Where a suite goes on with what a student's code gave, and it is not what the suite expects: words, not our error."""

from collections.abc import Mapping
from typing import Any, NoReturn

from autograder.checks.failures import CheckFailure, Evidence, next_step


class Named(dict[str, Any]):
    """Parameters by name; asking for one that the student's module lacks fails the check in words."""

    def __init__(self, entries: Mapping[str, Any], owner: str) -> None:
        super().__init__(entries)
        self._owner = owner

    def __missing__(self, name: str) -> NoReturn:
        """Fail the check."""
        listed = ", ".join(map(str, self)) or "none"
        raise CheckFailure(f"{self._owner} has no parameter '{name}'; its parameters are: {listed}.")


class NotData:
    """An object that is no plain data: every use of it as a number, a tensor or a list fails the check."""

    told: str  # what it is, as the beginning of a sentence

    def used_as_data(self, *_: object, **__: object) -> NoReturn:
        """Fail the check, where a suite goes on with what should have been plain data."""
        raise CheckFailure(
            f"{self.told} where a tensor, a number or other plain data is expected.",
            evidence=Evidence("exact", self, step=next_step()),
        )

    # Whatever a suite may do with plain data.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = used_as_data
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = used_as_data
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = __neg__ = __pos__ = __abs__ = used_as_data
    __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = __index__ = __round__ = used_as_data
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __array__ = used_as_data
    __eq__ = __ne__ = used_as_data
    __hash__ = object.__hash__

    @classmethod
    def __torch_function__(cls, function: object, types: object, args: Any = (), kwargs: Any = None) -> NoReturn:
        """Fail the check, where a suite hands it to torch."""
        every = [*args, *(kwargs or {}).values()]
        nested = [item for value in every for item in (value if isinstance(value, list | tuple) else [value])]
        next(item for item in nested if isinstance(item, cls)).used_as_data()
