"""What is in a submission, as its folder or its archive lists it, before anything is opened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from autograder.intake.names import is_clutter, is_private, shown
from autograder.records import Refusal

ENTRY_LIMIT = 2_000
DEPTH_LIMIT = 8  # folders, one inside the other
MIB = 1 << 20
CHUNK = 1 << 16  # bytes read at a time
HIDDEN = "hidden, not looked into"

Reader = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Item:
    """One file in a submission.

    ``folder`` holds the names of the folders that it is in; ``path`` is its path inside the submission, fit to be
    shown. ``read`` gives its bytes, at most as many as the limit that it is given, or raises ``Unreadable``.
    ``blocked`` says why it must not be opened; it is empty if it may be.
    """

    folder: tuple[str, ...]
    name: str
    path: str
    read: Reader
    blocked: str = ""


@dataclass(slots=True)
class Listing:
    """All files of a submission, and what was passed over on the way."""

    items: list[Item] = field(default_factory=list)
    refused: dict[Refusal, None] = field(default_factory=dict)  # in order, each once
    warnings: list[str] = field(default_factory=list)

    def refuse(self, path: Sequence[str], reason: str) -> None:
        """Note a thing that was not looked at."""
        self.refused[Refusal(shown("/".join(path)), reason)] = None


def passed_over(pieces: Sequence[str]) -> int | None:
    """Find the first clutter or private folder in a path.

    Args:
        pieces: The names along the path, the last one that of the thing itself.

    Returns:
        How many names lead to it and include it; 0 for clutter, which nobody needs to hear of; None if all are plain.
    """
    for length, piece in enumerate(pieces, start=1):
        if is_clutter(piece):
            return 0
        if is_private(piece):
            return length
    return None


def too_deep(pieces: Sequence[str]) -> str:
    """Say so if a file is deeper than an honest submission nests; empty if it is not."""
    return f"it is more than {DEPTH_LIMIT} folders deep" if len(pieces) > DEPTH_LIMIT + 1 else ""
