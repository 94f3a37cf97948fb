"""A class of mixed submissions, and what each of them must earn.

It is mixed from examples/submissions, tests/golden (hostile ones among them) and the mistakes of the catalogue, each
put into a copy of the solutions. The scores are known beforehand: from the expected.yml beside them, and for mistakes
from a run of the suite in this process, without wall, lanes and grader.
"""

import random
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from benchmarks.measure import ROOT

GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = ROOT / "examples"
BASES = {b"right": EXAMPLES / "submissions" / "student-002", b"wrong": GOLDEN / "plain-wrong"}
SEED = 20261129
CHECK_S = 3  # what expected.yml was written for

Scores = Mapping[str, float]


@dataclass(frozen=True)
class Kind:
    """One sort of submission: its files, and what each part of it must earn."""

    name: str
    files: Mapping[str, bytes]
    scores: Scores


def make_course(folder: Path, parts: Sequence[str]) -> Path:
    """Copy the parts of the course, with a short limit."""
    for source in sorted((ROOT / "assignments").glob("part*")):
        if source.name.partition("_")[0] in parts:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / "assignments" / source.name, ignore=ignored)
    (folder / "grading.yml").write_text(f"version: 1\nseed: {SEED}\nlimits: {{check_s: {CHECK_S}}}\n")
    return folder


def kinds(parts: Sequence[str], only: str = "") -> list[Kind]:
    """Collect every sort of submission that has something in one of these parts, and whose name holds a pattern."""
    found = [*examples(parts), *_golden(parts), *_mistakes(parts, only)]
    found = [kind for kind in found if re.search(only, kind.name)]
    return [kind for kind in found if any(name.partition("_")[0] in parts for name in kind.files)]


def examples(parts: Sequence[str]) -> Iterator[Kind]:
    """Collect what a class hands in."""
    for name, expected in yaml.safe_load((EXAMPLES / "expected.yml").read_text()).items():
        folder = EXAMPLES / "submissions" / name
        if folder.is_dir() and set(parts) <= set(expected):
            yield Kind(name, _files(folder, parts), {part: expected[part][0] for part in parts})


def _golden(parts: Sequence[str]) -> Iterator[Kind]:
    for name, expected in yaml.safe_load((GOLDEN / "expected.yml").read_text()).items():
        if {"zip", "names", "links"}.isdisjoint(expected):  # those are about names and archives
            yield Kind(name, _files(GOLDEN / name, parts), {part: expected.get(part, [0])[0] for part in parts})


def _files(folder: Path, parts: Sequence[str]) -> dict[str, bytes]:
    files = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and (path.name.partition("_")[0] in parts or not path.name.startswith("part")):
            files[path.name.removesuffix(".planted")] = b"".join(_lines(path))
    return files


def _lines(path: Path) -> Iterator[bytes]:
    for line in path.read_bytes().splitlines(keepends=True):
        if line.startswith(b"# INSERT "):
            base = BASES[line.split()[2]] / f"{path.stem.partition('-')[0]}.py"
            line = base.read_bytes().replace(b"\n", line[len(line.rstrip()) :])
        yield line


def _mistakes(parts: Sequence[str], only: str) -> Iterator[Kind]:
    import torch

    from autograder.checks.catalogue import Replays
    from autograder.checks.local import mistakes_of
    from autograder.parts import load_parts

    torch.set_num_threads(1)
    every = load_parts(ROOT / "assignments")
    needed = {every[name].module for name in parts} | {module for name in parts for module in every[name].needs}
    sources = {module: (ROOT / "solutions" / f"{module}.py").read_text() for module in sorted(needed)}
    for name in parts:
        part = every[name]
        entries = mistakes_of(part.folder / "mistakes.py")
        if not any(re.search(only, f"{name}-{mistake}") for mistake in entries):
            continue  # replaying them takes seconds
        replays = Replays(part, sources, SEED, hidden=True)
        lost: dict[str, float] = defaultdict(float)
        for check in part.checks:
            for mistake, failure in replays.failures(check.id).items():
                lost[mistake] += check.points if failure is not None else 0.0
        for mistake, entry in entries.items():
            # Only this part, so that a mistake is not seen again through a later part that imports it.
            copied = {module: sources[module] for module in (part.module, *part.needs)}
            texts = {**copied, part.module: entry.applied_to(sources[part.module])}
            earned = {other: every[other].points if every[other].module in copied else 0.0 for other in parts}
            files = {f"{module}.py": text.encode() for module, text in texts.items()}
            yield Kind(f"{name}-{mistake}", files, earned | {name: part.points - lost[mistake]})


def stage(folder: Path, sorts: Sequence[Kind], size: int, seed: int = 0) -> dict[str, Kind]:
    """Write a class: all sorts in turn, shuffled, as often as it takes."""
    draw = random.Random(seed)
    chosen: list[Kind] = []
    while len(chosen) < size:
        chosen += draw.sample(list(sorts), min(len(sorts), size - len(chosen)))
    found = {}
    for number, kind in enumerate(chosen):
        name = f"{number:04}-{kind.name}"
        (folder / name).mkdir(parents=True)
        for file, content in kind.files.items():
            (folder / name / file).write_bytes(content)
        found[name] = kind
    return found
