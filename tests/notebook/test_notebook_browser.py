"""A student's evening in JupyterLab, in a real browser: write, run all cells, read what the check cells say."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from notebook_cells import ATTENTION, CHECK, make_workspace, solved

pytest.importorskip("ipykernel", reason="needs the extra 'notebook'")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = Path(__file__).with_name("drive_jupyterlab.py")
INSTALLED = ("jupyterlab>=4.2", "playwright>=1.40")
WAIT_S = 600

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with JupyterLab: that of GPT_HW_JUPYTER, or a new one."""
    given = os.environ.get("GPT_HW_JUPYTER")
    folder = Path(given) if given else tmp_path_factory.mktemp("jupyter")
    python = folder / "bin" / "python"
    if not given:
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *INSTALLED], check=True, timeout=WAIT_S)
    return python


def drive(jupyter: Path, folder: Path, steps: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Take steps in the notebook of part 3; what was shown when, by cell."""
    own = folder / ".jupyter"
    kernel = {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "language": "python"}
    files = {
        "kernels/python3/kernel.json": {**kernel, "display_name": "Python 3"},
        "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false"},
    }
    for name, content in files.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(json.dumps(content), encoding="utf-8")
    places = {"JUPYTER_PATH": own, "JUPYTER_CONFIG_DIR": own, "JUPYTER_DATA_DIR": own, "HOME": folder}
    assert CHROMIUM is not None
    ran = subprocess.run(
        [jupyter, DRIVER, folder, "part3_attention.ipynb", CHROMIUM],
        input=json.dumps(steps),
        capture_output=True,
        text=True,
        env={**os.environ, **{name: str(place) for name, place in places.items()}},
        timeout=WAIT_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr + (folder / "jupyterlab.log").read_text(encoding="utf-8")[-2000:]
    shown: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return shown


def test_a_student_writes_runs_and_reads_in_jupyterlab(jupyter: Path, tmp_path: Path) -> None:
    cells = {cell["source"].splitlines()[-1].strip(): cell["id"] for cell in solved("part3_attention")}
    written = {cell["id"]: cell["source"] for cell in solved("part3_attention") if "nbgrader" in cell["metadata"]}
    attention = next(cell for cell, source in written.items() if source == ATTENTION)
    check, whole = cells[CHECK], cells['check("part3")']
    wrong = ATTENTION.replace("scaled_scores(q, k)", "q @ k.mT / k.shape[-1]")
    folder = tmp_path / "workspace"
    folder.mkdir()
    pictures = Path(os.environ.get("GPT_HW_PICTURES", tmp_path))  # docs/notebook.png is one of them
    shown = drive(
        jupyter,
        make_workspace(folder),
        [
            {"run": "all"},
            {"show": "template"},
            {"write": written},
            {"run": "all"},
            {"show": "solved"},
            {"picture": str(pictures / "notebook-solved.png"), "cells": [whole, whole]},
            {"write": {attention: wrong}},
            {"run": [check]},
            {"show": "edited"},
            {"run": [attention, check]},
            {"show": "wrong"},
            {"picture": str(pictures / "notebook.png"), "cells": [check, check]},
            {"theme": "JupyterLab Dark"},
            {"picture": str(pictures / "notebook-dark.png"), "cells": [check, check]},
            {"delete": attention},
            {"run": [check]},
            {"show": "deleted"},
        ],
    )
    assert not shown["template"][check]["errors"]
    assert shown["solved"][check]["text"].startswith("5 of 5 public checks pass")
    assert shown["solved"][whole]["text"].startswith("10 of 10 public checks pass")
    assert not [cell for cell, under in shown["solved"].items() if under["errors"]]
    assert shown["edited"][check]["text"].startswith("5 of 5"), "an edit that was not run does not count"
    assert shown["wrong"][check]["text"].startswith("2 of 5")
    assert "What this looks like: These are exactly the numbers you get when" in shown["wrong"][check]["text"]
    assert "No cell that was run defines attention" in shown["deleted"][check]["text"]
