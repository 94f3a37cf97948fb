"""Comparisons: each takes what the student's code gave, and fails in words that a student can use."""

import math
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

import torch
from torch import Tensor

from autograder.checks import describe
from autograder.checks.failures import ROUNDING, CheckFailure, Evidence, next_step
from autograder.checks.guards import Named
from autograder.checks.margins import note
from autograder.checks.student import Handle, Remote

_NOTHING = object()  # where a key is missing
_LINE = 200  # characters of a value that is shown whole


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
    if isinstance(expected, bool) or not (isinstance(expected, int | float | Tensor) or _is_array(expected)):
        raise TypeError(f"agree compares numbers and tensors, not {type(expected).__name__}: use equal")
    if isinstance(expected, int | float):
        if type(got) not in (int, float):
            _fail_kind(got, expected, what, step)
        got = _within_floats(got)
        allowed = atol + rtol * abs(expected)
        note(abs(got - expected), allowed)
        if got != expected and not (abs(got - expected) <= allowed and math.isfinite(expected)):
            message = f"{what}: expected {expected:.10g}, got {got:.10g} (allowed difference: {allowed:.2g})."
            _fail_value(got, expected, what, step, message, max(allowed, 1e-9 * abs(got)))
        return
    if _is_array(expected):
        if not _is_array(got) or got.shape != expected.shape or got.dtype != expected.dtype:
            _fail_kind(got, expected, what, step)
        got, expected = torch.tensor(got.copy()), torch.tensor(expected.copy())
    if not _same_kind(got, expected):
        _fail_kind(got, expected, what, step)
    if expected.device.type == "meta":
        return
    wide_got, wide_expected = got.double(), expected.double()
    gap, allowed = (wide_got - wide_expected).abs(), atol + rtol * wide_expected.abs()
    # An infinity agrees with itself alone, whatever its share rtol would allow.
    near = (gap <= allowed) & torch.isfinite(wide_expected) | (wide_got == wide_expected)
    note(gap, allowed)
    if not near.all():
        scale = _largest(wide_got)
        tolerance = max(atol + rtol * scale, ROUNDING.get(got.dtype, 0.0) * scale)
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
    different = _difference(got, expected)
    if different is not None:
        place, mine, right = different
        text = f"{what}{place and f' at {place}'}: expected {_shown(right)}, got {_shown(mine)}."
        raise CheckFailure(text, evidence=Evidence("exact", got, step=step))


def expect(condition: bool | Tensor, message: str, *, evidence: Any = None) -> None:
    """Require a property that is no comparison.

    Args:
        condition: True where the student's work has it; anything but True and False counts as False.
        message: What is expected and why, for the student.
        evidence: The student's value that the condition was computed from.

    Raises:
        CheckFailure: The condition does not hold.
    """
    step = next_step()
    truth = _truth(condition)
    if truth:
        return
    if truth is None:
        message = f"{message} (It came out as {describe.kind_of(condition)}, which is neither True nor False.)"
    tolerance = 0.0
    if isinstance(evidence, Tensor):
        tolerance = ROUNDING.get(evidence.dtype, 0.0) * _largest(evidence.double())
    raise CheckFailure(message, evidence=Evidence("value" if tolerance else "exact", evidence, tolerance, step))


def raises_value_error(
    target: Remote | Handle,
    *args: Any,
    mentions: Iterable[str | tuple[str, ...]] = (),
    because: str = "",
    **kwargs: Any,
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
    called = describe.Call(target.label, args, kwargs)
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
    if error.type_name == "Refused":  # there is nothing to call
        raise CheckFailure(f"{called}: {error.message}.", evidence=raised)
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
    shape = tuple(shape)
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
    if not isinstance(got, Tensor):
        _fail_expected(got, "a tensor", what, step)
    if getattr(got, "student_requires_grad", False):
        raise CheckFailure(
            f"{what} still carries a gradient (requires_grad is True); none is needed here.",
            evidence=Evidence("exact", "requires_grad", step=step),
        )


def number(got: Any, *, what: str = "the result") -> float:
    """Require a finite int or float and return it."""
    step = next_step()
    if type(got) not in (int, float) or not math.isfinite(_within_floats(got)):
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


def _difference(got: Any, expected: Any, place: str = "") -> tuple[str, Any, Any] | None:
    """Find the first place where two values differ, in value or in type, and what stands there."""
    if isinstance(expected, torch.Size):
        expected = tuple(expected)
    if isinstance(got, Named):
        got = dict(got)
    here = (place, got, expected)
    if isinstance(expected, Tensor):
        return None if _same_kind(got, expected) and torch.equal(got, expected) else here
    if type(got) is not type(expected):
        return here
    if _is_array(expected):
        same = got.shape == expected.shape and got.dtype == expected.dtype and bool((got == expected).all())
        return None if same else here
    if isinstance(expected, dict):
        pairs = [(key, got.get(key, _NOTHING), expected.get(key, _NOTHING)) for key in {**expected, **got}]
    elif isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return here
        pairs = list(zip(range(len(got)), got, expected, strict=True))
    else:
        return None if got == expected else here
    found = (_difference(mine, right, f"{place}[{key!r}]") for key, mine, right in pairs)
    first = next((difference for difference in found if difference is not None), None)
    # Where a whole fits a line, it says more than its first difference.
    return here if first is not None and _fits_a_line(got) and _fits_a_line(expected) else first


def _fits_a_line(value: Any) -> bool:
    text = repr(value) if value is None or isinstance(value, bool | int | float | str | list | tuple | dict) else ""
    return 0 < len(text) <= _LINE and "tensor" not in text and "Handle" not in text


def _shown(value: Any) -> str:
    if value is _NOTHING:
        return "nothing"
    return repr(value) if _fits_a_line(value) else describe.kind_of(value)


def _truth(condition: Any) -> bool | None:
    if isinstance(condition, Tensor):
        alone = condition.dtype == torch.bool and condition.numel() == 1 and condition.device.type != "meta"
        return bool(condition) if alone else None
    return bool(condition) if type(condition) is bool or type(condition).__name__ in ("bool_", "bool") else None


def _within_floats(number: Any) -> Any:
    # Python's integers go on where floats end.
    return math.copysign(math.inf, 1 if number > 0 else -1) if abs(number) > sys.float_info.max else number


def _largest(values: Tensor) -> float:
    if values.device.type == "meta":
        return 0.0
    finite = values[torch.isfinite(values)].abs()
    return finite.max().item() if finite.numel() else 0.0


def _is_array(value: Any) -> bool:
    return type(value).__name__ == "ndarray"
