"""A student's traceback: the frames of the student's own files, and none of ours or of torch's."""

import traceback
from collections.abc import Container
from typing import Any

from autograder.wire import MAX_TEXT

_KEPT = MAX_TEXT - 100  # leaves room for the note
_MAX_NAME = 80
_MAX_BASES = 10
_INNERMOST = -2_000  # frames that are looked at; below torch's and ours there may be few of the student's
_MAX_FRAMES = 20  # of the student's own, the innermost


def describe(error: BaseException, files: Container[str]) -> dict[str, Any]:
    """Tell what was raised and where in the student's files.

    Args:
        error: What student code raised.
        files: Names of the student's files.

    Returns:
        JSON-ready: ``type``, ``bases``, ``message``, ``traceback``.
    """
    return {
        "type": name_of(type(error)),
        "bases": [name_of(base) for base in type.mro(type(error))[1:_MAX_BASES]],
        "message": _message(error),
        "traceback": _frames(error, files),
    }


def clip(text: str, limit: int = _KEPT) -> str:
    """Keep the beginning and the end of a long text."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - limit} characters left out ...\n{text[-half:]}"


def name_of(kind: type) -> str:
    """Return the name of a class, whatever its metaclass makes of ``__name__``."""
    return str(type.__dict__["__name__"].__get__(kind))[:_MAX_NAME]


def _message(error: BaseException) -> str:
    try:
        return clip("".join([str(error), ""]))  # str() may return a subclass that lies about itself; join does not
    except BaseException as second:  # a student's own __str__ may raise anything
        return f"(its text could not be read: {name_of(type(second))})"


def _frames(error: BaseException, files: Container[str]) -> str:
    try:
        summary = traceback.TracebackException(type(error), error, error.__traceback__, limit=_INNERMOST)
        if isinstance(error, SyntaxError):
            return clip("".join(summary.format_exception_only()))
        own = [frame for frame in summary.stack if frame.filename in files][-_MAX_FRAMES:]
        lines = traceback.StackSummary.from_list(own).format()
        return clip("".join(lines) + "".join(summary.format_exception_only()))
    except BaseException:  # again the student's __str__, or a RecursionError while formatting
        return name_of(type(error))
