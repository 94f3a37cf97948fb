"""Which scores differ between two results of one submission, and by how much."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.gradebook.results import short

Standing = tuple[float | None, float]  # weighted score, None where there is none; and the most there was


@dataclass(frozen=True, slots=True)
class Move:
    """One part of one submission whose score, or the most that could be earned, is no longer the same.

    ``before`` and ``after`` count as in the total, weight included; None where the part was not graded.
    """

    submission: str
    part: str
    before: Standing | None
    after: Standing | None

    @property
    def takes_the_place_of_a_score(self) -> bool:
        """Tell whether somebody may have been told a score that would change; one that was missing may just come."""
        return self.before is not None and self.before[0] is not None

    @property
    def change(self) -> float | None:
        """How many points the submission gains; None where one side has no score."""
        if self.before is None or self.after is None or self.before[0] is None or self.after[0] is None:
            return None
        return short(self.after[0] - self.before[0])

    @property
    def phrase(self) -> str:
        """Say it in one phrase, such as ``part3: 12 -> 14``, with the most where that moved too."""
        of = self.before is not None and self.after is not None and self.before[1] != self.after[1]
        return f"{self.part}: {_told(self.before, of)} -> {_told(self.after, of)}"


def moves(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Move]:
    """Compare two results of one submission.

    Args:
        old: The result of the earlier run.
        new: The result of this run.

    Returns:
        One move for each part that differs, in the order of the parts.
    """
    found = []
    for name in dict.fromkeys([*old["parts"], *new["parts"]]):
        before, after = (_standing(result["parts"].get(name)) for result in (old, new))
        if before != after:
            found.append(Move(str(new["submission"]), name, before, after))
    return found


def phrases(found: Iterable[Move]) -> dict[str, list[str]]:
    """Put moves into words: submission -> one phrase a part."""
    told: dict[str, list[str]] = {}
    for move in found:
        told.setdefault(move.submission, []).append(move.phrase)
    return told


def _standing(part: Mapping[str, Any] | None) -> Standing | None:
    if part is None:
        return None
    weight = part["weight"]
    return None if part["score"] is None else short(weight * part["score"]), short(weight * part["points"])


def _told(standing: Standing | None, of: bool) -> str:
    if standing is None:
        return "-"
    score, most = standing
    return "unscored" if score is None else f"{score} of {most}" if of else f"{score}"
