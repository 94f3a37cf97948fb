"""A student's traceback: the frames of the student's own files, and none of ours or of torch's."""

import traceback
from collections.abc import Container
from typing import Any

MAX_TEXT = 4_000  # characters of a message or traceback that are kept


def describe(error: BaseException, files: Container[str]) -> dict[str, Any]:
    """Tell what was raised and where in the student's files.

    Args:
        error: What student code raised.
        files: Names of the student's files.

    Returns:
        JSON-ready: ``type``, ``bases``, ``message``, ``traceback``.
    """
    return {
        "type": type(error).__name__[:80],
        "bases": [base.__name__[:80] for base in type(error).__mro__[1:10]],
        "message": _message(error),
        "traceback": _frames(error, files),
    }


def clip(text: str, limit: int = MAX_TEXT) -> str:
    """Keep the beginning and the end of a long text."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... {len(text) - limit} characters left out ...\n{text[-half:]}"


def _message(error: BaseException) -> str:
    try:
        return clip(str(error))
    except BaseException as second:  # a student's own __str__ may raise anything
        return f"(its text could not be read: {type(second).__name__})"


def _frames(error: BaseException, files: Container[str]) -> str:
    try:
        summary = traceback.TracebackException(type(error), error, error.__traceback__, limit=-40)
        if isinstance(error, SyntaxError):
            return clip("".join(summary.format_exception_only()))
        own = [frame for frame in summary.stack if frame.filename in files]
        lines = traceback.StackSummary.from_list(own).format()
        return clip("".join(lines) + "".join(summary.format_exception_only()))
    except BaseException:  # again the student's __str__, or a RecursionError while formatting
        return f"{type(error).__name__}"
