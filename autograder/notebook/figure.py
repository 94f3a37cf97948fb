"""A drawing of two matrices, made of a suite's picture: squares in place of shaded letters.

A notebook's font may lack those letters, and in a dark theme a letter that is meant to be darker is brighter.
"""

import re
from html import escape

_GAP = 4  # columns between the two matrices
_HEAD = re.compile(r"yours +expected( +\(at \[[0-9, ]*\]\))?")
_SHADES = {"  ": "#ffffff", "░░": "#c6dbef", "▒▒": "#6baed6", "▓▓": "#2171b5", "██": "#08306b"}
_MASKS = {"■": "#2171b5", "·": "#ffffff"}
_STRANGE = "#e0584f"  # not a finite number
_SQUARE = "width:13px;height:13px;min-width:13px;padding:0;border:1px solid #b8bcc4;line-height:0;font-size:0;"


def figure(picture: str) -> str:
    """Draw a picture in HTML.

    Args:
        picture: The plain text of a result.

    Returns:
        HTML; empty where the text is no drawing of two matrices.
    """
    head, *rows, key = picture.split("\n") if "\n" in picture else ("", "")
    if not rows or not _HEAD.fullmatch(head):
        return ""
    start = head.index("expected")
    is_mask = key.startswith("■")
    halves = [[row[: start - _GAP].ljust(start - _GAP), row[start:].ljust(start - _GAP)] for row in rows]
    matrices = [[_colours(row[side], is_mask) for row in halves] for side in (0, 1)]
    place = head[start + len("expected") :].strip()
    names = ("yours", f"expected {place}".strip())
    drawn = "".join(_matrix(name, matrix) for name, matrix in zip(names, matrices, strict=True))
    told = "blue may attend, white may not" if is_mask else "darker is larger, red is not finite"
    soft = "opacity:.75;font-size:.88em"
    return f'<div style="margin-top:.5em">{drawn}<div style="{soft}">{escape(told)}</div></div>'


def _colours(row: str, is_mask: bool) -> list[str]:
    """Give the colour of each entry of a row; blanks to the right of a narrow matrix are none."""
    if is_mask:
        return [_MASKS.get(letter, _STRANGE) for letter in row.split()]
    return [_SHADES.get(row[at : at + 2], _STRANGE) for at in range(0, len(row) - 1, 2)]


def _matrix(name: str, rows: list[list[str]]) -> str:
    cells = "".join(f'<tr style="background:none">{"".join(_square(colour) for colour in row)}</tr>' for row in rows)
    style = "border-collapse:collapse;margin:.15em 0 .3em;width:auto;table-layout:auto"
    table = f'<table style="{style}"><tbody>{cells}</tbody></table>'
    style = "display:inline-block;vertical-align:top;margin-right:2em;font-size:.88em"
    return f'<div style="{style}"><div>{escape(name)}</div>{table}</div>'


def _square(colour: str) -> str:
    return f'<td style="{_SQUARE}background:{colour}"></td>'
