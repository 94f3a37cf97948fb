"""Put the trials together and say what falls short."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context

from autograder.pipeline import Course
from autograder.pipeline.lanes import no_modules_of_this_folder
from autograder.prove.trials import (
    RightTrials,
    WrongTrials,
    equivalents_of,
    second_solutions,
    try_right,
    try_wrong,
)
from autograder.prove.wall import WallTrials, try_through_the_wall
from autograder.records import Part

RIGHT_RUNS = 200  # of every check on right work, over texts, seeds and threads
MISTAKE_SEEDS = 2
EQUIVALENT_SEEDS = 2
TRAINING_SEEDS = 2  # each trains for half a minute; more are asked for when bands are calibrated
LEAST_MISTAKES = 25
LEAST_NAMED = 0.95
_CHUNK = 25  # seeds in one task of the pool


@dataclass
class PartProof:
    """What is known of one part."""

    part: Part
    right: RightTrials = field(default_factory=RightTrials)
    wrong: list[WrongTrials] = field(default_factory=list)
    equivalents: int = 0

    @property
    def mistakes(self) -> list[str]:
        """Names, in the catalogue's order."""
        return list(self.wrong[0].killed) if self.wrong else []

    def killed_on(self, mistake: str) -> int:
        """On how many seeds the mistake lost points."""
        return sum(bool(trial.killed[mistake]) for trial in self.wrong)

    def killers(self, mistake: str) -> dict[str, int]:
        """Check -> on how many seeds it killed the mistake."""
        found: dict[str, int] = {}
        for trial in self.wrong:
            for check_id in trial.killed[mistake]:
                found[check_id] = found.get(check_id, 0) + 1
        return found

    def idle_checks(self) -> list[str]:
        """Checks that no mistake of the catalogue fails."""
        working = {check_id for mistake in self.mistakes for check_id in self.killers(mistake)}
        return [check.id for check in self.part.checks if check.id not in working]

    def lucky(self) -> list[str]:
        """Mistakes that are killed on some seeds only, or by a single check that does not kill on every seed."""
        found = []
        for mistake in self.mistakes:
            killers = self.killers(mistake)
            steady = [check_id for check_id, seeds in killers.items() if seeds == len(self.wrong)]
            if killers and not steady:
                found.append(mistake)
        return found

    def _only_trained_away(self, mistake: str) -> bool:
        # Training shows that something is wrong and not what: such a mistake cannot be named.
        training = {check.id for check in self.part.checks if check.trains}
        return set(self.killers(mistake)) <= training

    def naming(self) -> tuple[list[str], list[str]]:
        """Mistakes that are never named on some seed, and those that are named as another."""
        silent, confused = [], []
        for mistake in self.mistakes:
            names = [set(trial.named[mistake].values()) for trial in self.wrong]
            if any(name - {mistake} for name in names):
                confused.append(mistake)
            elif not all(names) and not self._only_trained_away(mistake):
                silent.append(mistake)
        return silent, confused


@dataclass
class Proof:
    """Everything that was tried, and the sentences that say what falls short."""

    parts: list[PartProof]
    wall: WallTrials
    seeds: int
    shortcomings: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """True where nothing falls short."""
        return not self.shortcomings


def prove(
    course: Course,
    parts: Sequence[Part],
    *,
    seeds: int = 50,
    runs: int = RIGHT_RUNS,
    training_seeds: int = TRAINING_SEEDS,
    wall_every: int = 1,
    jobs: int | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Proof:
    """Try everything and judge it.

    Args:
        course: The checkout.
        parts: Which parts.
        seeds: On how many seeds both solutions are run.
        runs: How often every check is run on right work in all; the solution fills up what is missing.
        training_seeds: On how many seeds the checks that train are run on both solutions.
        wall_every: Each so-manyth mistake also goes through the wall; 1 is all of them.
        jobs: Processes beside this one.
        on_progress: Told how many tasks of how many are done.
    """
    second = second_solutions(course.root, course.sources)
    proofs = {part.name: PartProof(part) for part in parts}
    # Two threads that wait for each other by spinning cost a busy machine minutes; asleep they cost nothing.
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    workers = ProcessPoolExecutor(jobs or os.cpu_count() or 1, mp_context=get_context("spawn"))
    with no_modules_of_this_folder(), workers as pool:
        tasks = _submit(pool, course, second, (seeds, runs, training_seeds), proofs)
        wall = try_through_the_wall(course, parts, second, wall_every)  # in this process, while the pool works
        for done, (task, keep) in enumerate(tasks, start=1):
            keep(task.result())
            on_progress(done, len(tasks))
    proof = Proof([proofs[part.name] for part in parts], wall, seeds)
    proof.shortcomings = _judge(proof)
    return proof


Task = tuple["Future[RightTrials] | Future[WrongTrials]", Callable[..., None]]


def _submit(
    pool: ProcessPoolExecutor,
    course: Course,
    second: Mapping[str, str],
    counts: tuple[int, int, int],
    proofs: Mapping[str, PartProof],
) -> list[Task]:
    seeds, runs, training_seeds = counts
    sources = dict(course.sources)
    tasks: list[Task] = []
    for name, proof in proofs.items():
        part = proof.part
        bands = course.config.bands.get(name, {})
        exact = replace(part, checks=tuple(check for check in part.checks if not check.trains))
        training = replace(part, checks=tuple(check for check in part.checks if check.trains))
        # The longest first, so that no process is left with one at the end.
        for seed in range(MISTAKE_SEEDS):
            tasks.append((pool.submit(try_wrong, part, sources, seed, bands), proof.wrong.append))
        equivalents = equivalents_of(part, sources)
        proof.equivalents = len(equivalents)
        other = {"second solution": dict(second)} if second[part.module] != sources[part.module] else {}
        done = len(equivalents) * EQUIVALENT_SEEDS + len(other) * seeds
        trials = [
            (training, {"solution": sources, **other}, training_seeds, 1),
            (exact, {"solution": sources}, max(seeds, runs - done), _CHUNK),
            (exact, other, seeds, _CHUNK),
            (exact, equivalents, EQUIVALENT_SEEDS, _CHUNK),
        ]
        for some, texts, count, size in trials:
            for first in range(0, count if texts and some.checks else 0, size):
                chunk = range(first, min(first + size, count))
                tasks.append((pool.submit(try_right, some, texts, chunk, bands), _keep_right(proof)))
    return tasks


def _keep_right(proof: PartProof) -> Callable[[RightTrials], None]:
    def keep(trials: RightTrials) -> None:
        proof.right.runs += trials.runs
        for key, messages in trials.failures.items():
            proof.right.failures.setdefault(key, []).extend(messages)
        for check_id, share in trials.margins.items():
            proof.right.margins[check_id] = max(proof.right.margins.get(check_id, 0.0), share)

    return keep


def _judge(proof: Proof) -> list[str]:
    found = list(proof.wall.shortcomings)
    for one in proof.parts:
        name = one.part.name
        for (label, check_id), messages in one.right.failures.items():
            found.append(f"{name}: {label} fails {check_id} {len(messages)} times, first {messages[0]}")
        if len(one.mistakes) < LEAST_MISTAKES:
            found.append(f"{name}: {len(one.mistakes)} mistakes, at least {LEAST_MISTAKES} are due")
        found += [f"{name}: no check kills {mistake}" for mistake in one.mistakes if not one.killed_on(mistake)]
        found += [f"{name}: {mistake} is killed by luck, seed by seed" for mistake in one.lucky()]
        silent, confused = one.naming()
        found += [f"{name}: {mistake} is named as another mistake" for mistake in confused]
        if len(silent) > (1 - LEAST_NAMED) * len(one.mistakes):
            found.append(f"{name}: {len(silent)} of {len(one.mistakes)} mistakes are not named: {', '.join(silent)}")
        found += [f"{name}: {check_id} kills no mistake of the catalogue" for check_id in one.idle_checks()]
    return found
