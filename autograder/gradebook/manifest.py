"""manifest.json: what was found among the submissions, what was taken, what was refused, and why."""

from collections.abc import Iterable, Mapping
from typing import Any

from autograder.records import Refusal, Submission

FORMAT_VERSION = 1


def manifest_json(
    *,
    entries: Mapping[str, Submission],
    unreadable: Mapping[str, str] | None = None,
    ignored: Iterable[Refusal] = (),
) -> dict[str, Any]:
    """Account for every entry of the folder of submissions, so that nothing is lost in silence.

    The same folder gives the same manifest: there is no time, no machine and no order of discovery in it.

    Args:
        entries: What was read, by the path of its folder or zip relative to the folder of submissions.
        unreadable: Entries that could not be read at all, path to reason.
        ignored: Entries that are no submission, such as ``.DS_Store``.

    Returns:
        Plain JSON values; ``files`` maps each file taken to its sha256, ``problems`` each module that could not be
        taken to a sentence.
    """
    return {
        "version": FORMAT_VERSION,
        "submissions": [_entry_json(path, entries[path]) for path in sorted(entries)],
        "unreadable": [{"path": path, "reason": reason} for path, reason in sorted((unreadable or {}).items())],
        "ignored": _refusals_json(ignored),
    }


def _entry_json(path: str, submission: Submission) -> dict[str, Any]:
    """Account for one submission."""
    return {
        "name": submission.name,
        "path": path,
        "files": dict(sorted(submission.sha256.items())),
        "problems": dict(sorted(submission.problems.items())),
        "refused": _refusals_json(submission.refused),
        "warnings": list(submission.warnings),
    }


def _refusals_json(refusals: Iterable[Refusal]) -> list[dict[str, str]]:
    """List what was not taken, sorted by path, then by reason."""
    pairs = sorted((refusal.path, refusal.reason) for refusal in refusals)
    return [{"path": path, "reason": reason} for path, reason in pairs]
