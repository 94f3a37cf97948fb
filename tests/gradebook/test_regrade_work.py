"""Grading again starts no more than there is to grade, and tries again what our own fault left without a score."""

import multiprocessing
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from regrade_stand_in import StandIn, change_suite, grade, hand_in, rows

from autograder.pipeline.lanes import Lanes

# -- what is started -------------------------------------------------------------------------------------------------


def test_where_everything_is_current_nothing_is_started(root: Path) -> None:
    first = grade(root, jobs=2)
    assert StandIn.started == [2], "no more than are asked for"
    again = grade(root, jobs=2)
    assert (StandIn.started, again.skipped, again.rung) == ([], 3, first.rung)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    assert grade(root).waits
    assert grade(root).waits
    assert StandIn.started == [], "what waits is there already"
    assert grade(root, yes=True).accepted
    assert StandIn.started == []


def test_no_more_is_started_than_there_is_to_grade(root: Path) -> None:
    grade(root)
    hand_in(root, "bob", "x = 2\n")
    grade(root, jobs=3)
    assert (StandIn.started, StandIn.asked) == ([1], ["bob"])


def test_a_result_of_a_weaker_rung_is_kept_only_where_no_better_one_holds(root: Path) -> None:
    StandIn.rung = 2
    grade(root)
    again = grade(root)
    assert (StandIn.started, StandIn.asked, again.skipped, again.rung) == ([1], [], 3, 2)
    grade(root, first_rung=2)
    assert StandIn.started == []
    StandIn.rung = 1
    grade(root)
    assert len(StandIn.asked) == 3


def test_a_result_of_a_better_rung_is_graded_again_where_a_weaker_one_is_asked_for_or_is_all_there_is(
    root: Path,
) -> None:
    grade(root)
    StandIn.rung = 2
    grade(root, first_rung=2)
    assert len(StandIn.asked) == 3
    StandIn.rung = 1
    grade(root)
    hand_in(root, "bob", "x = 2\n")
    StandIn.rung = 2
    grade(root)
    assert len(StandIn.asked) == 3, "one class is graded on one rung"


def _echo(pipe: Connection) -> None:
    pipe.send("ready")
    with suppress(EOFError):
        while True:
            pipe.send(pipe.recv())


def test_a_lane_starts_when_there_is_work_for_it() -> None:
    before = len(multiprocessing.active_children())
    lanes = Lanes[str](_echo, (), 3)
    try:
        assert len(multiprocessing.active_children()) == before
        assert lanes.greet(1) == "ready"
        assert len(multiprocessing.active_children()) == before + 1
        assert sorted(lanes.run(["a", "b"])) == [(0, "a"), (1, "b")]
        assert len(multiprocessing.active_children()) == before + 2
        assert sorted(lanes.run(["a", "b", "c", "d"])) == [(0, "a"), (1, "b"), (2, "c"), (3, "d")]
        assert len(multiprocessing.active_children()) == before + 3
    finally:
        lanes.close()
    assert len(multiprocessing.active_children()) == before


# -- unscored through our fault ----------------------------------------------------------------------------------------


def test_a_part_without_a_score_is_tried_again_and_then_counts(root: Path) -> None:
    StandIn.lost = {("bob", "part1"): None}
    first = grade(root)
    assert (first.exit_code, first.unresolved) == (3, {"bob": ["part1"]})
    assert (rows(root)["bob"]["part1"], rows(root)["bob"]["total"]) == ("", "")
    assert grade(root).exit_code == 3
    assert StandIn.asked == ["bob"]
    StandIn.lost = {}
    mended = grade(root)
    assert (mended.exit_code, [move.phrase for move in mended.moved]) == (0, ["part1: unscored -> 41"])
    assert rows(root)["bob"]["total"] == "77"


def test_a_score_is_not_lost_to_a_fault_of_ours(root: Path) -> None:
    grade(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): None}
    waiting = grade(root)
    assert [move.phrase for move in waiting.moves] == ["part1: 41 -> unscored"]
    assert rows(root)["bob"]["part1"] == "41"
    StandIn.lost = {}
    assert not grade(root).waits
    assert StandIn.asked == ["bob"], "what could not be scored is tried again"


def test_the_slowest_submission_is_named(root: Path) -> None:
    summary = grade(root)
    assert summary.slowest is not None
    assert summary.slowest[0] == "cyd"
