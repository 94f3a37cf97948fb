"""A result counts until anything that decides it changes, and every score that moves is told."""

import pytest
from gradebook_cases import make_result, scored

from autograder.gradebook.moves import moves
from autograder.gradebook.results import is_current, to_json

SAME = {"files": {"part3_attention.py": "f00"}, "suites_sha256": "s", "config_sha256": "c"}


def test_unchanged_submission_is_current():
    assert is_current(to_json(make_result()), **SAME)
    assert is_current(to_json(make_result()), **SAME, parts=["part3"], seed=7, sandbox=1)


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"part3_attention.py": "other"}},
        {"files": {}},
        {"files": {"part3_attention.py": "f00", "part1_average.py": "new"}},
        {"suites_sha256": "other"},
        {"config_sha256": "other"},
        {"version": "another version"},
        {"parts": ["part3", "part4"]},
        {"seed": 8},
        {"sandbox": 3},
    ],
)
def test_any_change_makes_a_result_out_of_date(change):
    assert not is_current(to_json(make_result()), **{**SAME, **change})


def test_unscored_part_is_tried_again_unless_it_is_not_asked_for():
    old = to_json(make_result())
    old["parts"]["part4"] = {**old["parts"]["part3"], "score": None, "outcome": "error"}
    assert not is_current(old, **SAME)
    assert is_current(old, **SAME, parts=["part3"])


def moved(old: dict, new: dict) -> list[str]:
    return [move.phrase for move in moves(old, {"submission": "ada", **new})]


def test_moves_tell_each_part_that_moved():
    old = {"parts": {"part1": scored(2), "part2": scored(3), "part3": scored(None)}}
    new = {"parts": {"part1": scored(2.5), "part2": scored(3), "part3": scored(0), "part4": scored(1)}}
    assert moved(old, new) == ["part1: 2 -> 2.5", "part3: unscored -> 0", "part4: - -> 1"]
    assert moved(old, old) == []


def test_moves_count_weights_and_say_where_the_most_moved():
    old, new = {"parts": {"part1": scored(2)}}, {"parts": {"part1": scored(2, 1.5)}}
    (move,) = moves(old, {"submission": "ada", **new})
    assert (move.phrase, move.change) == ("part1: 2 of 10 -> 3 of 15", 1)
    longer = {"parts": {"part1": {**scored(2), "points": 12}}}
    assert moved(old, longer) == ["part1: 2 of 10 -> 2 of 12"]


def test_only_a_score_that_was_there_can_be_taken_away():
    old = {"parts": {"part1": scored(2), "part2": scored(None), "part3": scored(1), "part4": scored(1)}}
    new = {"parts": {"part1": scored(None), "part2": scored(0), "part3": scored(2), "part5": scored(1)}}
    found = moves(old, {"submission": "ada", **new})
    assert [move.part for move in found if move.takes_the_place_of_a_score] == ["part1", "part3", "part4"]
    assert [move.change for move in found] == [None, None, 1, None, None]
