"""Each module of the tool stands on its floor, and imports only from below it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from module_imports import Import, imports, modules, unit_of

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "autograder"

GROUND = {"errors", "records", "whole_file", "source_modules", "machine"}
# Floor 0 too, but for PyYAML, which it imports when it reads a file: config and parts, which may not
# import each other, read what people wrote in the same way.
READER = {"yaml_file"}
FLOOR_1 = {"config", "parts", "wire", "corpora"}
STAGES = {"intake", "sandbox", "suite", "scoring", "report", "gradebook", "labs", "build", "workspace"}
BESIDE_STUDENT_CODE = {"worker"}
IN_SUITES = {"checks"}
# For authors, for those who live in nbgrader, for students in a notebook: each may use the line, none is used by it.
DOORS = {"prove", "nbgrader", "notebook"}
NAMED = GROUND | READER | FLOOR_1 | STAGES | BESIDE_STUDENT_CODE | IN_SUITES | DOORS | {"pipeline", "cli"}
# Take a name out when its module is there.
NOT_BUILT_YET: set[str] = set()

MAY_IMPORT_CHECKS = {"suite", "build", "pipeline", "prove", "cli"}
MAY_IMPORT_WORKER = {"autograder.checks.local"}  # it runs a suite without a wall, on trusted code only
# The fork server becomes the worker. It does so inside a function: the grader's own process has no worker in it.
MAY_BECOME_WORKER = {"autograder.sandbox.fork_server"}

HEAVY = {"torch", "pytest", "_pytest", "nbgrader", "dask", "matplotlib", "jinja2", "jupytext", "nbformat", "numpy"}
LIGHT = ("cli", "config", "parts", "pipeline")
NO_SUCH_NAMES = {"utils", "helpers", "common", "manager"}
LONGEST_MODULE = 300  # lines


def is_allowed(found: Import) -> bool:
    """Answer for one import of ours by one of ours: what the table says."""
    source, target = found.unit, unit_of(found.target)
    below_stages = GROUND | READER | FLOOR_1
    if target in ("", source):
        return True
    if target == "cli" or source in GROUND:
        return False
    if source == "cli":
        return True
    if target == "checks":
        return source in MAY_IMPORT_CHECKS
    if target == "worker":
        return found.module in MAY_IMPORT_WORKER or (found.module in MAY_BECOME_WORKER and not found.at_once)
    if source == "":
        return target in GROUND
    if source in READER or source in FLOOR_1:
        return target in (GROUND if source in READER else GROUND | READER)
    if source == "worker":
        return target in GROUND | {"wire"}
    if target in DOORS:
        return False
    if source in DOORS | {"pipeline"}:
        return True
    return target in below_stages  # stages, checks, and a module that the table does not name


def floor_breaches(package: Path) -> list[str]:
    breaches = []
    for found in imports(package):
        root = found.target.split(".")[0]
        if root == package.name:
            is_right = is_allowed(found)
        elif found.unit in GROUND:
            is_right = root in sys.stdlib_module_names
        elif found.unit in READER:
            is_right = root in sys.stdlib_module_names | {"yaml"}
        else:
            is_right = True
        if not is_right:
            breaches.append(f"{found.module}, line {found.line}: imports {found.target}")
    return breaches


def heavy_breaches(package: Path) -> list[str]:
    return [
        f"{found.module}, line {found.line}: imports {found.target} as soon as it is imported"
        for found in imports(package)
        if found.unit in LIGHT and found.at_once and found.target.split(".")[0] in HEAVY
    ]


def shape_breaches(package: Path) -> list[str]:
    breaches = []
    for module, path in modules(package):
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > LONGEST_MODULE:
            breaches.append(f"{module}: {len(text.splitlines())} lines, more than {LONGEST_MODULE}")
        if NO_SUCH_NAMES & set(module.split(".")):
            breaches.append(f"{module}: a name that says nothing")
        is_private = any(step.startswith("_") and step != "__main__" for step in module.split("."))
        if not is_private and not ast.get_docstring(ast.parse(text)):
            breaches.append(f"{module}: no docstring")
    return breaches


def test_every_import_goes_down():
    assert floor_breaches(PACKAGE) == []


def test_light_modules_import_nothing_heavy_at_once():
    assert heavy_breaches(PACKAGE) == []


@pytest.mark.parametrize("name", ["cli", "config", "parts"])
def test_importing_a_light_module_loads_nothing_heavy_through_others(name):
    if not is_there(name):
        pytest.skip(f"autograder.{name} is not built yet")
    program = f"import sys, autograder.{name}; print(sorted({HEAVY!r} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=REPOSITORY, check=True)
    assert ran.stdout.strip() == "[]"


def test_modules_are_short_named_and_explained():
    assert shape_breaches(PACKAGE) == []


def test_tests_and_benchmarks_are_short_too():
    folders = [REPOSITORY / "tests", REPOSITORY / "benchmarks"]
    # What stands for hand-ins, students' or attackers', is as long as those are.
    handed_in = [REPOSITORY / "tests" / name for name in ("golden", "second_solutions", "training_attacks")]
    long = [
        path.relative_to(REPOSITORY).as_posix()
        for folder in folders
        for path in folder.rglob("*.py")
        if not any(path.is_relative_to(other) for other in handed_in)
        and len(path.read_text(encoding="utf-8").splitlines()) > LONGEST_MODULE
    ]
    assert long == []


def is_there(name: str) -> bool:
    return (PACKAGE / f"{name}.py").is_file() or (PACKAGE / name / "__init__.py").is_file()


def test_every_module_of_the_table_is_there_or_known_to_be_missing():
    assert sorted(name for name in NAMED - NOT_BUILT_YET if not is_there(name)) == []


BROKEN = [
    ("errors.py", "import yaml"),
    ("errors.py", "from autograder.records import Part"),
    ("records.py", "import torch"),
    ("yaml_file.py", "import pydantic"),
    ("yaml_file.py", "from autograder.parts import load_parts"),
    ("config.py", "from autograder.parts import load_parts"),
    ("config.py", "from . import parts"),
    ("config.py", "def f():\n    from autograder import parts"),
    ("config.py", "def f():\n    import importlib\n    importlib.import_module('autograder.parts')"),
    ("wire/frames.py", "from ..parts import load_parts"),
    ("intake/names.py", "if True:\n    import autograder.scoring"),
    ("intake/names.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from autograder.scoring import x"),
    ("scoring.py", "from autograder import intake"),
    ("scoring.py", "from autograder.checks import agree"),
    ("scoring.py", "from autograder.cli import app"),
    ("pipeline.py", "from autograder.cli import app"),
    ("pipeline.py", "from autograder.worker import serve"),
    ("worker/serve.py", "from autograder.parts import load_parts"),
    ("worker/serve.py", "from autograder.checks import agree"),
    ("checks/compare.py", "from autograder.worker import Session"),
    ("checks/compare.py", "from autograder.scoring import x"),
    ("sandbox/client.py", "def f():\n    from autograder.worker import Session"),
    ("sandbox/fork_server.py", "from autograder.worker import Session"),
    ("pipeline.py", "from autograder.notebook import check"),
    ("notebook/serve.py", "from autograder.cli import app"),
    ("novelty.py", "from autograder.scoring import x"),
    ("__init__.py", "from autograder import cli"),
]
SOUND = [
    ("errors.py", "import json"),
    ("yaml_file.py", "import yaml\nfrom autograder.errors import GptHwError"),
    ("config.py", "import pydantic\nfrom autograder import errors, __version__"),
    ("parts.py", "from .yaml_file import read_table"),
    ("worker/serve.py", "from autograder.wire import pack\nfrom . import session"),
    ("checks/local.py", "from autograder.worker import Session"),
    ("checks/__init__.py", "from .local import x"),
    ("sandbox/fork_server.py", "def f():\n    import autograder.worker"),
    ("suite.py", "from autograder.checks import agree"),
    ("build/tree.py", "from autograder.checks.local import load_suite"),
    ("pipeline.py", "from autograder import intake, scoring, config"),
    ("notebook/serve.py", "from autograder.pipeline import Practice\nfrom autograder.report.clean import clean"),
    ("cli.py", "from autograder import pipeline, worker, build"),
    ("__main__.py", "from autograder.cli import app"),
    ("student_template/part1_average.py", "from autograder import cli"),
]


@pytest.fixture
def toy(tmp_path):
    """Make a package with every module of the table, each of them empty."""
    package = tmp_path / "autograder"
    package.mkdir()
    for name in NAMED | {"__init__"}:
        (package / f"{name}.py").write_text('"""Nothing."""\n')

    def write(name: str, text: str) -> Path:
        path = package / name
        if path.parent != package:
            path.parent.with_suffix(".py").unlink(missing_ok=True)
            path.parent.mkdir(exist_ok=True)
            (path.parent / "__init__.py").write_text('"""Nothing."""\n')
        path.write_text(text + "\n")
        return package

    return write


@pytest.mark.parametrize(("name", "text"), BROKEN)
def test_floors_see_an_import_that_goes_up_or_sideways(toy, name, text):
    assert len(floor_breaches(toy(name, text))) == 1


@pytest.mark.parametrize(("name", "text"), SOUND)
def test_floors_allow_what_the_table_allows(toy, name, text):
    assert floor_breaches(toy(name, text)) == []


@pytest.mark.parametrize(
    ("name", "text", "breaches"),
    [
        ("cli.py", "import torch", 1),
        ("cli/commands.py", "try:\n    from numpy import array\nexcept ImportError:\n    pass", 1),
        ("parts.py", "class A:\n    import pytest", 1),
        ("pipeline.py", "def f():\n    import torch", 0),
        ("config.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch", 0),
        ("worker/serve.py", "import torch", 0),
    ],
)
def test_floors_see_a_heavy_import_that_runs_at_once(toy, name, text, breaches):
    assert len(heavy_breaches(toy(name, text))) == breaches


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("intake/utils.py", '"""Say."""'),
        ("intake/common.py", '"""Say."""'),
        ("intake/names.py", "x = 1"),
        ("intake/names.py", '"""Say."""' + "\n" * LONGEST_MODULE + "x = 1"),
    ],
)
def test_floors_see_a_module_that_is_long_badly_named_or_unexplained(toy, name, text):
    assert len(shape_breaches(toy(name, text))) == 1
