"""``gpt-hw doctor``: what was tried on this machine, and what held."""

import os
import platform
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.sandbox import RungReport

_OLDEST_PYTHON = (3, 11)
_LEAST_FREE_GIB = 1.0


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
        folder: Whose course, if it lies in one, is what the workers try to read.
    """
    found = Examination()
    found.facts["gpt-hw"] = __version__
    found.facts["Python"] = f"{platform.python_version()} at {sys.executable}"
    found.facts["machine"] = f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores"
    user = f"{os.getuid()}" if hasattr(os, "getuid") else "?"
    found.facts["user"] = f"{user}{' (root)' if user == '0' else ''}"
    free = shutil.disk_usage(folder).free / 2**30
    found.facts["free disk"] = f"{free:.1f} GiB"
    if free < _LEAST_FREE_GIB:
        found.problems.append(("less than 1 GiB of disk is free here", "make room before you grade"))
    if sys.version_info < _OLDEST_PYTHON:
        found.problems.append(("this Python is too old", "install Python 3.11 or newer"))
    _examine_torch(found)
    _examine_rungs(found, folder)
    return found


def _examine_torch(found: Examination) -> None:
    try:
        import torch
    except Exception as error:
        found.problems.append((f"torch does not import: {error}", "pip install torch"))
        return
    found.facts["torch"] = torch.__version__
    found.facts["device"] = "cuda" if torch.cuda.is_available() else "cpu"


def _examine_rungs(found: Examination, folder: Path) -> None:
    from autograder.errors import GptHwError
    from autograder.parts import course_root
    from autograder.records import Limits
    from autograder.sandbox import UNSAFE, ForkServer, probe_rung

    root = course_root(folder)
    secrets = [root / "assignments", root / "grading.yml"] if root else []
    try:
        with ForkServer(("torch",)) as server:
            server.wait_until_ready()
            found.reports = [probe_rung(server, rung, Limits(), secrets) for rung in (1, 2)]
    except GptHwError as error:
        found.problems.append((error.message, error.remedy))
    found.rung = next((report.rung for report in found.reports if report.holds), UNSAFE)
    if found.rung == UNSAFE:
        remedy = "use Linux with Landlock and seccomp (kernel 5.13 or newer), or a container on it, for gpt-hw grade"
        found.problems.append(("no sandbox holds here: other people's code must not be graded", remedy))


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


def _cell(report: "RungReport", name: str) -> str:
    if name not in report.findings:
        return "-"
    got = report.findings[name]
    return "held" if got is None else got
