"""The instructor's page of nbgrader, taken line by line: feedback pages for three students of two parts."""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader_course import ROOT, copy_checkout

pytest.importorskip("nbgrader")
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nbgrader]

PAGE = ROOT / "docs" / "nbgrader.md"
LINES_S = 1800  # all of them, on a busy machine
# Installing takes minutes and the network; the rest then runs with what is installed for this test run.
INSTALLS = bool(os.environ.get("GPT_HW_TEST_INSTALL"))


def blocks() -> list[str]:
    return re.findall(r"^```\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def test_every_line_of_the_page_runs_and_gives_three_pages_for_two_parts(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "gpt-hw")
    for name in ("solutions", "student_template", "examples", "autograder"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "constraints.txt", ".gitignore"):
        shutil.copyfile(ROOT / name, checkout / name)
    installing, *rest = blocks()
    script = "\n".join([installing, *rest] if INSTALLS else rest)
    environment = os.environ | {"HOME": str(tmp_path), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    if not INSTALLS:
        shim = tmp_path / "bin"
        shim.mkdir()
        for name, module in (("gpt-hw", "autograder"), ("nbgrader", "nbgrader"), ("python", "")):
            words = f"-m {module}" if module else ""
            (shim / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            (shim / name).chmod(0o755)
        environment |= {"PATH": f"{shim}:{os.environ['PATH']}", "PYTHONPATH": str(checkout)}
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LINES_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    course = tmp_path / "gpt-course"
    pages = sorted(str(path.relative_to(course / "feedback")) for path in course.glob("feedback/*/*/*.html"))
    assert pages == [
        f"{student}/{part}.html"
        for student in ("ada", "alan", "grace")
        for part in ("part3/part3_attention", "part5/part5_positions")
    ]
    rows = list(csv.DictReader((course / "grades.csv").read_text(encoding="utf-8").splitlines()))
    scores = {(row["student_id"], row["assignment"]): float(row["score"]) for row in rows}
    assert scores == {
        ("ada", "part3"): 54.0,
        ("alan", "part3"): 38.0,
        ("grace", "part3"): 0.0,
        ("ada", "part5"): 53.0,
        ("alan", "part5"): 53.0,
        ("grace", "part5"): 0.0,
    }
    assert "divides by sqrt(d_model)" in (course / "feedback/alan/part3/part3_attention.html").read_text(
        encoding="utf-8"
    )


def test_the_page_says_what_the_messages_say() -> None:
    """Every quoted message of the table of odd things is one that the code has."""
    text = PAGE.read_text(encoding="utf-8")
    ours = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "autograder" / "nbgrader").glob("*.py"))
    for quoted in ("is not scored", "the suites now have", "is no part of this course, and is not graded"):
        assert quoted in text
        assert quoted in ours
