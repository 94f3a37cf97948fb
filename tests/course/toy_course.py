"""The text of a plain part and of one that needs it."""

from pathlib import Path

PART_YML = """\
version: 1
title: One head
needs: [part1_average]
minutes: 90
forbidden: [attention]
hints:
  attention: ["Which axis?", A weighted mean., Scores first.]
"""

PUBLIC = '''\
"""The suite; importing it would stop the test: raise SystemExit."""
raise SystemExit("this suite was run")

@check(points=2, exercise="attention", hint="Which axis?")
def test_rows_sum_to_one(student, rng):
    """Each row of the weights sums to one.

    More words that no student needs.
    """

def reference():
    """A helper of the suite is no check."""

@check(points=1.5, exercise="Head", timeout_s=30)
def test_head_is_causal(student, rng):
    """A head does not see the future."""
'''

HIDDEN = '''\
import autograder.checks as api

@api.check(exercise="Head.forward", points=3, hint="")
def test_head_is_exact(student, rng):
    """A head gives the exact numbers."""
'''


def write_part(folder: Path, part_yml: str, public: str, hidden: str | None = None) -> None:
    folder.mkdir()
    (folder / "part.yml").write_text(part_yml)
    (folder / "test_public.py").write_text(public)
    (folder / f"{folder.name}.py").write_text('"""The part."""\n')
    if hidden is not None:
        (folder / "test_hidden.py").write_text(hidden)


def suite(name: str, decorator: str = '@check(points=1, exercise="f")', body: str = '"""A property."""') -> str:
    return f"{decorator}\ndef {name}(student, rng):\n    {body}\n"
