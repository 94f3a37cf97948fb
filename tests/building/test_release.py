"""What is released: exactly the files that are allowed, and in none of them anything that gives a solution away."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from release_secrets import Secret, leaks, secrets_of, squeeze

import autograder
from autograder.build import find_regions, plan, template, write
from autograder.nbgrader.questions import FILE as QUESTIONS
from autograder.parts import load_parts

ROOT = Path(__file__).resolve().parents[2]
NAME = f"gpt_hw-{autograder.__version__}"

# The rules of the allow-list. A new kind of file is released only when it is named here and in pyproject.toml.
PACKAGE_SUFFIXES = (".py", ".jinja", ".css")
PACKAGE_FILES = ("autograder/py.typed",)
PART_FILES = ("{module}.py", "{module}.ipynb", "checks/{module}/part.yml", "checks/{module}/test_public.py")
DIAGNOSES = "checks/{module}/diagnoses.json"  # only where a part has mistakes that students are told about
SDIST_FILES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO", ".gitignore")  # hatchling adds two
WHEEL_METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")

# What an author's checkout may also hold, and what a careless build would take along.
DECOYS = (
    ".env",
    "notes.txt",
    "assignments/part1_average/notes.md",
    "autograder/part1_average.ipynb",
    "autograder/__pycache__/errors.cpython-311.pyc",
    "autograder/build/solutions.txt",
    "examples/submissions/perfect/part1_average.py",
    "results/gradebook.csv",
    "solutions/part1_average.py",
    "student_template/.ipynb_checkpoints/part1_average-checkpoint.ipynb",
    "student_template/checks/part1_average/mistakes.py",
    "student_template/checks/part1_average/questions.yml",
    "student_template/checks/part1_average/test_hidden.py",
    "student_template/checks/part1_average/__pycache__/test_public.cpython-311.pyc",
    "student_template/my_solution.py",
    "tests/test_hidden_things.py",
)


def package_files(root: Path) -> set[str]:
    paths = [path for path in (root / "autograder").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(root).as_posix() for path in paths if path.suffix in PACKAGE_SUFFIXES} | set(PACKAGE_FILES)


def template_files(root: Path) -> set[str]:
    """Give what a template may hold, its paths below student_template/."""
    names = {"README.md"}
    for part in load_parts(root / "assignments").values():
        names |= {pattern.format(module=part.module) for pattern in PART_FILES}
        diagnoses = DIAGNOSES.format(module=part.module)
        if (root / "student_template" / diagnoses).is_file():
            names.add(diagnoses)
    return names


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository, with the things that an author leaves lying about."""
    root = tmp_path_factory.mktemp("checkout") / "gpt-hw"
    root.mkdir()
    for name in ("autograder", "assignments", "student_template", "solutions"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"):
        shutil.copyfile(ROOT / name, root / name)
    if not (root / "student_template").is_dir():
        write(plan(root / "assignments"), root)
    for name in DECOYS:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(f"raise SystemExit('{name} must not be released')\n", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def released(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """The files of the sdist, and of the wheel that is built from it."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(checkout)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    files: dict[str, dict[str, bytes]] = {"wheel": {}, "sdist": {}}
    with zipfile.ZipFile(out / f"{NAME}-py3-none-any.whl") as wheel:
        files["wheel"] = {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(out / f"{NAME}.tar.gz") as sdist:
        for member in sdist.getmembers():
            content = sdist.extractfile(member)
            assert content is not None, f"{member.name} is no plain file"
            files["sdist"][member.name] = content.read()
    return files


@pytest.fixture(scope="module")
def secrets() -> list[Secret]:
    """List the secrets of every part.

    What students are given in one part is no secret in a hidden suite or a mistake of another. A line of a solution
    is one all the same.
    """
    parts = load_parts(ROOT / "assignments").values()
    published = [(part.folder / "test_public.py").read_text(encoding="utf-8") for part in parts]
    published += [template((part.folder / f"{part.module}.py").read_text(encoding="utf-8"), part) for part in parts]
    return [secret for part in parts for secret in secrets_of(part, squeeze("\n".join(published)))]


@pytest.mark.slow
def test_wheel_holds_exactly_what_is_allowed(released: dict[str, dict[str, bytes]], checkout: Path) -> None:
    expected = package_files(checkout)
    expected |= {f"autograder/student_template/{name}" for name in template_files(checkout)}
    expected |= {f"{NAME}.dist-info/{name}" for name in WHEEL_METADATA}
    assert sorted(released["wheel"]) == sorted(expected)


@pytest.mark.slow
def test_sdist_holds_exactly_what_is_allowed(released: dict[str, dict[str, bytes]], checkout: Path) -> None:
    expected = package_files(checkout) | {f"student_template/{name}" for name in template_files(checkout)}
    expected |= set(SDIST_FILES)
    assert sorted(released["sdist"]) == sorted(f"{NAME}/{name}" for name in expected)


@pytest.mark.slow
def test_release_gives_no_solution_and_no_hidden_check_away(
    released: dict[str, dict[str, bytes]], secrets: list[Secret]
) -> None:
    # Most files are in both, and the search takes seconds.
    distinct = {data: f"{kind}: {name}" for kind, files in released.items() for name, data in files.items()}
    assert leaks({name: data for data, name in distinct.items()}, secrets) == []


@pytest.mark.slow
def test_metadata_names_command_licence_and_extras(released: dict[str, dict[str, bytes]]) -> None:
    dist_info = f"{NAME}.dist-info"
    assert b"gpt-hw = autograder.cli:run" in released["wheel"][f"{dist_info}/entry_points.txt"]
    metadata = released["wheel"][f"{dist_info}/METADATA"].decode()
    for line in ("Name: gpt-hw", "License-Expression: MIT", "Provides-Extra: instructor", "Provides-Extra: dev"):
        assert f"{line}\n" in metadata


def test_template_in_this_repository_holds_exactly_what_is_allowed() -> None:
    root = ROOT / "student_template"
    if not root.is_dir():
        pytest.skip("student_template/ has not been built yet")
    caches = {"__pycache__", ".pytest_cache", ".ipynb_checkpoints"}
    found = [path for path in root.rglob("*") if path.is_file() and not caches & set(path.parts)]
    assert sorted(path.relative_to(root).as_posix() for path in found) == sorted(template_files(ROOT))


def test_template_gives_no_solution_and_no_hidden_check_away(checkout: Path, secrets: list[Secret]) -> None:
    root = checkout / "student_template"
    assert leaks({name: (root / name).read_bytes() for name in template_files(checkout)}, secrets) == []


def test_no_file_of_the_package_stays_at_home_unnoticed() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "autograder").rglob("*")
        if path.is_file() and not any(name.startswith((".", "__pycache__")) for name in path.relative_to(ROOT).parts)
    }
    assert found == package_files(ROOT)


def test_search_finds_each_kind_of_secret_wherever_it_is_put(secrets: list[Secret]) -> None:
    """A search that finds nothing proves something only if it would have found it."""
    kinds = ("solution of", "/test_hidden.py", "/mistakes.py", f"/{QUESTIONS}")
    samples = [next(secret for secret in secrets if kind in secret.origin) for kind in kinds]
    samples.append(next(secret for secret in secrets if secret.is_name))
    for secret in samples:
        indented = f"def f():\n        {secret.text.strip()}  # here\n"
        cell = {"cells": [{"source": indented.splitlines(keepends=True)}]}
        hidden_in = {
            "plain.py": indented.encode(),
            "notebook.ipynb": json.dumps(cell).encode(),
            "diagnoses.json": json.dumps({"key": {secret.text: 1}}).encode(),
        }
        for name, data in hidden_in.items():
            assert leaks({name: data}, [secret]), (name, secret)
    assert leaks({"clean.py": b"print('nothing of note in this file')\n"}, secrets) == []


def test_search_has_something_to_look_for_in_every_exercise(secrets: list[Secret]) -> None:
    parts = load_parts(ROOT / "assignments").values()
    for part in parts:
        origins = {secret.origin for secret in secrets}
        assert any(f"solution of {part.name} " in origin for origin in origins), part.name
        assert f"{part.module}/test_hidden.py" in origins
        assert f"{part.module}/mistakes.py" in origins
        assert f"{part.module}/{QUESTIONS}" in origins


# Run in a process of its own, so that a student's modules never meet ours. Every parameter is filled with None:
# a placeholder raises before it looks at one.
CALL_EVERYTHING = """
import importlib, inspect, json, sys

for module_name, exercises in json.loads(sys.argv[1]).items():
    module = importlib.import_module(module_name)
    for name, sentence in exercises.items():
        function = module
        for step in name.split("."):
            function = inspect.getattr_static(function, step)
        function = getattr(function, "__func__", getattr(function, "fget", None) or function)
        needed = [None for each in inspect.signature(function).parameters.values() if each.default is each.empty]
        try:
            function(*needed)
        except NotImplementedError as error:
            if str(error) != sentence:
                print(f"{module_name}: {name} says {error}")
        except BaseException as error:
            print(f"{module_name}: {name} raised {error!r}")
        else:
            print(f"{module_name}: {name} returned")
"""


@pytest.mark.slow
def test_templates_import_and_every_exercise_says_that_it_is_not_written(tmp_path: Path) -> None:
    exercises: dict[str, dict[str, str]] = {}
    for part in load_parts(ROOT / "assignments").values():
        path = part.folder / f"{part.module}.py"
        text = path.read_text(encoding="utf-8")
        (tmp_path / path.name).write_text(template(text, part), encoding="utf-8")
        names = [region.name for region in find_regions(text, str(path))]
        exercises[part.module] = {name: f"{part.name}: {name} is not written yet" for name in names}
    script = tmp_path / "call_everything.py"
    script.write_text(CALL_EVERYTHING, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(script), json.dumps(exercises)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr


def test_constraints_pin_one_version_of_everything_that_the_project_names() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*table["dependencies"], *(each for extra in table["optional-dependencies"].values() for each in extra)]
    wanted = {re.split(r"[\[<>=]", each)[0].lower() for each in named} - {"gpt-hw"}
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9.]+", pin) for pin in pins)  # no local version such as +cpu
    assert wanted <= {pin.partition("==")[0].lower() for pin in pins}
