"""Failures of a check, and a catalogue of those that are known."""

import numpy as np
import torch

from autograder.checks import CheckFailure
from autograder.checks.diagnosis import fingerprint
from autograder.checks.failures import Evidence

TOLERANCE = 1e-6


def value(content, tolerance=TOLERANCE, step=0) -> CheckFailure:
    return CheckFailure("wrong", evidence=Evidence("value", content, tolerance, step))


def exact(content, step=0) -> CheckFailure:
    return CheckFailure("wrong", evidence=Evidence("exact", content, 0.0, step))


def raised(name, message, step=0) -> CheckFailure:
    return CheckFailure("wrong", evidence=Evidence("raised", (name, message), 0.0, step))


def catalogue(**checks):
    """Make a lookup from check -> mistake -> failure."""
    known = {
        check_id: {name: fingerprint(failure.evidence) for name, failure in by_mistake.items()}
        for check_id, by_mistake in checks.items()
    }
    return lambda check_id: known.get(check_id, {})


def values(seed: int, *shape: int, dtype=torch.float32) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).to(dtype)
