"""Run a part's suites, as real pytest, against student code that is somewhere else."""

from autograder.suite.connection import PartConnection, WorkerLike
from autograder.suite.run import run_part, suite_is_broken

__all__ = ["PartConnection", "WorkerLike", "run_part", "suite_is_broken"]
