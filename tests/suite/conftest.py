"""A part for a test's own suites."""

import textwrap

import pytest

from autograder.parts import load_parts

HEAD = "from autograder.checks import agree, check, equal, expect, number, raises_value_error\n\n"


@pytest.fixture
def course(tmp_path):
    """Write a part of these suites and return it."""

    def write(public: str, hidden: str = "", needs: str = ""):
        # A name of its own, since pytest remembers a suite that it has imported.
        folder = tmp_path / f"assignments{len(list(tmp_path.iterdir()))}" / "part1_toy"
        folder.mkdir(parents=True)
        (folder / "part.yml").write_text(f"version: 1\ntitle: A toy\nneeds: [{needs}]\n")
        (folder / "part1_toy.py").write_text('"""The part."""\n')
        (folder / "test_public.py").write_text(HEAD + textwrap.dedent(public))
        if hidden:
            (folder / "test_hidden.py").write_text(HEAD + textwrap.dedent(hidden))
        return load_parts(folder.parent)["part1"]

    return write
