"""A part with its suites and its known mistakes, as texts."""

SOLUTION = """
import torch
from torch import nn


def mean(x):
    return x.sum(0) / x.shape[0]


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return mean(x) * self.w
"""

PUBLIC = '''
import torch
from autograder.checks import agree, check, equal


@check(points=1, exercise="mean")
def test_mean(student, rng):
    """The mean over rows."""
    x = rng.normal(5, 3)
    agree(student.mean(x), x.mean(0), atol=1e-6)


@check(points=1, exercise="mean")
def test_shape(student, rng):
    """One number for each column."""
    equal(tuple(student.mean(rng.normal(5, 3)).shape), (3,))
'''

HIDDEN = '''
from autograder.checks import agree, check


@check(points=1, exercise="Layer")
def test_layer(student, rng):
    """The mean times the weights."""
    layer = student.Layer(3)
    weights = layer.load(rng.like(layer.shapes))
    x = rng.normal(5, 3)
    agree(layer(x), x.mean(0) * weights["w"], atol=1e-6)
'''

MISTAKES = '''
import math
import torch
from torch import nn
from autograder.checks import mistake
from part1_toy import mean, Layer


@mistake(of="mean")
def sum_instead(x):
    """These are sums:
    nothing was divided."""
    return x.sum(0) * math.cos(0)


@mistake(of="mean")
def divided_by_columns(x):
    """You divided by the number of columns."""
    return x.sum(0) / x.shape[1]


@mistake(of="Layer.forward")
def weights_added(self, x):
    """The weights were added."""
    return mean(x) + self.w


@mistake(of="Layer.__init__")
def half_as_wide(self, width):
    """There are too few weights."""
    nn.Module.__init__(self)
    self.w = nn.Parameter(torch.zeros(width - 1))
'''
