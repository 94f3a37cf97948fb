"""The notebook of a part: valid, the same each time, with its check cells, and the template when it is handed in."""

import ast
import json
from dataclasses import replace
from itertools import pairwise

import jupytext
import nbformat
import pytest
from toy_parts import GOOD, PART_FILE

from autograder.build import find_regions, template, to_notebook
from autograder.errors import BuildError
from autograder.intake.notebook import read_notebook
from autograder.records import Check, Part


def made_notebook(part: Part, text: str = PART_FILE) -> str:
    return to_notebook(template(text, part), part, find_regions(text, "x.py"))


def test_notebook_is_valid_and_the_same_each_time(part: Part) -> None:
    text = made_notebook(part)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == made_notebook(part)
    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in json.loads(text)["cells"]]
    assert len(set(ids)) == len(ids)


def test_notebook_cells_keep_their_ids_when_one_is_put_before_them(part: Part) -> None:
    part = checked(part, "double", "Counter")
    before = [cell["id"] for cell in json.loads(made_notebook(part))["cells"]]
    after = [cell["id"] for cell in json.loads(made_notebook(part, "# %%\nimport math\n\n" + PART_FILE))["cells"]]
    assert set(before) < set(after)
    assert len(after) == len(before) + 1


def test_notebook_cells_with_a_region_are_solution_cells_named_after_it(part: Part) -> None:
    cells = json.loads(made_notebook(part))["cells"]
    solution_cells = {
        "".join(cell["source"]): cell["metadata"]["nbgrader"] for cell in cells if cell["metadata"].get("nbgrader")
    }
    assert [metadata["grade_id"] for metadata in solution_cells.values()] == ["double", "Counter"]
    for metadata in solution_cells.values():
        expected = {"schema_version": 3, "grade": False, "solution": True, "locked": False, "task": False}
        assert {key: value for key, value in metadata.items() if key != "grade_id"} == expected
    assert all("is not written yet" in source for source in solution_cells)


def test_notebook_holds_the_code_of_the_template_and_activates_its_own_cells(part: Part) -> None:
    notebook = nbformat.reads(made_notebook(part), as_version=4)
    assert notebook.cells[-1].source == "assert double(2) == 4"
    back = jupytext.writes(notebook, fmt="py:percent")
    assert ast.dump(ast.parse(back)) == ast.dump(ast.parse(template(PART_FILE, part)))


def checked(part: Part, *exercises: str, hidden: tuple[str, ...] = ()) -> Part:
    """Give the part a check of each exercise."""
    wanted = [(name, False) for name in exercises] + [(name, True) for name in hidden]
    checks = [Check(f"c{n}", "Title.", 1, name, "", is_hidden, n) for n, (name, is_hidden) in enumerate(wanted)]
    return replace(part, checks=tuple(checks))


def test_notebook_has_a_check_cell_after_each_exercise_and_one_for_the_part(part: Part) -> None:
    text = made_notebook(checked(part, "double", "Counter.advance", "Counter"))
    cells = json.loads(text)["cells"]
    told = [cell["metadata"].get("gpt_hw") for cell in cells]
    assert [each for each in told if each] == [
        {"role": "setup", "part": "part1"},
        {"role": "check", "part": "part1", "exercises": ["double"]},
        {"role": "check", "part": "part1", "exercises": ["Counter"]},
        {"role": "check", "part": "part1", "exercises": []},
    ]
    first_code = next(index for index, cell in enumerate(cells) if cell["cell_type"] == "code")
    assert told[first_code] == {"role": "setup", "part": "part1"}
    for before, cell in pairwise(cells):
        if cell["metadata"].get("gpt_hw", {}).get("exercises"):
            assert before["metadata"]["nbgrader"]["grade_id"] == cell["metadata"]["gpt_hw"]["exercises"][0]
    for cell in cells:
        if "gpt_hw" in cell["metadata"]:
            ast.parse("".join(cell["source"]))
            assert cell["metadata"]["tags"] == ["active-ipynb"]
            assert "nbgrader" not in cell["metadata"]
    assert "".join(cells[-1]["source"]).endswith('\n    check("part1")')
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == made_notebook(checked(part, "double", "Counter.advance", "Counter"))


def test_notebook_checks_nothing_that_has_hidden_checks_alone(part: Part) -> None:
    assert "gpt_hw" not in made_notebook(checked(part, hidden=("double",)))
    cells = json.loads(made_notebook(checked(part, "double", hidden=("Counter",))))["cells"]
    told = [
        cell["metadata"]["gpt_hw"]["exercises"] for cell in cells if "exercises" in cell["metadata"].get("gpt_hw", {})
    ]
    assert told == [["double"], []]


def test_notebook_becomes_the_template_when_it_is_handed_in(part: Part) -> None:
    data = made_notebook(checked(part, "double", "Counter")).encode()
    handed_in, _ = read_notebook(data, "part1_twice.ipynb")
    assert ast.dump(ast.parse(handed_in)) == ast.dump(ast.parse(template(PART_FILE, part)))


def test_notebook_with_an_exercise_in_two_cells_is_refused(part: Part) -> None:
    with pytest.raises(BuildError, match="2 cells hold the exercise double"):
        made_notebook(
            part, PART_FILE.replace("# %%\nclass", "# %%\n" + GOOD.replace("def f", "def double") + "\n# %%\nclass")
        )
