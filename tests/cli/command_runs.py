"""Type a command, in a process of its own or in this one, and keep what it said."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 120  # of one command on a busy machine; a command that hangs ends a test and not the day
ONE_LANE = ("--jobs", "1")  # each lane imports torch, which is most of the time of these tests
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "autograder", *map(str, words)]


def run(*words: object, cwd: Path, stdin: str = "", **environment: str) -> Done:
    """Run a command as a shell would, with its output piped; whatever it does, it speaks plain text."""
    done = subprocess.run(
        command(*words),
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        env={**os.environ, **environment},
    )
    assert not CONTROL.search(done.stdout + done.stderr)
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


Typed = Callable[..., Done]


def refused(done: Done, *needles: str) -> None:
    """Check that bad input was answered: exit 2, nothing on stdout, and on stderr what, where and the remedy."""
    assert done.code == 2, done
    assert done.out == ""
    lines = done.err.splitlines()
    assert lines[0].startswith("gpt-hw: ")
    assert len(lines) == 2, "one line says what happened and where, the next one what to do"
    assert lines[1].startswith("        ")
    assert lines[1].strip()
    for needle in needles:
        assert needle in done.err
