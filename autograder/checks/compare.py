"""Comparisons: each takes what the student's code gave, and fails in words that a student can use."""

import math
from collections.abc import Iterable
from typing import Any, NoReturn

import torch
from torch import Tensor

from autograder.checks import describe
from autograder.checks.failures import CheckFailure, Evidence
from autograder.checks.margins import note
from autograder.checks.student import Handle, Remote, next_step

# Two values that differ by less than this share of their size are the same number, rounded differently; wider than
# any tolerance of a check in that dtype, so that rounding never hides a mistake that fits.
_ROUNDING = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}


def agree(
    got: Any, expected: Any, *, atol: float, rtol: float = 0.0, what: str = "the result", picture: bool = False
) -> None:
    """Require that every number is within atol + rtol * |expected|; NaN never is.

    Args:
        got: What the student's code returned.
        expected: A tensor, an array or a number; its shape, dtype and device are required too.
        atol: Absolute tolerance; the suite says why.
        rtol: Relative tolerance.
        what: Names the value in the message.
        picture: Draw both matrices, where they are small.

    Raises:
        CheckFailure: They do not agree.
    """
    step = next_step()
    if isinstance(expected, bool) or not isinstance(expected, int | float | Tensor) and not _is_array(expected):
        raise TypeError(f"agree compares numbers and tensors, not {type(expected).__name__}: use equal")
    if isinstance(expected, int | float):
        if type(got) not in (int, float):
            _fail_kind(got, expected, what, step)
        allowed = atol + rtol * abs(expected)
        note(abs(got - expected), allowed)
        if not abs(got - expected) <= allowed:
            message = f"{what}: expected {expected:.10g}, got {got:.10g} (allowed difference: {allowed:.2g})."
            _fail_value(got, expected, what, step, message, max(allowed, 1e-9 * abs(got)))
        return
    if _is_array(expected):
        if not _is_array(got) or got.shape != expected.shape or got.dtype != expected.dtype:
            _fail_kind(got, expected, what, step)
        got, expected = torch.from_numpy(got), torch.from_numpy(expected)
    if not _same_kind(got, expected):
        _fail_kind(got, expected, what, step)
    if expected.device.type == "meta":
        return
    wide_got, wide_expected = got.double(), expected.double()
    gap, allowed = (wide_got - wide_expected).abs(), atol + rtol * wide_expected.abs()
    near = (gap <= allowed) | (wide_got == wide_expected)  # the second: an infinity where an infinity is due
    note(gap, allowed)
    if not near.all():
        scale = _largest(wide_got)
        tolerance = max(atol + rtol * scale, _ROUNDING.get(got.dtype, 0.0) * scale)
        message = f"{what}: {describe.difference(got, expected)} (allowed: {atol + rtol * _largest(wide_expected):.1g})"
        drawing = describe.picture(got, expected) if picture else ""
        _fail_value(got, expected, what, step, message, tolerance, drawing)


def equal(got: Any, expected: Any, *, what: str = "the result", picture: bool = False) -> None:
    """Require exact equality: of whole numbers, words, truth values, shapes, and lists and dicts of these.

    Args:
        got: What the student's code returned.
        expected: Bool or int tensor, or plain values.
        what: Names the value in the message.
        picture: Draw both matrices, where they are small.

    Raises:
        CheckFailure: They differ, in value or in type.
    """
    step = next_step()
    if isinstance(expected, Tensor):
        if not _same_kind(got, expected):
            _fail_kind(got, expected, what, step)
        if expected.device.type != "meta" and not torch.equal(got, expected):
            message = f"{what}: {int((got != expected).sum())} of {got.numel()} values differ. "
            message += describe.difference(got, expected)
            drawing = describe.picture(got, expected) if picture else ""
            raise CheckFailure(message, evidence=Evidence("exact", got, step=step), picture=drawing)
        return
    if type(got) is not type(expected) or not _plain_equal(got, expected):
        shown = f"{what}: expected {_shown(expected)}, got {_shown(got)}."
        raise CheckFailure(shown, evidence=Evidence("exact", got, step=step))


def expect(condition: bool | Tensor, message: str, *, evidence: Any = None) -> None:
    """Require a property that is no comparison.

    Args:
        condition: True where the student's work has it.
        message: What is expected and why, for the student.
        evidence: The student's value that the condition was computed from.

    Raises:
        CheckFailure: The condition does not hold.
    """
    step = next_step()
    if not bool(condition):
        scale = _largest(evidence.double()) if isinstance(evidence, Tensor) else 0.0
        tolerance = _ROUNDING.get(getattr(evidence, "dtype", None), 0.0) * scale  # type: ignore[arg-type]
        kind = "value" if tolerance else "exact"
        raise CheckFailure(message, evidence=Evidence(kind, evidence, tolerance, step))


def raises_value_error(
    target: Remote | Handle, *args: Any, mentions: Iterable[str | tuple[str, ...]] = (), because: str = "", **kwargs: Any
) -> None:
    """Require a ValueError that says which argument was wrong and what it was.

    Args:
        target: What to call.
        args: With what.
        mentions: Each must be in the message; a tuple holds alternatives. Case does not count.
        because: Why an error is due, for the student.
        kwargs: Named arguments.

    Raises:
        CheckFailure: Nothing was raised, or something else, or the message does not say it.
    """
    called = describe.call(target.label, args, kwargs)
    reply = target.ask(args, kwargs)
    step = next_step()
    error = reply.error
    reason = f" ({because})" if because else ""
    if error is None:
        raise CheckFailure(
            f"{called} must raise ValueError{reason}, but returned {describe.kind_of(reply.value)}.",
            evidence=Evidence("exact", reply.value, step=step),
        )
    raised = Evidence("raised", (error.type_name, error.message), step=step)
    if not error.is_a("ValueError"):
        text = f"{called} must raise ValueError{reason}, but raised {error.type_name}: {error.message}"
        raise CheckFailure(text, evidence=raised, traceback=error.traceback)
    for group in mentions:
        words = (group,) if isinstance(group, str) else group
        if not any(word.lower() in error.message.lower() for word in words):
            text = (
                f"{called} raises ValueError as it must{reason}, but its message should say {' or '.join(words)}. "
                f"It says: {error.message or '(nothing)'}"
            )
            raise CheckFailure(text, evidence=raised, traceback=error.traceback)


def tensor(got: Any, *, shape: tuple[int, ...], dtype: torch.dtype = torch.float32, what: str = "the result") -> Tensor:
    """Require a plain tensor of this shape and dtype, on the CPU, and return it for further use."""
    step = next_step()
    if not isinstance(got, Tensor) or tuple(got.shape) != shape or got.dtype != dtype or got.device.type != "cpu":
        _fail_expected(got, f"Tensor {shape} {describe.dtype_name(dtype)}", what, step)
    return got


def tuple_of(got: Any, length: int, *, what: str = "the result") -> tuple[Any, ...]:
    """Require a tuple (or a list) of this length and return it."""
    step = next_step()
    if not isinstance(got, tuple | list) or len(got) != length:
        _fail_expected(got, f"a tuple of {length}", what, step)
    return tuple(got)


def no_gradient(got: Any, *, what: str = "the result") -> None:
    """Require that a tensor came without a gradient attached: made under no_grad, or detached."""
    step = next_step()
    if getattr(got, "student_requires_grad", False):
        raise CheckFailure(
            f"{what} still carries a gradient (requires_grad is True); none is needed here.",
            evidence=Evidence("exact", "requires_grad", step=step),
        )


def number(got: Any, *, what: str = "the result") -> float:
    """Require a finite int or float and return it."""
    step = next_step()
    if type(got) not in (int, float) or not math.isfinite(got):
        _fail_expected(got, "a finite number", what, step)
    return float(got)


def _fail_value(
    got: Any, expected: Any, what: str, step: int, message: str, tolerance: float, drawing: str = ""
) -> NoReturn:
    raise CheckFailure(message, evidence=Evidence("value", got, tolerance, step), picture=drawing)


def _fail_kind(got: Any, expected: Any, what: str, step: int) -> NoReturn:
    wanted = "a number" if isinstance(expected, int | float) else describe.kind_of(expected)
    _fail_expected(got, wanted, what, step)


def _fail_expected(got: Any, wanted: str, what: str, step: int) -> NoReturn:
    raise CheckFailure(
        f"{what}: returned {describe.kind_of(got)}, expected {wanted}.", evidence=Evidence("exact", got, step=step)
    )


def _same_kind(got: Any, expected: Tensor) -> bool:
    return (
        isinstance(got, Tensor)
        and got.shape == expected.shape
        and got.dtype == expected.dtype
        and got.device == expected.device
    )


def _plain_equal(got: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return got.keys() == expected.keys() and all(_plain_equal(got[key], expected[key]) for key in expected)
    if isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(_plain_equal(a, b) for a, b in zip(got, expected, strict=True))
    return type(got) is type(expected) and bool(got == expected)


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, bool | int | float | str | list | tuple | dict | None) else ""
    return text if text and len(text) <= 200 and "tensor" not in text else describe.kind_of(value)


def _largest(values: Tensor) -> float:
    finite = values[torch.isfinite(values)].abs()
    return finite.max().item() if finite.numel() else 0.0


def _is_array(value: Any) -> bool:
    return type(value).__name__ == "ndarray"
