"""Trials in this process: a part's checks on right and on wrong texts, seed by seed.

Every function here takes and returns plain values, so that it can run in a process of a pool.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.records import Part

if TYPE_CHECKING:
    from autograder.checks.bands import Band


@dataclass
class RightTrials:
    """What right texts did: failures by (text, check), and the worst share of a tolerance that a check used."""

    runs: int = 0
    failures: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    margins: dict[str, float] = field(default_factory=dict)


@dataclass
class WrongTrials:
    """What each mistake did on one seed.

    ``killed`` maps mistake -> checks that failed; ``named`` maps mistake -> names given to its failures;
    ``margins`` maps check -> the smallest share above 1 with which a mistake failed it.
    """

    seed: int
    killed: dict[str, list[str]] = field(default_factory=dict)
    named: dict[str, dict[str, str]] = field(default_factory=dict)
    margins: dict[str, float] = field(default_factory=dict)


def try_right(
    part: Part,
    texts: Mapping[str, Mapping[str, str]],
    seeds: Iterable[int],
    bands: "Mapping[str, Band]",
    threads: Sequence[int] = (1, 1, 1, 1, 2),
) -> RightTrials:
    """Run every check of a part on right texts.

    Args:
        part: With its suites, and the checks that are to be run.
        texts: Label -> sources (module -> text).
        seeds: Each is run once, with the next number of threads.
        bands: Of the part's training checks.
        threads: Of torch; a fifth of the runs has two, which cost several times as much on a busy machine.
    """
    import torch

    from autograder.checks.local import LocalConnection, load_suites, run_check
    from autograder.checks.margins import recorded

    chosen = {check.id for check in part.checks}
    suite = {name: check for name, check in load_suites(part.folder, hidden=True).items() if name in chosen}
    connections = {label: LocalConnection(part.module, sources) for label, sources in texts.items()}
    found = RightTrials()
    for number, seed in enumerate(seeds):
        for label, connection in connections.items():
            for check_id, function in suite.items():
                with recorded() as shares:
                    failure = run_check(function, check_id, connection, seed, threads[number % len(threads)], bands)
                found.runs += 1
                if failure is not None:
                    found.failures.setdefault((label, check_id), []).append(f"seed {seed}: {failure.message}")
                elif shares:
                    found.margins[check_id] = max(found.margins.get(check_id, 0.0), *shares)
    torch.set_num_threads(1)
    return found


def try_wrong(part: Part, sources: Mapping[str, str], seed: int, bands: "Mapping[str, Band]") -> WrongTrials:
    """Run every mistake of a part through every check, and name what comes.

    Args:
        part: With its suites and mistakes.
        sources: Of our solutions.
        seed: All inputs are drawn from it.
        bands: Of the part's training checks.
    """
    from autograder.checks.catalogue import Replays
    from autograder.checks.diagnosis import diagnose
    from autograder.checks.margins import recorded

    replays = Replays(part, sources, seed, hidden=True, bands=bands)
    found = WrongTrials(seed)
    outcomes = {}
    for check in part.checks:
        with recorded() as shares:
            outcomes[check.id] = replays.failures(check.id)
        over = [share for share in shares if share > 1]
        if over:
            found.margins[check.id] = min(over)
    exercises = {check.id: check.exercise for check in part.checks}
    for name in replays.mistakes:
        failures = {check_id: by_mistake[name] for check_id, by_mistake in outcomes.items()}
        found.killed[name] = [check_id for check_id, failure in failures.items() if failure is not None]
        found.named[name] = diagnose(failures, replays.lookup, exercises)
    return found


def equivalents_of(part: Part, sources: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Read the right solutions in other words that lie beside a part: label -> sources."""
    from autograder.checks.local import mistakes_of

    found = mistakes_of(part.folder / "equivalents.py")
    return {
        f"{part.name} {name}": {**sources, part.module: entry.applied_to(sources[part.module])}
        for name, entry in found.items()
    }


def second_solutions(root: Path, sources: Mapping[str, str]) -> dict[str, str]:
    """Read the second right solutions, written in another style; a part without one keeps the first."""
    folder = root / "tests" / "second_solutions"
    return {
        module: path.read_text(encoding="utf-8") if (path := folder / f"{module}.py").is_file() else text
        for module, text in sources.items()
    }
