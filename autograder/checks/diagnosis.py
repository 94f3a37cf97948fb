"""Diagnosis by hypothesis: does what came equal what a known mistake gives, at the same place of the same check?

Each mistake of a part is replayed through the check, on the trusted side, with the same inputs. Its failure is kept as
a fingerprint: the place, and sixteen random projections of the value. A student's failure that has the same place and,
to rounding, the same fingerprint is named, provided that no other mistake has it too. Fingerprints hold no code, so the
public ones are compiled by ``gpt-hw build`` and shipped to students in place of the wrong solutions.
"""

import hashlib
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.checks.failures import ROUNDING, CheckFailure, Evidence

PROJECTIONS = 16
_MOST_VALUES = 20_000  # a larger value is thinned evenly before it is projected
_SLACK = 4.0  # a projection averages rounding errors, but not quite independently


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A failure, boiled down to what can be compared.

    Attributes:
        step: Where in the check.
        kind: ``value``, ``exact`` or ``raised``.
        form: Type, shape and dtype and where values are not finite; or, unless ``value``, everything.
        sketch: Projections of a ``value``; empty otherwise.
        telling: False where many mistakes could give this by chance (a bare True, a constant, an exception).
    """

    step: int
    kind: str
    form: str
    sketch: tuple[float, ...] = ()
    telling: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return what build writes down."""
        digits = [float(f"{x:.12g}") for x in self.sketch]
        return {"step": self.step, "kind": self.kind, "form": self.form, "sketch": digits, "telling": self.telling}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Fingerprint":
        """Read what build wrote down."""
        return cls(data["step"], data["kind"], data["form"], tuple(data["sketch"]), data["telling"])


Catalogue = Mapping[str, Mapping[str, Fingerprint]]  # check id -> mistake -> how it fails there (absent: it passes)


def fingerprint(evidence: Evidence | None) -> Fingerprint | None:
    """Boil a failure down; None where there is nothing to compare (the process died, time ran out)."""
    if evidence is None:
        return None
    content = evidence.content
    if evidence.kind == "raised":
        return Fingerprint(evidence.step, "raised", _digest(repr(content)), telling=False)
    if isinstance(content, np.ndarray):
        content = torch.from_numpy(content)
    if isinstance(content, Tensor) and content.device.type != "meta":
        return _of_tensor(evidence, content)
    if evidence.kind == "value" and isinstance(content, int | float):
        finite = abs(content) <= sys.float_info.max
        sketch = (float(content),) if finite else ()
        return Fingerprint(evidence.step, "value", "number" if finite else repr(content), sketch, telling=finite)
    telling = isinstance(content, int | float) and not isinstance(content, bool) and content not in (0, 1)
    return Fingerprint(evidence.step, "exact", _digest(_canonical(content)), telling=telling)


def _of_tensor(evidence: Evidence, content: Tensor) -> Fingerprint:
    wide = content.detach().double().reshape(-1)
    finite = torch.isfinite(wide)
    form = f"{tuple(content.shape)} {content.dtype}"
    if not finite.all():
        form += " " + _digest(repr(wide.nan_to_num(nan=2.0, posinf=3.0, neginf=4.0).where(~finite, 0.0).tolist()))
    plain = wide.where(finite, 0.0)
    several = bool((plain[finite] != plain[finite][:1]).any())
    if not content.dtype.is_floating_point:
        return Fingerprint(evidence.step, "exact", form + _digest(repr(plain.tolist())), telling=several)
    return Fingerprint(evidence.step, "value", form, _sketch(plain), telling=several)


def fits(mine: Fingerprint, other: Fingerprint, tolerance: float) -> bool:
    """Tell whether two failures are the same to rounding.

    Args:
        mine: The student's.
        other: A mistake's.
        tolerance: For one value, in its own unit.
    """
    if (mine.step, mine.kind, mine.form) != (other.step, other.kind, other.form):
        return False
    return len(mine.sketch) == len(other.sketch) and all(
        abs(a - b) <= _SLACK * tolerance for a, b in zip(mine.sketch, other.sketch, strict=True)
    )


Lookup = Callable[[str], Mapping[str, Fingerprint]]


def diagnose(
    failures: Mapping[str, CheckFailure | None], lookup: Lookup, exercises: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Name the mistake behind each failure, where exactly one fits.

    Args:
        failures: What became of each check that ran; None where it passed.
        lookup: How each mistake fails a check, by check id.
        exercises: What each check is about; a mistake that fits one check of an exercise and is contradicted by
            another is not the one. None: each check stands alone.

    Returns:
        Check id -> mistake, for the failures that are explained.
    """
    fitting: dict[str, list[str]] = {}
    telling: dict[str, bool] = {}
    for check_id, failure in failures.items():
        if failure is None or failure.evidence is None or _says_nothing(failure.evidence):
            continue
        mine = fingerprint(failure.evidence)
        if mine is None:
            continue
        tolerance = max(failure.evidence.tolerance, _rounding(failure.evidence.content))
        fitting[check_id] = [name for name, other in lookup(check_id).items() if fits(mine, other, tolerance)]
        telling[check_id] = mine.telling
    named = {}
    for check_id, names in fitting.items():
        siblings = [other for other in failures if exercises and exercises[other] == exercises[check_id]]
        left = [name for name in names if not _is_contradicted(name, siblings, fitting, lookup)]
        name = _one(left, telling[check_id], fitting, failures, lookup) if left else None
        if name is not None:
            named[check_id] = name
    return named


def _rounding(content: Any) -> float:
    # A value that was only asked for its shape or its type has no tolerance of its own, but is rounded all the same.
    if not isinstance(content, Tensor) or content.device.type == "meta" or content.dtype not in ROUNDING:
        return 0.0
    finite = content[torch.isfinite(content)].abs()
    return ROUNDING[content.dtype] * (finite.max().item() if finite.numel() else 0.0)


def _is_contradicted(name: str, siblings: list[str], fitting: Mapping[str, list[str]], lookup: Lookup) -> bool:
    # It would fail that check too, but not as the student did, or the student passed it.
    return any(name in lookup(other) and name not in fitting.get(other, []) for other in siblings)


def _says_nothing(evidence: Evidence) -> bool:
    # Not written yet, not defined, too slow: no mistake of a catalogue, and common enough to save the replays.
    if evidence.kind != "raised":
        return False
    name, message = evidence.content
    return name in ("NotImplementedError", "TimedOut") or (name == "Refused" and " defines no '" in message)


def _one(
    names: list[str],
    telling: bool,
    fitting: Mapping[str, list[str]],
    failures: Mapping[str, CheckFailure | None],
    lookup: Lookup,
) -> str | None:
    if telling and len(names) == 1:
        return names[0]
    # Not enough in this check alone: the mistake must explain everything that was seen, and be the only one that does.
    whole = [
        name
        for name in names
        if all((failure is not None) == (name in lookup(other)) for other, failure in failures.items())
        and all(name in fitting.get(other, []) for other, failure in failures.items() if failure is not None)
    ]
    return whole[0] if len(whole) == 1 else None


@lru_cache(maxsize=64)
def _directions(size: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    signs = np.random.Generator(np.random.PCG64(size)).integers(0, 2, (PROJECTIONS, size)) * 2 - 1
    return signs / math.sqrt(max(size, 1))


def _sketch(values: Tensor) -> tuple[float, ...]:
    if values.numel() > _MOST_VALUES:
        values = values[:: -(-values.numel() // _MOST_VALUES)]
    return tuple(float(x) for x in _directions(values.numel()) @ values.numpy())


def _canonical(content: Any) -> str:
    if isinstance(content, dict):
        return "{" + ",".join(f"{key!r}:{_canonical(item)}" for key, item in content.items()) + "}"
    if isinstance(content, list | tuple):
        return type(content).__name__ + "(" + ",".join(_canonical(item) for item in content) + ")"
    if isinstance(content, Tensor):
        return f"tensor{tuple(content.shape)}{content.dtype}" + (
            repr(content.double().reshape(-1).tolist()) if content.device.type != "meta" else "meta"
        )
    type_name = getattr(content, "type_name", None)
    return f"<{type_name}>" if type_name else repr(content)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
