"""Drive nbgrader's own commands on a course directory, each in a process of its own, away from this user's settings."""

import ast
import copy
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from nbgrader_process import Commands

import autograder.nbgrader  # noqa: F401  # puts what lies beside this Python on PATH, for nbgrader's sake

THREE = ("part1_average", "part2_scores", "part3_attention")
ROOT = Path(__file__).resolve().parents[1]
COMMAND_S = 900  # a command that takes so long hangs
COMMANDS = Commands()
STARTED: set[str] = set()  # commands that this test run has started as a user starts them

Notebook = dict[str, Any]


@dataclass
class NbCourse:
    """A course directory that ``gpt-hw nbgrader`` made."""

    folder: Path
    checkout: Path = ROOT

    def gpt_hw(self, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run our command in the checkout."""
        return self._run(self.checkout, [sys.executable, "-m", "autograder", *words], status)

    def nbgrader(self, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run nbgrader's command in the course directory: the first of each kind as its users do, later ones faster."""
        if words[0] not in STARTED:
            STARTED.add(words[0])
            return self._run(self.folder, [sys.executable, "-m", "nbgrader", *words], status)
        return _checked(COMMANDS.run(words, self.folder, self._environment(), COMMAND_S), status)

    def _run(self, where: Path, command: Sequence[str], status: int | None) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            command,
            cwd=where,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        return _checked(ran, status)

    def _environment(self) -> dict[str, str]:
        """Give a home to all courses of a test run, so that what mistakes give in the checks is worked out once."""
        home = self.folder.parent.parent / "home"
        home.mkdir(parents=True, exist_ok=True)
        return os.environ | {
            "HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",  # nbgrader's own, about its database
            "OMP_NUM_THREADS": "1",
        }

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

    def mistaken(self, module: str, mistake: str) -> Notebook:
        """Make a submission that is right but for one entry of mistakes.py, put after the exercise that it replaces."""
        function = entry(module, mistake)
        (of,) = [word.value.value for word in function.decorator_list[0].keywords if word.arg == "of"]
        function.decorator_list, function.body = [], function.body[1:]  # what is told of it must come from the grader
        defines = re.compile(rf"^(def|class) {of.partition('.')[0]}\b", re.MULTILINE)
        notebook = self.answered(module)
        (cell,) = [cell for cell in notebook["cells"] if is_solution(cell) and defines.search("".join(cell["source"]))]
        cell["source"] = f"{''.join(cell['source'])}\n\n\n{ast.unparse(function)}\n\n\n{of} = {mistake}\n"
        return notebook

    def copied(self, folder: Path) -> "NbCourse":
        """Copy the course, and a checkout that was copied for it and lies beside it, into an empty folder."""
        made = NbCourse(folder / "course", self.checkout)
        shutil.copytree(self.folder, made.folder)
        if self.checkout.parent == self.folder.parent:
            made.checkout = folder / "checkout"
            shutil.copytree(self.checkout, made.checkout)
            config = made.folder / "nbgrader_config.py"
            text = config.read_text(encoding="utf-8").replace(str(self.checkout), str(made.checkout))
            config.write_text(text, encoding="utf-8")
        return made

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

    def table(self) -> list[dict[str, str]]:
        """Read what ``nbgrader export`` wrote."""
        return list(csv.DictReader((self.folder / "grades.csv").read_text(encoding="utf-8").splitlines()))

    def feedback(self, student: str, module: str) -> str:
        """Read a feedback page."""
        path = self.folder / "feedback" / student / module.partition("_")[0] / f"{module}.html"
        return path.read_text(encoding="utf-8")


def _checked(ran: subprocess.CompletedProcess[str], status: int | None) -> subprocess.CompletedProcess[str]:
    if status is not None:
        assert ran.returncode == status, f"{ran.args}\n{ran.stdout}\n{ran.stderr}"
    return ran


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


def entry(module: str, mistake: str) -> Any:
    """Find an entry of a part's mistakes.py, as a function in ``ast``."""
    text = (ROOT / "assignments" / module / "mistakes.py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return next(node for node in functions if node.name == mistake)


def told(module: str, mistake: str) -> str:
    """Give the sentence with which a mistake is named."""
    return " ".join(str(ast.get_docstring(entry(module, mistake))).split())


def copy_checkout(target: Path, parts: Iterable[str] = ()) -> Path:
    """Copy what an instructors' checkout needs, so that a test may break it; some parts alone are quicker to build."""
    target.mkdir(parents=True)
    wanted = set(parts)
    for folder in sorted((ROOT / "assignments").glob("part*")):
        if not wanted or folder.name in wanted:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(folder, target / "assignments" / folder.name, ignore=ignored)
    shutil.copyfile(ROOT / "assignments" / "README.md", target / "assignments" / "README.md")
    bands = yaml.safe_load((ROOT / "grading.yml").read_text(encoding="utf-8"))["bands"]
    kept = {part: some for part, some in bands.items() if any(name.startswith(f"{part}_") for name in wanted)}
    set_policy(target, ROOT, **({"parts": {}, "bands": kept} if wanted else {}))
    return target


def set_policy(target: Path, source: Path | None = None, **changes: Any) -> None:
    """Write grading.yml with some settings changed; an empty one is left out."""
    policy = yaml.safe_load(((source or target) / "grading.yml").read_text(encoding="utf-8")) | changes
    kept = {name: value for name, value in policy.items() if value or name not in changes or name == "feedback"}
    (target / "grading.yml").write_text(yaml.safe_dump(kept), encoding="utf-8")
