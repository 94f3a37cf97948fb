"""Scoring: every declared check counts exactly once, and our own errors never become zeros."""

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.records import Check, CheckResult, Outcome, Part, PartScore, Submission
from autograder.scoring import FLAG_CHARACTERS, score_part, score_submission, unanswered


def make_check(id: str, points: float = 2.0) -> Check:
    return Check(id=id, title=f"Title of {id}.", points=points, exercise="attention", hint="", hidden=False, line=1)


def make_part(number: int = 3, *checks: Check) -> Part:
    return Part(
        name=f"part{number}",
        topic="topic",
        module=f"part{number}_topic",
        folder=Path("assignments"),
        title="A title",
        version=1,
        checks=checks or (make_check("a", 2), make_check("b", 3), make_check("c", 5)),
    )


def results_of(part: Part, *outcomes: Outcome) -> list[CheckResult]:
    return [CheckResult(check, outcome) for check, outcome in zip(part.checks, outcomes, strict=True)]


def grade(*parts: PartScore, submission: Submission | None = None, sandbox: int = 1):
    sources = {score.part.module: "" for score in parts}
    return score_submission(
        submission=submission or Submission("ada", sources=sources),
        parts=parts,
        seed=7,
        sandbox=sandbox,
        suites_sha256="suites",
        config_sha256="config",
        environment={"torch": "2"},
    )


PASSED, FAILED, TIMED_OUT, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.ERROR


def test_score_is_the_sum_of_the_points_of_passed_checks():
    part = make_part()
    score = score_part(part, results_of(part, PASSED, FAILED, PASSED), 1.5)
    assert (score.score, score.points, score.weight) == (7.0, 10.0, 1.5)
    assert score.outcome is FAILED


def test_all_passed_gives_full_points_and_passed():
    part = make_part()
    score = score_part(part, results_of(part, PASSED, PASSED, PASSED), 1.0)
    assert (score.score, score.outcome) == (part.points, PASSED)


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        ((PASSED, FAILED, TIMED_OUT), TIMED_OUT),
        ((TIMED_OUT, FAILED, PASSED), TIMED_OUT),
        ((TIMED_OUT, FAILED, ERROR), ERROR),
        ((ERROR, PASSED, PASSED), ERROR),
        ((PASSED, PASSED, FAILED), FAILED),
    ],
)
def test_outcome_of_a_part_is_its_worst_whatever_the_order(outcomes, worst):
    part = make_part()
    assert score_part(part, results_of(part, *outcomes), 1.0).outcome is worst


def test_our_error_leaves_the_part_unscored_and_never_zero():
    part = make_part()
    score = score_part(part, results_of(part, PASSED, PASSED, ERROR), 1.0)
    assert score.score is None
    assert [result.outcome for result in score.results] == [PASSED, PASSED, ERROR]


def test_check_that_did_not_report_is_our_error():
    part = make_part()
    score = score_part(part, results_of(part, PASSED, PASSED, PASSED)[:2], 1.0)
    assert score.score is None
    assert len(score.results) == 3
    assert score.results[2].check == part.checks[2]
    assert score.results[2].outcome is ERROR
    assert score.results[2].message == "this check did not report"


def test_no_results_at_all_is_our_error_and_keeps_the_points():
    score = score_part(make_part(), [], 1.0)
    assert (score.score, score.points, score.outcome) == (None, 10.0, ERROR)


def test_check_that_reported_twice_is_our_error_even_if_it_passed_twice():
    part = make_part()
    results = results_of(part, PASSED, PASSED, PASSED)
    score = score_part(part, [*results, results[1]], 1.0)
    assert score.score is None
    assert [result.check.id for result in score.results] == ["a", "b", "c"]
    assert score.results[1].message == "this check reported 2 times"


def test_undeclared_check_is_our_error_and_is_worth_nothing():
    part = make_part()
    stray = CheckResult(make_check("forged", 999), PASSED)
    score = score_part(part, [*results_of(part, PASSED, PASSED, PASSED), stray, stray], 1.0)
    assert (score.score, score.points) == (None, 10.0)
    assert [result.check.id for result in score.results] == ["a", "b", "c", "forged"]
    assert score.results[3].check.points == 0


def test_points_come_from_the_declaration_and_not_from_the_result():
    part = make_part()
    results = results_of(part, PASSED, PASSED, PASSED)
    results[0] = replace(results[0], check=replace(part.checks[0], points=999.0, title="forged"))
    score = score_part(part, results, 1.0)
    assert score.score == 10.0
    assert score.results[0].check == part.checks[0]


def test_results_stand_in_declared_order_whatever_the_order_of_arrival():
    part = make_part()
    results = results_of(part, PASSED, FAILED, TIMED_OUT)
    assert score_part(part, results[::-1], 1.0) == score_part(part, results, 1.0)


def test_part_that_declares_no_check_is_not_passed_by_default():
    part = replace(make_part(), checks=())
    score = score_part(part, [], 1.0)
    assert (score.score, score.outcome) == (None, ERROR)
    assert "declare no check" in grade(score).flags[0]


def test_check_declared_twice_leaves_the_part_unscored():
    part = make_part(3, make_check("a"), make_check("a"))
    assert score_part(part, results_of(part, PASSED, PASSED), 1.0).score is None
    assert score_part(part, results_of(part, PASSED, PASSED)[:1], 1.0).score is None


def test_fractions_of_points_add_up_without_noise():
    part = make_part(3, *(make_check(str(i), 0.1) for i in range(10)))
    assert score_part(part, results_of(part, *[PASSED] * 10), 1.0).score == 1.0


def test_unanswered_gives_every_declared_check_the_same_result():
    part = make_part()
    results = unanswered(part, FAILED, "part3_topic.py does not import")
    assert [result.check for result in results] == list(part.checks)
    assert {(result.outcome, result.message) for result in results} == {(FAILED, "part3_topic.py does not import")}


def test_submission_that_does_not_import_scores_zero_of_all_points():
    part = make_part()
    score = score_part(part, unanswered(part, FAILED, "no import"), 1.0)
    assert (score.score, score.points, score.outcome) == (0.0, 10.0, FAILED)


def test_total_counts_weighted_scores_and_max_counts_unscored_parts_too():
    good, broken = make_part(1), make_part(2)
    result = grade(
        score_part(good, results_of(good, PASSED, FAILED, PASSED), 1.5),
        score_part(broken, results_of(broken, PASSED, PASSED, ERROR), 2.0),
    )
    assert result.total == 10.5
    assert result.max == 35.0


def test_totals_are_rounded_to_four_decimals():
    part = make_part(1, make_check("a", 1))
    result = grade(score_part(part, results_of(part, PASSED), 1 / 3))
    assert (result.total, result.max) == (0.3333, 0.3333)


def test_parts_are_ordered_by_number_not_by_spelling():
    scores = []
    for number in (10, 9, 1):
        part = make_part(number)
        scores.append(score_part(part, results_of(part, PASSED, PASSED, PASSED), 1.0))
    assert list(grade(*scores).parts) == ["part1", "part9", "part10"]


def test_record_keeps_what_a_rerun_compares():
    result = grade()
    assert (result.seed, result.sandbox, result.suites_sha256, result.config_sha256) == (7, 1, "suites", "config")
    assert result.environment == {"torch": "2"}


def test_clean_submission_has_no_flags():
    part = make_part()
    assert grade(score_part(part, results_of(part, PASSED, FAILED, TIMED_OUT), 1.0)).flags == ()


def test_unscored_part_is_flagged_with_check_and_reason():
    part = make_part()
    results = results_of(part, PASSED, ERROR, ERROR)
    results[1] = replace(results[1], message="\n  the suite raised KeyError\nTraceback ...")
    flags = grade(score_part(part, results, 1.0)).flags
    assert flags == ("part3 unscored: b: the suite raised KeyError (and 1 more)",)


def test_missing_part_is_flagged_as_missing():
    part = make_part(2)
    score = score_part(part, unanswered(part, FAILED, "not handed in"), 1.0)
    assert grade(score, submission=Submission("ada")).flags == ("part2 missing",)


def test_part_that_could_not_be_taken_is_flagged_with_its_problem_and_not_as_missing():
    part = make_part(1)
    submission = Submission("ada", problems={"part1_topic": "the file holds a NUL byte in line 3"})
    score = score_part(part, unanswered(part, FAILED, "x"), 1.0)
    assert grade(score, submission=submission).flags == ("part1: the file holds a NUL byte in line 3",)


def test_problem_of_a_module_that_is_not_graded_is_flagged_by_its_module():
    part = make_part(6)
    submission = Submission("ada", sources={"part6_topic": ""}, problems={"part3_topic": "not UTF-8"})
    score = score_part(part, results_of(part, PASSED, PASSED, PASSED), 1.0)
    assert grade(score, submission=submission).flags == ("part3_topic: not UTF-8",)


@pytest.mark.parametrize(("sandbox", "flagged"), [(0, False), (1, False), (2, False), (3, True)])
def test_only_the_last_rung_is_flagged_as_no_sandbox(sandbox, flagged):
    part = make_part()
    result = grade(score_part(part, results_of(part, PASSED, PASSED, PASSED), 1.0), sandbox=sandbox)
    assert any(flag.startswith("no sandbox") for flag in result.flags) is flagged


def test_warnings_of_the_submission_are_flags_and_are_said_once():
    part = make_part()
    submission = Submission("ada", sources={"part3_topic": ""}, warnings=("two candidates", "two candidates"))
    score = score_part(part, results_of(part, PASSED, PASSED, PASSED), 1.0)
    assert grade(score, submission=submission).flags == ("two candidates",)


def test_flags_are_one_short_line_each():
    part = make_part()
    submission = Submission("ada", sources={"part3_topic": ""}, warnings=("x" * 5000, "first\nsecond"))
    score = score_part(part, results_of(part, PASSED, PASSED, PASSED), 1.0)
    long, short = grade(score, submission=submission).flags
    assert len(long) == FLAG_CHARACTERS
    assert short == "first"
