"""A fault of ours is told as ours, in one sentence, and Ctrl-C waits where an interrupt would be swallowed."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_runs import Done, Typed

from autograder.cli import interrupts


@pytest.fixture
def buggy(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("the cat\nate it")

    monkeypatch.setattr("autograder.parts.public_parts", fail)
    monkeypatch.delenv("GPT_HW_DEBUG", raising=False)


def test_a_bug_of_ours_is_exit_3_and_one_sentence(buggy: None, typed: Typed, tmp_path: Path) -> None:
    done = typed("status", cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.splitlines() == [
        "gpt-hw: this is a bug of ours: ZeroDivisionError: the cat ate it",
        "        run it again with GPT_HW_DEBUG=1 and report what it prints",
    ]


def test_a_bug_of_ours_is_shown_whole_where_asked_for(
    buggy: None, typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPT_HW_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        typed("status", cwd=tmp_path)


def test_ctrl_c_where_nothing_is_kept_says_so(typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.parts.public_parts", stop)
    assert typed("status", cwd=tmp_path) == Done(130, "", "stopped\n")


def test_ctrl_c_waits_for_the_end_of_an_import_of_torch(tmp_path: Path) -> None:
    """Torch swallows an interrupt of its import in some places and aborts in others."""
    (tmp_path / "torch.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nheld = True\n")
    code = (
        "from autograder.cli.interrupts import patient_interrupts\n"
        "import sys, time\n"
        "patient_interrupts()\n"
        "try:\n    import torch\n    print(torch.held)\n    time.sleep(20)\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, env=environment)
    assert done.stdout.splitlines() == ["True", "stopped"]


def test_ctrl_c_waits_for_the_end_of_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs around a fork swallows exceptions."""
    waited = []
    monkeypatch.setattr(signal, "setitimer", lambda which, seconds: waited.append(seconds))
    space: dict[str, Any] = {"__name__": "autograder.sandbox.launch", "interrupt": interrupts._interrupt, "sys": sys}
    exec("def fork():\n    interrupt(2, sys._getframe())\n", space)
    space["fork"]()
    assert len(waited) == 1
    with pytest.raises(KeyboardInterrupt):
        interrupts._interrupt(signal.SIGINT, sys._getframe())
