"""Derive a part's notebook from its template: the same bytes on every machine, ready for nbgrader.

The notebook alone has check cells: one after each exercise, one at the end. They bear the tag ``active-ipynb``, and
``gpt_hw`` in their metadata says what each is for.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.build.regions import Region
from autograder.errors import BuildError
from autograder.records import Check, Part

# Fixed here: what a newer nbformat or a local Jupyter would choose must not change what is committed.
_NBFORMAT_MINOR = 5
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_ID_LENGTH = 12

# The condition is for a notebook that was exported as a module, as Colab's "Download .py" does: that must import.
_SETUP = """\
# Cells like this one check your work; they are not part of it. In Colab, first run: %pip install gpt-hw
if __name__ == "__main__":
    import autograder.notebook"""
_CHECK = """\
if __name__ == "__main__":
    from autograder.notebook import check

    check({})"""


def to_notebook(template: str, part: Part, regions: Iterable[Region]) -> str:
    """Turn a template (percent cells) into a notebook with check cells.

    A cell that contained a region is a solution cell of nbgrader, named after its function or class.

    Args:
        template: Text of the part's template.
        part: The part.
        regions: The regions of the part's file, whose placeholders stand in the template.

    Returns:
        The text of the notebook, JSON that ends with a newline.

    Raises:
        BuildError: Two cells would bear the same name.
    """
    import jupytext  # here and not above: a grader without the extra 'instructor' must be able to import this package
    import nbformat

    where = part.folder / f"{part.module}.py"
    exercises = {region.placeholder(part): region.name.partition(".")[0] for region in regions}
    notebook = jupytext.reads(template, fmt="py:percent")
    notebook.metadata = nbformat.from_dict(_METADATA)  # type: ignore[no-untyped-call]
    notebook.nbformat_minor = _NBFORMAT_MINOR
    names: Counter[str] = Counter()
    is_checked = any(not check.hidden for check in part.checks)
    cells: list[Any] = []
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)  # a note of jupytext to itself, about the text's blank lines
        held = dict.fromkeys(name for text, name in exercises.items() if text in cell.source)
        if is_checked and cell.cell_type == "code" and not any(each.cell_type == "code" for each in cells):
            cells.append(_own_cell(_SETUP, role="setup", part=part.name))
        cells.append(cell)
        if cell.cell_type == "code" and held:
            name = "-".join(held)
            names[name] += 1
            cell.metadata["nbgrader"] = _solution_cell(name)
            checked = [each for each in held if any(_is_about(check, each) for check in part.checks)]
            if checked:
                cells.append(_check_cell(part, checked))
    if is_checked:
        cells.append(_check_cell(part, ()))
    notebook.cells = cells
    _give_ids(cells)
    for name, count in names.items():
        if count > 1:
            raise BuildError(f"{where}: {count} cells hold the exercise {name}.", "Keep each exercise in one cell.")
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=4, indent=1)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"


def _give_ids(cells: Iterable[Any]) -> None:
    seen: Counter[str] = Counter()
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()
        seen[digest] += 1
        # Content and occurrence, not position: a cell keeps its id when another one is put before it.
        cell.id = hashlib.sha256(f"{digest} {seen[digest]}".encode()).hexdigest()[:_ID_LENGTH]


def _is_about(check: Check, exercise: str) -> bool:
    return not check.hidden and check.exercise.partition(".")[0] == exercise


def _check_cell(part: Part, exercises: Sequence[str]) -> Any:
    words = ", ".join(f'"{word}"' for word in (part.name, *exercises))
    return _own_cell(_CHECK.format(words), role="check", part=part.name, exercises=list(exercises))


def _own_cell(source: str, **told: object) -> Any:
    """Make a cell that serves the notebook; editors that can keep students from writing into it do."""
    from nbformat.v4 import new_code_cell

    metadata = {"tags": ["active-ipynb"], "editable": False, "deletable": False, "gpt_hw": told}
    return new_code_cell(source, metadata=metadata)  # type: ignore[no-untyped-call]


def _solution_cell(name: str) -> dict[str, object]:
    return {
        "schema_version": 3,
        "grade_id": name,
        "grade": False,
        "solution": True,
        "locked": False,
        "task": False,
    }
