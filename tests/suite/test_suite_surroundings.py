"""No file, variable or plugin that lies about on the machine changes a result, and a run leaves nothing there."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from suite_runs import FOUR, OWN, check_named, outcomes, run

from autograder.sandbox import UNSAFE
from autograder.suite import run as run_module

PLANTED = {
    "conftest.py": "raise SystemExit('the conftest ran')",
    "pytest.ini": "[pytest]\naddopts = -p evil_plugin --maxfail=1\npython_functions = nothing_*\n",
    "tox.ini": "[pytest]\naddopts = -p evil_plugin\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p evil_plugin\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p evil_plugin'\n",
    "evil_plugin.py": "raise SystemExit('the plugin ran')",
    "sitecustomize.py": "raise SystemExit('sitecustomize ran')",
}


def test_files_around_a_suite_and_in_the_current_folder_do_not_matter(course, tmp_path, monkeypatch):
    part = course(FOUR)
    for folder in (part.folder, part.folder.parent, tmp_path, tmp_path / "elsewhere"):
        folder.mkdir(exist_ok=True)
        for name, text in PLANTED.items():
            (folder / name).write_text(text)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert outcomes(run(part, OWN))["right"] == "passed"
    assert outcomes(run(part, OWN))["wrong"] == "failed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYTEST_ADDOPTS", "-k nothing_at_all"),
        ("PYTEST_ADDOPTS", "--deselect=x -x -p no_such_plugin"),
        ("PYTEST_ADDOPTS", "--collect-only"),
        ("PYTEST_ADDOPTS", "--no-such-option"),
        ("PYTEST_PLUGINS", "no_such_plugin"),
        ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", ""),
    ],
)
def test_pytests_variables_do_not_matter_and_are_left_as_they_were(course, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    before = dict(os.environ)
    results = run(course(FOUR), OWN)
    assert outcomes(results) == {"right": "passed", "wrong": "failed", "raises": "failed", "broken": "error"}
    assert dict(os.environ) == before


def test_a_broken_plugin_that_is_installed_does_not_matter(course, tmp_path, monkeypatch):
    info = tmp_path / "site" / "broken_plugin-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pytest11]\nbroken = broken_plugin_module\n")
    (tmp_path / "site" / "broken_plugin_module.py").write_text("raise RuntimeError('the installed plugin is broken')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    from importlib.metadata import entry_points

    assert "broken" in [point.name for point in entry_points(group="pytest11")]
    assert outcomes(run(course(FOUR), OWN))["right"] == "passed"


def test_nothing_is_written_beside_a_suite(course, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    part = course(FOUR)
    before = sorted(tmp_path.rglob("*"))
    run(part, OWN)
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_printed_by_a_run(course, capfd):
    run(course(FOUR), "x = 1\ndef f(x): return x + 1\ndef g(): return 1\n")
    assert capfd.readouterr() == ("", "")


FRESH = """
import os, sys
from pathlib import Path
from autograder.checks.catalogue import NoCatalogue
from autograder.checks.local import InProcessWorker
from autograder.parts import load_parts
from autograder.records import Limits
from autograder.suite import run_part
part = load_parts(Path(sys.argv[1]))["part1"]
source = {"part1_toy": "def f(x):\\n    return x + 1\\ndef g():\\n    return 1\\n"}
results = run_part(part, source, InProcessWorker, seed=1, limits=Limits(), catalogue=NoCatalogue())
print(*(f"{result.check.id}={result.outcome}" for result in results))
"""


def test_pythons_variables_do_not_change_a_result(course, tmp_path):
    part = course(check_named("own", "assert student.f(1) == 3") + check_named("right", "equal(student.f(1), 2)"))
    for name, text in PLANTED.items():
        (tmp_path / name).write_text(text)
    variables = {
        "PYTHONOPTIMIZE": "2",  # Python itself would drop every assert
        "PYTHONHASHSEED": "17",
        "PYTHONDEVMODE": "",
        "PYTEST_ADDOPTS": "-p evil_plugin",
        "PYTHONSAFEPATH": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", FRESH, str(part.folder.parent)],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **variables},
    )  # fmt: skip
    assert (done.stdout.split(), done.returncode) == (["own=failed", "right=passed"], 0), done.stderr


def test_python_m_autograder_imports_nothing_from_the_current_folder(tmp_path):
    for name in ("typer.py", "torch.py", "yaml.py", "numpy.py", "pytest.py"):
        (tmp_path / name).write_text(f"raise SystemExit('{name} was planted')\n")
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "--version"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gpt-hw ")


def test_what_python_m_autograder_starts_in_a_checkout_finds_the_package():
    code = """
import sys
sys.path[:] = [".", *(path for path in sys.path if path != "")]  # as python -m begins
import autograder.__main__
from autograder.wire import encode
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
print(ProcessPoolExecutor(1, get_context("spawn")).submit(encode, 3, [], None).result())
"""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_pytest_is_told_to_look_nowhere_else(course):
    part = replace(course(FOUR), folder=Path("part"))
    options = " ".join(run_module.options(part))
    for needed in ("--noconftest", f"-c {os.devnull}", "--rootdir part", "--confcutdir part", "-p no:cacheprovider"):
        assert needed in options
    assert Path(os.devnull).exists()
    assert UNSAFE == 3
