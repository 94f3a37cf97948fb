"""The same work earns the same points as modules, as notebooks, and as notebooks through ``nbgrader autograde``."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from nbgrader_course import ROOT, NbCourse, Notebook, code_cell, copy_checkout

from autograder.parts import load_parts

pytest.importorskip("nbgrader")
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nbgrader]

EXAMPLES = ROOT / "examples"
EXPECTED = yaml.safe_load((EXAMPLES / "expected.yml").read_text(encoding="utf-8"))
PARTS = {part.name: part for part in load_parts(ROOT / "assignments").values() if part.name not in ("part7", "part8")}
MODULES = {name: part.module for name, part in PARTS.items()}  # no example holds the two that train


def files_of(student: str) -> dict[str, bytes]:
    """Read a submission's part files by module, whether it is a folder or a zip; notebooks stay what they are."""
    folder = EXAMPLES / "submissions" / student
    if folder.is_dir():
        found = {path.name: path.read_bytes() for path in folder.iterdir()}
    else:
        with zipfile.ZipFile(folder.with_name(f"{student}.zip")) as archive:
            names = [name for name in archive.namelist() if "__MACOSX" not in name]
            found = {Path(name).name: archive.read(name) for name in names if not name.endswith("/")}
    wanted = (*[f"{module}.py" for module in MODULES.values()], *[f"{module}.ipynb" for module in MODULES.values()])
    return {name: data for name, data in found.items() if name in wanted}


def as_notebook(name: str, data: bytes) -> bytes:
    """Put a module into a notebook, a cell for each of its cells."""
    if name.endswith(".ipynb"):
        return data
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    cells = [code_cell(piece.partition("\n")[2] if number else piece) for number, piece in enumerate(cut(text))]
    notebook: Notebook = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
    return json.dumps(notebook).encode()


def cut(text: str) -> list[str]:
    """Cut a text where its cells begin; what stands before the first mark is the first piece."""
    first, *rest = text.split("\n# %%")
    return [first, *rest]


def expected() -> dict[str, float]:
    """Say what each example earns; who hands in a part that expected.yml says nothing of has it right."""
    return {
        f"{student}, {part}": EXPECTED[student][part][0] if part in EXPECTED[student] else PARTS[part].points
        for student in EXPECTED
        for part, module in MODULES.items()
        if any(name.startswith(f"{module}.") for name in files_of(student))
    }


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Grade every example in three ways: way -> "student, part" -> points."""
    folder = tmp_path_factory.mktemp("parity")
    course = NbCourse(folder / "course", copy_checkout(folder / "checkout"))
    course.gpt_hw("nbgrader", str(course.folder))
    for student in EXPECTED:
        for name, data in files_of(student).items():
            notebook = as_notebook(name, data)
            module = Path(name).stem
            course.submit(student, module, notebook)
            plain = folder / "notebooks" / student
            plain.mkdir(parents=True, exist_ok=True)
            (plain / f"{module}.ipynb").write_bytes(notebook)
    for part in MODULES:
        course.nbgrader("generate_assignment", part)
        course.nbgrader("autograde", part)
    found: dict[str, dict[str, Any]] = {"modules": {}, "notebooks": {}, "nbgrader": {}}
    numbers = ",".join(name.removeprefix("part") for name in MODULES)
    for way, submissions in (("modules", EXAMPLES / "submissions"), ("notebooks", folder / "notebooks")):
        out = folder / f"results-{way}"
        course.gpt_hw("grade", str(submissions), "--out", str(out), "--parts", numbers, status=1)
        for one in expected():
            student, part = one.split(", ")
            result = json.loads((out / student / "result.json").read_text(encoding="utf-8"))
            found[way][one] = result["parts"][part]["score"]
    for one in expected():
        student, part = one.split(", ")
        found["nbgrader"][one] = course.score(student, MODULES[part])
    return found


@pytest.mark.parametrize("way", ["modules", "notebooks", "nbgrader"])
def test_every_example_earns_the_same_in_every_way(scores: dict[str, dict[str, Any]], way: str) -> None:
    assert scores[way] == expected()
