"""The peers, each in a virtual environment of its own below the cache folder; made once, and by pip."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import ROOT

# What is compared. Both run student code in a Jupyter kernel, with the same torch and numpy as ours.
PEERS = {"nbgrader": ["nbgrader==0.9.6"], "otter": ["otter-grader[grading]==7.0.0"]}
_SAME = ("torch", "numpy")


def cache() -> Path:
    """Return the folder that the environments lie in."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "gpt-hw" / "peers"


def install(peer: str) -> Path:
    """Return the folder of a peer's programs; make its environment where it is not there yet.

    Raises:
        RuntimeError: pip could not install it.
    """
    folder = cache() / peer
    done = folder / "complete.txt"
    wanted = "\n".join([*PEERS[peer], *_pins()])
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        command = [str(folder / "bin" / "pip"), "install", "--quiet", *wanted.split("\n")]
        if subprocess.run(command, check=False).returncode:
            raise RuntimeError(f"pip could not install {peer}: {' '.join(command)}")
        done.write_text(wanted, encoding="utf-8")
    return folder / "bin"


def _pins() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.partition("==")[0] in _SAME]
