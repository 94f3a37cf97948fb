"""Golden submissions: graded as an instructor grades, and compared exactly.

Every run is the real command in a process of its own, on a copy of the course (golden_course.py).
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import as_user
import pytest
from golden_course import (
    CANARY,
    COMBINED,
    EVERYTHING,
    EXAMPLE,
    EXAMPLES,
    GOLDEN,
    HOSTILE,
    IDENTITIES,
    NEIGHBOURS,
    ROOT,
    RUNGS,
    Expected,
    copy_course,
    examples_on,
    hostile_on,
    stage,
)

RUN_S = 900  # a run that takes so long hangs
AT_ONCE = 1  # a run uses every core by itself
PR_SET_CHILD_SUBREAPER = 36

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="instructors grade on Linux: the wall is made of its parts"),
]


@dataclass(frozen=True)
class Run:
    """One run of ``gpt-hw grade``: what it printed, how it ended, what it left behind."""

    out: Path
    status: int
    printed: str
    seconds: float
    leftover: tuple[str, ...]

    def result(self, name: str) -> dict[str, Any]:
        return dict(json.loads((self.out / name / "result.json").read_text(encoding="utf-8")))

    def page(self, name: str) -> str:
        return (self.out / name / "feedback.html").read_text(encoding="utf-8")

    def refused(self, name: str) -> list[str]:
        manifest = json.loads((self.out / "manifest.json").read_text(encoding="utf-8"))
        (entry,) = [each for each in manifest["submissions"] if each["name"] == name]
        return [each["path"] for each in entry["refused"]]


# -- the runs ------------------------------------------------------------------------------------------------------


def grade(course: Path, submissions: Path, out: Path, rung: int, identity: str) -> Run:
    arguments = [sys.executable, "-m", "autograder", "grade", str(submissions), "--out", str(out), "--rung", str(rung)]
    base = out.parents[1]
    # C is the locale in which careless programs stumble over names.
    environment = {**os.environ, "LC_ALL": "C", "XDG_CACHE_HOME": str(base / "cache")}
    out.parent.mkdir(parents=True)
    if identity != IDENTITIES[0]:
        arguments = as_user.command(arguments)
        environment = dict(as_user.environment(base / "home"))
        _hand_on_replays(base)
        shutil.chown(out.parent, as_user.USER, as_user.USER)
    started = time.monotonic()
    nothing = subprocess.DEVNULL
    process = subprocess.run(
        arguments, cwd=course, env=environment, stdin=nothing, capture_output=True, timeout=RUN_S, check=False
    )
    seconds = time.monotonic() - started
    printed = (process.stdout + process.stderr).decode("utf-8", "replace")
    return Run(out, process.returncode, printed, seconds, tuple(_processes_about(str(out.parent))))


def _hand_on_replays(base: Path) -> None:
    """Give the ordinary user what the first run has learned for its diagnoses, which takes as long as all the rest."""
    folder = shutil.copytree(base / "cache", base / "home" / ".cache", dirs_exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, as_user.USER, as_user.USER)


def _processes_about(text: str) -> Iterator[str]:
    """Find processes of a run that outlive it; one whose parent ends becomes a child of this process."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:  # it has ended
            continue
        if text in command or (parent == os.getpid() and "autograder.sandbox.fork_server" in command):
            yield f"{folder.name}: {command}"


@pytest.fixture(scope="module")
def started() -> Iterator[Callable[..., Run]]:
    """Start every run, one after the other, and give the one that is asked for."""
    # Not pytest's temporary folder: that is closed to other users, and other runs of pytest close it again.
    with tempfile.TemporaryDirectory(prefix="gpt-hw-golden-") as folder:
        Path(folder).chmod(0o755)
        yield from _runs(Path(folder))


def _runs(base: Path) -> Iterator[Callable[..., Run]]:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    copy_course(base / "course")
    wanted = list(dict.fromkeys([*((rung, IDENTITIES[0]) for rung in RUNGS), *COMBINED]))
    runs: dict[tuple[int, str], Future[Run]] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number, (rung, identity) in enumerate(wanted):
            submissions, out = base / f"submissions-{number}", base / f"run-{number}" / "results"
            stage(submissions, rung, identity)
            runs[rung, identity] = pool.submit(grade, base / "course", submissions, out, rung, identity)
        yield lambda rung, identity=IDENTITIES[0]: runs[rung, identity].result()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


# -- what must hold of every run -----------------------------------------------------------------------------------


def assert_as_expected(run: Run, name: str, expected: Expected) -> None:
    result = run.result(name)
    checks = [check for part in result["parts"].values() for check in part["checks"]]
    for part, graded in result["parts"].items():
        found = [graded["score"], graded["outcome"]]
        assert found == list(expected.get(part, [0, "failed"])), (name, part, [c for c in checks if c["score"] is None])
    for text in expected.get("says", []):
        assert any(text in check["message"] for check in checks), (name, text, {c["message"] for c in checks})
    if "mistakes" in expected or expected is EXAMPLE.get(name):
        assert sorted({c["mistake"] for c in checks if c["mistake"]}) == sorted(expected.get("mistakes", [])), name
    flags = [flag for flag in result["flags"] if not flag.endswith(" missing")]
    missing = {flag.partition(" ")[0] for flag in result["flags"] if flag.endswith(" missing")}
    assert missing.isdisjoint(expected), name
    wanted = expected.get("flags", [])
    assert len(flags) == len(wanted), (name, flags)
    assert all(any(piece in flag for flag in flags) for piece in wanted), (name, flags)
    assert set(expected.get("refused", [])) <= set(run.refused(name)), (name, run.refused(name))


def assert_ended_well(run: Run) -> None:
    """Nothing crashed, nothing hung, nothing was left behind, and no score is missing through our fault."""
    assert run.status == 1, run.printed[-2000:]  # a check did not pass, and nothing worse
    assert "Traceback" not in run.printed
    assert not run.leftover, run.leftover


def assert_nothing_hidden_is_shown(run: Run, names: Iterable[str]) -> None:
    assert CANARY not in run.printed
    recorded = 0
    for name in names:
        checks = [check for part in run.result(name)["parts"].values() for check in part["checks"]]
        public = [check for check in checks if check["id"] not in HIDDEN_IDS]
        assert public and len(public) < len(checks)
        assert CANARY not in json.dumps([public, run.result(name)["flags"]])
        assert CANARY not in run.page(name), name
        recorded += sum(CANARY in check["message"] for check in checks)
    assert recorded, "no hidden message has the canary: the searches above prove nothing"


HIDDEN_IDS = frozenset(
    line.removeprefix("def test_").partition("(")[0]
    for path in sorted((ROOT / "assignments").glob("*/test_hidden.py"))
    for line in path.read_text(encoding="utf-8").splitlines()
    if line.startswith("def test_")
)


def golden_names(rung: int) -> dict[str, str]:
    """Map the name of each result to its situation."""
    hostile = hostile_on(rung, IDENTITIES[0])
    return {given: name for name, each in hostile.items() for given in each.get("names", {name: name}).values()}


# -- the tests -----------------------------------------------------------------------------------------------------


def test_every_folder_is_expected_and_every_expectation_has_a_folder() -> None:
    entries = {path.name.removesuffix(".zip") for path in (EXAMPLES / "submissions").iterdir()}
    assert entries == set(EXAMPLE)
    assert {path.name for path in GOLDEN.iterdir() if path.is_dir() and path.name[0] not in "._"} == set(HOSTILE)


def test_no_attack_on_wrong_code_may_earn_more_than_the_wrong_code() -> None:
    for name, expected in HOSTILE.items():
        for path in (GOLDEN / name).glob("part*.py"):
            if b"# INSERT wrong" in path.read_bytes() and "flags" not in expected:
                part = path.name.partition("_")[0]
                assert expected[part][0] <= HOSTILE["plain-wrong"][part][0], name


@pytest.mark.parametrize(("rung", "identity"), COMBINED)
def test_examples_get_exactly_what_is_expected(started: Callable[..., Run], rung: int, identity: str) -> None:
    run, examples = started(rung, identity), examples_on(rung, identity)
    assert_ended_well(run)
    for name, expected in examples.items():
        assert_as_expected(run, name, expected)
        assert run.result(name)["sandbox"] in (rung, 2)  # a machine without namespaces begins at 2
    assert_nothing_hidden_is_shown(run, examples)


@pytest.mark.parametrize("rung", RUNGS)
def test_hostile_submissions_get_exactly_what_is_expected(started: Callable[..., Run], rung: int) -> None:
    run = started(rung)
    assert_ended_well(run)
    wrong = []
    for name, situation in golden_names(rung).items():
        try:
            assert_as_expected(run, name, HOSTILE[situation])
        except AssertionError as error:  # all of them at once: a run takes minutes
            wrong.append(str(error).splitlines()[0])
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("rung", RUNGS)
def test_neighbours_of_hostile_submissions_keep_full_marks(started: Callable[..., Run], rung: int) -> None:
    run = started(rung)
    for neighbour in NEIGHBOURS:
        assert_as_expected(run, neighbour, EXAMPLE["student-002"])


@pytest.mark.parametrize("rung", RUNGS)
def test_hostile_submissions_are_shown_nothing_hidden(started: Callable[..., Run], rung: int) -> None:
    run = started(rung)
    assert_nothing_hidden_is_shown(run, golden_names(rung))
    for name in golden_names(rung):
        page = run.page(name)
        assert "<script" not in page.lower(), name
        assert "\x1b" not in page and "\u202e" not in page, name
        assert "onerror=alert" not in page or "&lt;img" in page, name
    assert "\x1b[2J" not in run.printed and "\u202e" not in run.printed


@pytest.mark.parametrize("rung", RUNGS if EVERYTHING else RUNGS[:1])
def test_constants_pass_no_check_of_attention(started: Callable[..., Run], rung: int) -> None:
    from autograder.parts import load_parts

    part = load_parts(ROOT / "assignments")["part3"]
    about = {check.id for check in part.checks if check.exercise == "attention"}
    run = started(rung)
    for name in ("attention-zeros", "attention-mean-of-values", "attention-first-row", "attention-nothing"):
        checks = run.result(name)["parts"]["part3"]["checks"]
        assert not [check["id"] for check in checks if check["id"] in about and check["score"]], name


def test_at_least_one_identity_graded(started: Callable[..., Run], capsys: pytest.CaptureFixture[str]) -> None:
    runs = [(rung, identity, started(rung, identity)) for rung, identity in COMBINED]
    lines = [
        f"asked for rung {rung}, as {identity}: graded on rung {run.result('student-001')['sandbox']}"
        f" in {run.seconds:.0f} s"
        for rung, identity, run in runs
    ]
    assert lines
    with capsys.disabled():
        print("\n" + "\n".join(lines))
