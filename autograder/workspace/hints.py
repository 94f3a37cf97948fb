"""Climb the ladder of hints of an exercise: the question, the idea, the line of reasoning."""

from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError, did_you_mean
from autograder.parts import TEST_PREFIX
from autograder.records import Part
from autograder.workspace.memory import recall, remember
from autograder.workspace.source import find_source, read_stubs

RUNGS = ("question", "idea", "line of reasoning")


@dataclass(frozen=True, slots=True)
class Hint:
    """One rung of the ladder of an exercise.

    ``level`` counts from 1 to ``levels``. ``is_repeated`` says that the ladder had been climbed to its top
    before, so there is nothing further to tell. ``others`` are the other exercises with hints.
    """

    part: Part
    exercise: str
    rung: str
    text: str
    level: int
    levels: int
    is_repeated: bool = False
    others: tuple[str, ...] = ()


def hint(folder: Path, part: Part, word: str | None = None, level: int | None = None) -> Hint:
    """Give a hint of an exercise: at each call one rung further up its ladder.

    Args:
        folder: The workspace, where the level reached is remembered.
        part: The part.
        word: An exercise or the id of a check; None is the first exercise that is not written yet.
        level: The rung to give, from 1; None is the one after the last that was given.

    Raises:
        UsageError: ``word`` names nothing in this part, or nothing that has a hint, or there is no such rung.
    """
    exercise, ladder = _ladder(part, _first_unwritten(folder, part) if word is None else _find_exercise(part, word))
    if not ladder:
        others = ", ".join(part.hints)
        remedy = f"{part.name} has hints for: {others}." if others else "Read the part's text above the exercise again."
        raise UsageError(f"{part.name} has no hint for {exercise or 'any exercise'}", remedy)

    levels = recall(folder, "hints.json")
    reached = levels.get(part.name)
    reached = reached if isinstance(reached, dict) else {}
    before = reached.get(exercise)
    before = before if type(before) is int and 0 <= before <= len(ladder) else 0
    wanted = min(before + 1, len(ladder)) if level is None else level
    if not 1 <= wanted <= len(ladder):
        raise UsageError(f"{exercise} has no hint {wanted}", f"Ask for a level from 1 to {len(ladder)}.")
    remember(folder, "hints.json", {**levels, part.name: {**reached, exercise: max(before, wanted)}})
    return Hint(
        part=part,
        exercise=exercise,
        rung=RUNGS[wanted - 1],
        text=ladder[wanted - 1],
        level=wanted,
        levels=len(ladder),
        is_repeated=level is None and before == len(ladder),
        others=tuple(name for name in part.hints if name != exercise),
    )


def _first_unwritten(folder: Path, part: Part) -> str:
    source = find_source(folder, part)
    unwritten = read_stubs(source)[0] if source else ()
    return next((name for name in (*unwritten, *_exercises(part)) if _ladder(part, name)[1]), "")


def _find_exercise(part: Part, word: str) -> str:
    exercises = _exercises(part)
    checks = {check.id: check.exercise for check in part.checks}
    wanted = word.strip().removeprefix(TEST_PREFIX).casefold()
    # status names methods (Head.forward); a class may have its hints under its own name
    for name in (wanted, wanted.partition(".")[0]):
        for known, exercise in {**checks, **dict(zip(exercises, exercises, strict=True))}.items():
            if name == known.casefold():
                return exercise
    guess = did_you_mean(word, [*exercises, *checks])
    if not guess.startswith("Did"):
        guess = did_you_mean(word, exercises)  # a list of all checks would be a page
    raise UsageError(f"{part.name} has no exercise and no check called '{word}'", guess)


def _exercises(part: Part) -> list[str]:
    return list(dict.fromkeys([*part.hints, *(check.exercise for check in part.checks)]))


def _ladder(part: Part, exercise: str) -> tuple[str, tuple[str, ...]]:
    """Give the hints of an exercise, else those of its class, else the hints of its checks; and whose they are."""
    for name in (exercise, exercise.partition(".")[0]):
        if part.hints.get(name):
            return name, part.hints[name]
    texts = [check.hint for check in part.checks if check.exercise == exercise and check.hint]
    return exercise, tuple(dict.fromkeys(texts))[: len(RUNGS)]
