"""The same work earns the same points as modules, as notebooks, and as notebooks through ``nbgrader autograde``."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from nbgrader_course import ROOT, THREE, NbCourse, Notebook, code_cell, copy_checkout

pytest.importorskip("nbgrader")
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nbgrader]

EXAMPLES = ROOT / "examples"
EXPECTED = yaml.safe_load((EXAMPLES / "expected.yml").read_text(encoding="utf-8"))
MODULES = {"part1": "part1_average", "part2": "part2_scores", "part3": "part3_attention"}


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


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Grade every example as notebooks in both ways: way -> "student, part" -> points."""
    folder = tmp_path_factory.mktemp("parity")
    course = NbCourse(folder / "course", copy_checkout(folder / "checkout", THREE))
    course.gpt_hw("nbgrader", str(course.folder))
    for student in EXPECTED:
        for name, data in files_of(student).items():
            notebook = as_notebook(name, data)
            module = Path(name).stem
            course.submit(student, module, notebook)
            plain = folder / "plain" / student
            plain.mkdir(parents=True, exist_ok=True)
            (plain / f"{module}.ipynb").write_bytes(notebook)
    course.gpt_hw("grade", str(folder / "plain"), "--out", str(folder / "out"), "--parts", "1,2,3", status=1)
    found: dict[str, dict[str, Any]] = {"grade": {}, "nbgrader": {}}
    for part, module in MODULES.items():
        course.nbgrader("generate_assignment", part)
        course.nbgrader("autograde", part)
        for student in EXPECTED:
            result = json.loads((folder / "out" / student / "result.json").read_text(encoding="utf-8"))
            if (course.folder / "submitted" / student / part).is_dir():
                found["grade"][f"{student}, {part}"] = result["parts"][part]["score"]
                found["nbgrader"][f"{student}, {part}"] = course.score(student, module)
    return found


@pytest.mark.parametrize("way", ["grade", "nbgrader"])
def test_every_example_earns_as_a_notebook_what_it_earns_as_a_module(
    scores: dict[str, dict[str, Any]], way: str
) -> None:
    expected = {
        f"{student}, {part}": each[part][0] for student, each in EXPECTED.items() for part in MODULES if part in each
    }
    assert scores[way] == expected
