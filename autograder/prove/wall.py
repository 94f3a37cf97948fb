"""The same texts as real submissions, through the wall: solutions, template and every mistake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from autograder.pipeline import Course, Line
from autograder.records import Part, PartScore, Submission


@dataclass
class WallTrials:
    """How many submissions were graded, how many mistakes were named right, and what falls short."""

    rung: int = 0
    submissions: int = 0
    named: dict[str, int] = field(default_factory=dict)
    shortcomings: list[str] = field(default_factory=list)


def try_through_the_wall(
    course: Course, parts: Sequence[Part], second: Mapping[str, str], every: int = 1
) -> WallTrials:
    """Grade both solutions, the template and every mistake, as ``gpt-hw grade`` would.

    Args:
        course: The checkout.
        parts: Which parts.
        second: Module -> text of the second solution.
        every: Of the mistakes, each so-manyth: 1 is all of them.
    """
    from autograder.checks.local import mistakes_of

    found = WallTrials()
    with Line(course) as line:
        line.start()
        found.rung = line.rung
        for part in parts:
            for label, sources in (("the solution", course.sources), ("the second solution", second)):
                score = _grade(line, part, sources, found)
                if score.score != part.points:
                    lost = [result.check.id for result in score.results if result.score != result.check.points]
                    found.shortcomings.append(f"{part.name}: {label} loses points in {', '.join(lost)}")
            template = {**course.sources, part.module: course.templates.get(part.module, "")}
            score = _grade(line, part, template, found)
            if score.score != 0:
                won = [result.check.id for result in score.results if result.score]
                found.shortcomings.append(f"{part.name}: the template passes {', '.join(won)}")
            for name, mistake in list(mistakes_of(part.folder / "mistakes.py").items())[::every]:
                wrong = mistake.applied_to(course.sources[part.module])
                # Training takes half a minute a submission, and is tried in process on the mistakes that it is for.
                tried = replace(part, checks=tuple(c for c in part.checks if not c.trains or c.id in mistake.trains))
                score = _grade(line, tried, {**course.sources, part.module: wrong}, found)
                _judge(tried, name, score, found)
    return found


def _grade(line: Line, part: Part, sources: Mapping[str, str], found: WallTrials) -> PartScore:
    found.submissions += 1
    result = line.grade(Submission(name="proof", sources=sources), [part])
    return result.parts[part.name]


def _judge(part: Part, name: str, score: PartScore, found: WallTrials) -> None:
    names = {result.mistake for result in score.results if result.mistake}
    if score.score is None:
        found.shortcomings.append(f"{part.name}: grading the mistake {name} ended in an error of ours")
    elif score.score == part.points:
        found.shortcomings.append(f"{part.name}: the mistake {name} gets full marks")
    if names == {name}:
        found.named[part.name] = found.named.get(part.name, 0) + 1
    elif names:
        found.shortcomings.append(f"{part.name}: the mistake {name} is named {', '.join(sorted(names))}")
