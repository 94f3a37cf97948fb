"""Derive a part's notebook from its template: the same bytes on every machine, ready for nbgrader."""

import hashlib
from collections import Counter
from collections.abc import Iterable

from autograder.build.regions import Region
from autograder.errors import BuildError
from autograder.records import Part

# Fixed here: what a newer nbformat or a local Jupyter would choose must not change what is committed.
_NBFORMAT_MINOR = 5
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_ID_LENGTH = 12


def to_notebook(template: str, part: Part, regions: Iterable[Region]) -> str:
    """Turn a template (percent cells) into a notebook.

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
    seen: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)  # a note of jupytext to itself, about the text's blank lines
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()
        seen[digest] += 1
        # Content and occurrence, not position: a cell keeps its id when another one is put before it.
        cell.id = hashlib.sha256(f"{digest} {seen[digest]}".encode()).hexdigest()[:_ID_LENGTH]
        held = dict.fromkeys(name for text, name in exercises.items() if text in cell.source)
        if cell.cell_type == "code" and held:
            name = "-".join(held)
            names[name] += 1
            cell.metadata["nbgrader"] = _solution_cell(name)
    for name, count in names.items():
        if count > 1:
            raise BuildError(f"{where}: {count} cells hold the exercise {name}.", "Keep each exercise in one cell.")
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=4, indent=1)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"


def _solution_cell(name: str) -> dict[str, object]:
    return {
        "schema_version": 3,
        "grade_id": name,
        "grade": False,
        "solution": True,
        "locked": False,
        "task": False,
    }
