"""The process that checks: reads a line of JSON with a student's text, writes a line with what came of it."""

import json
import os
import shutil
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from autograder.errors import GptHwError
from autograder.parts import public_parts
from autograder.pipeline import Practice
from autograder.records import CheckResult
from autograder.workspace import find_source


def main() -> None:
    """Answer until the kernel goes away."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a suite prints is no answer
    with (
        suppress(KeyboardInterrupt, BrokenPipeError),
        tempfile.TemporaryDirectory(prefix="gpt-hw-") as folder,
        closing(Desk(Path(folder))) as desk,
    ):
        for line in sys.stdin:
            answers.write(json.dumps(desk.answer(json.loads(line))) + "\n")
            answers.flush()


class Desk:
    """Puts what a kernel sends into a folder of its own, and runs the line of ``gpt-hw test`` on that.

    Args:
        folder: Empty, and nobody else's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = public_parts()
        with_torch = [part for part in self._known.values() if "torch" in part.libraries]
        for part in with_torch:  # a server is started for the parts that are there
            (folder / f"{part.module}.py").touch()
        self._practice = Practice(folder, with_torch)
        import autograder.suite  # noqa: F401  # while nobody waits

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the checks that a request names.

        Args:
            request: ``part``, ``checks`` (ids), ``text`` (the student's module), ``folder`` (the student's, with the
                earlier parts).

        Returns:
            ``results``, or the ``message`` and ``remedy`` of what stood in the way.
        """
        try:
            return {"results": self._run(request)}
        except GptHwError as error:
            return {"message": error.message, "remedy": error.remedy}
        except Exception as error:  # ours, by definition: what student code does is a result
            remedy = "This is a mistake of the course's tool, not yours; gpt-hw doctor may know more."
            return {"message": f"the checks could not be run: {type(error).__name__}: {error}", "remedy": remedy}

    def _run(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        part = self._known[request["part"]]
        for old in self._folder.iterdir():
            old.unlink()
        (self._folder / f"{part.module}.py").write_text(request["text"], encoding="utf-8")
        for earlier in self._known.values():
            source = find_source(Path(request["folder"]), earlier) if earlier.module in part.needs else None
            if source is not None:
                shutil.copyfile(source, self._folder / source.name)
        asked = replace(part, checks=tuple(check for check in part.checks if check.id in request["checks"]))
        (run,) = self._practice.run([asked])
        if run.problem:
            raise GptHwError(run.problem)
        return [_told(result) for result in run.results]

    def close(self) -> None:
        """End the workers."""
        self._practice.close()


def _told(result: CheckResult) -> dict[str, Any]:
    told = {field.name: getattr(result, field.name) for field in fields(result) if field.name != "check"}
    return {**told, "id": result.check.id}
