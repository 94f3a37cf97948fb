"""``gpt-hw doctor``: each thing that may be wrong with a machine is found, with a remedy."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder import corpora, machine
from autograder.cli import examine
from autograder.cli.examine import Examination
from autograder.labs import device
from autograder.records import Limits
from autograder.sandbox.probes import SECRETS
from autograder.sandbox.wall import RungReport, remedy_for

LIMITS = Limits(memory_mib=1024)


def problem_of(look: Callable[[Examination], None]) -> tuple[str, str]:
    found = Examination()
    look(found)
    (problem,) = found.problems
    assert all(problem)
    assert not found.is_well
    assert found.to_json()["problems"] == [{"problem": problem[0], "remedy": problem[1]}]
    return problem


def test_a_clock_that_is_behind_the_tools_own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.setattr(examine.time, "time", lambda: 1000.0)
    assert problem_of(examine._examine_clock)[0].startswith("the clock is behind: gpt-hw's own files are from 20")


@pytest.mark.parametrize(("name", "known"), [("Mars/Olympus", False), ("Europe", False), ("CET-1CEST", True)])
def test_a_time_zone_that_nobody_knows(monkeypatch: pytest.MonkeyPatch, name: str, known: bool) -> None:
    monkeypatch.setenv("TZ", name)
    found = Examination()
    examine._examine_clock(found)
    assert [problem for problem, _ in found.problems] == (
        [] if known else [f"TZ names a time zone that is not known here: {name}"]
    )
    assert "time zone" in found.facts["clock"]


def test_too_little_memory_and_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "free_memory_gib", lambda: 1.5)
    problem, remedy = problem_of(lambda found: examine._examine_room(found, tmp_path, LIMITS))
    assert problem == "1.5 GiB of memory are free; grading may need 2.0"
    assert "memory_mib" in remedy
    monkeypatch.setattr(machine, "free_memory_gib", lambda: None)
    monkeypatch.setattr(examine, "_LEAST_FREE_GIB", 1e9)
    found = Examination()
    examine._examine_room(found, tmp_path, LIMITS)
    assert found.facts["free memory"] == "not told by this system"
    assert [remedy for _, remedy in found.problems] == ["make room before you grade"] * 2


def test_memory_for_fewer_lanes_than_cores_is_advice_and_no_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "free_memory_gib", lambda: 6.5)
    monkeypatch.setattr(machine, "cores", lambda: 16)
    found = Examination()
    examine._examine_room(found, tmp_path, LIMITS)
    assert found.is_well
    assert found.facts["advice"].startswith("gpt-hw grade --jobs 3")


def test_memory_is_read_from_this_machine() -> None:
    free = machine.free_memory_gib()
    assert free is None or 0 < free < 100_000


def test_a_device_that_is_seen_and_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "accelerators", lambda: ("nowhere",))
    problem, remedy = problem_of(examine._examine_torch)
    assert problem.startswith("torch sees nowhere, but cannot calculate on it: ")
    assert "--device cpu" in remedy


def test_data_that_is_not_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPT_HW_DATA", str(tmp_path))
    assert str(tmp_path) in problem_of(examine._examine_data)[0]
    monkeypatch.delenv("GPT_HW_DATA")
    monkeypatch.setattr(corpora, "available", lambda: False)
    found = Examination()
    examine._examine_data(found)
    assert found.is_well  # it is fetched when it is needed
    assert found.facts["Tiny Shakespeare"].startswith("not here yet; it is fetched")


def test_nbgrader_that_is_old_or_whose_helper_is_out_of_reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(examine, "version", lambda name: "0.8.1")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = Examination()
    examine._examine_tools(found, grades=False)
    assert [problem for problem, _ in found.problems] == [
        "nbgrader 0.8.1 is too old",
        "nbgrader's commands will fail: they start alembic, which is not in PATH",
    ]


def test_what_only_instructors_need_is_missed_in_a_course_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "find_spec", lambda name: None)
    monkeypatch.setattr(examine.shutil, "which", lambda name: os.devnull)
    assert problem_of(lambda found: examine._examine_tools(found, grades=True))[1] == "pip install 'gpt-hw[instructor]'"
    found = Examination()
    examine._examine_tools(found, grades=False)
    assert found.is_well


def test_a_course_among_the_packages_of_python_has_a_remedy_of_its_own() -> None:
    reports = [RungReport(rung, {SECRETS: "read /usr/course/assignments", "no network": None}) for rung in (1, 2)]
    assert remedy_for(reports).startswith("move the course and the submissions out of the folders")
    assert "Landlock" in remedy_for([*reports, RungReport(2, problem="this machine has no Landlock or no seccomp")])
