"""A student's folder with notebooks, and the cells of a solved one."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

# comes with jupyter_client

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "student_template"


def make_workspace(folder: Path) -> Path:
    """Make a workspace with parts 1 and 2 done."""
    for path in TEMPLATE.glob("part*_*.*"):
        shutil.copy(path, folder)
    for name in ("part1_average.py", "part2_scores.py"):
        shutil.copy(ROOT / "solutions" / name, folder)
    return folder


def code_cells(module: str, folder: Path = TEMPLATE) -> list[dict[str, Any]]:
    """Give the code cells of a part's notebook."""
    cells = json.loads((folder / f"{module}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in cells if cell["cell_type"] == "code"]


def solved(module: str) -> list[dict[str, Any]]:
    """Give the code cells of a part's notebook, with the solution's code in them."""
    right = (ROOT / "solutions" / f"{module}.py").read_text(encoding="utf-8")
    pieces = [piece.split("\n", 1) for piece in re.split(r"^# %%", right, flags=re.MULTILINE)[1:]]
    written = iter([text.strip() for kind, text in pieces if "[markdown]" not in kind])
    return [cell if "gpt_hw" in cell["metadata"] else {**cell, "source": next(written)} for cell in code_cells(module)]


SOLVED = {cell["source"].split("(")[0].splitlines()[-1]: cell for cell in solved("part3_attention")}
IMPORTS = next(cell["source"] for cell in solved("part3_attention") if cell["source"].startswith('"""Part 3'))
ATTENTION = SOLVED["def attention"]["source"]
CHECK = 'check("part3", "attention")'
