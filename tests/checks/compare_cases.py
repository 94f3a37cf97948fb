"""What comparisons are tried on, and how one failed."""

import pytest
import torch

from autograder.checks import CheckFailure, Student
from autograder.checks.local import LocalConnection

NAN, INF = float("nan"), float("inf")
ONES = torch.ones(2, 3)

MODULE = """
import torch
from torch import nn
class Mine(torch.Tensor):
    pass
class MyParameter(nn.Parameter):
    pass
class Head(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.q = nn.Linear(width, 2)
    def forward(self, x):
        return self.q(x)
    def me(self):
        return self
class Config:
    pass
def Factory(what):
    return {"tensor": torch.zeros(2, 3), "number": 3, "none": None, "list": [1], "object": Config()}[what]
def value(kind):
    x = torch.ones(2)
    return {
        "subclass": x.as_subclass(Mine), "parameter": MyParameter(x), "plain": nn.Parameter(x), "object": Config(),
        "complex": x.to(torch.complex64), "numpy": x.numpy(), "list": [1.0, 1.0], "none": None, "meta": x.to("meta"),
        "pair": (x, Config()),
    }[kind]
def boom(text="no"): raise ValueError(text)
def other(): raise TypeError("not that")
def odd(): raise UnicodeDecodeError("utf-8", b"x", 0, 1, "width 7")
def unwritten(): raise NotImplementedError("not written yet")
def fine(*args): return 1
def change(x): x.zero_()
"""


def failure(compare, *args, **kwargs) -> CheckFailure:
    """Return how a comparison failed."""
    with pytest.raises(CheckFailure) as caught:
        compare(*args, **kwargs)
    assert caught.value.message
    assert "Traceback" not in caught.value.message
    return caught.value


def student_of(text: str) -> Student:
    connection = LocalConnection("part1_toy", {"part1_toy": text})
    connection.begin(0)
    assert connection.import_error is None
    return Student(connection)
