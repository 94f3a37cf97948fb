"""What student code answered during a check: where a suite stumbles over an answer, the suite is not broken."""

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from torch import Tensor

_MOST_NUMBERS = 1000  # in a list that is kept until the check ends

_replies: ContextVar[list[Callable[[], Any]] | None] = ContextVar("replies", default=None)


def forget_replies() -> None:
    """Begin a new check."""
    _replies.set([])


def remember_reply(value: Any) -> None:
    """Note a value that came through the wall, and the items of a list, tuple or dict.

    Large ones are not kept alive: a hundred of them must not fill this process.
    """
    replies = _replies.get()
    if replies is None:  # nobody will ask
        return
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    for one in (value, *items[:_MOST_NUMBERS]):
        try:
            replies.append(weakref.ref(one))
        except TypeError:  # plain data other than tensors and arrays
            if numbers_in(one) <= _MOST_NUMBERS:
                replies.append(partial(_same, one))


def _same(value: Any) -> Any:
    return value


def is_reply(value: Any) -> bool:
    """Tell whether this very object was an answer of this check."""
    return any(reply() is value for reply in _replies.get() or [])


def is_type_of_reply(name: str) -> bool:
    """Tell whether an answer of this check was of the type of that name."""
    return any(type(reply()).__name__ == name for reply in _replies.get() or [])


def numbers_in(value: Any) -> int:
    """Count the numbers of a tensor or an array, or of all that a list, a tuple or a dict holds."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return sum(map(numbers_in, value))
    if isinstance(value, Tensor):
        return value.numel()
    return int(value.size) if type(value).__name__ == "ndarray" else 1
