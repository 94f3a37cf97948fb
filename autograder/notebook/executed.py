"""The student's code as the kernel has run it: the last text of each cell that was run, as one module.

A cell that was edited and not run does not count, and neither does what is on disk. The cells are put together as
intake puts together a notebook that is handed in, so what passes here is what will be graded.
"""

import ast
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.intake.check_calls import CheckCalls, bound_names
from autograder.intake.magics import plain_python
from autograder.intake.notebook import as_block
from autograder.intake.text import settle


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of one cell.

    ``number`` is what stands in brackets beside the cell. ``first`` and ``last`` say when the cell was run for the
    first and the last time. ``is_known`` tells that the editor says which cell it was; without that, an edited
    cell looks like a new one.
    """

    source: str
    number: int
    first: int
    last: int
    is_known: bool
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """A module made of cells: its text, the names in it, and which of its lines came from which cell."""

    text: str
    names: frozenset[str]
    starts: tuple[int, ...] = ()  # the line before the first of each cell
    numbers: tuple[int, ...] = ()

    def with_cells(self, told: str, file: str) -> str:
        """Say "cell [7], line 2" where a text tells a line of the module, and "this notebook" where it names it.

        Args:
            told: A message or traceback.
            file: What it calls the module, for example ``part3_attention.py``.
        """
        name = re.escape(file)
        told = re.sub(rf'File "{name}", line (\d+)', lambda match: f"Cell {self._place(int(match[1]))}", told)
        told = re.sub(rf"{name}, line (\d+)", lambda match: f"cell {self._place(int(match[1]))}", told)
        return told.replace(file, "this notebook")

    def _place(self, line: int) -> str:
        index = bisect_right(self.starts, line - 1) - 1
        return f"[{self.numbers[index]}], line {line - self.starts[index]}" if index >= 0 else f"line {line}"


class Executed:
    """Remembers what was run in one kernel."""

    def __init__(self) -> None:
        self._runs: dict[object, Run] = {}
        self._clock = 0

    def begin(self, source: str, number: int, cell: str | None = None) -> object:
        """Note that a cell is being run.

        Args:
            source: Its text, magics included.
            number: What will stand in brackets beside it.
            cell: The editor's name for the cell, where it tells.

        Returns:
            A key for ``fail``.
        """
        self._clock += 1
        key: object = ("cell", cell) if cell else self._likeness(source)
        before = self._runs.get(key)
        first = before.first if before else self._clock
        self._runs[key] = Run(source, number, first, self._clock, bool(cell))
        return key

    def fail(self, key: object) -> None:
        """Note that the cell raised."""
        if key in self._runs:
            self._runs[key] = replace(self._runs[key], failed=True)

    def forget(self, cells: Iterable[str]) -> None:
        """Drop cells that are no longer in the notebook."""
        for cell in cells:
            self._runs.pop(("cell", cell), None)

    def module(self, name: str) -> Module:
        """Put the cells together.

        Args:
            name: What to call the module in a sentence about its text.

        Raises:
            Unreadable: The text is no Python source at all, for example too long.
        """
        calls = CheckCalls()
        pieces = []
        for run in sorted(self._runs.values(), key=lambda run: run.first):
            text, dropped = plain_python(run.source.replace("\r\n", "\n").replace("\r", "\n"))
            text = calls.take_out(text)
            names = _names(text)
            if dropped or not text.strip() or _is_superseded(run, names):
                continue
            pieces.append(_Piece(run, text, names or frozenset()))
        blocks, starts, numbers = [], [], []
        line = 0
        for piece in _in_order(pieces):
            block = as_block(piece.text)
            blocks.append(block)
            starts.append(line + 1)  # the cell's mark is the line before its first
            numbers.append(piece.run.number)
            line += block.count("\n") + 1
        known = frozenset(name for piece in pieces for name in piece.names | _imported(piece.text))
        return Module(settle("\n".join(blocks), name), known, tuple(starts), tuple(numbers))

    def _likeness(self, source: str) -> object:
        """Recognise an edited cell by the functions and classes that it defines, or else by its text."""
        defined = re.findall(r"^(?:async +def|def|class) +(\w+)", source, re.MULTILINE)
        return ("defines", *sorted(set(defined))) if defined else ("text", source.strip())


@dataclass(frozen=True, slots=True)
class _Piece:
    run: Run
    text: str
    names: frozenset[str]


def _is_superseded(run: Run, names: frozenset[str] | None) -> bool:
    """Tell whether a run left nothing behind, and its cell may long be another one: the editor does not say."""
    return not run.is_known and (names is None or (run.failed and not names))


def _parsed(text: str) -> list[ast.stmt] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(text: str) -> frozenset[str] | None:
    """Give the names that a cell defines or assigns; None where it is no Python."""
    body = _parsed(text)
    return None if body is None else frozenset(name for statement in body for name in bound_names(statement))


def _imported(text: str) -> set[str]:
    imports = [one for one in _parsed(text) or () if isinstance(one, ast.Import | ast.ImportFrom)]
    return {alias.asname or alias.name for one in imports for alias in one.names}


def _in_order(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Order cells as they were first run, and repeat those whose definitions a later cell would wrongly replace.

    The first runs follow the notebook from top to bottom, and running an import again at the end must not move it
    behind what needs it. But of two cells that define the same name, the one that was run last counts.
    """
    winners: dict[str, _Piece] = {}
    for piece in sorted(pieces, key=lambda piece: piece.run.last):
        winners.update(dict.fromkeys(piece.names, piece))
    repeated: list[_Piece] = []
    while True:
        order = [*pieces, *sorted(repeated, key=lambda piece: piece.run.last)]
        last = {name: piece for piece in order for name in piece.names}
        missing = [piece for name, piece in winners.items() if last[name] is not piece and piece not in repeated]
        if not missing:
            return order
        repeated.append(missing[0])


def shell() -> Any:
    """Give IPython's shell, None outside of it."""
    ipython = sys.modules.get("IPython")  # where there is a shell it was imported; nobody else need have it
    return ipython.get_ipython() if ipython is not None else None


def watch_shell(ipython: Any, executed: Executed) -> None:
    """Tell ``executed`` what the shell has run already, and what it will run.

    Args:
        ipython: The shell.
        executed: Told from now on.
    """
    running: list[object] = []
    # With this cell, which is being run: it is in the history as soon as it begins.
    for number, source in enumerate(ipython.history_manager.input_hist_raw[1:], start=1):
        running[:] = [executed.begin(source, number)]

    def begin(info: Any) -> None:
        if info.silent or not info.store_history:
            return  # an editor's own question, not a cell
        executed.forget(_deleted(ipython))
        running[:] = [executed.begin(info.raw_cell, ipython.execution_count, getattr(info, "cell_id", None))]

    def end(result: Any) -> None:
        if running and not result.success:
            executed.fail(running[0])
        running.clear()

    ipython.events.register("pre_run_cell", begin)
    ipython.events.register("post_run_cell", end)


def _deleted(ipython: Any) -> list[str]:
    """Give the cells that JupyterLab says were deleted since the last run."""
    try:
        named = ipython.get_parent()["metadata"]["deletedCells"]
    except (AttributeError, LookupError, TypeError):
        return []
    return [cell for cell in named if isinstance(cell, str)] if isinstance(named, list) else []
