"""``gpt-hw doctor``: what was tried on this machine, and what held; each problem with its remedy."""

import os
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder import __version__, machine

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.records import Limits
    from autograder.sandbox import RungReport

_OLDEST_PYTHON = (3, 11)
_LEAST_FREE_GIB = 1.0
_ONE_LANE_GIB = 1.0  # a grader, its fork server and what a worker takes at first, seen while all parts were graded
_FOR_INSTRUCTORS = ("jinja2", "jupytext", "nbformat")
_OLDEST_NBGRADER = (0, 9)


@dataclass
class Examination:
    """Facts, problems with their remedies, and what each rung of the ladder withstood."""

    facts: dict[str, str] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    reports: "list[RungReport]" = field(default_factory=list)
    rung: int = 0

    @property
    def is_well(self) -> bool:
        """True where nothing needs mending."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return the same as plain values."""
        rungs = [
            {"rung": one.rung, "holds": one.holds, "findings": one.findings, "problem": one.problem}
            for one in self.reports
        ]
        problems = [{"problem": problem, "remedy": remedy} for problem, remedy in self.problems]
        return {"version": 1, "facts": self.facts, "problems": problems, "rungs": rungs, "rung": self.rung}


def examine(folder: Path) -> Examination:
    """Look at this machine, and try every rung.

    Args:
        folder: Whose course, if it lies in one, decides the limits and is what the workers try to read.
    """
    from autograder.parts import course_root

    found = Examination()
    root = course_root(folder)
    limits, secrets = _rules(root, found)
    found.facts["gpt-hw"] = __version__
    _examine_python(found)
    _examine_torch(found)
    _examine_room(found, folder, limits)
    _examine_clock(found)
    _examine_data(found)
    _examine_tools(found, grades=root is not None)
    _examine_rungs(found, limits, secrets)
    return found


def _rules(root: Path | None, found: Examination) -> "tuple[Limits, list[Path]]":
    """Return the limits of the course, and what no worker may read."""
    from autograder.errors import GptHwError
    from autograder.pipeline import open_course
    from autograder.records import Limits

    if root is None:
        return Limits(), []
    secrets = [root / "assignments", root / "grading.yml"]
    try:
        config = open_course(root).config
    except GptHwError as error:
        found.problems.append((error.message, error.remedy))
        return Limits(), secrets
    return config.limits, [*secrets, *(path for path in (config.submissions, config.results) if path.exists())]


def _examine_python(found: Examination) -> None:
    found.facts["Python"] = f"{platform.python_version()} at {sys.executable}"
    found.facts["machine"] = f"{platform.system()} {platform.release()} {platform.machine()}, {machine.cores()} cores"
    user = f"{os.getuid()}" if hasattr(os, "getuid") else "?"
    found.facts["user"] = f"{user}{' (root)' if user == '0' else ''}"
    if sys.version_info < _OLDEST_PYTHON:
        found.problems.append(("this Python is too old", "install Python 3.11 or newer"))


def _examine_torch(found: Examination) -> None:
    try:
        import torch
    except Exception as error:
        found.problems.append((f"torch does not import: {type(error).__name__}: {error}", "pip install torch"))
        return
    found.facts["torch"] = torch.__version__
    from autograder.labs import device

    kinds = [device.CPU, *device.accelerators()]
    for kind in list(kinds):  # a device that is seen need not work: a driver may be too old for this torch
        try:
            product = (torch.ones(4, 4, device=kind) @ torch.ones(4, 4, device=kind)).sum().item()
            if product != 64.0:
                raise RuntimeError(f"the product of two matrices came out as {product}")
        except Exception as error:
            remedy = "train with --device cpu, or install a torch that was built for this machine (pytorch.org)"
            text = " ".join(str(error).split())[:200]
            found.problems.append((f"torch sees {kind}, but cannot calculate on it: {text}", remedy))
            kinds.remove(kind)
    found.facts["device"] = ", ".join(device.device_name(kind) for kind in kinds) or "none"


def _examine_room(found: Examination, folder: Path, limits: "Limits") -> None:
    for name, place in (("free disk", folder), ("free disk for temporary files", Path(tempfile.gettempdir()))):
        free = shutil.disk_usage(place).free / 2**30
        found.facts[name] = f"{free:.1f} GiB at {place}"
        if free < _LEAST_FREE_GIB:
            found.problems.append((f"less than 1 GiB of disk is free at {place}", "make room before you grade"))
    free_memory = machine.free_memory_gib()
    if free_memory is None:
        found.facts["free memory"] = "not told by this system"
        return
    lane = _ONE_LANE_GIB + limits.memory_mib / 1024
    fit = int(free_memory // lane)
    found.facts["free memory"] = f"{free_memory:.1f} GiB, room for {fit} submissions at once at their limit"
    if fit < 1:
        remedy = "close other programs, or lower memory_mib in grading.yml"
        found.problems.append((f"{free_memory:.1f} GiB of memory are free; grading may need {lane:.1f}", remedy))
    elif fit < machine.cores():
        found.facts["advice"] = f"gpt-hw grade --jobs {fit}, if students may fill their memory on purpose"


def _examine_clock(found: Examination) -> None:
    now = datetime.now().astimezone()
    found.facts["clock"] = f"{now:%Y-%m-%d %H:%M:%S}, time zone {now.tzname()} (UTC{now:%z})"
    newest = machine.newest_file()
    if time.time() < newest:
        remedy = "set the clock; due dates and the times of results depend on it"
        found.problems.append((f"the clock is behind: gpt-hw's own files are from {_day(newest)}", remedy))
    zone = os.environ.get("TZ", "").removeprefix(":")
    if zone and not machine.is_time_zone(zone):
        found.problems.append((f"TZ names a time zone that is not known here: {zone}", "unset TZ, or correct it"))


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d}"


def _examine_data(found: Examination) -> None:
    from autograder import corpora

    name = "Tiny Shakespeare"
    try:
        there = corpora.available()
    except Exception as error:  # a package that it needs is missing
        found.problems.append((f"{name} cannot be looked for: {error}", "pip install --upgrade gpt-hw"))
        return
    told = os.environ.get("GPT_HW_DATA")
    place = f"in GPT_HW_DATA ({told})" if told else "in the cache"
    found.facts[name] = f"found {place}" if there else "not here yet"
    if told and not there:
        remedy = "correct or unset GPT_HW_DATA; without it the text is fetched when it is first needed"
        found.problems.append((f"{name} is not in {told}, which GPT_HW_DATA names, as it should be", remedy))
    elif not there:
        found.facts[name] += "; it is fetched when it is first needed (1 MB), or put it where GPT_HW_DATA says"


def _examine_tools(found: Examination, *, grades: bool) -> None:
    missing = [name for name in _FOR_INSTRUCTORS if find_spec(name) is None]
    if grades and missing:
        found.problems.append((f"not installed: {', '.join(missing)}", "pip install 'gpt-hw[instructor]'"))
    try:
        installed = version("nbgrader")
    except PackageNotFoundError:
        found.facts["nbgrader"] = "not installed (only gpt-hw nbgrader needs it)"
        return
    found.facts["nbgrader"] = installed
    if tuple(int(piece) for piece in installed.split(".")[:2] if piece.isdigit()) < _OLDEST_NBGRADER:
        found.problems.append((f"nbgrader {installed} is too old", "pip install --upgrade nbgrader"))
    if shutil.which("alembic") is None:  # nbgrader starts it by its name
        where = Path(sys.executable).parent
        remedy = f"activate the environment, or put {where} into PATH"
        found.problems.append(("nbgrader's commands will fail: they start alembic, which is not in PATH", remedy))


def _examine_rungs(found: Examination, limits: "Limits", secrets: list[Path]) -> None:
    from autograder.errors import GptHwError
    from autograder.sandbox import UNSAFE, ForkServer, probe_rung

    try:
        with ForkServer(("torch",)) as server:
            server.wait_until_ready()
            found.reports = [probe_rung(server, rung, limits, secrets) for rung in (1, 2)]
    except GptHwError as error:
        found.problems.append((error.message, error.remedy))
    found.rung = next((report.rung for report in found.reports if report.holds), UNSAFE)
    if found.rung != UNSAFE:
        return
    from autograder.sandbox.wall import remedy_for

    found.problems.append(
        ("no sandbox holds here: gpt-hw test works, but do not grade other people's code", remedy_for(found.reports))
    )


def print_examination(console: "Console", found: Examination) -> None:
    """Print it for a person."""
    from rich.table import Table

    from autograder.sandbox import RUNG_NAMES

    facts = Table(box=None, pad_edge=False, show_header=False)
    for name, value in found.facts.items():
        facts.add_row(name, value)
    console.print(facts, markup=False)
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.add_column("what hostile code would try")
    for report in found.reports:
        table.add_column(f"rung {report.rung}")
    names = list(dict.fromkeys(name for report in found.reports for name in report.findings))
    for name in names:
        table.add_row(name, *(_cell(report, name) for report in found.reports))
    if names:
        console.print(table)
    for report in found.reports:
        if not report.holds:
            console.print(f"rung {report.rung} does not hold: {report.broken}", style="yellow", markup=False)
    console.print(f"\nsandbox: rung {found.rung}, {RUNG_NAMES[found.rung]}", style="bold", markup=False)
    for problem, remedy in found.problems:
        console.print(f"problem: {problem}", style="red", markup=False)
        console.print(f"         {remedy}", markup=False)
    if found.is_well:
        console.print("nothing needs mending", style="green", markup=False)


def _cell(report: "RungReport", name: str) -> str:
    if name not in report.findings:
        return "-"
    got = report.findings[name]
    return "held" if got is None else got
