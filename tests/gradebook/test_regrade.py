"""Grading again: nothing that counts is replaced before somebody has seen whose scores move."""

from pathlib import Path

import pytest
from regrade_stand_in import CONFIG, StandIn, change_suite, counts, first_points, grade, hand_in, history, result, rows


def test_a_changed_suite_that_moves_nothing_goes_through(root: Path) -> None:
    before = grade(root)
    change_suite(root)
    after = grade(root)
    assert (after.graded, after.moves, after.waits) == (3, [], False)
    assert after.results[0]["suites"] != before.results[0]["suites"]
    assert grade(root).skipped == 3


def test_a_changed_suite_that_moves_a_score_replaces_nothing_and_says_what_would_move(root: Path) -> None:
    grade(root)
    old = counts(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    waiting = grade(root)
    assert counts(root) == old
    assert [(move.submission, move.part, move.change) for move in waiting.moves] == [
        ("bob", "part1", -first_points(root))
    ]
    assert (waiting.exit_code, waiting.waits, len(waiting.results)) == (2, True, 3)


def test_a_yes_later_takes_what_was_graded_and_keeps_what_counted(root: Path) -> None:
    grade(root)
    old = counts(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    grade(root)
    agreed = grade(root, yes=True)
    assert StandIn.asked == [], "nothing is graded twice"
    assert (agreed.accepted, agreed.exit_code) == (True, 1)
    assert result(root, "bob")["parts"]["part1"]["outcome"] == "failed"
    assert history(root, "bob") == [old["results/bob/result.json"]]
    assert (root / "results" / "bob" / "history" / "001.html").read_bytes() == old["results/bob/feedback.html"]
    assert not list((root / "results").rglob("pending*"))
    assert grade(root).skipped == 3


def test_a_yes_at_once_needs_one_run(root: Path) -> None:
    grade(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    assert grade(root, yes=True).accepted
    assert rows(root)["bob"]["part1"] != rows(root)["ada"]["part1"]


def test_a_change_that_is_taken_back_leaves_no_trace(root: Path) -> None:
    grade(root)
    old = counts(root)
    suite = root / "assignments" / "part1_average" / "test_hidden.py"
    text = suite.read_text()
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    grade(root)
    suite.write_text(text)
    back = grade(root)
    assert (back.skipped, back.graded, back.waits) == (3, 0, False)
    assert counts(root) == old
    assert not list((root / "results").rglob("pending*"))


def test_a_regrade_that_waits_is_graded_again_where_the_course_changes_once_more(root: Path) -> None:
    grade(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    grade(root)
    change_suite(root)
    StandIn.lost = {}
    assert not grade(root).waits
    assert len(StandIn.asked) == 3


def test_something_new_from_a_student_counts_at_once(root: Path) -> None:
    StandIn.lost = {("bob", "part1"): 1}
    grade(root)
    old = counts(root)
    StandIn.lost = {}
    hand_in(root, "bob", "x = 2\n")
    done = grade(root)
    assert StandIn.asked == ["bob"]
    assert (done.waits, [move.phrase for move in done.moved]) == (False, [f"part1: {41 - first_points(root):g} -> 41"])
    assert history(root, "bob") == [old["results/bob/result.json"]]


def test_something_new_under_changed_rules_waits_too(root: Path) -> None:
    grade(root)
    hand_in(root, "bob", "x = 2\n")
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    assert grade(root).waits


def test_somebody_new_counts_while_others_wait(root: Path) -> None:
    grade(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    hand_in(root, "dan", "x = 1\n")
    waiting = grade(root)
    assert waiting.waits
    assert list(rows(root)) == ["ada", "bob", "cyd", "dan"]
    assert not (root / "results" / "dan" / "history").exists()


@pytest.mark.parametrize("change", ["parts: {part2: {weight: 2}}\n", "limits: {check_s: 3}\n"])
def test_weights_and_limits_are_rules_too(root: Path, change: str) -> None:
    grade(root)
    (root / "grading.yml").write_text(CONFIG + change)
    summary = grade(root)
    if "weight" in change:
        assert [move.phrase for move in summary.moves] == ["part2: 36 of 36 -> 72 of 72"] * 3
    assert summary.waits == ("weight" in change)


def test_a_changed_seed_asks_where_it_moves_a_score(root: Path) -> None:
    grade(root)
    (root / "grading.yml").write_text(CONFIG.replace("7", "8"))
    StandIn.lost = {("ada", "part2"): 1}
    assert [move.submission for move in grade(root).moves] == ["ada"]


def test_fresh_asks_where_the_same_rules_give_another_score(root: Path) -> None:
    grade(root)
    StandIn.lost = {("ada", "part2"): 1}
    assert grade(root).skipped == 3
    assert grade(root, fresh=True).waits
    assert grade(root, yes=True).accepted
    assert rows(root)["ada"]["part2"] != rows(root)["bob"]["part2"]


def test_a_part_more_asks_nobody(root: Path) -> None:
    grade(root, parts="2")
    more = grade(root, parts="1")
    assert (more.waits, more.part_names) == (False, ["part1", "part2"])
    assert [move.phrase for move in more.moved] == ["part1: - -> 41"] * 3
