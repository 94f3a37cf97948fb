"""Tricks that give full marks where one kernel runs a student's code and the tests give nothing here.

The same wrong notebooks go through two courses: one as nbgrader makes it by itself, tests in the cells, and ours. What
a submission costs in each is measured by ``python -m benchmarks.nbgrader_speed``.
"""

import html
import json
import re
import shutil
from pathlib import Path

import pytest
from nbgrader_course import (
    ROOT,
    THREE,
    NbCourse,
    Notebook,
    cells_by_name,
    code_cell,
    copy_checkout,
    set_policy,
    with_cell,
)
from release_secrets import Secret, file_secrets, squeeze

from autograder.parts import load_parts
from autograder.records import Part

pytest.importorskip("nbgrader")
pytest.importorskip("ipykernel")
pytestmark = [pytest.mark.slow, pytest.mark.nbgrader]

MODULE, PART = "part3_attention", "part3"
HIDDEN_WORD = "hidden_word_7301"

# A cell that a student writes above everything else. Nothing in the notebook is solved.
TRICKS = {
    "drops-asserts": """
import ast
from IPython import get_ipython
class DropAsserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
get_ipython().ast_transformers.append(DropAsserts())
""",
    "answers-for-the-shell": """
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
async def run_cell_async(self, raw_cell, *args, **kwargs):
    info = ExecutionInfo(raw_cell, False, True, True, None)
    result = ExecutionResult(info)
    result.result = None
    return result
InteractiveShell.run_cell_async = run_cell_async
""",
    "writes-the-score": """
import ast
from IPython import get_ipython
class TenPoints(ast.NodeTransformer):
    def visit_Module(self, node):
        return ast.fix_missing_locations(ast.Module(body=[ast.Expr(ast.Constant(10.0))], type_ignores=[]))
get_ipython().ast_transformers.append(TenPoints())
""",
    "agrees-with-everything": """
import torch
def attention(q, k, v, mask=None):
    return torch.zeros(1), torch.zeros(1)
torch.allclose = lambda *args, **kwargs: True
""",
}

# What an instructor would write into a cell of nbgrader's own.
TEST_CELL = f"""
import torch
### BEGIN HIDDEN TESTS
{HIDDEN_WORD} = torch.randn(2, 5, 16)
expected = torch.nn.functional.scaled_dot_product_attention({HIDDEN_WORD}, {HIDDEN_WORD}, {HIDDEN_WORD})
assert torch.allclose(attention({HIDDEN_WORD}, {HIDDEN_WORD}, {HIDDEN_WORD})[0], expected, atol=1e-6)
### END HIDDEN TESTS
"""
SOLUTION_CELL = "def attention(q, k, v, mask=None):\n    ### BEGIN SOLUTION\n    return q, k\n    ### END SOLUTION\n"
POINTS = 10.0
PLAIN = "no-trick"  # the same wrong work and nothing around it


def plain_source() -> Notebook:
    """Make the notebook of a course that knows nothing of ours."""
    solution, test = code_cell(SOLUTION_CELL), code_cell(TEST_CELL)
    common = {"schema_version": 3, "task": False}
    solution["metadata"]["nbgrader"] = {
        **common,
        "grade_id": "attention",
        "grade": False,
        "solution": True,
        "locked": False,
    }
    test["metadata"]["nbgrader"] = {
        **common,
        "grade_id": "test",
        "grade": True,
        "solution": False,
        "locked": True,
        "points": POINTS,
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": kernel, "cells": [solution, test]}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> NbCourse:
    """Nbgrader's own course, graded by its kernel."""
    course = NbCourse(tmp_path_factory.mktemp("theirs") / "course")
    source = course.folder / "source" / PART
    source.mkdir(parents=True)
    (source / f"{MODULE}.ipynb").write_text(json.dumps(plain_source()), encoding="utf-8")
    (course.folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'plain'\n")
    course.nbgrader("generate_assignment", PART)
    for name, trick in TRICKS.items():
        wrong = course.release(MODULE)
        if name == "agrees-with-everything":
            wrong["cells"][0]["source"] = ""
        course.submit(name, MODULE, with_cell(wrong, trick))
    course.submit(PLAIN, MODULE, course.release(MODULE))
    course.nbgrader("autograde", PART)
    course.nbgrader("generate_feedback", PART)
    return course


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> NbCourse:
    """Our course, with nothing of hidden checks allowed in the feedback."""
    folder = tmp_path_factory.mktemp("ours")
    course = NbCourse(folder / "course", copy_checkout(folder / "checkout", THREE))
    set_policy(course.checkout, feedback={"hidden_checks": []})
    course.gpt_hw("nbgrader", str(course.folder))
    course.nbgrader("generate_assignment", PART)
    for name, trick in TRICKS.items():
        wrong = course.release(MODULE)
        if name == "agrees-with-everything":
            cells_by_name(wrong)["attention"]["source"] = ""
        hand_in(course, name, with_cell(wrong, trick))
    example = (ROOT / "examples/submissions/student-007" / f"{MODULE}.py").read_text(encoding="utf-8")
    hand_in(course, "wrong", with_cell({**course.release(MODULE), "cells": []}, example))
    hand_in(course, "prints", with_cell(course.answered(MODULE), PRINTS, 3))
    course.nbgrader("autograde", PART)
    course.nbgrader("generate_feedback", PART)
    return course


PRINTS = """
import torch
_softmax = torch.softmax
def tell(*args, **kwargs):
    print("asked", args, kwargs)
    return _softmax(*args, **kwargs)
torch.softmax = tell
"""


def hand_in(course: NbCourse, student: str, notebook: Notebook) -> None:
    folder = course.submit(student, MODULE, notebook)
    for module in ("part1_average", "part2_scores"):
        shutil.copyfile(ROOT / "solutions" / f"{module}.py", folder / f"{module}.py")


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_gives_full_marks_in_nbgraders_kernel_and_nothing_behind_the_wall(
    theirs: NbCourse, ours: NbCourse, trick: str
) -> None:
    assert theirs.grades(PLAIN, MODULE)["test"]["auto_score"] == 0.0
    assert theirs.grades(trick, MODULE)["test"]["auto_score"] == POINTS
    assert ours.score(trick, MODULE) == 0.0


def test_hidden_checks_share_one_cell_where_the_policy_shows_nothing_of_them(ours: NbCourse) -> None:
    names = [name for name in cells_by_name(ours.release(MODULE)) if name.startswith("hidden-")]
    assert names == ["hidden-part"]


def secrets_of_hidden_suites() -> list[Secret]:
    """Lines, names and titles of every hidden suite that no public file of the course holds."""
    parts = load_parts(ROOT / "assignments")
    given = [(part.folder / name).read_text(encoding="utf-8") for part in parts.values() for name in given_files(part)]
    return [
        secret
        for part in parts.values()
        for secret in file_secrets(part.folder / "test_hidden.py", squeeze("\n".join(given)))
    ]


def given_files(part: Part) -> tuple[str, str]:
    return "test_public.py", f"{part.module}.py"


def test_neither_feedback_nor_release_says_anything_of_a_hidden_suite(theirs: NbCourse, ours: NbCourse) -> None:
    assert HIDDEN_WORD in theirs.feedback("drops-asserts", MODULE)  # the search would find something
    course = ours
    pages = {path: text_of(path) for path in sorted((course.folder / "feedback").rglob("*.html"))}
    pages |= {path: text_of(path) for path in sorted((course.folder / "release").rglob("*.ipynb"))}
    assert len(pages) == len(TRICKS) + 2 + 1
    secrets = secrets_of_hidden_suites()
    assert len(secrets) > 100
    words = [(secret, re.compile(rf"(?<!\w){re.escape(secret.text)}(?!\w)")) for secret in secrets if secret.is_name]
    lines = [(secret, squeeze(secret.text)) for secret in secrets if not secret.is_name]
    found = []
    for path, text in pages.items():
        squeezed = squeeze(text)
        told = [secret for secret, word in words if secret.text in text and word.search(text)]
        told += [secret for secret, line in lines if line in squeezed]
        found += [(path.parent.parent.name, secret.text) for secret in told]
    assert found == []


def text_of(path: Path) -> str:
    """Read a page without its style sheets and tags, or a notebook without JSON's escapes."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"]) + text
    text = re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", "", text))
