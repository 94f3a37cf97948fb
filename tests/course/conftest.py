"""A course of two parts."""

import pytest
from toy_course import HIDDEN, PART_YML, PUBLIC, suite, write_part


@pytest.fixture
def course(tmp_path):
    """Make a course of one plain part and one that needs it."""
    write_part(tmp_path / "part1_average", "version: 1\ntitle: An average\n", suite("test_mean"))
    write_part(tmp_path / "part3_attention", PART_YML, PUBLIC, HIDDEN)
    return tmp_path
