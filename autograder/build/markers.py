"""Find the markers of solution regions in a part's file and pair them.

A marker that is nearly right would hand a solution to every student. So whatever looks like a marker and
is none is refused, wherever it stands: in a comment, in a docstring, at the end of a line of code.
"""

import difflib
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.errors import BuildError

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"

# The marker's words anywhere in a line, with whatever may stand between them. A letter before the first word
# makes it another word ("append solution"), a comma after it makes it prose ("in the end, solution ...").
_WORDS = re.compile(r"(?<![^\W_])(begin|start|end)[\s_.:\-]*solution", re.IGNORECASE)
_DECORATED = re.compile(r"##+\s*(begin|end)\b", re.IGNORECASE)
_LIKENESS = 0.8  # "BEIGN SOLUTION" has 0.93, "BEGIN SOLN" 0.83, "BEGIN WITH THE SOLUTION" 0.76


@dataclass(frozen=True, slots=True)
class Source:
    """A part's text with one kind of newline, and the path that a refusal names."""

    text: str
    where: str

    @property
    def lines(self) -> list[str]:
        """The lines as Python counts them: line 1 is ``lines[0]``."""
        return self.text.split("\n")

    def indent(self, number: int) -> str:
        """Give the blanks before a line, counted from 1."""
        line = self.lines[number - 1]
        return line[: len(line) - len(line.lstrip())]

    def refusal(self, number: int, what: str, remedy: str) -> BuildError:
        """Say what is wrong in a line, counted from 1, and what to do about it."""
        return BuildError(f"{self.where}:{number}: {what}.", remedy)

    def not_python(self, error: SyntaxError | ValueError) -> BuildError:
        """Say that the text does not parse."""
        number = getattr(error, "lineno", None) or 1
        what = f"this is not valid Python ({getattr(error, 'msg', error)})"
        return self.refusal(number, what, "Correct the file.")


def read(text: str, where: str) -> Source:
    """Take a file's text, whatever ends its lines."""
    return Source(text.replace("\r\n", "\n").replace("\r", "\n"), where)


def marker_pairs(source: Source) -> list[tuple[int, int]]:
    """Give the lines of each region's markers, counted from 1.

    Raises:
        BuildError: A marker is nested, unclosed, stray or misspelled.
    """
    pairs: list[tuple[int, int]] = []
    opened = 0  # no region is open
    for number, marker in _markers(source):
        if marker == BEGIN and opened:
            what = f"a region begins inside the region of line {opened}"
            raise source.refusal(number, what, f"Close that one first with '{END}'.")
        if marker == END and not opened:
            raise source.refusal(number, f"'{END}' ends no region", f"Add '{BEGIN}' before it, or take it out.")
        if marker == BEGIN:
            opened = number
        else:
            pairs.append((opened, number))
            opened = 0
    if opened:
        raise source.refusal(opened, "this region is never closed", f"Add '{END}' after its last statement.")
    return pairs


def _markers(source: Source) -> list[tuple[int, str]]:
    markers: list[tuple[int, str]] = []
    lines = source.lines
    for number, comment, depth in _comments(source):
        if comment in (BEGIN, END) and lines[number - 1].strip() == comment:
            if depth:
                what = f"'{comment}' stands inside an expression"
                raise source.refusal(number, what, "Enclose whole statements of a function's body.")
            markers.append((number, comment))
        elif _DECORATED.match(comment) or _resembles(comment):
            raise _misspelled(source, number)
    exact = {number for number, _ in markers}
    for number, line in enumerate(lines, start=1):
        if number not in exact and _WORDS.search(line):
            raise _misspelled(source, number)
    return markers


def _comments(source: Source) -> Iterator[tuple[int, str, int]]:
    """Give each comment: its line, its text and how many brackets are open around it."""
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.rstrip(), depth
            elif token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
    except tokenize.TokenError as error:
        message, (number, _) = error.args
        raise source.refusal(number, f"this is not valid Python ({message})", "Correct the file.") from error
    except SyntaxError as error:
        raise source.not_python(error) from error


def _resembles(comment: str) -> bool:
    if not (comment.startswith("##") or comment.isupper()):  # "# no solution" is a sentence
        return False
    words = " ".join(comment.strip("# \t").lower().split())
    return any(
        difflib.SequenceMatcher(None, words, wanted).ratio() >= _LIKENESS
        for wanted in ("begin solution", "end solution", "solution begin", "solution end")
    )


def _misspelled(source: Source, number: int) -> BuildError:
    shown = source.lines[number - 1].strip()
    return source.refusal(
        number,
        f"this looks like a marker of a solution region and is none: {shown!r}",
        f"Write '{BEGIN}' and '{END}', each alone on its line, exactly so; in a sentence, use other words.",
    )
