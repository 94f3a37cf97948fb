"""Keep a student's workspace: make it, see how far each part is, climb the ladder of hints.

memory (what .gpt-hw/ holds) and source (a student's file) ─▶ folder (init, status) and hints.
"""

from autograder.workspace.folder import Initialised, PartStatus, Progress, init, status
from autograder.workspace.hints import Hint, hint
from autograder.workspace.memory import PublicResult, read_results, record_result
from autograder.workspace.source import find_source

__all__ = [
    "Hint",
    "Initialised",
    "PartStatus",
    "Progress",
    "PublicResult",
    "find_source",
    "hint",
    "init",
    "read_results",
    "record_result",
    "status",
]
