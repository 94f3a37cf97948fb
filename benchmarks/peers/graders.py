"""The three tools behind one face: grade a folder of submissions; say what each earned and what its student sees."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measure import GPT_HW, ROOT
from benchmarks.peers import layout, material
from benchmarks.peers.cost import Cost, run
from benchmarks.peers.install import install
from benchmarks.peers.material import Sources

HERE = Path(__file__).resolve().parent
Scores = dict[str, float | None]  # check -> points; None where there is no score


@dataclass
class Graded:
    """What came of one run of a tool."""

    cost: Cost
    scores: dict[str, Scores] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)  # submission -> all that its student is shown

    def total(self, name: str) -> float | None:
        """Add up a submission's points; None where it has no score at all."""
        points = [score for score in self.scores.get(name, {}).values() if score is not None]
        return sum(points) if points else None


def _environment(home: Path, programs: Path | None = None) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("PATH", "/usr/bin:/bin")
    return {
        "PATH": f"{programs}{os.pathsep}{path}" if programs else path,
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",  # one thread each: what is compared is the work, not who takes more cores
        "OPENBLAS_NUM_THREADS": "1",
        **({} if programs else {"PYTHONPATH": str(ROOT)}),
    }


def gpt_hw(
    folder: Path, handed_in: Mapping[str, Sources], home: Path | None = None, *, one_lane: bool = True
) -> Graded:
    """Grade with ``gpt-hw grade``, feedback pages and named mistakes included.

    Args:
        folder: An empty folder.
        handed_in: What is graded.
        home: Keeps between runs what mistakes give in the checks of this course, as a user's cache does.
        one_lane: One submission after another; else as many at once as there are cores, as the command does by itself.
    """
    course = material.course(folder / "course")
    layout.ours(folder / "submissions", handed_in)
    out = folder / "results"
    command = [*GPT_HW, "grade", str(folder / "submissions"), "--out", str(out), "--parts", "3"]
    command += ["--jobs", "1"] if one_lane else []
    graded = Graded(run(command, course, _environment(home or folder / "home")))
    for name in handed_in:
        with_result = out / name / "result.json"
        if with_result.exists():
            checks = json.loads(with_result.read_text(encoding="utf-8"))["parts"]["part3"]["checks"]
            graded.scores[name] = {check["id"]: check["score"] for check in checks}
            graded.seen[name] = (out / name / "feedback.html").read_text(encoding="utf-8")
    return graded


def nbgrader(folder: Path, handed_in: Mapping[str, Sources], *, by_api: bool) -> Graded:
    """Grade with nbgrader, feedback pages included, through its commands or its API."""
    programs, course = install("nbgrader"), folder / "course"
    environment = _environment(folder / "home", programs)
    python, driver = str(programs / "python"), str(HERE / "drive_nbgrader.py")
    layout.nbgrader_source(course)
    _must(subprocess.run([python, driver, "release"], cwd=course, env=environment, capture_output=True, text=True))
    layout.nbgrader_submissions(course, handed_in)
    if by_api:
        cost = run([python, driver, "grade"], course, environment)
    else:
        nbgrader_, name = str(programs / "nbgrader"), layout.ASSIGNMENT
        line = f"{nbgrader_} autograde {name} --create; {nbgrader_} generate_feedback {name}"
        cost = run(["/bin/sh", "-c", line], course, environment)
    told = subprocess.run([python, driver, "scores"], cwd=course, env=environment, capture_output=True, text=True)
    graded = Graded(cost, scores=json.loads(_must(told)))
    for name in handed_in:
        page = course / "feedback" / name / layout.ASSIGNMENT / f"{layout.ASSIGNMENT}.html"
        graded.seen[name] = page.read_text(encoding="utf-8") if page.exists() else ""
    return graded


def otter(folder: Path, handed_in: Mapping[str, Sources], *, by_api: bool) -> Graded:
    """Grade with otter-grader, through ``otter run`` for each submission or through its API in one process."""
    programs, zips, out = install("otter"), folder / "zips", folder / "out"
    environment = _environment(folder / "home", programs)
    layout.otter_tests(folder / "tests")
    layout.otter_submissions(zips, handed_in)
    made = [str(programs / "otter"), "generate", "-t", "tests", "-o", "autograder.zip", "--no-config"]
    _must(subprocess.run(made, cwd=folder, env=environment, capture_output=True, text=True))
    out.mkdir()
    if by_api:
        driver = [str(programs / "python"), str(HERE / "drive_otter.py"), "autograder.zip", "out"]
        cost = run([*driver, *(f"zips/{name}.zip" for name in handed_in)], folder, environment)
    else:
        each = 'mkdir "one/$n"; "$0" run -a autograder.zip -o "one/$n" --no-logo "zips/$n.zip"'
        move = '[ -e "one/$n/results.json" ] && mv "one/$n/results.json" "out/$n.json"'
        line = f'mkdir one; for n in "$@"; do {each}; {move}; done'
        cost = run(["/bin/sh", "-c", line, str(programs / "otter"), *handed_in], folder, environment)
    graded = Graded(cost)
    for name in handed_in:
        path = out / f"{name}.json"
        tests = json.loads(path.read_text(encoding="utf-8"))["tests"] if path.exists() else []
        graded.scores[name] = {test["name"]: test["score"] for test in tests if "score" in test}
        shown = [test.get("output", "") for test in tests if test.get("visibility") == "visible"]
        graded.seen[name] = "\n".join(map(str, shown))
    return graded


def _must(done: "subprocess.CompletedProcess[str]") -> str:
    if done.returncode:
        raise RuntimeError(f"{done.args} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


TOOLS = {
    "gpt-hw grade": gpt_hw,
    "nbgrader, commands": lambda folder, handed_in: nbgrader(folder, handed_in, by_api=False),
    "nbgrader, API": lambda folder, handed_in: nbgrader(folder, handed_in, by_api=True),
    "otter run": lambda folder, handed_in: otter(folder, handed_in, by_api=False),
    "otter, API": lambda folder, handed_in: otter(folder, handed_in, by_api=True),
}
