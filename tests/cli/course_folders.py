"""Folders that a person at the keyboard has: a small course, what is handed in, a notebook with a solution."""

import csv
import json
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"
TEMPLATE = ROOT / "student_template"
MODULES = {"part1_average": "part1", "part2_scores": "part2"}
CONFIG = "version: 1\ntitle: Two parts\nseed: 7\nsubmissions: submissions\nresults: results\n"

# A mask that hides nothing: it loses points, and only of part 1.
WRONG_MASK = "\n\ndef causal_mask(T, device=None):\n    return torch.ones(T, T, dtype=torch.bool, device=device)\n"


def copy_course(target: Path, *modules: str) -> Path:
    (target / "assignments").mkdir(parents=True)
    shutil.copy(ROOT / "assignments" / "README.md", target / "assignments")
    for module in modules or MODULES:
        source = ROOT / "assignments" / module
        shutil.copytree(source, target / "assignments" / module, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "grading.yml").write_text(CONFIG)
    return target


def hand_in(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True)
    for module, text in texts.items():
        (folder / f"{module}.py").write_text(text)
    return folder


def solution(module: str) -> str:
    return (SOLUTIONS / f"{module}.py").read_text()


def gradebook(out: Path) -> dict[str, dict[str, str]]:
    with (out / "gradebook.csv").open(newline="") as stream:
        return {row["submission"]: row for row in csv.DictReader(stream)}


def write_in_notebook(folder: Path, module: str) -> None:
    """Solve a part in the notebook, as somebody does who writes everything into one cell, and drop the module."""
    path = folder / f"{module}.ipynb"
    notebook = json.loads(path.read_text())
    cell = {"cell_type": "code", "execution_count": None, "id": "mine", "metadata": {}, "outputs": []}
    notebook["cells"].append({**cell, "source": solution(module)})
    path.write_text(json.dumps(notebook))
    (folder / f"{module}.py").unlink()
