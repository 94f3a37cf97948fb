"""A student's module to compare, and a part whose mistakes are known."""

import pytest
from compare_cases import MODULE, student_of
from part_with_mistakes import HIDDEN, MISTAKES, PUBLIC, SOLUTION

from autograder.parts import load_parts


@pytest.fixture(scope="module")
def student():
    return student_of(MODULE)


@pytest.fixture
def part(tmp_path):
    folder = tmp_path / f"{tmp_path.name}" / "part1_toy"
    folder.mkdir(parents=True)
    for name, text in {
        "part.yml": "version: 1\ntitle: A toy\n",
        "part1_toy.py": SOLUTION,
        "test_public.py": PUBLIC,
        "test_hidden.py": HIDDEN,
        "mistakes.py": MISTAKES,
    }.items():
        (folder / name).write_text(text)
    return load_parts(folder.parent)["part1"]
