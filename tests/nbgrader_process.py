"""Start nbgrader's commands from a process that has imported it: the import is most of what a short command costs.

Each command still is a process of its own, with its words, folder, environment and end, at nbgrader's own entry point.
"""

import atexit
import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# What the commands import, ours among it; torch too, which the grader's side takes.
IMPORTED = (
    "nbgrader.apps.nbgraderapp",
    "nbgrader.api",
    "nbconvert.exporters",
    "torch",
    "autograder.nbgrader.collect",
    "autograder.nbgrader.exporting",
    "autograder.nbgrader.feedback",
    "autograder.nbgrader.grading",
    "autograder.nbgrader.release",
)


class Commands:
    """Runs nbgrader's commands; the process behind it starts with the first of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(
        self, words: Sequence[str], where: Path, environment: Mapping[str, str], limit_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run one command and wait for it.

        Raises:
            subprocess.TimeoutExpired: It took longer than the limit, and was killed.
        """
        process = self._process or self._start(environment)
        assert process.stdin is not None
        assert process.stdout is not None
        with tempfile.TemporaryDirectory(prefix="nbgrader-") as folder:
            told = [Path(folder) / name for name in ("stdout", "stderr")]
            order = {
                "words": list(words),
                "where": str(where),
                "environment": dict(environment),
                "told": list(map(str, told)),
            }
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            if not select.select([process.stdout], [], [], limit_s)[0]:
                self.close()
                raise subprocess.TimeoutExpired(["nbgrader", *words], limit_s)
            status = json.loads(process.stdout.readline())
            stdout, stderr = (path.read_text(encoding="utf-8", errors="replace") for path in told)
        return subprocess.CompletedProcess(["nbgrader", *words], status, stdout, stderr)

    def _start(self, environment: Mapping[str, str]) -> "subprocess.Popen[str]":
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(environment),
            start_new_session=True,
        )
        atexit.register(self.close)
        return self._process

    def close(self) -> None:
        """End the process and what it is at."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


def serve() -> bool:
    """Fork for each order that is read, and tell how it ended; in the fork return True."""
    for name in IMPORTED:
        importlib.import_module(name)
    for line in iter(sys.stdin.readline, ""):
        if (child := os.fork()) == 0:
            become(json.loads(line))
            return True
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return False


def become(order: Mapping[str, object]) -> None:
    """Take on what a process has from its start."""
    os.environ.clear()
    os.environ.update(order["environment"])  # type: ignore[arg-type]
    os.chdir(str(order["where"]))
    sys.argv = ["nbgrader", *order["words"]]  # type: ignore[misc]
    sys.path[0] = str(order["where"])
    for number, path in enumerate((os.devnull, *order["told"])):  # type: ignore[misc]
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(file, number)
        os.close(file)


if __name__ == "__main__" and serve():
    sys.exit(importlib.import_module("nbgrader.apps.nbgraderapp").main())
