"""Mend a submitted notebook: whatever became of it, nbgrader gets cells that it can grade and show.

The students' own cells keep their text. What nbgrader knows of a cell (its name, points, whether it is locked, and a
locked cell's text) comes from its database alone, so nothing that a student wrote there can stop a batch.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from autograder.nbgrader.cells import metadata

_KINDS: Mapping[str, Callable[..., Any]] = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}

# A feedback page and formgrader show a text cell's HTML as it is, to the student and to whoever grades.
_TAG = re.compile(r"<[/?]?([A-Za-z][\w:-]*)[^<>]*>?")
_ACTIVE_TAGS = (
    "applet audio base body button embed form frame frameset html iframe input link marquee math meta object option "
    "portal script select source style svg template textarea title video"
)
_ACTIVE = frozenset(_ACTIVE_TAGS.split())
_ACTS = re.compile(r"[\s/\"']on\w+\s*=|javascript:|\bstyle\s*=", re.IGNORECASE)
_PICTURES = ("image/png", "image/jpeg", "image/gif")


@dataclass(frozen=True, slots=True)
class KnownCell:
    """A cell as nbgrader's database has it: the instructor's, after generate_assignment."""

    name: str
    kind: str
    source: str
    checksum: str
    locked: bool
    solution: bool
    points: float | None

    @property
    def is_due(self) -> bool:
        """Tell whether a notebook without it gets it back; deleted code of a student stays deleted."""
        return self.locked or self.points is not None

    def restore(self, source: str | None = None) -> Any:
        """Make the cell anew, with a student's text where it is a student's cell."""
        cell = _KINDS[self.kind](self.source if self.locked or source is None else source)
        info = metadata(
            self.name, grade=self.points is not None, solution=self.solution, locked=self.locked, points=self.points
        )
        cell.metadata["nbgrader"] = {**info, "cell_type": self.kind, "checksum": self.checksum}
        return cell


def known_cells(notebook: Any) -> dict[str, KnownCell]:
    """Read what nbgrader's database knows of a notebook, in the order of the instructor's.

    Args:
        notebook: nbgrader's own record of it.
    """
    points = {cell.name: float(cell.max_score) for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    return {
        cell.name: KnownCell(
            cell.name,
            cell.cell_type,
            cell.source,
            cell.checksum,
            bool(cell.locked),
            cell.name in solutions,
            points.get(cell.name),
        )
        for cell in notebook.source_cells
        if cell.cell_type in _KINDS
    }


def mend(data: bytes, known: Mapping[str, KnownCell], kernelspec: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Make a notebook that nbgrader can grade out of what was handed in.

    Args:
        data: The bytes, which ``autograder.intake`` could read as a notebook.
        known: What nbgrader's database knows of this notebook.
        kernelspec: What to write as the notebook's kernel.

    Returns:
        The notebook, and a sentence for each thing that was mended.
    """
    made: list[Any] = []
    told: list[str] = []
    seen: dict[str, int] = {}
    for number, cell in enumerate(_cells(json.loads(data.decode("utf-8-sig"))), start=1):
        kind, source, name, length = _kind(cell), _source(cell), _name(cell), len(made)
        if kind != "code" and _acts(source) and not (name is not None and name in known and known[name].locked):
            told.append(f"cell {number} holds HTML that a page would act on, and is shown as plain text")
            source = source.replace("<", "&lt;")
        if name is None:
            made.append(_KINDS[kind](source))
        elif name in seen:
            told.append(f"cell {number} is a second copy of '{name}', and earns no points of its own")
            if not known[name].locked:
                made.append(_KINDS[kind](source))
        elif name not in known:
            told.append(f"cell {number} has the name of no cell that was given out, and is taken as one of its own")
            made.append(_KINDS[kind](source))
        else:
            if kind != known[name].kind:
                told.append(f"cell {number} ('{name}') was turned into a {kind} cell: nothing in it is run")
            elif known[name].locked and source != known[name].source:
                told.append(f"cell {number} ('{name}') is locked and was changed: the original is back")
            seen[name] = len(made)
            made.append(known[name].restore(source))
        _keep_pictures(cell, made[length:])
    if not seen:  # written somewhere else: then a sentence for each cell would help nobody
        return _notebook(_with_missing(made, known, seen, []), kernelspec), [
            "none of the cells that were given out is in this notebook; its code counts all the same"
        ]
    return _notebook(_with_missing(made, known, seen, told), kernelspec), told


def blank(known: Mapping[str, KnownCell], kernelspec: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Make the notebook of a submission that cannot be read: the cells as they were given out."""
    return _notebook([cell.restore() for cell in known.values()], kernelspec), []


def _with_missing(
    made: list[Any], known: Mapping[str, KnownCell], seen: Mapping[str, int], told: list[str]
) -> list[Any]:
    """Put back what was deleted, behind the cell that it followed."""
    after: dict[int, list[Any]] = {}
    place = -1 if seen else len(made) - 1
    for name, cell in known.items():
        if name in seen:
            place = seen[name]
        elif cell.is_due:
            told.append(f"the cell '{name}' was deleted and is put back")
            after.setdefault(place, []).append(cell.restore())
        elif cell.solution:
            told.append(f"the cell '{name}', which was to be written, is not in the notebook under its name")
    found = list(after.get(-1, []))
    for number, cell in enumerate(made):
        found += [cell, *after.get(number, [])]
    return found


def _notebook(cells: list[Any], kernelspec: Mapping[str, Any]) -> Any:
    return new_notebook(cells=cells, metadata={"kernelspec": dict(kernelspec)})  # type: ignore[no-untyped-call]


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Go through the cells; format 3 keeps them in worksheets."""
    holders = [notebook] if notebook.get("nbformat") == 4 else notebook.get("worksheets", [])
    for holder in holders:
        yield from holder["cells"]


def _kind(cell: Mapping[str, Any]) -> str:
    kind = str(cell.get("cell_type"))
    return kind if kind in _KINDS else "markdown"  # format 3 has headings


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be written to a file


def _keep_pictures(cell: Mapping[str, Any], made: list[Any]) -> None:
    """Keep the pictures that were pasted into a text, such as a written answer."""
    pictures: dict[str, dict[str, str]] = {}
    attachments = cell.get("attachments")
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        found = bundle if isinstance(bundle, dict) else {}
        kept = {kind: found[kind] for kind in _PICTURES if isinstance(found.get(kind), str)}
        pictures |= {name: kept} if kept else {}
    if pictures and made and made[0].cell_type == "markdown":
        made[0]["attachments"] = pictures


def _acts(text: str) -> bool:
    """Tell whether HTML in a text could do more than look like something."""
    return any(tag[1].lower() in _ACTIVE or _ACTS.search(tag[0]) for tag in _TAG.finditer(text))


def _name(cell: Mapping[str, Any]) -> str | None:
    outer = cell.get("metadata")
    inner = outer.get("nbgrader") if isinstance(outer, dict) else None
    name = inner.get("grade_id") if isinstance(inner, dict) else None
    return name if isinstance(name, str) else None
