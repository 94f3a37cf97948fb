"""Words and pictures for values: what a failed comparison shows."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

MAX_PICTURE = 12  # rows and columns of a matrix that fits a terminal beside another one
_SHADES = " ░▒▓█"


def kind_of(value: Any) -> str:
    """Name a value by type, shape and dtype: ``Tensor (2, 20, 16) float32``."""
    if isinstance(value, Tensor):
        where = "" if value.device.type == "cpu" else f" on {value.device}"
        return f"Tensor {tuple(value.shape)} {dtype_name(value.dtype)}{where}"
    if type(value).__name__ == "ndarray":
        return f"array {value.shape} {value.dtype.name}"
    if isinstance(value, list | tuple):
        inner = ", ".join(kind_of(item) for item in value[:4]) + (", ..." if len(value) > 4 else "")
        return f"{type(value).__name__} ({inner})"
    if value is None:
        return "None"
    if isinstance(value, bool | int | float):
        return f"{type(value).__name__} {value:.10g}" if isinstance(value, float) else f"{type(value).__name__} {value}"
    if isinstance(value, str):
        return f"str {value[:80]!r}"
    if isinstance(value, dict):
        return f"dict with {len(value)} entries"
    if isinstance(value, torch.dtype):
        return dtype_name(value)
    type_name = getattr(value, "type_name", None)  # a handle: something that stayed with the student's code
    return f"a {type_name} object" if type_name else type(value).__name__


def dtype_name(dtype: torch.dtype) -> str:
    """Name a dtype without its module."""
    return str(dtype).removeprefix("torch.")


class Call:
    """A call as a student would read it: ``attention(Tensor (2, 5, 16) float32, ...)``.

    It is put into words when somebody reads it: most calls go well, and nobody does.
    """

    def __init__(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._name, self._args, self._kwargs = name, args, kwargs

    def __str__(self) -> str:
        """Put it into words."""
        parts = [_argument(value) for value in self._args]
        parts += [f"{key}={_argument(value)}" for key, value in self._kwargs.items()]
        return f"{self._name}({', '.join(parts)})"


def _argument(value: Any) -> str:
    if value is None or isinstance(value, bool | int | float | str | torch.dtype):
        return str(value)
    return kind_of(value)


def difference(got: Tensor, expected: Tensor) -> str:
    """Tell the largest difference, where it is, and the two numbers there.

    Args:
        got: Same shape as ``expected``.
        expected: Float, int or bool.

    Returns:
        One or two sentences.
    """
    got_wide, expected_wide = got.detach().double(), expected.detach().double()
    bad = ~torch.isfinite(got_wide) & (got_wide != expected_wide)
    if bad.any():
        index = tuple(int(i) for i in bad.nonzero()[0])
        number = got_wide[index].item()
        return (
            f"{int(bad.sum())} of {got.numel()} values are not finite: "
            f"{number} at {place(index)}, expected {expected_wide[index].item():.7g}."
        )
    gap = (got_wide - expected_wide).abs().nan_to_num(nan=float("inf"))
    flat = int(gap.reshape(-1).argmax())
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), gap.shape)) if gap.dim() else ()
    return (
        f"Largest difference {gap.reshape(-1)[flat].item():.3g} at {place(index)}: "
        f"expected {expected_wide[index].item():.7g}, got {got_wide[index].item():.7g}."
    )


def place(index: tuple[int, ...]) -> str:
    """Write an index as Python does, or say that there is none."""
    return f"[{', '.join(str(i) for i in index)}]" if index else "the single value"


def picture(got: Tensor, expected: Tensor) -> str:
    """Draw the student's matrix beside the expected one.

    Args:
        got: (..., n, m), bool or float.
        expected: Same shape.

    Returns:
        Plain text, empty where a drawing would not fit.
    """
    if got.dim() < 2 or got.shape != expected.shape or max(got.shape[-2:]) > MAX_PICTURE or not got.numel():
        return ""
    first = (0,) * (got.dim() - 2)
    if got.dim() > 2:  # the first matrix that differs
        differs = (got != expected).reshape(*got.shape[:-2], -1).any(-1)
        if differs.any():
            first = tuple(int(i) for i in differs.nonzero()[0])
    mine, right = _rows(got[first]), _rows(expected[first])
    width = max(len(mine[0]), len("yours")) + 4
    head = f"{'yours':<{width}}expected"
    if first:
        head += f"   (at {place(first)})"
    lines = [f"{left:<{width}}{other}" for left, other in zip(mine, right, strict=True)]
    key = "■ may attend  · may not" if got.dtype == torch.bool else "darker is larger, ? is not finite"
    return "\n".join([head, *lines, key])


def _rows(matrix: Tensor) -> list[str]:
    if matrix.dtype == torch.bool:
        return [" ".join("■" if cell else "·" for cell in row) for row in matrix.tolist()]
    wide = matrix.detach().double()
    finite = wide[torch.isfinite(wide)].abs()
    top = finite.max().item() if finite.numel() else 1.0
    return ["".join(_shade(cell, top) for cell in row) for row in wide.tolist()]


def _shade(cell: float, top: float) -> str:
    if not (abs(cell) < float("inf")):
        return "??"
    level = 0 if top == 0 or cell == 0 else max(1, min(len(_SHADES) - 1, round(abs(cell) / top * (len(_SHADES) - 1))))
    return _SHADES[level] * 2
