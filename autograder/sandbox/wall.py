"""Which rung of the ladder holds on this machine: decided by what probes could do, never by what a call returned."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import SandboxError
from autograder.records import Limits
from autograder.sandbox import landlock, seccomp, syscalls
from autograder.sandbox.client import ForkServer
from autograder.sandbox.probes import SECRETS

UNSAFE = 3
RUNG_NAMES = {
    1: "namespaces, Landlock, seccomp, limits",
    2: "Landlock, seccomp, limits (no namespaces here)",
    UNSAFE: "no wall at all: limits on memory and time only",
}
_REMEDY = (
    "grade on Linux with Landlock and seccomp (kernel 5.13 or newer, or a container on one); "
    "--unsafe-no-sandbox grades without a wall, and marks every record so"
)


@dataclass(frozen=True, slots=True)
class RungReport:
    """What was tried on one rung.

    Attributes:
        rung: 1 or 2.
        findings: Probe -> None where the wall held, else what got through.
        problem: Why no worker of this rung could be made; empty where one was.
    """

    rung: int
    findings: dict[str, str | None] = field(default_factory=dict)
    problem: str = ""

    @property
    def holds(self) -> bool:
        """True where every probe was stopped."""
        return not self.problem and bool(self.findings) and not any(self.findings.values())

    @property
    def broken(self) -> str:
        """What did not hold, in words."""
        return self.problem or "; ".join(f"{name}: {what}" for name, what in self.findings.items() if what)


def probe_rung(server: ForkServer, rung: int, limits: Limits, secrets: Sequence[Path]) -> RungReport:
    """Shut a worker in and let it try to break out.

    Args:
        server: A fork server.
        rung: 1 or 2.
        limits: Those of the course.
        secrets: Files and folders that no worker may read.

    Returns:
        What was found.
    """
    if rung < UNSAFE and not (syscalls.IS_LINUX and seccomp.supported() and landlock.abi() >= 1):
        return RungReport(rung, problem="this machine has no Landlock or no seccomp")
    with tempfile.TemporaryDirectory(prefix="gpt-hw-canary-") as folder:
        os.chmod(folder, 0o777)  # open to everyone, so that only the wall can keep it shut
        canary = Path(folder) / "canary.txt"
        canary.write_text("not for workers")
        canary.chmod(0o666)
        facts: dict[str, Any] = {
            "secrets": [str(canary), *(str(path.resolve()) for path in secrets)],
            "writable": [folder],
            "memory_mib": limits.memory_mib,
            "open_files": limits.open_files,
            "file_mib": limits.file_mib,
        }
        try:
            return RungReport(rung, server.probe(rung, limits, facts))
        except SandboxError as error:
            return RungReport(rung, problem=error.message)


def choose_rung(
    server: ForkServer, limits: Limits, secrets: Sequence[Path], *, unsafe: bool = False, first: int = 1
) -> tuple[int, list[RungReport]]:
    """Return the highest rung that holds, and what was found on the way.

    Args:
        server: A fork server.
        limits: Those of the course.
        secrets: Files and folders that no worker may read.
        unsafe: Accept no wall where none holds.
        first: Begin further down the ladder.

    Raises:
        SandboxError: Nothing holds, and that was not accepted.
    """
    reports = []
    for rung in range(first, UNSAFE):
        report = probe_rung(server, rung, limits, secrets)
        reports.append(report)
        if report.holds:
            return rung, reports
    if unsafe:
        return UNSAFE, reports
    found = " | ".join(f"rung {report.rung}: {report.broken}" for report in reports)
    raise SandboxError(f"no sandbox holds on this machine ({found})", remedy_for(reports))


def remedy_for(reports: Sequence[RungReport]) -> str:
    """Say what to do where no rung holds."""
    only = {name for report in reports for name, what in report.findings.items() if what}
    if only == {SECRETS} and not any(report.problem for report in reports):
        # Everything that Python itself is installed in can be read by every worker.
        return "move the course and the submissions out of the folders that Python and its packages lie in"
    return _REMEDY
