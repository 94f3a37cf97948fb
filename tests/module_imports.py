"""What each module of a package imports, and when.

The text is parsed, so an import inside a function or behind TYPE_CHECKING counts too.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

IMPORTING_CALLS = {"__import__", "import_module", "importlib.import_module"}


@dataclass(frozen=True)
class Import:
    """One import: who, in which line, of what, and whether it runs as soon as the module is imported."""

    module: str
    line: int
    target: str
    at_once: bool

    @property
    def unit(self) -> str:
        return unit_of(self.module)


def unit_of(module: str) -> str:
    """Give the row of the table: ``report`` for autograder.report.terminal, "" for the package itself."""
    name = module.partition(".")[2].partition(".")[0]
    return "cli" if name == "__main__" else name


def modules(package: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(package.rglob("*.py")):
        steps = path.relative_to(package).with_suffix("").parts
        if steps[0] == "student_template":  # in a wheel it lies in the package, but is no part of the tool
            continue
        yield ".".join([package.name, *(step for step in steps if step != "__init__")]), path


def imports(package: Path) -> list[Import]:
    names = dict(modules(package))
    return [found for module, path in names.items() for found in imports_of(module, path, set(names))]


def imports_of(module: str, path: Path, known: set[str]) -> Iterator[Import]:
    is_package = path.name == "__init__.py"

    def visit(node: ast.AST, at_once: bool) -> Iterator[Import]:
        for target in targets(node):
            yield Import(module, node.lineno, target, at_once)
        for child in ast.iter_child_nodes(node):
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
                isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and child not in node.orelse
            )
            yield from visit(child, at_once and not later)

    def targets(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                steps = module.split(".")
                steps = steps[: len(steps) - node.level + is_package]
                base = ".".join([*steps, base] if base else steps)
            # "from autograder import parts" imports a module, "from autograder import __version__" a name
            yield from (f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in IMPORTING_CALLS:
            yield from (str(word.value) for word in node.args[:1] if isinstance(word, ast.Constant))

    return visit(ast.parse(path.read_text(encoding="utf-8")), True)
