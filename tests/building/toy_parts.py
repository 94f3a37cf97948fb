"""A part small enough to read, and the files that it stands in."""

from pathlib import Path

PART_FILE = '''\
# %% [markdown]
# # Part 1 · Twice
#
# In the end, solution and template differ in a few lines only.

# %%
"""Part 1: twice and thrice."""

# %%
FACTOR = 2


def double(x):
    """Give twice x."""
    ### BEGIN SOLUTION
    if x == 0:
        return 0

    return FACTOR * x
    ### END SOLUTION


# %%
class Counter:
    """Count upwards."""

    def __init__(self, start):
        """Begin at start."""
        ### BEGIN SOLUTION
        self.value = start
        ### END SOLUTION

    def advance(self):
        """Go one further."""
        ### BEGIN SOLUTION
        self.value += 1
        return self.value
        ### END SOLUTION


# %% tags=["active-ipynb"]
# assert double(2) == 4
'''
PUBLIC = '''\
from autograder.checks import check, equal

@check(points=2, exercise="double")
def test_double_of_two_is_four(student):
    """Twice 2 is 4."""
    equal(student.double(2), 4, what="double(2)")
'''
HIDDEN = PUBLIC.replace("two_is_four", "three_is_six").replace("2 is 4", "3 is 6").replace("(2), 4", "(3), 6")
GOOD = """\
def f(x):
    '''Give x.'''
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION
"""


def add_part(assignments: Path, name: str, text: str, needs: str = "") -> None:
    folder = assignments / name
    folder.mkdir(parents=True)
    (folder / "part.yml").write_text(f"version: 1\ntitle: Twice\nneeds: [{needs}]\n", encoding="utf-8")
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "test_public.py").write_text(PUBLIC, encoding="utf-8")
    (folder / "test_hidden.py").write_text(HIDDEN, encoding="utf-8")
    (folder / "mistakes.py").write_text("", encoding="utf-8")
