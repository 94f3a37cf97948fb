"""A Jupyter notebook to the source of a module: its code cells, one after the other.

The JSON is read by hand rather than by nbformat, which would load schemas for data of which one field matters.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from autograder.intake.check_calls import CheckCalls
from autograder.intake.magics import plain_python
from autograder.intake.names import shown
from autograder.intake.text import SOURCE_LIMIT, Unreadable, check_size, settle, undecodable

NOTEBOOK_LIMIT = 64 << 20  # bytes; pictures in the outputs make honest notebooks large
# Each bracket and comma of the JSON becomes an object of up to 70 bytes, so these bound the memory, not the size.
BRACKET_LIMIT = 1_000_000
COMMA_LIMIT = 5_000_000
CELL_MARK = "# %%\n"
PYTHON = re.compile(r"i?python[0-9.]*", re.IGNORECASE)

Json = dict[str, Any]


def read_notebook(data: bytes, name: str) -> tuple[str, list[str]]:
    """Turn the bytes of a notebook into the source of a module.

    Args:
        data: The bytes as handed in.
        name: The file's name, for the sentences.

    Returns:
        The source, and warnings for the instructor.

    Raises:
        Unreadable: If it is no notebook, or one in another language.
    """
    notebook = _parse(data, name)
    warnings: list[str] = []
    blocks = []
    size = 0
    seen: set[str] = set()
    language = _language(notebook)
    check_calls = CheckCalls()
    for number, cell in enumerate(_cells(notebook, name), start=1):
        metadata = _dict(cell.get("metadata"))
        nbgrader = _dict(metadata.get("nbgrader"))
        grade_id = nbgrader.get("grade_id")
        if isinstance(grade_id, str) and grade_id in seen:
            warnings.append(f"{name}: cell {number} is a second copy of the cell '{shown(grade_id)}'")
        elif isinstance(grade_id, str):
            seen.add(grade_id)
        if cell.get("cell_type") != "code" or _is_not_the_students(metadata, nbgrader):
            continue
        source = _source(cell, name, number)
        size += len(source)
        check_size(size, name)  # before the work of the next lines, which a cell of megabytes would make long
        spoken = _cell_language(cell, metadata) or language
        if source.strip() and not PYTHON.fullmatch(spoken):
            raise Unreadable(f"not gradable: cell {number} of {name} is in {shown(spoken)}, not in Python")
        text, dropped = plain_python(source)
        if dropped:
            warnings.append(f"{name}: cell {number} begins with {shown(dropped)} and was left out")
            continue
        own = check_calls.take_out(text)
        if own or not text:
            blocks.append(as_block(own))
    return settle("\n".join(blocks), name), warnings


def as_block(text: str) -> str:
    """Give the lines of a module that a code cell becomes; an empty line goes between two of them."""
    return CELL_MARK + text.rstrip("\n") + "\n"


def _parse(data: bytes, name: str) -> Json:
    """Parse the JSON, and see that it is that of a notebook that we can read."""
    if len(data) > NOTEBOOK_LIMIT:
        raise Unreadable(f"{name} is larger than {NOTEBOOK_LIMIT >> 20} MiB; clear its outputs and save it again")
    if data.count(b"[") + data.count(b"{") > BRACKET_LIMIT or data.count(b",") > COMMA_LIMIT:
        raise Unreadable(f"{name} holds too much data; clear its outputs and save it again")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _invalid(undecodable(data, name, "utf-8")) from error
    except json.JSONDecodeError as error:
        raise _invalid(f"{name} breaks off or is no JSON at line {error.lineno}: {error.msg}") from error
    except RecursionError as error:
        raise _invalid(f"{name} nests too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise _invalid(f"{name} has a number that is too long") from error
    if not isinstance(notebook, dict):
        raise _invalid(f"{name} holds a {type(notebook).__name__} where a notebook is due")
    version = notebook.get("nbformat")
    if version not in (3, 4):
        said = f"format {version}" if isinstance(version, int) else "no known format"
        raise _invalid(f"{name} has {said}; save it with a current Jupyter, which writes format 4")
    return notebook


def _cells(notebook: Json, name: str) -> Iterator[Json]:
    """Go through the cells; format 3 keeps them in worksheets."""
    holders = [notebook] if notebook["nbformat"] == 4 else notebook.get("worksheets")
    if not isinstance(holders, list):
        raise _invalid(f"{name} has no list of worksheets")
    for holder in holders:
        cells = holder.get("cells") if isinstance(holder, dict) else None
        if not isinstance(cells, list):
            raise _invalid(f"{name} has no list of cells")
        for cell in cells:
            if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
                raise _invalid(f"{name} has a cell that is none")
            yield cell


def _is_not_the_students(metadata: Json, nbgrader: Json) -> bool:
    """Tell whether a cell holds checks: they come from the suite, whatever became of them in the notebook.

    A check cell that the build made is not left out whole: code that a student wrote into it is the student's.
    """
    locked = nbgrader.get("grade") is True and nbgrader.get("solution") is False
    tags = metadata.get("tags")
    return locked or (isinstance(tags, list) and "active-ipynb" in tags and "gpt_hw" not in metadata)


def _source(cell: Json, name: str, number: int) -> str:
    """Take a code cell's text, which both formats keep as one string or as a list of lines."""
    source = cell.get("source", cell.get("input", ""))  # format 4, format 3
    lines: list[Any] = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise _invalid(f"the source of cell {number} of {name} is not text")
    if sum(map(len, lines)) > SOURCE_LIMIT:
        check_size(SOURCE_LIMIT + 1, name)
    return "".join(lines).replace("\r\n", "\n").replace("\r", "\n")


def _language(notebook: Json) -> str:
    """Find the language that the notebook declares; Python if it does not say."""
    metadata = _dict(notebook.get("metadata"))
    for field, key in (("kernelspec", "language"), ("language_info", "name")):
        language = _dict(metadata.get(field)).get(key)
        if isinstance(language, str) and language:
            return language
    return "python"


def _cell_language(cell: Json, metadata: Json) -> str:
    """Find the language of one cell: format 3 has it in each, some editors add it."""
    for language in (cell.get("language"), _dict(metadata.get("vscode")).get("languageId")):
        if isinstance(language, str) and language:
            return language
    return ""


def _dict(value: object) -> Json:
    """Take a value as a dict; as an empty one if it is something else."""
    return value if isinstance(value, dict) else {}


def _invalid(why: str) -> Unreadable:
    return Unreadable(f"not gradable: invalid notebook ({why})")
