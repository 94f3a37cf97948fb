"""A verdict says what is true of a figure, and the page of a lab needs nothing beside it."""

import json
import math
import re

import pytest

from autograder.labs import plot, save_report
from autograder.labs.page import page
from autograder.labs.report import (
    Finding,
    Grid,
    Plot,
    Report,
    Series,
    Verdict,
    is_near,
    judge,
    not_measured,
    report_json,
    shown,
)

ABOUT = {
    "lab": "toy",
    "title": "A <b>toy</b>",
    "code": "yours",
    "settings": "quick",
    "seed": 0,
    "seconds": 1.0,
    "reused": 0,
    "machine": {
        "processor": "<script>alert(1)</script>",
        "threads": 1,
        "torch": "2",
        "date": "2020-01-01",
        "device": "cpu",
    },
}


# --- verdicts


@pytest.mark.parametrize(
    ("reproduced", "in_direction", "verdict"),
    [
        (True, False, Verdict.REPRODUCED),
        (True, True, Verdict.REPRODUCED),
        (False, True, Verdict.IN_DIRECTION),
        (False, False, Verdict.NOT_HERE),
    ],
)
def test_verdict(reproduced, in_direction, verdict):
    found = judge("a claim", 1.0, 2.0, reproduced=reproduced, in_direction=in_direction, why="because")
    assert found.verdict is verdict
    assert found.why == ("" if verdict is Verdict.REPRODUCED else "because")


def test_a_verdict_short_of_reproduced_says_why():
    with pytest.raises(ValueError, match="needs a why"):
        Finding("a claim", 1.0, 2.0, Verdict.NOT_HERE)
    assert not_measured("a claim", 1.0, "too long").here is None


def test_nearness_is_relative_and_nan_is_near_nothing():
    assert is_near(104.0, 100.0, within=0.05)
    assert not is_near(106.0, 100.0, within=0.05)
    assert not is_near(math.nan, 100.0, within=0.05)


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (None, ".2f", "-"),
        (124439808, ".4g", "124,439,808"),
        (0.5, ".1%", "50.0%"),
        (math.inf, ".2f", "inf"),
        ("x", "", "x"),
    ],
)
def test_a_cell_is_shown(value, style, text):
    assert shown(value, style) == text


# --- pages and files


def toy_report() -> Report:
    return Report(
        findings=(judge("<i>claim</i>", 1.0, math.nan, reproduced=False, why="<script>no</script>"),),
        grids=(Grid("<u>grid</u>", ("a", "b"), (("<td>", None),)),),
        plots=(Plot("<plot>", "x", "y", (Series("s", [1, 2], [1.0, None]),)),),
        notes=("a & b",),
    )


def test_page_escapes_every_text_and_needs_nothing_beside_it():
    text = page(toy_report(), ABOUT, picture=b"png")
    for tag in ("<i>", "<script", "<u>", "<b>toy", "<plot>", "a & b"):
        assert tag not in text
    assert "&lt;script&gt;no&lt;/script&gt;" in text
    assert not re.search(r"(src|href)=\"(?!data:)|https?://|@import|url\(", text)


def test_without_matplotlib_the_tables_are_there_and_the_way_to_a_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(plot, "can_draw", lambda: False)
    monkeypatch.setattr("autograder.labs.page.can_draw", lambda: False)
    written = save_report(toy_report(), ABOUT, tmp_path)
    assert sorted(path.name for path in written) == ["toy.html", "toy.json"]
    assert "pip install" in (tmp_path / "toy.html").read_text()


def test_json_holds_no_number_that_json_does_not_know():
    text = json.dumps(report_json(toy_report(), ABOUT), allow_nan=False)
    assert json.loads(text)["findings"][0]["here"] == "nan"
