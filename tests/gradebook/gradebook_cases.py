"""A result as a run writes it, and the rows that a gradebook is made of."""

from dataclasses import replace
from pathlib import Path

from autograder.records import Check, CheckResult, Outcome, Part, PartScore, Submission, SubmissionResult

PARTS = ["part1", "part2", "part3"]


def make_result(**changes) -> SubmissionResult:
    checks = (
        Check(id="test_a", title="A.", points=2, exercise="f", hint="", hidden=False, line=1),
        Check(id="test_b", title="B.", points=3.5, exercise="f", hint="", hidden=True, line=2),
    )
    part = Part(
        name="part3",
        topic="attention",
        module="part3_attention",
        folder=Path("x"),
        title="T",
        version=1,
        checks=checks,
    )
    results = (
        CheckResult(checks[0], Outcome.PASSED, seconds=0.12345),
        CheckResult(
            checks[1],
            Outcome.FAILED,
            message="expected 1\n",
            diagnosis="not scaled",
            mistake="scores_not_scaled",
            traceback="line 3\nValueError",
        ),
    )
    result = SubmissionResult(
        submission=Submission("ada", sha256={"part3_attention.py": "f00"}),
        parts={"part3": PartScore(part, results, 2.0, Outcome.FAILED, 1.5)},
        total=3.0,
        max=8.25,
        flags=("part2 missing",),
        seed=7,
        sandbox=1,
        suites_sha256="s",
        config_sha256="c",
        environment={"torch": "2.13"},
    )
    return replace(result, **changes)


def make_row(name: str = "ada", parts: dict | None = None, total: float = 0, flags: tuple = (), top: float = 10):
    return {"submission": name, "parts": parts or {}, "total": total, "max": top, "flags": list(flags)}


def scored(score: float | None, weight: float = 1) -> dict:
    return {"points": 10, "score": score, "weight": weight}
