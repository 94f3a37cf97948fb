"""Read a student's file of a part, module or notebook, as far as it can be read without running it."""

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from autograder.errors import PartError
from autograder.parts import template_folder
from autograder.records import Part

CAP_BYTES = 20_000_000  # a notebook with pictures is below 5 MB

_STUB = re.compile(r"part[0-9]+: (\S+) is not written yet")  # the words that build leaves where a student is to write


def find_source(folder: Path, part: Part) -> Path | None:
    """Find the file in which the student writes a part.

    The ``.py`` comes first. Only where it is still the template's and the notebook is not, the student
    has chosen the notebook.
    """
    python, notebook = (folder / f"{part.module}{suffix}" for suffix in (".py", ".ipynb"))
    if not notebook.is_file():
        return python if python.is_file() else None
    if not python.is_file():
        return notebook
    return notebook if is_untouched(python) and not is_untouched(notebook) else python


def is_untouched(path: Path) -> bool:
    """Say whether a file holds the template's code; line endings, outputs and metadata do not count."""
    try:
        return _code_cells(path) == _code_cells(template_folder() / path.name)
    except (OSError, ValueError, PartError):
        return False


def read_stubs(source: Path) -> tuple[tuple[str, ...], str]:
    """Find the exercises that still raise the stub, and why the file cannot be read, if so."""
    names: dict[str, None] = {}
    try:
        cells = _code_cells(source)
    except (OSError, ValueError) as problem:
        return (), f"{source.name} cannot be read ({problem})"
    slip = ""
    for number, lines in enumerate(cells, start=1):
        text = "\n".join(lines)
        try:
            names.update(dict.fromkeys(_stubs(_parse(text) if source.suffix == ".ipynb" else ast.parse(text))))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
            names.update(dict.fromkeys(_STUB.findall(text)))  # good enough until the slip is mended
            cell = f"cell {number} " if source.suffix == ".ipynb" else ""
            line = f"line {getattr(problem, 'lineno', None) or 1}"
            slip = slip or f"{source.name}, {cell}{line}: {getattr(problem, 'msg', problem)}"
    return tuple(names), slip


def _parse(cell: str) -> ast.Module:
    """Parse a notebook's cell, which may hold lines that speak to the notebook and not to Python."""
    with suppress(SyntaxError):
        return ast.parse(cell)
    if cell.lstrip().startswith("%%") and not cell.lstrip().startswith("%%time"):
        return ast.Module(body=[], type_ignores=[])  # a cell in another language
    # such a line may be all that a block holds, so something must stand in its place
    return ast.parse(re.sub(r"^([ \t]*)[%!?].*", r"\1pass", cell, flags=re.MULTILINE))


def _stubs(tree: ast.AST) -> Iterator[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in sorted(functions, key=lambda function: function.lineno):  # walk goes level by level
        for node in ast.walk(function):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and len(node.exc.args) == 1:
                name, text = node.exc.func, node.exc.args[0]
                is_stub = isinstance(name, ast.Name) and name.id == "NotImplementedError"
                if is_stub and isinstance(text, ast.Constant) and (match := _STUB.fullmatch(str(text.value))):
                    yield match.group(1)


def _code_cells(path: Path) -> list[list[str]]:
    """Read the lines of each code cell; a module is one cell. Raises ValueError for a broken notebook."""
    with path.open("rb") as file:
        data = file.read(CAP_BYTES + 1)
    if len(data) > CAP_BYTES:
        raise ValueError(f"larger than {CAP_BYTES} bytes")
    text = data.decode("utf-8-sig", errors="replace")
    if path.suffix == ".py":
        return [text.splitlines()]
    try:
        sources = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        texts = [source if isinstance(source, str) else "".join(source) for source in sources]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ValueError("it is not a notebook") from None
    return [text.splitlines() for text in texts]
