"""Find the solution regions of a part's file; take out the markers, or what stands between them.

A region is a run of whole statements of one function's body, between two comments alone on their lines::

    def double(x):
        '''Give twice x.'''
        ### BEGIN SOLUTION
        return 2 * x
        ### END SOLUTION
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.build import markers
from autograder.build.markers import Source
from autograder.errors import BuildError
from autograder.records import Part

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Held = tuple[tuple[ast.AST, ...], ast.stmt]  # a statement of a region, after the nodes around it


@dataclass(frozen=True, slots=True)
class Region:
    """One solution region: the lines of its markers (counted from 1), and what it belongs to.

    ``name`` is the function's name with its class before it (``Head.forward``), ``indent`` the blanks
    before the markers.
    """

    begin: int
    end: int
    name: str
    indent: str

    def placeholder(self, part: Part) -> str:
        """Give the statement that a student finds in the region's place."""
        return f'raise NotImplementedError("{part.name}: {self.name} is not written yet")'


def find_regions(text: str, where: str) -> tuple[Region, ...]:
    """Find the solution regions of a part's file, in order.

    Args:
        text: The file's text.
        where: The file's path, for messages.

    Raises:
        BuildError: A marker or a region is not as it should be, or the text is not valid Python.
    """
    source = markers.read(text, where)
    pairs = markers.marker_pairs(source)
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError) as error:
        raise source.not_python(error) from error
    return tuple(_region(source, tree, begin, end) for begin, end in pairs)


def solution(text: str, where: str) -> str:
    """Take out the lines of the markers, and keep everything else.

    Args:
        text: The text of a part's file.
        where: The file's path, for messages.

    Returns:
        The text of a module that scores full marks.
    """
    regions = find_regions(text, where)
    taken_out = {number for region in regions for number in (region.begin, region.end)}
    lines = markers.read(text, where).lines
    return "\n".join(line for number, line in enumerate(lines, start=1) if number not in taken_out)


def template(text: str, part: Part) -> str:
    """Put one ``raise NotImplementedError`` in the place of each region, and keep everything else.

    Args:
        text: The text of the part's file.
        part: The part, for its name and its file's.

    Returns:
        The text of a module that scores zero.
    """
    where = str(part.folder / f"{part.module}.py")
    lines = markers.read(text, where).lines
    for region in reversed(find_regions(text, where)):
        lines[region.begin - 1 : region.end] = [region.indent + region.placeholder(part)]
    made = "\n".join(lines)
    try:
        compile(made, where, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        message = f"{where}: the template made of it is not valid Python ({error})."
        raise BuildError(message, "Put what the file needs without its solutions outside of the regions.") from error
    return made


def _region(source: Source, tree: ast.Module, begin: int, end: int) -> Region:
    """Check what stands between two markers and find the function that it belongs to."""
    held = list(_held(tree, begin, end, ()))
    if not held:
        remedy = "Put the function's solution into it, or take the markers out."
        raise source.refusal(begin, "this region holds no statement", remedy)
    owner = _owner(source, begin, held)
    path, first = held[0]
    if any(nodes[-1] is not owner for nodes, _ in held):
        remedy = f"Enclose whole statements at the outermost indentation of the body of {owner.name}."
        raise source.refusal(begin, "this region is inside an inner block", remedy)
    if sum(isinstance(node, _Function) for node in path) > 1:
        remedy = "Enclose the whole inner function instead."
        raise source.refusal(begin, "this region is inside an inner function", remedy)
    if first is owner.body[0] and ast.get_docstring(owner) is not None:
        what = f"this region holds the docstring of {owner.name}"
        raise source.refusal(begin, what, "Begin the region after the docstring.")
    indent = source.indent(first.lineno)
    for number in (begin, end):
        if source.indent(number) != indent:
            what = f"this marker is not indented as the body of {owner.name}"
            raise source.refusal(number, what, f"Indent both markers by {len(indent)}, as line {first.lineno} is.")
    name = ".".join(node.name for node in path if isinstance(node, ast.ClassDef | _Function))
    return Region(begin, end, name, indent)


def _owner(source: Source, begin: int, held: list[_Held]) -> _Function:
    """Give the one function whose statements a region holds."""
    owners = {_innermost_function(path) for path, _ in held}
    touched = len(owners - {None}) + sum(
        isinstance(child, _Function) for path, child in held if _innermost_function(path) is None
    )
    if touched > 1:
        remedy = "Give each function a region of its own."
        raise source.refusal(begin, "this region spans more than one function", remedy)
    owner = owners.pop()
    if owners or owner is None or _start(owner) > begin:
        remedy = "Put it into a function's body; signatures, class statements and constants stay outside."
        raise source.refusal(begin, "this region is not inside a function", remedy)
    return owner


def _innermost_function(path: tuple[ast.AST, ...]) -> _Function | None:
    return next((node for node in reversed(path) if isinstance(node, _Function)), None)


def _held(node: ast.AST, begin: int, end: int, above: tuple[ast.AST, ...]) -> Iterator[_Held]:
    """Give the outermost statements that lie between two lines, each with the nodes around it."""
    path = (*above, node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and begin < _start(child) and (child.end_lineno or child.lineno) < end:
            yield path, child
        else:
            yield from _held(child, begin, end, path)


def _start(statement: ast.stmt) -> int:
    """Give the first line of a statement, its first decorator's where there is one."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
