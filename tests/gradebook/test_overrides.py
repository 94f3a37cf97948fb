"""A score set by hand counts, is shown as such and survives every regrade, and a slip in the file stops the run."""

from pathlib import Path

import pytest
from regrade_stand_in import HEADER, StandIn, change_suite, counts, first_points, grade, hand_in, history, result, rows

from autograder.errors import ConfigError
from autograder.gradebook.overrides import read_overrides
from autograder.pipeline import open_course


def test_a_score_set_by_hand_counts_and_is_shown_as_such(root: Path) -> None:
    StandIn.lost = {("bob", "part1"): 1}
    grade(root)
    (root / "overrides.csv").write_text(HEADER + 'bob,part1,40.5,"=the <b>server</b> was down",Kim\n')
    done = grade(root)
    assert (StandIn.asked, done.skipped, done.by_hand, done.waits) == ([], 3, 1, False)
    part = result(root, "bob")["parts"]["part1"]
    graded = 41 - first_points(root)
    assert (part["score"], part["by_hand"]) == (
        40.5,
        {"graded": graded, "reason": "=the <b>server</b> was down", "who": "Kim"},
    )
    assert result(root, "bob")["total"] == 76.5
    row = rows(root)["bob"]
    assert (row["part1"], row["total"]) == ("40.5", "76.5")
    assert row["flag"] == f"part1 by hand: 40.5 in place of {graded:g} (=the <b>server</b> was down, Kim)"
    page = (root / "results" / "bob" / "feedback.html").read_text()
    assert f"Part 1: 40.5 of 41, set by hand</strong> (the checks gave {graded:g})" in page
    assert "=the &lt;b&gt;server&lt;/b&gt; was down <cite>Kim</cite>" in page
    assert "<strong>76.5</strong>" in page
    assert "set by hand" not in (root / "results" / "ada" / "feedback.html").read_text()


def test_a_score_set_by_hand_survives_every_regrade_and_moves_nothing(root: Path) -> None:
    (root / "overrides.csv").write_text(HEADER + "bob,part1,40,late,Kim\n")
    grade(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    assert not grade(root).waits
    assert rows(root)["bob"]["part1"] == "40"
    assert result(root, "bob")["parts"]["part1"]["by_hand"]["graded"] == 41 - first_points(root)
    hand_in(root, "bob", "x = 3\n")
    grade(root, fresh=True)
    assert rows(root)["bob"]["part1"] == "40"
    assert "Part 1: 40 of 41, set by hand" in (root / "results" / "bob" / "feedback.html").read_text()


def test_a_score_set_by_hand_that_is_taken_back_gives_way_to_the_checks(root: Path) -> None:
    grade(root)
    old = counts(root)
    (root / "overrides.csv").write_text(HEADER + "bob,part1,40,late,Kim\n")
    grade(root)
    (root / "overrides.csv").unlink()
    grade(root)
    assert counts(root) == old
    assert len(history(root, "bob")) == 2


def test_a_regrade_waits_while_a_score_is_set_by_hand(root: Path) -> None:
    grade(root)
    change_suite(root)
    StandIn.lost = {("ada", "part1"): 1}
    assert grade(root).waits
    (root / "overrides.csv").write_text(HEADER + "ada,part2,1,late,Kim\n")
    still = grade(root)
    assert (still.waits, StandIn.asked) == (True, [])
    assert (rows(root)["ada"]["part1"], rows(root)["ada"]["part2"]) == ("41", "1")
    grade(root, yes=True)
    assert (StandIn.asked, rows(root)["ada"]["part2"]) == ([], "1")
    assert rows(root)["ada"]["part1"] != "41"


def test_a_score_set_by_hand_resolves_a_fault_of_ours(root: Path) -> None:
    StandIn.lost = {("bob", "part1"): None}
    grade(root)
    (root / "overrides.csv").write_text(HEADER + "bob,part1,30,graded by eye,Kim\n")
    done = grade(root)
    assert (done.exit_code, done.unresolved) == (1, {})
    row = rows(root)["bob"]
    assert (row["part1"], row["total"]) == ("30", "66")
    assert row["flag"] == "part1 by hand: 30 in place of nothing (graded by eye, Kim)"
    page = (root / "results" / "bob" / "feedback.html").read_text()
    assert "the checks gave no score" in page
    assert "will still change" not in page


def test_a_score_for_somebody_who_is_not_there_is_a_warning_with_the_closest_name(root: Path) -> None:
    (root / "overrides.csv").write_text(HEADER + "bbo,part1,3,late,Kim\n=zz(),part1,3,late,Kim\n")
    done = grade(root)
    assert done.warnings == [
        "overrides.csv, line 2: no submission is called 'bbo'. Did you mean 'bob'?",
        'overrides.csv, line 3: no submission is called "\'=zz()". No name here is close to it.',
    ]


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + (HEADER + "bob,part1,37.5,late,Kim\n").encode(),
        (HEADER.replace(",", ";") + "bob;part1;37,5;late;Kim\n").encode(),
        ("sep=;\r\n" + HEADER.strip().replace(",", ";") + "\r\nbob;1;37,5;late;Kim\r\n;;;;\r\n").encode(),
        HEADER.replace(",", "\t").encode() + b"bob\taverage\t37.5\tlate\tKim",
        b"Who, Part ,SCORE,submission,reason\n\nKim,part1_average.py, 37.50 ,bob,late,,\n",
    ],
    ids=["byte order mark", "semicolons", "sep", "tabs", "order"],
)
def test_overrides_are_read_as_spreadsheets_write_them(root: Path, text: bytes) -> None:
    (root / "overrides.csv").write_bytes(text)
    (found,) = read_overrides(root / "overrides.csv", open_course(root).parts)
    assert (found.submission, found.part, found.score, found.reason, found.who) == ("bob", "part1", 37.5, "late", "Kim")


@pytest.mark.parametrize("text", ["", "\n\n", HEADER, "\ufeff" + HEADER])
def test_no_overrides(root: Path, text: str) -> None:
    (root / "overrides.csv").write_text(text)
    assert read_overrides(root / "overrides.csv", open_course(root).parts) == []


@pytest.mark.parametrize(
    ("text", "needles"),
    [
        (HEADER + "bob,part7,3,late,Kim\n", ["line 2 ", "'part7'", "Did you mean"]),
        (HEADER + "bob,part1,42,late,Kim\n", ["line 2 gives 42 points; part1 has 41", "from 0 to 41"]),
        (HEADER + "\nbob,part1,-1,late,Kim\n", ["line 3 ", "'-1'", "12.5"]),
        (HEADER + "bob,part1,nan,late,Kim\n", ["'nan'"]),
        (HEADER + 'bob,part1,"3,5",late,Kim\n', ["'3,5'", "12.5"]),
        (HEADER + "bob,part1,,late,Kim\n", ["has no score"]),
        (HEADER + "bob,part1,3,,Kim\n", ["has no reason", "Say why"]),
        (HEADER + "bob,part1,3,late\n", ["has no who", "answers for it"]),
        (HEADER + ",part1,3,late,Kim\n", ["has no submission"]),
        (HEADER + "bob,part1,3,late, very late,Kim\n", ["has 6 cells", "into quotes"]),
        (HEADER + "bob,1,3,late,Kim\nbob,part1,4,late,Kim\n", ["line 3 sets part1 of bob again", "line 2"]),
        (HEADER + 'bob,part1,3,"late,Kim\n', ["line 2 is no row"]),
        ("submission,part,score,why,who\n", ["'why'", "Did you mean 'who'?", HEADER.strip()]),
        ("submission,part,score,who\n", ["no column 'reason'", HEADER.strip()]),
        ("submission,part,score,who,who,reason\n", ["'who' twice"]),
        ("bob,part1,3,late,Kim\n", ["'bob'", HEADER.strip()]),
        (HEADER + "J\xf6rg,part1,3,late,Kim\n", ["line 2 is not UTF-8", "CSV UTF-8"]),
        ("\x00" * 10, ["NUL"]),
    ],
)
def test_overrides_that_cannot_be_followed_stop_the_run_before_it_starts(
    root: Path, text: str, needles: list[str]
) -> None:
    (root / "overrides.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError) as caught:
        grade(root)
    assert "overrides.csv" in caught.value.message
    for needle in needles:
        assert needle in str(caught.value)
    assert not (root / "results" / "gradebook.csv").exists()
