"""The feedback page: it shows what helps, nothing that acts, and no more of hidden checks than allowed."""

import base64
import hashlib
import re
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograder
from autograder.errors import UsageError
from autograder.records import Check, CheckResult, Outcome, Part, PartScore, Submission, SubmissionResult
from autograder.report.clean import clean, clean_line
from autograder.report.feedback import SHOWABLE, _template, feedback_html

PASSED, FAILED, TIMED_OUT, ERROR = Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.ERROR
VOID = {"meta", "link", "br", "img", "hr", "input", "base"}


class Page(HTMLParser):
    """Read a page as a browser would: which elements, which attributes, which text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "elements are nested"

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def make_check(id: str = "test_a", hidden: bool = False, **changes) -> Check:
    check = Check(
        id=id, title=f"Title of {id}.", points=2, exercise="attention", hint=f"Hint of {id}?", hidden=hidden, line=1
    )
    return replace(check, **changes)


def make_score(*results: CheckResult, number: int = 3, weight: float = 1.0) -> PartScore:
    part = Part(
        name=f"part{number}",
        topic="attention",
        module=f"part{number}_attention",
        folder=Path("x"),
        title=f"Title of part {number}",
        version=1,
        checks=tuple(result.check for result in results),
    )
    scores = [result.score for result in results]
    outcomes = [result.outcome for result in results]
    worst = next((outcome for outcome in (ERROR, TIMED_OUT, FAILED) if outcome in outcomes), PASSED)
    score = None if None in scores else sum(score for score in scores if score is not None)
    return PartScore(part, results, score, worst, weight)


def make_result(*scores: PartScore, submission: Submission | None = None, **changes) -> SubmissionResult:
    result = SubmissionResult(
        submission=submission or Submission("ada", sources={score.part.module: "" for score in scores}),
        parts={score.part.name: score for score in scores},
        total=sum((score.score or 0) * score.weight for score in scores),
        max=sum(score.points * score.weight for score in scores),
        flags=("a flag for the instructor",),
        seed=7,
        sandbox=1,
        suites_sha256="s",
        config_sha256="c",
    )
    return replace(result, **changes)


def page_of(*scores: PartScore, show_hidden=(), **changes) -> str:
    return feedback_html(make_result(*scores, **changes), title="Course", show_hidden=show_hidden)


def full_result(check: Check, word: str, outcome: Outcome = FAILED) -> CheckResult:
    """A result whose every text can be told from all others."""
    return CheckResult(
        check,
        outcome,
        message=f"{word}-message",
        diagnosis=f"{word}-diagnosis",
        mistake=f"{word}-mistake",
        traceback=f"{word}-traceback",
        picture=f"{word}-picture",
        printed=f"{word}-printed",
    )


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


SECRET = make_check("test_secret_id", hidden=True, exercise="secret_exercise", hint="secret-hint", title="secret-title")
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


# what cannot happen


HOSTILE = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}{% raw %}\"'`&lt;"


def test_nothing_from_a_submission_becomes_markup():
    result = CheckResult(make_check(), FAILED, HOSTILE, HOSTILE, None, HOSTILE, HOSTILE, HOSTILE)
    harmless = replace(result, message="m", diagnosis="m", traceback="m", picture="m", printed="m")
    score, plain = make_score(result), make_score(harmless)
    sources = {"part3_attention": ""}
    hostile_page = Page(page_of(score, submission=Submission(HOSTILE, sources=sources)))
    plain_page = Page(page_of(plain, submission=Submission("ada", sources=sources)))
    assert hostile_page.tags == plain_page.tags
    assert [a[:2] for a in hostile_page.attributes] == [a[:2] for a in plain_page.attributes]
    assert hostile_page.text.count(HOSTILE) >= 5
    assert "49" not in hostile_page.text


def test_problem_told_by_intake_is_escaped_too():
    submission = Submission("ada", problems={"part3_attention": HOSTILE})
    html = page_of(make_score(CheckResult(make_check(), FAILED)), submission=submission)
    assert "script" not in Page(html).tags


def test_page_runs_no_script_and_asks_for_nothing_outside():
    page = Page(page_of(make_score(full_result(make_check(), "own"))))
    assert not {"script", "link", "img", "iframe", "object", "form", "base"} & set(page.tags)
    for tag, name, value in page.attributes:
        assert not name.startswith("on")
        assert name != "style", "the policy allows no inline style"
        assert name not in {"src", "srcset", "action"}
        assert name != "href" or value.startswith("#"), (tag, value)
    html = page_of()
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_policy_allows_only_the_style_that_the_page_has():
    html = page_of()
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert ("meta", "content", policy) in Page(html).attributes
    assert html.index("Content-Security-Policy") < html.index("<style>")


def test_page_adapts_to_phones_printers_and_dark_rooms():
    html = page_of()
    assert ("meta", "content", "width=device-width, initial-scale=1") in Page(html).attributes
    for query in ("prefers-color-scheme: dark", "@media print", "max-width"):
        assert query in html


def test_escape_sequences_and_direction_overrides_are_not_on_the_page():
    nasty = "\x1b[31mred\x1b[0m \u202eevil\u202c \x00\x08\x9b \ud800"
    result = CheckResult(make_check(), FAILED, nasty, nasty, None, nasty, nasty, nasty)
    html = page_of(make_score(result), submission=Submission(nasty, sources={"part3_attention": ""}))
    assert not set("\x1b\u202e\u202c\x00\x08\x9b\ud800") & set(html)
    assert "red \\u202eevil\\u202c" in html
    html.encode("utf-8")


def test_long_texts_are_capped_with_a_note():
    long = "x" * 1_000_000
    result = CheckResult(make_check(title=long), FAILED, long, long, None, long, long, long)
    html = page_of(make_score(result), submission=Submission(long, sources={"part3_attention": ""}))
    assert len(html) < 60_000
    assert "characters not shown" in html


def test_same_result_gives_the_same_page():
    score = make_score(full_result(make_check(), "own"), full_result(SECRET, "secret"))
    assert page_of(score) == page_of(score)


def test_importing_the_module_does_not_import_jinja2():
    code = "import sys, autograder.report.feedback; assert 'jinja2' not in sys.modules"
    root = Path(autograder.__file__).parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=root)


def test_missing_jinja2_is_told_with_its_remedy(monkeypatch):
    _template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(UsageError) as caught:
        page_of()
    assert "gpt-hw[instructor]" in caught.value.remedy


# clean


@given(st.text(st.characters(codec=None), max_size=200))
def test_clean_leaves_no_control_characters_but_line_breaks(text):
    for cleaned in (clean(text), clean_line(text)):
        assert not any(ord(c) < 32 and c != "\n" for c in cleaned)
        assert not set(map(chr, range(127, 160))) & set(cleaned)
        assert not set("\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2069\ufeff") & set(cleaned)
        cleaned.encode("utf-8")
    assert "\n" not in clean_line(text)


@given(st.text(max_size=200))
def test_clean_twice_is_clean_once(text):
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ttext", "plain   text"),
        ("a\r\nb\rc\n\n", "a\nb\nc"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1bcafter", "after"),
        ("\x9b31mred", "red"),
        ("\x1b", "\\x1b"),
        ("\x1b[31", "\\x1b[31"),
        ("\x1b]0;unfinished", "\\x1b]0;unfinished"),
        ("a\x00b\x08\x7f", "a\\x00b\\x08\\x7f"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud800", "\\ud800"),
        ("名前 O'Brien Ñ 👩‍💻 می‌خواهم", "名前 O'Brien Ñ 👩‍💻 می‌خواهم"),
        ("  indented\n    more", "  indented\n    more"),
        ("e" + "\u0301" * 500, "e" + "\u0301" * 3),
    ],
)
def test_clean_removes_sequences_shows_invisibles_and_keeps_writing(text, expected):
    assert clean(text) == expected


def test_clean_keeps_the_head_or_the_tail_and_says_how_much_is_gone():
    text = "\n".join(f"line {number}" for number in range(100))
    assert clean(text, lines=2) == f"line 0\nline 1\n[… {len(text) - 13} characters not shown]"
    assert clean(text, lines=1, keep="tail") == f"[… {len(text) - 7} characters not shown]\nline 99"
    assert clean("x" * 10, characters=4) == "xxxx\n[… 6 characters not shown]"
    assert clean("x" * 10, characters=10) == "x" * 10


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x9d", "\x9b", "\x1bP", "\x90", "\x1b[1;", "\u0301", "\t", "\r"])
def test_clean_takes_time_in_proportion_to_its_input(unit):
    start = time.perf_counter()
    clean(unit * 200_000)
    assert time.perf_counter() - start < 5  # a quadratic pattern would take minutes


def test_clean_line_runs_white_space_together_and_cuts_with_an_ellipsis():
    assert clean_line("a\n  b\tc ") == "a b c"
    assert clean_line("x" * 20, characters=5) == "xxxx…"
