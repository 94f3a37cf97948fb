"""Take out of a notebook's cell what only IPython understands, without moving a line."""

import re

KEPT_BODIES = frozenset(["%%time", "%%timeit", "%%capture"])  # cell magics under which the body still is Python
# What cannot begin a Python statement: %magic, !shell, ?help, name = %magic, name = !shell; and a trailing name?
MAGIC = re.compile(
    r"\s*(?:[%!?]"
    r"|[A-Za-z_][\w.,\[\] \t]*=\s*(?:!|%\s*[A-Za-z])"
    r"|%{0,2}[A-Za-z_*][\w.*]*\?{1,2}\s*$)"
)
OPENING, CLOSING = "([{", ")]}"


def plain_python(source: str) -> tuple[str, str]:
    """Comment out magics, shell lines and help lines.

    Args:
        source: A code cell, with plain newlines.

    Returns:
        The cell with as many lines as before, and an empty string; or an empty string and the cell magic for which
        the whole cell is to be dropped.
    """
    state = _State()
    lines = []
    at_start = True  # a cell magic counts only before the first statement
    continued = False  # a shell line that ends in a backslash goes on in the next one
    for line in source.split("\n"):
        if at_start and line.lstrip().startswith("%%"):
            magic = line.split(maxsplit=1)[0]
            if magic not in KEPT_BODIES:
                return "", magic
            lines.append(f"# {line}")
        elif continued or (state.between_statements and MAGIC.match(line)):
            lines.append(f"# {line}" if continued else _comment(line))
            continued = line.endswith("\\")
            at_start = False
        else:
            lines.append(line)
            state.read(line)
            at_start = at_start and not line.strip()
    return "\n".join(lines), ""


def _comment(line: str) -> str:
    """Comment a line out; an indented one may be all that its block has, so something must stand there."""
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    return f"{indent}pass  # {code}" if indent and code else f"# {code}"


class _State:
    """Whether the next line begins a statement, or goes on with a string, a bracket or a backslash."""

    def __init__(self) -> None:
        self.quote = ""
        self.depth = 0
        self.backslash = False

    @property
    def between_statements(self) -> bool:
        return not self.quote and self.depth == 0 and not self.backslash

    def read(self, line: str) -> None:
        """Follow quotes and brackets through one line; malformed code is followed as well as may be."""
        index = 0
        self.backslash = False
        while index < len(line):
            character = line[index]
            if character == "\\":
                self.backslash = index == len(line) - 1
                index += 2
            elif self.quote:
                closes = line.startswith(self.quote, index)
                index += len(self.quote) if closes else 1
                self.quote = "" if closes else self.quote
            elif character == "#":
                break
            elif character in "\"'":
                self.quote = character * 3 if line.startswith(character * 3, index) else character
                index += len(self.quote)
            else:
                self.depth = max(0, self.depth + (character in OPENING) - (character in CLOSING))
                index += 1
        if len(self.quote) == 1 and not self.backslash:
            self.quote = ""  # such a string ends with its line, closed or not
