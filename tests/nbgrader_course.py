"""Drive nbgrader's own commands on a course directory, each in a process of its own, away from this user's settings."""

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import autograder.nbgrader  # noqa: F401  # puts what lies beside this Python on PATH, for nbgrader's sake

THREE = ("part1_average", "part2_scores", "part3_attention")
ROOT = Path(__file__).resolve().parents[1]
COMMAND_S = 900  # a command that takes so long hangs

Notebook = dict[str, Any]


@dataclass
class NbCourse:
    """A course directory that ``gpt-hw nbgrader`` made."""

    folder: Path
    checkout: Path = ROOT
    environment: dict[str, str] = field(default_factory=dict)

    def gpt_hw(self, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run our command in the checkout."""
        return self._run(self.checkout, [sys.executable, "-m", "autograder", *words], status)

    def nbgrader(self, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run nbgrader's command in the course directory."""
        return self._run(self.folder, [sys.executable, "-m", "nbgrader", *words], status)

    def _run(self, where: Path, command: Sequence[str], status: int | None) -> subprocess.CompletedProcess[str]:
        home = self.folder.with_name(f"{self.folder.name}-home")
        home.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {
            "HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",  # nbgrader's own, about its database
            "OMP_NUM_THREADS": "1",
        }
        ran = subprocess.run(
            command,
            cwd=where,
            env=environment | self.environment,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        if status is not None:
            assert ran.returncode == status, f"{command}\n{ran.stdout}\n{ran.stderr}"
        return ran

    def source(self, module: str) -> Notebook:
        """Read the instructor's notebook: as a submission it is right."""
        part = module.partition("_")[0]
        return dict(json.loads((self.folder / "source" / part / f"{module}.ipynb").read_text(encoding="utf-8")))

    def release(self, module: str) -> Notebook:
        """Read the released notebook: as a submission it is untouched."""
        part = module.partition("_")[0]
        return dict(json.loads((self.folder / "release" / part / f"{module}.ipynb").read_text(encoding="utf-8")))

    def answered(self, module: str) -> Notebook:
        """Make a right submission out of the released notebook, as a student fills it in."""
        notebook, solutions = self.release(module), cells_by_name(self.source(module))
        for cell in notebook["cells"]:
            name = name_of(cell)
            if name in solutions and is_solution(cell) and cell["cell_type"] == "code":
                cell["source"] = [line for line in solutions[name]["source"] if "SOLUTION" not in line]
        return notebook

    def submit(self, student: str, module: str, notebook: Notebook | bytes, name: str = "") -> Path:
        """Put a notebook where nbgrader looks for submissions."""
        folder = self.folder / "submitted" / student / module.partition("_")[0]
        folder.mkdir(parents=True, exist_ok=True)
        data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
        (folder / (name or f"{module}.ipynb")).write_bytes(data)
        return folder

    def grades(self, student: str, module: str) -> dict[str, Any]:
        """Read every score of a submission: cell -> nbgrader's record as a dict."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{self.folder}/gradebook.db") as gradebook:
            submission = gradebook.find_submission_notebook(module, module.partition("_")[0], student)
            return {grade.name: grade.to_dict() for grade in submission.grades}

    def score(self, student: str, module: str) -> float | None:
        """Sum the scores of the checks; None where one is missing."""
        scores = [grade["auto_score"] for name, grade in self.grades(student, module).items() if "answer-" not in name]
        return None if None in scores else float(sum(scores))

    def feedback(self, student: str, module: str) -> str:
        """Read a feedback page."""
        path = self.folder / "feedback" / student / module.partition("_")[0] / f"{module}.html"
        return path.read_text(encoding="utf-8")


def name_of(cell: Mapping[str, Any]) -> str:
    """Give the name that nbgrader has for a cell; empty if it has none."""
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def is_solution(cell: Mapping[str, Any]) -> bool:
    """Tell whether students write into a cell."""
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def cells_by_name(notebook: Notebook) -> dict[str, dict[str, Any]]:
    """Index the cells that nbgrader knows."""
    return {name_of(cell): cell for cell in notebook["cells"] if name_of(cell)}


def code_cell(source: str) -> dict[str, Any]:
    """Make a code cell of a student's own."""
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def with_cell(notebook: Notebook, source: str, place: int = 0) -> Notebook:
    """Put a code cell into a copy of a notebook."""
    changed = copy.deepcopy(notebook)
    changed["cells"].insert(place, code_cell(source))
    return changed


def without(notebook: Notebook, names: Iterable[str]) -> Notebook:
    """Delete cells from a copy of a notebook."""
    gone = set(names)
    return {**copy.deepcopy(notebook), "cells": [cell for cell in notebook["cells"] if name_of(cell) not in gone]}


def copy_checkout(target: Path, parts: Iterable[str] = ()) -> Path:
    """Copy what an instructors' checkout needs, so that a test may break it; some parts alone are quicker to build."""
    target.mkdir(parents=True)
    wanted = set(parts)
    for folder in sorted((ROOT / "assignments").glob("part*")):
        if not wanted or folder.name in wanted:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(folder, target / "assignments" / folder.name, ignore=ignored)
    shutil.copyfile(ROOT / "assignments" / "README.md", target / "assignments" / "README.md")
    set_policy(target, ROOT, **({"parts": {}, "bands": {}} if wanted else {}))
    return target


def set_policy(target: Path, source: Path | None = None, **changes: Any) -> None:
    """Write grading.yml with some settings changed; an empty one is left out."""
    policy = yaml.safe_load(((source or target) / "grading.yml").read_text(encoding="utf-8")) | changes
    kept = {name: value for name, value in policy.items() if value or name not in changes or name == "feedback"}
    (target / "grading.yml").write_text(yaml.safe_dump(kept), encoding="utf-8")
