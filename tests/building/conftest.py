"""What tests of the template and of the notebook share: a part."""

from pathlib import Path

import pytest

from autograder.records import Part


@pytest.fixture
def part() -> Part:
    return Part("part1", "twice", "part1_twice", Path("assignments/part1_twice"), "Twice", 1)
