"""Take out of a notebook's cells what runs the public checks there, without moving a line.

A submission's import must not run checks; and whatever else a student wrote into such a cell still counts.
"""

import ast
import warnings
from typing import TypeGuard

PACKAGE = "autograder"
CHECK = "check"  # what our cells call; ours until the student gives the name to something else
LONGEST_CELL = 1 << 16  # characters; parsing takes a hundred times as much memory, and no cell of ours is so long


class CheckCalls:
    """Goes through the cells of one notebook in order, and knows by which names they call the checks."""

    def __init__(self) -> None:
        self._names = {CHECK}

    def take_out(self, source: str) -> str:
        """Replace imports of ours and calls of what they gave by ``pass``.

        Args:
            source: A code cell without magics, with plain newlines.

        Returns:
            The cell with as many lines as before; empty where nothing of the student's is left of it.
        """
        if len(source) > LONGEST_CELL or not any(name in source for name in (PACKAGE, *self._names)):
            return source
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the student's code; it is said again where that runs
                body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return source
        ours = [statement for statement in body if self._is_ours(statement)]
        if not ours:
            return source
        if len(ours) == len(body):
            return ""
        lines = [line.encode() for line in source.split("\n")]  # ast counts columns in bytes
        for statement in reversed(ours):
            _replace(lines, statement)
        return b"\n".join(lines).decode()

    def _is_ours(self, statement: ast.stmt) -> bool:
        """Tell whether a statement only serves the checks, and follow what the names mean after it."""
        if _runs_alone(statement) and not statement.orelse:
            return all([self._is_ours(inner) for inner in statement.body])
        if isinstance(statement, ast.Import):
            names = {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
            return self._note(names, all(_is_package(alias.name) for alias in statement.names))
        if isinstance(statement, ast.ImportFrom):
            names = {alias.asname or alias.name for alias in statement.names}
            return self._note(names, not statement.level and _is_package(statement.module or ""))
        if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
            called: ast.expr = statement.value.func
            while isinstance(called, ast.Attribute):
                called = called.value
            if isinstance(called, ast.Name) and called.id in self._names:
                return True
        return self._note(bound_names(statement), False)

    def _note(self, names: set[str], are_ours: bool) -> bool:
        self._names = self._names | names if are_ours else self._names - names
        return are_ours


def bound_names(statement: ast.stmt) -> set[str]:
    """Give the names that a statement at the left margin defines or assigns in a module that is imported.

    What it imports is not counted.
    """
    names = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif _runs_alone(node):
            waiting += node.orelse
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(node)
    return names


def _runs_alone(node: ast.AST) -> TypeGuard[ast.If]:
    """Tell whether a block is left out where a module is imported."""
    match node:
        case ast.If(test=ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")])):
            return True
    return False


def _is_package(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


def _replace(lines: list[bytes], statement: ast.stmt) -> None:
    """Put ``pass`` where a statement stands; its other lines are left empty."""
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    before, after = lines[first][: statement.col_offset], lines[last][statement.end_col_offset :]
    lines[first : last + 1] = [before + b"pass" + after, *[b""] * (last - first)]
