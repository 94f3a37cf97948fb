"""The feedback page shows what helps, and no more of hidden checks than is allowed."""

import re
from dataclasses import replace
from itertools import combinations

import pytest
from feedback_pages import ERROR, FAILED, PASSED, SECRET, TIMED_OUT, Page, full_result, make_check, make_score, page_of

from autograder.records import CheckResult, Submission
from autograder.report.feedback import SHOWABLE

# what is shown


def test_failed_public_check_shows_all_that_helps():
    text = Page(page_of(make_score(full_result(make_check(), "own")))).text
    for word in ("message", "diagnosis", "traceback", "picture", "printed"):
        assert f"own-{word}" in text
    assert "Title of test_a." in text
    assert "Hint of test_a?" in text
    assert "0 of 2" in text


def test_passed_check_shows_no_hint_and_no_message_but_what_it_printed():
    text = Page(page_of(make_score(full_result(make_check(), "own", PASSED)))).text
    assert "own-printed" in text
    assert "own-message" not in text
    assert "Hint of" not in text


def test_what_was_printed_is_folded():
    html = page_of(make_score(full_result(make_check(), "own")))
    assert re.search(r"<details>\s*<summary>What your code printed</summary>\s*<pre>own-printed</pre>", html)


@pytest.mark.parametrize(
    ("outcome", "symbol", "word"),
    [(PASSED, "✓", "passed"), (FAILED, "✗", "failed"), (TIMED_OUT, "✗", "out of time"), (ERROR, "!", "not scored")],
)
def test_outcome_is_told_by_word_and_symbol_and_not_by_colour_alone(outcome, symbol, word):
    score = make_score(CheckResult(make_check(), outcome))
    assert f"{symbol}</span>{word}</span>" in page_of(score).split('class="part"')[1]


def test_table_has_every_part_with_its_points_and_a_link_to_it():
    html = page_of(
        make_score(CheckResult(make_check(), PASSED), number=1),
        make_score(CheckResult(make_check(points=2.5), FAILED), number=2),
    )
    table = html[html.index("<table") : html.index("</table>")]
    assert re.findall(r'href="#(\w+)"', table) == ["part1", "part2"]
    assert re.findall(r"<b>(\S+)</b> <span class=\"of\">of (\S+)</span>", table) == [("2", "2"), ("0", "2.5")]
    assert 'id="part1"' in html
    assert 'id="part2"' in html


def test_weighted_points_have_a_column_only_where_a_weight_is_not_one():
    check = CheckResult(make_check(), PASSED)
    assert "Weighted" not in page_of(make_score(check))
    html = page_of(make_score(check, weight=1.5))
    assert "Weighted" in html
    assert "3 of 3" in html


def test_part_with_our_error_says_that_the_grader_failed_and_shows_no_score():
    score = make_score(
        CheckResult(make_check("a"), PASSED), CheckResult(make_check("b"), ERROR, message="KeyError in the suite")
    )
    text = " ".join(Page(page_of(score)).text.split())
    assert "The grader failed here, not you. This part is not scored; a person was told." in text
    assert "Part 3 is not scored yet" in text
    assert "– of 4" in text
    assert "0 of 4" not in text.split("Points by part")[1], "only the total counts what there is"
    assert "KeyError" not in text


def test_two_unscored_parts_are_named_in_one_sentence():
    scores = [make_score(CheckResult(make_check(), ERROR), number=number) for number in (2, 5)]
    assert "Part 2, part 5 are not scored yet" in Page(page_of(*scores)).text


def test_missing_file_is_told_once_and_its_checks_are_folded():
    results = [CheckResult(make_check(str(i)), FAILED, "part3_attention.py was not handed in") for i in range(5)]
    html = page_of(make_score(*results), submission=Submission("ada"))
    assert html.count("part3_attention.py was not in what you handed in") == 1
    assert html.count("was not handed in") == 0
    assert "not handed in" in html[: html.index("</table>")]
    assert "Hint of" not in html
    assert "<summary>The checks of this part</summary>" in html


def test_problem_of_a_file_is_told_once():
    results = [CheckResult(make_check(str(i)), FAILED, "holds a NUL byte") for i in range(5)]
    submission = Submission("ada", problems={"part3_attention": "holds a NUL byte"})
    assert page_of(make_score(*results), submission=submission).count("holds a NUL byte") == 1


def test_file_that_does_not_import_is_told_once_with_its_traceback():
    results = [
        CheckResult(make_check(str(i)), FAILED, "does not import", traceback="line 3\nSyntaxError") for i in range(5)
    ]
    html = page_of(make_score(*results))
    assert html.count("does not import") == 1
    assert html.count("SyntaxError") == 1


def test_exercises_that_are_not_written_take_one_line_each():
    stub = "part3_attention.py, line 9\nNotImplementedError: part3: Head is not written yet"
    results = [
        CheckResult(make_check(str(i), exercise="Head"), FAILED, "raised", traceback=stub, printed="") for i in range(3)
    ]
    text = Page(page_of(make_score(*results, CheckResult(make_check("x"), PASSED)))).text
    assert "not written yet (3 checks)" in text
    assert "0 of 6" in text
    assert "NotImplementedError" not in text


def test_flags_for_the_instructor_are_not_on_the_page():
    assert "a flag for the instructor" not in page_of(make_score(CheckResult(make_check(), PASSED)))


def test_page_without_parts_is_still_a_page():
    assert "ada" in Page(page_of()).text


# hidden checks


SECRET_WORDS = {
    "title": ["secret-title", "secret_exercise"],
    "hint": ["secret-hint"],
    "diagnosis": ["secret-diagnosis"],
    "message": ["secret-message", "secret-traceback", "secret-picture", "secret-printed"],
}


@pytest.mark.parametrize(
    "show",
    [set(c) for n in range(len(SHOWABLE) + 1) for c in combinations(sorted(SHOWABLE), n)],
    ids=lambda show: " ".join(sorted(show)) or "nothing",
)
def test_hidden_check_shows_exactly_what_is_allowed(show):
    html = page_of(make_score(full_result(SECRET, "secret")), show_hidden=show)
    for what, words in SECRET_WORDS.items():
        for word in words:
            assert (word in html) is (what in show), word
    section = html.split('class="part"')[1]
    assert ("a hidden check" in section) is ("title" not in show)
    assert ("failed</span>" in section) is ("score" in show)
    assert ("not shown</span>" in section) is ("score" not in show)
    assert "test_secret_id" not in html
    assert "secret-mistake" not in html


def test_unknown_words_allow_nothing():
    html = page_of(make_score(full_result(SECRET, "secret")), show_hidden={"everything", "traceback", "printed"})
    assert "secret" not in html


def test_hidden_checks_that_look_alike_take_one_line():
    results = [CheckResult(make_check(str(i), hidden=True), PASSED if i else FAILED) for i in range(5)]
    text = Page(page_of(make_score(*results), show_hidden={"score"})).text
    assert "a hidden check × 4" in text
    assert "2 of 2 each" in text


def test_hidden_check_with_our_error_tells_nothing_but_that():
    html = page_of(make_score(full_result(SECRET, "secret", ERROR)), show_hidden={"score"})
    assert "secret" not in html
    assert "The grader failed" in html


def test_hidden_results_are_not_told_through_what_all_checks_share():
    results = [CheckResult(make_check(str(i), hidden=True), FAILED, "secret") for i in range(3)]
    assert "secret" not in page_of(make_score(*results), show_hidden={"score"})


def test_hidden_stub_is_not_told_without_message():
    stub = "NotImplementedError: part3: secret is not written yet"
    result = CheckResult(replace(SECRET, exercise="secret"), FAILED, "m", traceback=stub)
    assert "secret" not in page_of(make_score(result), show_hidden={"score"})
    assert "not written yet" not in page_of(make_score(result), show_hidden={"score", "title"})
