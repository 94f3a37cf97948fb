"""The way of a student, from the wheel: install, begin, be told what is missing, write it, pass.

The wheel is really installed into an empty environment. What it depends on is borrowed from the environment of these
tests, which takes seconds and no network; with GPT_HW_FULL_INSTALL=1 pip fetches all of it as on a new machine.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = sorted((ROOT / "solutions").glob("part*.py"))
FIRST = ("part1_average", "part2_scores")
INSTALL_S = 1200


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    out = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT], cwd=out)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed command ``gpt-hw`` of an environment that holds nothing else of ours."""
    home = tmp_path_factory.mktemp("machine") / "venv"
    run([sys.executable, "-m", "venv", home], cwd=home.parent)
    python = home / "bin" / "python"
    if os.environ.get("GPT_HW_FULL_INSTALL"):
        run([python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel], cwd=home)
    else:
        run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel], cwd=home)
        (packages,) = home.glob("lib/python*/site-packages")
        # A path in a .pth file adds the packages there, but not what their own .pth files name: not our checkout.
        (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    where = run([python, "-c", "import autograder; print(autograder.__file__)"], cwd=home).stdout
    assert Path(where.strip()).is_relative_to(home), "the installed wheel is used, not this checkout"
    return home / "bin" / "gpt-hw"


@pytest.fixture(scope="module")
def work(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace as ``gpt-hw init`` makes it."""
    folder = tmp_path_factory.mktemp("student") / "my-gpt"
    done = run([command, "init", folder], cwd=folder.parent)
    assert "gpt-hw test part1" in done.stdout
    return folder


def run(words: list[object], cwd: Path, code: int = 0) -> "subprocess.CompletedProcess[str]":
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST", "VIRTUAL"))
    }
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=INSTALL_S
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_a_new_workspace_holds_every_part_and_no_solution(work: Path) -> None:
    names = {path.name for path in work.iterdir()}
    assert names == {"README.md"} | {f"{path.stem}{kind}" for path in SOLUTIONS for kind in (".py", ".ipynb")}
    for path in SOLUTIONS:
        assert "is not written yet" in (work / path.name).read_text()


def test_status_of_a_new_workspace(command: Path, work: Path) -> None:
    rows = json.loads(run([command, "status", "--json"], cwd=work).stdout)["parts"]
    assert {row["progress"] for row in rows} == {"not started"}
    assert len(rows) == len(SOLUTIONS)


def test_a_student_writes_the_parts_one_after_another(command: Path, work: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(work, tmp_path / "work")
    before = run([command, "test", "part1"], cwd=folder, code=1).stdout
    assert "not written yet" in before
    assert re.search(r"^part1: 0 of \d+ public checks pass \(0 of \d+ points\)$", before, re.MULTILINE)
    for module in FIRST:
        shutil.copy(ROOT / "solutions" / f"{module}.py", folder)
    after = run([command, "test", *FIRST], cwd=folder).stdout
    assert len(re.findall(r"^part\d: (\d+) of \1 public checks pass", after, re.MULTILINE)) == len(FIRST)
    assert "part1" in run([command, "status"], cwd=folder).stdout
    packed = run([command, "pack"], cwd=folder)
    assert "took  part1_average.py" in packed.stdout


def test_every_solution_passes_the_public_checks(command: Path, tmp_path: Path) -> None:
    for path in SOLUTIONS:
        shutil.copy(path, tmp_path)
    found = json.loads(run([command, "test", "--json"], cwd=tmp_path).stdout)["parts"]
    assert [(one["part"], one["score"]) for one in found] == [(one["part"], one["points"]) for one in found]
    assert len(found) == len(SOLUTIONS)


def test_a_wrong_answer_is_named_from_what_students_receive(command: Path, tmp_path: Path) -> None:
    wrong = "\n\ndef attention(q, k, v, mask=None):\n    scores = q @ k.transpose(-2, -1)\n    if mask is not None:\n"
    wrong += "        scores = scores.masked_fill(~mask, float('-inf'))\n    weights = scores.softmax(-1)\n"
    wrong += "    return weights @ v, weights\n"
    for path in SOLUTIONS:
        shutil.copy(path, tmp_path)
    with (tmp_path / "part3_attention.py").open("a") as stream:
        stream.write(wrong)
    (part,) = json.loads(run([command, "test", "part3", "--json"], cwd=tmp_path, code=1).stdout)["parts"]
    told = {check["mistake"] for check in part["checks"] if check["outcome"] == "failed"}
    assert "scores_not_scaled" in told


def test_instructors_commands_say_that_they_need_a_course(command: Path, work: Path) -> None:
    for words in (["grade"], ["build"]):
        said = run([command, *words], cwd=work, code=2).stderr
        assert "no course" in said
    assert "students use gpt-hw test" in run([command, "grade"], cwd=work, code=2).stderr
