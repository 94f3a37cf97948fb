"""The labs reproduce on the solutions, and ``gpt-hw lab`` lists, runs, keeps and documents them."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.cli.labs import read_work
from autograder.errors import UsageError
from autograder.labs import Settings, all_labs, find_lab, run_lab, save_report
from autograder.labs.document import document
from autograder.labs.report import Verdict

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 120  # of one command on a busy machine


@pytest.fixture(scope="module")
def solutions():
    return read_work(ROOT, solutions=True)


# --- which labs there are


def test_every_lab_has_a_title_and_names_parts():
    for lab in all_labs().values():
        assert lab.title.endswith(".")
        assert lab.parts
        assert all(re.fullmatch(r"part[1-9]", part) for part in lab.parts)


def test_an_unknown_lab_is_answered_with_the_closest():
    with pytest.raises(UsageError, match="varianz") as error:
        find_lab("varianz")
    assert "variance" in error.value.remedy


# --- the labs themselves, on the solutions

TINY = {
    "averages": {"LENGTHS": (6, 16)},
    "order": {},
    "params": {},
    "quadratic": {"QUICK": (128, 512, 1024), "LAST": 2, "TIMED_S": 0.0},
    "saturation": {"WIDTHS": (256, 1024), "ROWS": 1000},
    "variance": {},
}


@pytest.mark.parametrize("name", TINY)
def test_lab_reproduces_on_the_solutions(name, solutions, tmp_path, monkeypatch):
    for constant, value in TINY[name].items():
        monkeypatch.setattr(f"autograder.labs.experiments.{name}.{constant}", value)
    report, about = run_lab(find_lab(name), solutions, Settings(tmp_path))
    bad = [one for one in report.findings if one.verdict is Verdict.NOT_HERE]
    assert bad == []
    files = {path.name for path in save_report(report, about, tmp_path)}
    assert {f"{name}.json", f"{name}.html"} <= files
    assert json.loads((tmp_path / f"{name}.json").read_text())["seed"] == 0
    assert run_lab(find_lab(name), solutions, Settings(tmp_path))[1]["reused"] > 0


# --- the command


def command(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "autograder", *map(str, words)]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.slow
def test_command_lists_labs_and_prints_one_as_json(tmp_path):
    listed = command("lab", "--json", cwd=tmp_path)
    assert {one["lab"] for one in json.loads(listed.stdout)["labs"]} == set(all_labs())
    ran = command("lab", "order", "--solutions", "--json", "--seed", 3, "--out", tmp_path / "out", cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["seed"], found["code"], found["version"]) == (3, "solutions", 1)


@pytest.mark.slow
def test_command_names_the_exercise_that_is_missing(tmp_path):
    (tmp_path / "part2_scores.py").write_text((ROOT / "student_template" / "part2_scores.py").read_text())
    ran = command("lab", "variance", cwd=tmp_path)
    assert ran.returncode == 2
    assert "dot_product_variance of part2, which is not written yet" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured_and_exits_130(tmp_path):
    line = [sys.executable, "-m", "autograder", "lab", "quadratic", "--solutions", "--full", "--out", str(tmp_path)]
    process = subprocess.Popen(line, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + LIMIT_S
    while not list(tmp_path.glob("measurements/*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, errors
    assert "the same command goes on" in errors
    kept = list(tmp_path.glob("measurements/*.json"))
    assert kept
    assert all(json.loads(path.read_text())["value"] for path in kept)


# --- the page in docs/


def test_document_writes_a_section_a_lab_and_keeps_the_others(tmp_path):
    (tmp_path / "solutions").mkdir()
    for path in (ROOT / "solutions").glob("part*.py"):
        (tmp_path / "solutions" / path.name).write_bytes(path.read_bytes())
    document(tmp_path, [find_lab("order")])
    page = document(tmp_path, [find_lab("params")])
    again = page.read_text()
    assert re.findall(r"^## (\w+)$", again, flags=re.MULTILINE) == ["order", "params"]
    assert re.findall(r"^\| \[(\w+)\]", again, flags=re.MULTILINE) == ["order", "params"]
    assert again.count("124,439,808 | 124,439,808 | reproduced") == 1
    assert (tmp_path / "docs" / "labs" / "params.png").is_file()
    assert document(tmp_path, [find_lab("params")]).read_text() == again


def test_document_outside_of_a_checkout_is_told(tmp_path):
    with pytest.raises(UsageError, match="no solutions"):
        document(tmp_path, [find_lab("order")])
