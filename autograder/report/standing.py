"""The head of a feedback page: the total, what is not scored yet, what a person has set by hand.

It stands between two marks, so that a score set by hand changes a page without grading again. Everything else on a
page is escaped, so that no text from a submission can hold a mark.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from autograder.report.clean import clean_line

_BEGIN, _END = "<!-- standing -->", "<!-- end of standing -->"
_STANDING = re.compile(f"{_BEGIN}.*?{_END}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ByHand:
    """A part whose score a person has set."""

    number: int
    score: float
    points: float
    graded: float | None
    reason: str
    who: str


def standing_html(total: float, most: float, unscored: Iterable[int], by_hand: Iterable[ByHand] = ()) -> str:
    """Write the head.

    Args:
        total: What counts, weights included.
        most: The most that could be earned.
        unscored: The numbers of the parts that have no score through our fault.
        by_hand: The parts that a person has scored.

    Returns:
        HTML, the two marks included.
    """
    pieces = [
        _BEGIN,
        f'<p class="total"><strong>{number(total)}</strong> <span>of {number(most)} points</span></p>',
        "</header>",
    ]
    names = [f"part {one}" for one in unscored]
    if names:
        are = f"{', '.join(names).capitalize()} {'is' if len(names) == 1 else 'are'}"
        pieces.append(
            '<section class="apology">\n<p><strong>The grader failed, not you.</strong>\n'
            f"{are} not scored yet, so the total above will still change. A person was told and will look at it.</p>\n"
            "</section>"
        )
    for one in by_hand:
        before = "the checks gave no score" if one.graded is None else f"the checks gave {number(one.graded)}"
        pieces.append(
            f'<section class="by-hand">\n<p><strong>Part {one.number}: {number(one.score)} of {number(one.points)}, '
            f"set by hand</strong> ({before}).\n{_text(one.reason)} <cite>{_text(one.who)}</cite></p>\n</section>"
        )
    return "\n".join([*pieces, _END])


def with_standing(page: str, result: Mapping[str, Any]) -> str:
    """Bring the head of a page to what a result says now.

    Args:
        page: A feedback page.
        result: The content of its result.json, scores set by hand included.
    """
    parts = {int(name.removeprefix("part")): part for name, part in result["parts"].items()}
    by_hand = [
        ByHand(
            one,
            part["score"],
            part["points"],
            part["by_hand"]["graded"],
            part["by_hand"]["reason"],
            part["by_hand"]["who"],
        )
        for one, part in parts.items()
        if "by_hand" in part
    ]
    unscored = [one for one, part in parts.items() if part["score"] is None]
    head = standing_html(result["total"], result["max"], unscored, by_hand)
    return _STANDING.sub(lambda _: head, page, count=1)


def number(value: float) -> str:
    """Write points without trailing zeros."""
    return f"{value + 0.0:.4f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    return escape(clean_line(text, characters=1000))
