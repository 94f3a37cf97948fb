"""Every function and class of a student's install, as text that stands by itself."""

import ast
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Paste:
    """A function or class of the release, as text that stands by itself."""

    place: str
    name: str
    text: str
    signature: inspect.Signature | None

    def as_answer(self, names: Iterable[str]) -> str:
        return f"{self.text}\n" + "".join(f"{name} = {self.name}\n" for name in names)


def released_files() -> list[Path]:
    """List the Python files of the wheel; tests/building/test_release.py holds it to these folders."""
    template = [*ROOT.glob("student_template/part*.py"), *ROOT.glob("student_template/checks/part*/test_public.py")]
    return sorted([*ROOT.glob("autograder/**/*.py"), *template])


@cache
def pastes() -> list[Paste]:
    found = {}
    for path in released_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                text = _standing_alone(tree, node)
                place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                found.setdefault(text, Paste(place, node.name, text, _signature(node)))
    return list(found.values())


def _standing_alone(tree: ast.Module, node: ast.stmt) -> str:
    """Give a function with its file's imports and whatever of its file it uses, so that it works where it can."""
    defined = {name: statement for statement in tree.body for name in _names_of(statement)}
    needed: list[ast.stmt] = []
    waiting: list[ast.stmt] = [node]
    while waiting:
        used = {part.id for part in ast.walk(waiting.pop()) if isinstance(part, ast.Name)}
        for statement in (defined[name] for name in sorted(used) if name in defined):
            if statement is not node and statement not in needed:
                needed.append(statement)
                waiting.append(statement)
    imports = [part for part in ast.walk(tree) if isinstance(part, ast.Import | ast.ImportFrom)]
    pieces = [f"try:\n    {ast.unparse(part)}\nexcept Exception:\n    pass\n" for part in imports]
    return "\n".join([*pieces, *map(_bare, sorted(needed, key=lambda one: one.lineno)), _bare(node)])


def _names_of(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _bare(statement: ast.stmt) -> str:
    """Write a statement without its decorators; what surrounds the answer may fail without harm to it."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return ast.unparse(type(statement)(**{**vars(statement), "decorator_list": []}))
    return f"try:\n    {ast.unparse(statement).replace(chr(10), chr(10) + '    ')}\nexcept Exception:\n    pass"


def _signature(node: ast.AST) -> inspect.Signature | None:
    """Read how a function can be called; None for a class, whose constructor may be another's."""
    if not isinstance(node, ast.FunctionDef):
        return None
    a, kind = node.args, inspect.Parameter
    positional = [*a.posonlyargs, *a.args]
    without = len(positional) - len(a.defaults)
    kinds = [kind.POSITIONAL_ONLY] * len(a.posonlyargs) + [kind.POSITIONAL_OR_KEYWORD] * len(a.args)
    found = [
        kind(arg.arg, each, default=kind.empty if number < without else None)
        for number, (arg, each) in enumerate(zip(positional, kinds, strict=True))
    ]
    found += [kind(a.vararg.arg, kind.VAR_POSITIONAL)] if a.vararg else []
    for arg, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        found.append(kind(arg.arg, kind.KEYWORD_ONLY, default=kind.empty if default is None else None))
    found += [kind(a.kwarg.arg, kind.VAR_KEYWORD)] if a.kwarg else []
    return inspect.Signature(found)
