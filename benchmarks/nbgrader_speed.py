"""``python -m benchmarks.nbgrader_speed``: ``nbgrader autograde`` with our judge, and with nbgrader's own kernel.

One run, in turns, with the nbgrader of this environment. The same work of the same students is in the notebooks of two
courses: the one that ``gpt-hw nbgrader`` makes, and one as nbgrader makes it by itself, with an assert for each check.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.measure import GPT_HW, ROOT
from benchmarks.peers import cost, layout, material
from benchmarks.peers.cost import Cost
from benchmarks.peers.material import MODULE, Sources

NBGRADER = [sys.executable, "-m", "nbgrader"]
ASSIGNMENT = layout.ASSIGNMENT
OURS, THEIRS = "gpt-hw's wall", "nbgrader's kernel"
FIRST_TIME = f"{OURS}, the first time"
_PLACEHOLDER = "raise NotImplementedError"

Scores = dict[str, float]


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nbgrader_speed", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--submissions", type=int, default=material.SUBMISSIONS, help="how many are graded (20)")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each judge (3)")
    words = parser.parse_args()
    handed_in = dict(list(material.submissions().items())[: max(2, words.submissions)])
    with tempfile.TemporaryDirectory(prefix="gpt-hw-nbgrader-") as base:
        os.chmod(base, 0o755)
        found = measure(Path(base), handed_in, max(1, words.repeats))
    found |= {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {platform.python_version()}",
        "load at the end": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(found, indent=1)) if words.json else _print(found)


def measure(base: Path, handed_in: Mapping[str, Sources], repeats: int) -> dict[str, Any]:
    """Grade the same work with both judges, each as often, in turns.

    Args:
        base: An empty folder.
        handed_in: What is graded.
        repeats: How many turns.

    Returns:
        For each judge what a submission took in each turn, and what each submission earned.
    """
    makers: dict[str, Callable[[Path, Mapping[str, Sources]], None]] = {OURS: _our_course, THEIRS: _their_course}
    for judge, make in makers.items():
        make(base / judge, handed_in)
    rows: dict[str, dict[str, list[float]]] = {}
    scores: dict[str, Scores] = {}
    one_alone = dict(list(handed_in.items())[:1])
    # Once before the turns: what mistakes give in the checks is then worked out, and kept for every later run.
    for row, judge in ((FIRST_TIME, OURS), *(repeats * [(OURS, OURS), (THEIRS, THEIRS)])):
        one, _ = _autograde(base, judge, one_alone)
        all_, scores[judge] = _autograde(base, judge, handed_in)
        taken = rows.setdefault(row, {"seconds": [], "one more": [], "cpu_s": []})
        taken["seconds"].append(all_.seconds / len(handed_in))
        taken["one more"].append((all_.seconds - one.seconds) / (len(handed_in) - 1))
        taken["cpu_s"].append((all_.cpu_s - one.cpu_s) / (len(handed_in) - 1))
    agree = sum(scores[OURS].get(name) == scores[THEIRS].get(name) for name in handed_in)
    return {"submissions": len(handed_in), "repeats": repeats, "judges": rows, "scores": scores, "agree": agree}


def _our_course(folder: Path, handed_in: Mapping[str, Sources]) -> None:
    """Make a course of ours and its submissions: a student's text where the placeholders were."""
    checkout = folder.with_name(f"{folder.name}, checkout")
    for name in (*material.NEEDED, MODULE):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "assignments" / name, checkout / "assignments" / name, ignore=ignored)
    (checkout / "grading.yml").write_text("version: 1\nseed: 1\n", encoding="utf-8")
    _must([*GPT_HW, "nbgrader", str(folder)], checkout, folder)
    _must([*NBGRADER, "generate_assignment", ASSIGNMENT], folder, folder)
    released = (folder / "release" / ASSIGNMENT / f"{MODULE}.ipynb").read_text(encoding="utf-8")
    for name, sources in handed_in.items():
        notebook = json.loads(released)
        cells = [cell for cell in notebook["cells"] if _PLACEHOLDER in "".join(cell["source"])]
        for number, cell in enumerate(cells):
            cell["source"] = "" if number else sources[MODULE]
        _submit(folder, name, MODULE, notebook, sources)


def _their_course(folder: Path, handed_in: Mapping[str, Sources]) -> None:
    """Make a course as nbgrader makes it by itself, and its submissions."""
    layout.nbgrader_source(folder)
    _must([*NBGRADER, "generate_assignment", ASSIGNMENT], folder, folder)
    layout.nbgrader_submissions(folder, handed_in)


def _submit(course: Path, student: str, module: str, notebook: object, sources: Sources) -> None:
    folder = course / "submitted" / student / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / f"{module}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    for earlier in material.NEEDED:
        if earlier in sources:
            (folder / f"{earlier}.py").write_text(sources[earlier], encoding="utf-8")


def _autograde(base: Path, judge: str, handed_in: Mapping[str, Sources]) -> tuple[Cost, Scores]:
    """Run the command on a fresh copy of a course that holds these submissions alone."""
    course = base / "graded"
    shutil.copytree(base / judge, course)
    for folder in (course / "submitted").iterdir():
        if folder.name not in handed_in:
            shutil.rmtree(folder)
    graded = cost.run([*NBGRADER, "autograde", ASSIGNMENT], course, _environment(base / judge))
    if graded.status and judge == OURS:
        raise RuntimeError(f"nbgrader autograde ended with {graded.status}:\n{graded.printed[-2000:]}")
    scores = _scores(course)
    shutil.rmtree(course)
    return graded, scores


def _scores(course: Path) -> Scores:
    """Add up what the checks of each submission earned; questions for a person are left out."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        return {
            submission.student.id: sum(
                grade.auto_score or 0.0
                for notebook in submission.notebooks
                for grade in notebook.grades
                if not grade.name.startswith("answer-")
            )
            for submission in book.assignment_submissions(ASSIGNMENT)
        }


def _environment(course: Path) -> dict[str, str]:
    home = course.with_name(f"{course.name}, home")
    home.mkdir(exist_ok=True)
    own = {"HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    return {**os.environ, **own, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _must(command: list[str], cwd: Path, course: Path) -> None:
    ran = subprocess.run(
        command, cwd=cwd, env=_environment(course), capture_output=True, text=True, check=False, timeout=600
    )
    if ran.returncode:
        raise RuntimeError(f"{command} ended with {ran.returncode}:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")


def _print(found: Mapping[str, Any]) -> None:
    title = f"{found['machine']}, load {found['load at the end']} at the end, {found['date']}"
    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    table.add_column(f"nbgrader autograde, {found['submissions']} submissions of part 3, {found['repeats']} turns")
    for column in ("s a submission", "s for one more", "minimum", "cpu s for one more"):
        table.add_column(column, justify="right")
    for judge, row in found["judges"].items():
        middles = [statistics.median(row[key]) for key in ("seconds", "one more", "cpu_s")]
        values = (middles[0], middles[1], min(row["one more"]), middles[2])
        table.add_row(judge, *(f"{value:.2f}" for value in values))
    console = Console(highlight=False)
    console.print(table)
    console.print(f"the same points in both: {found['agree']} of {found['submissions']}")


if __name__ == "__main__":
    main()
