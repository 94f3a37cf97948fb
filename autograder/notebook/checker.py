"""The kernel's end of the process that checks: start it, ask it, end it.

It is a process of its own, so that neither what a student did to torch in the kernel (a default dtype, a patched
function) nor the kernel's threads, with which a process cannot be forked, have a part in the result.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from autograder.errors import GptHwError, SandboxError
from autograder.records import CheckResult, Outcome, Part

_BOOT = "import sys; sys.path.append(sys.argv[1]); from autograder.notebook.serve import main; main()"
_END_S = 5.0
_SAID_BYTES = 4000


class Checker:
    """Runs public checks on a text, again and again; the process is started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._said: IO[bytes] | None = None
        atexit.register(self.close)

    def start(self) -> None:
        """Start the process, and let it get ready on its own."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        package_folder = str(Path(__file__).resolve().parents[2])
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        # -P: the folder that the kernel works in does not decide what the process imports. A session of its own: the
        # kernel's interrupt is answered here.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT, package_folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            encoding="utf-8",
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,
        )

    def run(self, part: Part, text: str, folder: Path) -> list[CheckResult]:
        """Run the checks of a part.

        Args:
            part: With the checks that are wanted.
            text: The student's module.
            folder: Where the earlier parts are.

        Returns:
            One result a check.

        Raises:
            GptHwError: They could not be run.
        """
        self.start()
        wanted = [check.id for check in part.checks]
        answer = self._ask({"part": part.name, "checks": wanted, "text": text, "folder": str(folder)})
        if "message" in answer:
            raise GptHwError(answer["message"], answer["remedy"])
        return _results(part, answer["results"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        line = ""
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
        except KeyboardInterrupt:
            self.close()  # whatever it still would say is the answer to a question that was taken back
            raise
        if not line.endswith("\n"):
            last = self._last_words()
            self.close()
            raise SandboxError(f"the process that runs the checks ended: {last}", "run the cell again")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        assert self._process is not None and self._said is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _SAID_BYTES))
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self._process.returncode}"

    def close(self) -> None:
        """End the process and its workers."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()
            process.send_signal(signal.SIGINT)  # in the middle of a run as well, it leaves no files behind
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._said is not None:
            self._said.close()
            self._said = None


def _results(part: Part, told: Sequence[dict[str, Any]]) -> list[CheckResult]:
    checks = {check.id: check for check in part.checks}
    results = []
    for fields in told:
        check = checks[fields.pop("id")]
        results.append(replace(CheckResult(check, Outcome(fields.pop("outcome"))), **fields))
    return results
