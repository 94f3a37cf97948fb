"""Grading again: nothing that counts is replaced before somebody has seen whose scores move, and nothing is lost.

The crew is a stand-in that gives the scores which a test wants, so a class is graded in milliseconds; everything around
it is real.
"""

import csv
import json
import multiprocessing
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from autograder import scoring
from autograder.errors import ConfigError, UsageError
from autograder.gradebook import results as results_module
from autograder.gradebook.overrides import read_overrides
from autograder.pipeline import Summary, open_course
from autograder.pipeline import grade as grade_submissions
from autograder.pipeline.course import Course
from autograder.pipeline.crew import Graded, Job, written_down
from autograder.pipeline.lanes import Lanes
from autograder.pipeline.line import result_of
from autograder.records import CheckResult, Outcome

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("part1_average", "part2_scores")
CONFIG = "version: 1\ntitle: Two parts\nseed: 7\nsubmissions: submissions\nresults: results\n"
HEADER = "submission,part,score,reason,who\n"


class StandIn:
    """A crew of which a test says what it finds: how many points each part of each submission loses."""

    lost: dict[tuple[str, str], float | None] = {}  # noqa: RUF012  # each test sets its own
    asked: list[str] = []  # noqa: RUF012
    stop_after: int | None = None
    rung: int = 1
    started: list[int] = []  # noqa: RUF012  # for how many jobs

    def __init__(self, course: Course, *_: object, **__: object) -> None:
        self.course = course

    def start(self, jobs: int) -> int:
        self.started.append(jobs)
        return self.rung

    def close(self, **_: object) -> None:
        pass

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Graded]]:
        for number, job in enumerate(jobs):
            if number == type(self).stop_after:
                raise KeyboardInterrupt
            self.asked.append(job.name)
            submission = self.course.read(job.path, job.name)
            scores = []
            for name in job.parts:
                part = self.course.parts[name]
                first, *rest = part.checks
                loses = self.lost.get((job.name, name), 0)
                outcome = Outcome.ERROR if loses is None else Outcome.FAILED if loses else Outcome.PASSED
                found = [CheckResult(first, outcome), *(CheckResult(check, Outcome.PASSED) for check in rest)]
                scores.append(scoring.score_part(part, found, self.course.config.weight(name)))
            yield number, written_down(result_of(self.course, submission, scores, self.rung), self.course, 0.1 * number)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys.modules["autograder.pipeline.grade"], "Crew", StandIn)
    monkeypatch.setattr(StandIn, "lost", {})
    monkeypatch.setattr(StandIn, "asked", [])
    monkeypatch.setattr(StandIn, "stop_after", None)
    monkeypatch.setattr(StandIn, "rung", 1)
    monkeypatch.setattr(StandIn, "started", [])
    course = tmp_path / "course"
    for module in PARTS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "assignments" / module, course / "assignments" / module, ignore=ignored)
    (course / "grading.yml").write_text(CONFIG)
    for name in ("ada", "bob", "cyd"):
        hand_in(course, name, "x = 1\n")
    return course


def hand_in(root: Path, name: str, text: str) -> None:
    (root / "submissions" / name).mkdir(parents=True, exist_ok=True)
    for module in PARTS:
        (root / "submissions" / name / f"{module}.py").write_text(text)


def change_suite(root: Path, text: str = "# changed\n") -> None:
    with (root / "assignments" / "part1_average" / "test_hidden.py").open("a") as stream:
        stream.write(text)


def grade(
    root: Path, *, yes: bool = False, parts: str | None = None, fresh: bool = False, first_rung: int = 1, jobs: int = 1
) -> Summary:
    StandIn.asked.clear()
    StandIn.started.clear()
    course = open_course(root)
    return grade_submissions(
        course,
        root / "submissions",
        root / "results",
        parts=course.select(parts),
        jobs=jobs,
        fresh=fresh,
        first_rung=first_rung,
        agree=lambda moves: yes,
    )


def result(root: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((root / "results" / name / "result.json").read_text()))


def rows(root: Path) -> dict[str, dict[str, str]]:
    with (root / "results" / "gradebook.csv").open(newline="") as stream:
        return {row["submission"]: row for row in csv.DictReader(stream)}


def counts(root: Path) -> dict[str, bytes]:
    """Read what counts: result, page and gradebook."""
    names = ("result.json", "feedback.html", "gradebook.csv")
    found = (path for path in (root / "results").rglob("*") if path.name in names)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def history(root: Path, name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((root / "results" / name / "history").glob("*.json"))]


def first_points(root: Path, part: str = "part1") -> float:
    return open_course(root).parts[part].checks[0].points


# -- who has to say yes ------------------------------------------------------------------------------------------------


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


# -- stopped, full, killed ---------------------------------------------------------------------------------------------


def test_ctrl_c_in_a_regrade_keeps_what_counts_and_goes_on_from_there(root: Path) -> None:
    grade(root)
    old = counts(root)
    change_suite(root)
    StandIn.lost = {("ada", "part1"): 1}
    StandIn.stop_after = 2
    stopped = grade(root)
    assert (stopped.exit_code, len(stopped.results)) == (130, 3)
    assert counts(root) == old
    StandIn.stop_after = None
    assert grade(root).waits
    assert StandIn.asked == ["cyd"]


class _Killed(BaseException):
    """Stands for a kill: nothing may catch it."""


@pytest.mark.parametrize("failure", [_Killed(), OSError(28, "No space left on device")], ids=["killed", "disk full"])
def test_a_run_that_ends_at_any_write_loses_nothing_and_the_next_one_ends_the_same(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    """A regrade with a yes, somebody new and something new, stopped before and after each file that it writes."""
    StandIn.lost = {("ada", "part1"): 1}
    grade(root)
    change_suite(root)
    StandIn.lost = {("bob", "part1"): 1}
    hand_in(root, "dan", "x = 1\n")
    (root / "overrides.csv").write_text(HEADER + "cyd,part2,5,late,Kim\n")
    shutil.copytree(root, tmp_path / "straight")
    grade(tmp_path / "straight", yes=True)
    wanted = scores(tmp_path / "straight")
    writes = Writes(monkeypatch)
    moments = product(range(40), (False, True) if isinstance(failure, _Killed) else (False,))
    for number, after in moments:
        course = shutil.copytree(root, tmp_path / f"stopped-{number}-{after}")
        writes.fail(number, failure, after=after)
        try:
            grade(course, yes=True)
        except (_Killed, UsageError):
            pass
        else:
            break
        writes.fail(None, failure)
        for path in (course / "results").rglob("*.json"):
            json.loads(path.read_text())
        assert everything_that_counted(course) >= everything_that_counted(root)
        grade(course, yes=True)
        assert scores(course) == wanted
        assert not list((course / "results").rglob("*.tmp"))
        assert not list((course / "results").rglob("pending*"))
    else:
        pytest.fail("the run never came to its end")
    assert number > 10


class Writes:
    """Lets the so-and-so-many-th write of a file end a run, before or after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._write = results_module.write_whole
        self._count = 0
        self._at: int | None = None
        self._failure: BaseException = RuntimeError()
        self._after = False
        monkeypatch.setattr(results_module, "write_whole", self._counted)

    def fail(self, at: int | None, failure: BaseException, *, after: bool = False) -> None:
        self._count, self._at, self._failure, self._after = 0, at, failure, after

    def _counted(self, path: Path, content: bytes, *, durable: bool = False) -> None:
        here = self._count == self._at
        self._count += 1
        if here and not self._after:
            if isinstance(self._failure, _Killed):
                path.with_name(".0123456789abcdef.tmp").write_bytes(content[:100])
            raise self._failure
        self._write(path, content, durable=durable)
        if here:
            raise self._failure


def scores(root: Path) -> dict[str, Any]:
    """Read everything that a run decides: results without times, pages, history and gradebook."""
    found: dict[str, Any] = {"gradebook": (root / "results" / "gradebook.csv").read_bytes()}
    for path in sorted((root / "results").rglob("*.json")):
        found[str(path.relative_to(root))] = path.read_bytes()
    for path in sorted((root / "results").rglob("*.html")):
        found[str(path.relative_to(root))] = path.read_bytes()
    return found


def everything_that_counted(root: Path) -> set[bytes]:
    """Read each result that is there, the old ones included, by what it says."""
    return {path.read_bytes() for path in (root / "results").rglob("*.json") if path.name != "manifest.json"}


# -- scores set by hand ------------------------------------------------------------------------------------------------


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


def test_the_slowest_submission_is_named(root: Path) -> None:
    summary = grade(root)
    assert summary.slowest is not None
    assert summary.slowest[0] == "cyd"
