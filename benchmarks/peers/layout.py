"""The same checks and submissions in each tool's own form: an nbgrader course, an otter autograder, our folder."""

import json
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.peers.material import MODULE, Sources, plain_checks, plain_preamble

ASSIGNMENT = "part3"
CELL_S = 10  # seconds that a cell may take, as long as one of our checks may

_NBGRADER_CONFIG = f"""
c = get_config()
c.CourseDirectory.course_id = "peers"
c.ExecutePreprocessor.timeout = {CELL_S}
c.Execute.timeout = {CELL_S}
"""


def ours(folder: Path, handed_in: Mapping[str, Sources]) -> None:
    """Write each submission as a folder of files."""
    for name, sources in handed_in.items():
        (folder / name).mkdir(parents=True)
        _write_modules(folder / name, sources)


def nbgrader_source(course: Path) -> None:
    """Write the instructor's notebook: the solution's cell, a locked cell of references, a locked cell a check."""
    cells = [_cell("# your attention, Head and MultiHeadAttention\n", "solution", solution=True)]
    cells.append(_cell(plain_preamble(), "references", locked=True))
    for name, text, points, hidden in plain_checks():
        parameters = ", ".join(re.findall(r"\w+", text[text.index("(") : text.index(")")]))
        whole = f"{text}\n\ntest_{name}({parameters})\n"
        if hidden:
            whole = f"### BEGIN HIDDEN TESTS\n{whole}### END HIDDEN TESTS\n"
        cells.append(_cell(whole, name, locked=True, grade=True, points=points))
    source = course / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (source / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(_notebook(cells)), encoding="utf-8")
    (course / "nbgrader_config.py").write_text(_NBGRADER_CONFIG, encoding="utf-8")


def nbgrader_submissions(course: Path, handed_in: Mapping[str, Sources]) -> None:
    """Write each submission into a copy of the released notebook, the earlier parts beside it as modules."""
    released = (course / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text(encoding="utf-8")
    for name, sources in handed_in.items():
        notebook = json.loads(released)
        for cell in notebook["cells"]:
            if cell["metadata"]["nbgrader"]["grade_id"] == "solution":
                cell["source"] = sources[MODULE]
        folder = course / "submitted" / name / ASSIGNMENT
        folder.mkdir(parents=True)
        (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        _write_modules(folder, {key: text for key, text in sources.items() if key != MODULE})


def otter_tests(folder: Path) -> None:
    """Write one exception-based test file a check, for ``otter generate``."""
    folder.mkdir(parents=True)
    for name, text, points, hidden in plain_checks():
        head = f'from otter.test_files import test_case\n\nOK_FORMAT = False\nname = "{name}"\npoints = {points}\n\n'
        mark = f"@test_case(points={points}, hidden={hidden})\n"
        (folder / f"{name}.py").write_text(f"{head}{plain_preamble()}\n\n{mark}{text}", encoding="utf-8")


def otter_submissions(folder: Path, handed_in: Mapping[str, Sources]) -> None:
    """Write each submission as a zip: a notebook, and the earlier parts as modules."""
    folder.mkdir(parents=True)
    for name, sources in handed_in.items():
        plain = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
        notebook = _notebook([{**plain, "id": "solution", "source": sources[MODULE]}])
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            archive.writestr(f"{ASSIGNMENT}.ipynb", json.dumps(notebook))
            for module, text in sources.items():
                if module != MODULE:
                    archive.writestr(f"{module}.py", text)


def _write_modules(folder: Path, sources: Sources) -> None:
    for module, text in sources.items():
        (folder / f"{module}.py").write_text(text, encoding="utf-8")


def _cell(source: str, grade_id: str, **settings: Any) -> dict[str, Any]:
    told = {
        "grade": False,
        "locked": False,
        "solution": False,
        "task": False,
        "schema_version": 3,
        "grade_id": grade_id,
    }
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": grade_id[:60].replace("_", "-"),
        "metadata": {"nbgrader": {**told, **settings}},
        "outputs": [],
        "source": source,
    }


def _notebook(cells: list[dict[str, Any]]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def forget(folder: Path) -> None:
    """Remove a folder, where there is one."""
    shutil.rmtree(folder, ignore_errors=True)
