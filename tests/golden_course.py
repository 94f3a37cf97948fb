"""The course of the golden runs: what each of them grades, what is expected of it, and a canary in each hidden check.

examples/submissions holds what students hand in, tests/golden what breaks graders: a folder for each situation, which
becomes one submission (see tests/golden/README.md).
"""

import os
import re
import shutil
import zipfile
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import as_user
import yaml

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = Path(__file__).resolve().parent / "golden"
EXAMPLES = ROOT / "examples"
BASES = {b"right": EXAMPLES / "submissions" / "student-002", b"wrong": GOLDEN / "plain-wrong"}
PLANTED = ".planted"  # such a file would act on this test run if it stood here under its own name
NEIGHBOURS = ("-first neighbour", "~last neighbour")  # right, and sorted before and after everything else
CANARY = "CANARY-4d1f"
CHECK_S = 3  # a right check takes a tenth of a second; the endless ones below wait for this

RUNGS = (1, 2)
IDENTITIES = ("root", "ordinary user") if as_user.is_possible() else ("ordinary user",)
EVERYTHING = bool(os.environ.get("GPT_HW_EVERY_RUNG"))  # takes minutes more
# Each rung and each identity once: hostile work is graded on both rungs by the first.
COMBINED = list(product(RUNGS, IDENTITIES)) if EVERYTHING else [(1, IDENTITIES[0]), (2, IDENTITIES[-1])]
# How files are read, what may cross the wire, when time is over and what torch refuses is the same behind every wall:
# on the first rung.
SAME_BEHIND_EVERY_WALL = re.compile(
    "(answers|attention|many-heads|message|number|returns|wire|zip)-|symlink|names|nul-byte|latin-1|utf-16|"
    "byte-order-mark|emoji|empty-file|tabs-and-spaces|deep-source|canvas-copies|endless-in-c|floods-in-a-call"
)
Expected = Mapping[str, Any]


def read_expected(folder: Path) -> dict[str, Expected]:
    return dict(yaml.safe_load((folder / "expected.yml").read_text(encoding="utf-8")))


EXAMPLE = read_expected(EXAMPLES)
HOSTILE = read_expected(GOLDEN)


def examples_on(rung: int, identity: str) -> dict[str, Expected]:
    """Choose the examples of a run: all, or every third where another run has all of them."""
    step = 1 if EVERYTHING or (rung, identity) == COMBINED[0] else 3
    return dict(list(EXAMPLE.items())[::step]) if (rung, identity) in COMBINED else {}


def hostile_on(rung: int, identity: str) -> dict[str, Expected]:
    """Choose the situations of a run."""
    if identity != IDENTITIES[0]:
        return {}
    return {name: each for name, each in HOSTILE.items() if EVERYTHING or rung == 1 or not _same_behind(name)}


def _same_behind(name: str) -> bool:
    return SAME_BEHIND_EVERY_WALL.match(name) is not None


# -- the submissions -----------------------------------------------------------------------------------------------


def stage(target: Path, rung: int, identity: str) -> None:
    """Write the submissions of a run: situations between two right neighbours, and examples."""
    target.mkdir()
    for name in examples_on(rung, identity):
        (source,) = (EXAMPLES / "submissions").glob(f"{name}*")
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target / source.name)
    if hostile := hostile_on(rung, identity):
        stage_golden(target, hostile)


def stage_golden(target: Path, hostile: Mapping[str, Expected]) -> None:
    """Write every situation as a submission, and two right neighbours."""
    for name, expected in hostile.items():
        folder = GOLDEN / name
        files = {path.name.removesuffix(PLANTED): _content(path) for path in sorted(folder.iterdir()) if path.is_file()}
        for alias in expected.get("names", {name: name}):
            if "zip" in expected:
                _write_zip(target / f"{alias}.zip", files, expected)
            else:
                _write_folder(target / alias, files, expected)
    for neighbour in NEIGHBOURS:
        shutil.copytree(BASES[b"right"], target / neighbour)


def _content(path: Path) -> bytes:
    """Read a file and put a whole solution where it says ``# INSERT right`` or ``# INSERT wrong``."""
    lines = []
    for line in path.read_bytes().splitlines(keepends=True):
        if line.startswith(b"# INSERT "):
            base = BASES[line.split()[2]] / f"{path.stem.partition('-')[0]}.py"
            line = base.read_bytes().replace(b"\n", line[len(line.rstrip()) :])
        lines.append(line)
    return b"".join(lines)


def _write_folder(folder: Path, files: Mapping[str, bytes], expected: Expected) -> None:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    for name, destination in expected.get("links", {}).items():
        (folder / name).symlink_to(destination)


def _write_zip(path: Path, files: Mapping[str, bytes], expected: Expected) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, name in expected["zip"].items():
            archive.writestr(zipfile.ZipInfo(member), files[name])
    if "keep_bytes" in expected:
        path.write_bytes(path.read_bytes()[: expected["keep_bytes"]])


# -- the course ----------------------------------------------------------------------------------------------------


def copy_course(target: Path) -> None:
    """Copy what decides a score, with a short limit and a canary in every hidden check."""
    policy = yaml.safe_load((ROOT / "grading.yml").read_text(encoding="utf-8"))
    named = {part for expected in (EXAMPLE | HOSTILE).values() for part in expected if part.startswith("part")}
    policy["limits"]["check_s"] = CHECK_S
    policy["parts"] = {name: {"weight": 1.0} for name in sorted(named)}
    policy["bands"] = {name: bands for name, bands in policy.get("bands", {}).items() if name in named}
    target.mkdir()
    (target / "grading.yml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    for folder in sorted((ROOT / "assignments").iterdir()):
        if folder.name.partition("_")[0] in named:
            ignored = shutil.ignore_patterns("__pycache__")
            copy = shutil.copytree(folder, target / "assignments" / folder.name, ignore=ignored) / "test_hidden.py"
            text = copy.read_text(encoding="utf-8")
            assert 'what="' in text and 'what=f"' in text and 'hint="' in text
            for word in ('what="', 'what=f"', 'hint="'):
                text = text.replace(word, f"{word}{CANARY} ")
            copy.write_text(f"{text}\nSECRET = '{CANARY}'\n", encoding="utf-8")
