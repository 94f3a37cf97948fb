"""Nothing on the feedback page acts, asks for anything outside, or grows without end."""

import base64
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from feedback_pages import FAILED, SECRET, Page, full_result, make_check, make_score, page_of

import autograder
from autograder.errors import UsageError
from autograder.records import CheckResult, Submission
from autograder.report.feedback import _template

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
