"""What is kept of a run: one result.json a submission, the gradebook and the manifest."""

from autograder.gradebook.manifest import manifest_json
from autograder.gradebook.results import is_current, json_text, moved_scores, read_result, to_json, write_atomically
from autograder.gradebook.table import gradebook_rows, write_gradebook

__all__ = [
    "gradebook_rows",
    "is_current",
    "json_text",
    "manifest_json",
    "moved_scores",
    "read_result",
    "to_json",
    "write_atomically",
    "write_gradebook",
]
