"""Make text from a submission harmless to look at, in a terminal as in a browser."""

import re
from typing import Literal

# Whole escape sequences vanish: a title or colour (OSC, CSI), a string (DCS, SOS, PM, APC), any other two or
# more characters led by ESC. Every alternative reads each character once, so hostile text costs no more.
_ANSI = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x90-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x90-\x9f]*(?:\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-OQ-WYZ`-~]"
)

# What is left of control characters is shown as its code, and so are characters that reorder a line (bidi),
# take no room, or cannot be written as UTF-8. The joiners U+200C and U+200D stay: scripts and emoji need them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

# No writing stacks more than a few marks on one letter; hundreds of them spill over the lines around.
_MARKS = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACKED = re.compile(f"({_MARKS}{{3}}){_MARKS}+")

TAB_COLUMNS = 4


def clean(text: str, *, characters: int = 4000, lines: int = 60, keep: Literal["head", "tail"] = "head") -> str:
    r"""Remove terminal escapes, show what is invisible and cap what is long.

    Args:
        text: Anything that a student's code could have chosen.
        characters: The most characters that are kept.
        lines: The most lines that are kept.
        keep: Which end of a long text is kept.

    Returns:
        The text with ``\n`` as its only control character and no blank lines at its end; where something was cut, a
        line of its own says how much.
    """
    text = _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).expandtabs(TAB_COLUMNS)
    text = _STACKED.sub(r"\1", _INVISIBLE.sub(_as_code, text)).strip("\n").rstrip()
    kept = _ends(text, characters, lines, keep)
    if len(kept) == len(text):
        return text
    note = f"[… {len(text) - len(kept):,} characters not shown]"
    return f"{kept}\n{note}" if keep == "head" else f"{note}\n{kept}"


def clean_line(text: str, *, characters: int = 300) -> str:
    """Clean a text that has one line to stand on, such as a title or a name.

    Args:
        text: Anything that a student's code could have chosen.
        characters: The most characters that are kept.

    Returns:
        One line, white space run together; it ends in ``…`` where it was cut.
    """
    line = " ".join(clean(text, characters=characters * 2, lines=characters).split())
    return line if len(line) <= characters else line[: characters - 1] + "…"


def _as_code(match: re.Match[str]) -> str:
    r"""Write a character as its code, as short as Python does: ``\x1b``, ``\u202e``."""
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _ends(text: str, characters: int, lines: int, keep: Literal["head", "tail"]) -> str:
    """Cut a text at its head or tail to so many lines, then to so many characters."""
    rows = text.split("\n")
    if keep == "head":
        return "\n".join(rows[:lines])[:characters]
    return "\n".join(rows[-lines:])[-characters:]
