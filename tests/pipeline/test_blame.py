"""An earlier part is blamed where a right one in its place mends the check, and is tried only where it can matter."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from autograder.pipeline.blame import blame
from autograder.records import Check, CheckResult, Outcome, Part

CHECKS = tuple(Check(name, name, 1.0, "f", "", hidden=False, line=1) for name in ("first", "second", "third"))
PART = Part("part3", "c", "part3_c", Path("part3_c"), "C", 1, needs=("part1_a", "part2_b"), checks=CHECKS)
RIGHT = {"part1_a": "# right", "part2_b": "from part1_a import x  # right"}
NAMES_BOTH = "from part1_a import x\nfrom part2_b import y\n"


class Runs:
    """Runs that pass each check whose cure is among the texts, and count themselves."""

    def __init__(self, **cures: str) -> None:
        self.cures = cures
        self.asked: list[tuple[list[str], list[str]]] = []

    def __call__(self, part: Part, sources: Mapping[str, str]) -> Sequence[CheckResult]:
        replaced = [module for module, text in RIGHT.items() if sources.get(module) == text]
        self.asked.append(([check.id for check in part.checks], replaced))
        return [result(check, self.cures.get(check.id) in replaced) for check in part.checks]


def result(check: Check, passed: bool) -> CheckResult:
    return CheckResult(check, Outcome.PASSED if passed else Outcome.FAILED, "" if passed else "It is wrong.")


def blamed(runs: Runs, own: str, **earlier: str) -> dict[str, str]:
    """Blame for a submission of which the first check passes and the others fail; check -> what is told."""
    sources = {"part3_c": own, "part1_a": "# wrong", "part2_b": "# wrong", **earlier}
    results = [result(check, check.id == "first") for check in CHECKS]
    found = blame(PART, sources, RIGHT, results, runs)
    assert [(one.check, one.outcome) for one in found] == [(one.check, one.outcome) for one in results]
    return {one.check.id: one.message.partition("\n")[2] for one in found}


def test_the_part_whose_right_text_mends_a_check_is_named():
    runs = Runs(second="part2_b")
    told = blamed(runs, NAMES_BOTH)
    assert told == {
        "first": "",
        "second": "The fault is in part2_b.py: with a right one in its place this check passes.",
        "third": "",
    }
    assert runs.asked[0] == (["second", "third"], ["part1_a", "part2_b"])
    assert all(checks == ["second"] for checks, _ in runs.asked[1:])


def test_a_part_that_nobody_names_is_not_tried():
    runs = Runs(second="part1_a", third="part2_b")
    assert blamed(runs, "from part2_b import y\n", part2_b="# names nothing")["third"]
    # Ours names the first part, so that one comes along with it.
    assert runs.asked[0][1] == ["part1_a", "part2_b"]
    runs = Runs(second="part1_a")
    assert blamed(runs, "import torch\n")["second"] == ""
    assert runs.asked == []


def test_a_part_named_by_an_earlier_one_is_tried():
    runs = Runs(second="part1_a")
    assert "part1_a.py" in blamed(runs, "from part2_b import y\n", part2_b="from part1_a import x\n")["second"]


@pytest.mark.parametrize("same", ["part1_a", "part2_b"])
def test_what_is_right_already_is_not_blamed(same):
    runs = Runs(second="part1_a", third="part2_b")
    told = blamed(runs, NAMES_BOTH, **{same: RIGHT[same]})
    assert all(f"{same}.py" not in text for text in told.values())
