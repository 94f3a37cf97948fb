"""The terminal tells each result once, and plainly, and ``--json`` tells all of it."""

import json
import re
from dataclasses import replace

import pytest
from terminal_results import ERROR, FAILED, PASSED, STUB, TIMED_OUT, make_check, make_part, not_written_yet, printed

from autograder.records import CheckResult
from autograder.report.grouping import by_exercise, not_written, shared_failure
from autograder.report.terminal import results_json, summary_line

# one check


def test_passed_check_takes_one_line_with_its_points():
    result = CheckResult(make_check(hint="Hint?"), PASSED, message="m", printed="debug")
    assert printed(result).splitlines() == [
        "part3 · One head, many heads",
        "",
        "attention",
        "  ✓ Title of test_a.  2/2",
        "",
        "part3: 1 of 1 public checks pass (2 of 2 points)",
    ]


def test_failed_check_tells_everything_in_order_and_indented():
    result = CheckResult(
        make_check(hint="Which axis?"),
        FAILED,
        message="expected 1\ngot 2",
        diagnosis="These are the numbers without the scale.",
        mistake="not_scaled",
        traceback="line 3, in f\n    return 1 / 0\nZeroDivisionError",
        picture="0 │ █",
        printed="q (2, 5)\n",
    )
    assert printed(result).splitlines()[2:-2] == [
        "attention",
        "  ✗ Title of test_a.  0/2",
        "      expected 1",
        "      got 2",
        "      → These are the numbers without the scale.",
        "      Think: Which axis?",
        "      picture:",
        "        0 │ █",
        "      your code:",
        "        line 3, in f",
        "            return 1 / 0",
        "        ZeroDivisionError",
        "      printed:",
        "        q (2, 5)",
    ]


def test_time_out_and_our_error_are_told_in_words():
    text = printed(CheckResult(make_check("a"), TIMED_OUT), CheckResult(make_check("b"), ERROR))
    assert "✗ Title of a.  0/2  (out of time)" in text
    assert "! Title of b.  -/2  (not scored: the grader failed, not you)" in text


def test_only_the_last_printed_lines_are_told():
    result = CheckResult(make_check(), FAILED, "m", printed="\n".join(f"step {number}" for number in range(1000)))
    text = printed(result)
    assert "step 999" in text
    assert "step 500\n" not in text
    assert "characters not shown" in text


def test_the_end_of_a_deep_traceback_is_kept():
    traceback = "\n".join(f"frame {number}" for number in range(1000)) + "\nRecursionError: too deep"
    assert "RecursionError: too deep" in printed(CheckResult(make_check(), FAILED, "m", traceback=traceback))


# told once


def test_checks_are_grouped_by_exercise_in_order_of_first_appearance():
    results = [CheckResult(make_check(str(i), exercise=name), PASSED) for i, name in enumerate(["f", "Head", "f"])]
    assert [(name, len(group)) for name, group in by_exercise(results).items()] == [("f", 2), ("Head", 1)]
    text = printed(*results)
    assert re.findall(r"^(\w+)$", text, re.MULTILINE) == ["f", "Head"]


def test_exercise_that_is_not_written_takes_one_line_for_all_its_checks():
    text = printed(*(not_written_yet("MeanLM", id=str(i)) for i in range(3)), CheckResult(make_check(), PASSED))
    assert "· MeanLM: not written yet (3 checks)\n" in text
    assert "NotImplementedError" not in text
    assert "your code raised" not in text
    assert "0 of 4" not in text
    assert "part3: 1 of 4 public checks pass (2 of 8 points)" in text


def test_part_as_handed_out_is_one_line_an_exercise():
    text = printed(not_written_yet("attention"), not_written_yet("Head"), not_written_yet("Head"))
    assert text.splitlines()[2:-2] == [
        "· attention: not written yet (1 check)",
        "· Head: not written yet (2 checks)",
    ]


def test_part_whose_checks_are_all_of_one_unwritten_exercise_is_told_as_unwritten():
    results = [not_written_yet("Head", id=str(i)) for i in range(3)]
    assert shared_failure(results) is not None
    assert "· Head: not written yet (3 checks)" in printed(*results)


def test_exercise_that_calls_an_unwritten_one_names_it():
    text = printed(not_written_yet("MeanLM", "causal_mask"), CheckResult(make_check(), PASSED))
    assert "· MeanLM: needs causal_mask, which is not written yet (1 check)" in text


@pytest.mark.parametrize(
    ("exercise", "traceback", "expected"),
    [
        ("Head", STUB.format("Head"), "not written yet"),
        ("Head", STUB.format("Head.forward") + "\n", "not written yet"),
        ("Head.forward", STUB.format("Head"), "not written yet"),
        (
            "Head",
            "NotImplementedError: part1: causal_mask is not written yet",
            "needs causal_mask of part1, which is not written yet",
        ),
        ("Head", "NotImplementedError", None),
        ("Head", "NotImplementedError: my own words", None),
        ("Head", STUB.format("Head") + "\nValueError: another", None),
        ("Head", "", None),
    ],
)
def test_only_our_own_stub_counts_as_not_written(exercise, traceback, expected):
    result = CheckResult(make_check(exercise=exercise), FAILED, "m", traceback=traceback)
    assert not_written(result, "part3") == expected


@pytest.mark.parametrize("outcome", [PASSED, TIMED_OUT, ERROR])
def test_only_a_failed_check_counts_as_not_written(outcome):
    assert not_written(replace(not_written_yet("Head"), outcome=outcome), "part3") is None


def test_file_that_does_not_import_is_told_once_for_the_whole_part():
    results = [
        CheckResult(make_check(str(i), hint="Hint?"), FAILED, "does not import", traceback="SyntaxError: line 3")
        for i in range(12)
    ]
    text = printed(*results)
    assert text.splitlines()[2:-2] == [
        "  ✗ all 12 checks end in the same way",
        "      does not import",
        "      your code:",
        "        SyntaxError: line 3",
    ]


def test_message_told_before_is_referred_to_and_not_repeated():
    same = {"message": "raised TypeError", "traceback": "TypeError: missing argument"}
    text = printed(
        CheckResult(make_check("first"), FAILED, **same),
        CheckResult(make_check("second"), FAILED, **same),
        CheckResult(make_check("third"), FAILED, "another message"),
    )
    assert text.count("TypeError: missing argument") == 1
    assert "      the same as at: Title of first." in text
    assert "another message" in text


def test_failures_that_say_nothing_are_not_called_the_same():
    text = printed(CheckResult(make_check("a"), FAILED), CheckResult(make_check("b"), FAILED))
    assert "same" not in text


def test_blank_lines_never_double():
    text = printed(
        CheckResult(make_check("a"), FAILED, "m"), not_written_yet("Head"), CheckResult(make_check("b"), PASSED)
    )
    assert "\n\n\n" not in text


# the sum


def test_summary_counts_checks_and_points():
    checks = [make_check(str(i), points=points) for i, points in enumerate([2, 3, 1.5])]
    results = [CheckResult(check, outcome) for check, outcome in zip(checks, [PASSED, FAILED, PASSED], strict=True)]
    assert summary_line(make_part(*results), results) == "part3: 2 of 3 public checks pass (3.5 of 6.5 points)"


def test_summary_with_hidden_checks_does_not_call_them_public():
    results = [CheckResult(make_check(hidden=True), PASSED)]
    assert summary_line(make_part(*results), results) == "part3: 1 of 1 checks pass (2 of 2 points)"


def test_summary_tells_our_errors_apart():
    results = [CheckResult(make_check("a"), PASSED), CheckResult(make_check("b"), ERROR)]
    assert summary_line(make_part(*results), results).endswith("(2 of 4 points); 1 not scored, the grader failed")


def test_results_json_is_plain_clean_and_complete():
    check = make_check("test_a", hint="Which axis?", points=2)
    results = [
        CheckResult(
            check,
            FAILED,
            message="\x1b[31mm",
            diagnosis="d",
            mistake="not_scaled",
            traceback="t",
            picture="p",
            printed="o",
            seconds=0.12345,
        ),
        CheckResult(make_check("test_b"), PASSED),
    ]
    data = results_json(make_part(*results), results)
    assert json.loads(json.dumps(data)) == data
    assert {key: data[key] for key in ("part", "title", "points", "score")} == {
        "part": "part3",
        "title": "One head, many heads",
        "points": 4,
        "score": 2,
    }
    assert data["checks"][0] == {
        "id": "test_a",
        "title": "Title of test_a.",
        "exercise": "attention",
        "points": 2,
        "score": 0,
        "outcome": "failed",
        "message": "m",
        "diagnosis": "d",
        "mistake": "not_scaled",
        "hint": "Which axis?",
        "picture": "p",
        "traceback": "t",
        "printed": "o",
        "seconds": 0.123,
    }


def test_results_json_has_no_score_where_the_failure_is_ours():
    results = [CheckResult(make_check("a"), PASSED), CheckResult(make_check("b"), ERROR)]
    data = results_json(make_part(*results), results)
    assert data["score"] is None
    assert [check["score"] for check in data["checks"]] == [2, None]
