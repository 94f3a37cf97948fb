"""Make a text harmless in a cell of a spreadsheet."""

import re

# Control, direction and other invisible characters. They are written as escapes rather than dropped: without
# them two different names could look like one.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_FORMULA = tuple("=+-@＝＋－＠")  # noqa: RUF001  # a spreadsheet takes the wide forms for the narrow ones


def neutral(text: str, limit: int | None = None) -> str:
    """Make a text harmless in a cell: nothing invisible, one line, and never taken for a formula.

    Args:
        text: Anything that a student could have chosen.
        limit: The most characters that are kept; all where it is None.
    """
    text = _INVISIBLE.sub(lambda match: _escape(match.group()), text)
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _escape(character: str) -> str:
    """Write a line break as a space and any other character as its code."""
    return " " if character in "\r\n\t" else f"\\u{ord(character):04x}"
