"""Read grading.yml: this term's policy, checked before anything is graded."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from autograder.errors import ConfigError, did_you_mean
from autograder.records import Limits
from autograder.yaml_file import Table, read_table

FORMAT = 1
DEFAULT_WEIGHT = 1.0
HIDDEN_CHECK_FIELDS = ("title", "score", "diagnosis", "hint", "message")
DEFAULT_HIDDEN_CHECK_FIELDS = HIDDEN_CHECK_FIELDS[:3]  # a hint or a message may quote what the check draws
LARGEST_SEED = 2**63 - 1  # what torch.manual_seed takes
LARGEST_WEIGHT = 1000.0
LONGEST_CHECK_S = 86_400  # one day
LARGEST_LIMIT = 1_048_576  # 1 TiB in MiB; larger numbers overflow what the kernel takes
# What a worker cannot live without: torch does not fit in less memory, nor Python in fewer open files.
SMALLEST_LIMIT = {"memory_mib": 64, "file_mib": 1, "open_files": 16, "output_kib": 1}


@dataclass(frozen=True, slots=True)
class Config:
    """What grading.yml says, complete: what it leaves out has its default.

    ``submissions`` and ``results`` are absolute. ``weights`` holds the parts that grading.yml names;
    ask ``weight`` for any part. ``bands`` maps part -> name -> the lowest and the highest result of a training check
    that is right. ``hidden_checks`` are the fields of a hidden check that a student is shown.
    """

    path: Path
    title: str
    submissions: Path
    results: Path
    seed: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    bands: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    hidden_checks: tuple[str, ...] = DEFAULT_HIDDEN_CHECK_FIELDS

    def weight(self, part_name: str) -> float:
        """Give how much a part counts, for example of ``part3``."""
        return self.weights.get(part_name, DEFAULT_WEIGHT)

    @property
    def sha256(self) -> str:
        """Digest of what can change a score: weights, seed, limits and bands."""
        weights = {name: weight for name, weight in self.weights.items() if weight != DEFAULT_WEIGHT}
        content = {"weights": weights, "seed": self.seed, "limits": asdict(self.limits), "bands": self.bands}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def load_config(path: Path, *, parts: Iterable[str] = ()) -> Config:
    """Read grading.yml.

    Args:
        path: The file.
        parts: Names of the parts that the course has, such as ``part3``; where given, a weight for any
            other part is refused.

    Returns:
        What it says, with defaults for what it leaves out.

    Raises:
        ConfigError: It cannot be read, or says something that cannot be followed.
    """
    path = path.absolute()
    table = read_table(path, shown=path.name, error=ConfigError)
    table.version(FORMAT)  # before the names: a newer format may have new ones
    table.only("version", "title", "submissions", "results", "seed", "parts", "limits", "bands", "feedback")
    submissions = path.parent / table.text("submissions", "submissions")
    results = path.parent / table.text("results", "results")
    if _is_within(results, submissions) or _is_within(path.parent, results):
        # else the next run would take what this one wrote for a submission, or mix it with the course
        raise table.slip("results", f"expected a folder of its own, found {results}", "Write 'results: results'.")
    return Config(
        path=path,
        title=table.text("title", path.parent.name or "course"),
        submissions=submissions,
        results=results,
        seed=table.whole("seed", 0, at_most=LARGEST_SEED),
        weights=_read_weights(table.table("parts"), frozenset(parts)),
        limits=_read_limits(table.table("limits")),
        bands=_read_bands(table.table("bands"), frozenset(parts)),
        hidden_checks=_read_hidden_checks(table.table("feedback")),
    )


def _read_weights(table: Table, known: frozenset[str]) -> dict[str, float]:
    weights = {}
    for name in _part_names(table, known):
        part = table.table(name)
        part.only("weight")
        weights[name] = float(part.number("weight", DEFAULT_WEIGHT, at_least=0, at_most=LARGEST_WEIGHT))
    return weights


def _read_bands(table: Table, known: frozenset[str]) -> dict[str, dict[str, tuple[float, float]]]:
    bands: dict[str, dict[str, tuple[float, float]]] = {}
    for name in _part_names(table, known):
        part = table.table(name)
        bands[name] = {band: part.band(band) for band in part.keys}
    return bands


def _part_names(table: Table, known: frozenset[str]) -> list[str]:
    for name in table.keys:
        if known and name not in known:
            raise table.slip(name, "the course has no such part", did_you_mean(str(name), known))
        if not re.fullmatch(r"part[1-9][0-9]*", str(name)):
            raise table.slip(name, "expected the name of a part", "Write it as 'part3'.")
    return table.keys


def _read_limits(table: Table) -> Limits:
    table.only(*(limit.name for limit in fields(Limits)))
    defaults = Limits()
    whole = {
        name: table.whole(name, getattr(defaults, name), at_least=smallest, at_most=LARGEST_LIMIT)
        for name, smallest in SMALLEST_LIMIT.items()
    }
    check_s = float(table.number("check_s", defaults.check_s, above=0, at_most=LONGEST_CHECK_S))
    return Limits(check_s=check_s, **whole)


def _read_hidden_checks(table: Table) -> tuple[str, ...]:
    table.only("hidden_checks")
    return table.choices("hidden_checks", HIDDEN_CHECK_FIELDS, DEFAULT_HIDDEN_CHECK_FIELDS)


def _is_within(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
