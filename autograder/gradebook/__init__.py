"""What is kept of a run: one result.json a submission, the gradebook and the manifest."""

from autograder.gradebook.journal import Journal
from autograder.gradebook.manifest import manifest_json
from autograder.gradebook.moves import Move, moves, phrases
from autograder.gradebook.overrides import FILE_NAME as OVERRIDES
from autograder.gradebook.overrides import Override, by_submission, read_overrides, with_overrides
from autograder.gradebook.results import (
    brief,
    follows,
    is_current,
    json_text,
    read_result,
    to_json,
    unresolved,
    write_atomically,
)
from autograder.gradebook.table import gradebook_rows, split_flag, write_gradebook

__all__ = [
    "OVERRIDES",
    "Journal",
    "Move",
    "Override",
    "brief",
    "by_submission",
    "follows",
    "gradebook_rows",
    "is_current",
    "json_text",
    "manifest_json",
    "moves",
    "phrases",
    "read_overrides",
    "read_result",
    "split_flag",
    "to_json",
    "unresolved",
    "with_overrides",
    "write_atomically",
    "write_gradebook",
]
