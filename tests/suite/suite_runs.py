"""Suites of a toy part, and runs of them against a text."""

import textwrap

from autograder.checks.catalogue import NoCatalogue
from autograder.checks.local import InProcessWorker
from autograder.records import CheckResult, Limits
from autograder.suite import run_part
from autograder.worker import Session

LIMITS = Limits(check_s=1.0, memory_mib=256)


class Here(InProcessWorker):
    """A worker in this process that answers as one behind the wall does, where ``InProcessWorker`` lets errors out."""

    def __init__(self) -> None:
        super().__init__()
        self._session = Session()


def check_named(name: str, body: str, decorator: str = '@check(points=2, exercise="f")') -> str:
    lines = "\n".join(f"    {line}" for line in textwrap.dedent(body).strip().splitlines())
    return f'{decorator}\ndef test_{name}(student, rng):\n    """It holds."""\n{lines}\n\n'


def run(part, text: str, workers=Here, **sources: str) -> dict[str, CheckResult]:
    """Run a part's suites against a text."""
    results = run_part(
        part,
        {"part1_toy": textwrap.dedent(text), **sources},
        workers,
        seed=3,
        limits=LIMITS,
        catalogue=NoCatalogue(),
    )
    assert sorted(result.check.id for result in results) == sorted(check.id for check in part.checks)
    return {result.check.id: result for result in results}


def outcomes(results) -> dict[str, str]:
    return {name: result.outcome.value for name, result in results.items()}


FOUR = (
    check_named("right", "equal(student.f(1), 2)")
    + check_named("wrong", "equal(student.f(2), 4)")
    + check_named("raises", "equal(student.g(), 1)")
    + check_named("broken", "student.f(1) + None")
)
OWN = "def f(x):\n    print('f', x)\n    return x + 1\ndef g():\n    return {}['key']\n"
