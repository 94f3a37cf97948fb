"""Find the submissions in the folder that an instructor names."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import SubmissionError
from autograder.intake.folder import KINDS, reason_of
from autograder.intake.names import has_platform_prefix, is_clutter, is_private, looks_like_part_file, shown
from autograder.records import Refusal

OTHER_ARCHIVES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
LAYOUT = "Give the folder that holds one folder or one zip for each submission."


@dataclass(frozen=True, slots=True)
class Found:
    """What a folder of submissions holds: the submissions, sorted, and what is none, for the manifest."""

    entries: tuple[Path, ...]
    ignored: tuple[Refusal, ...] = ()


def find_submissions(folder: Path) -> Found:
    """Find one folder or zip for each submission.

    Args:
        folder: What the instructor named. It may be a link; what is in it may not.

    Raises:
        SubmissionError: If there is no such folder, if nothing in it is a submission, or if it is itself one.
    """
    try:
        with os.scandir(folder) as listed:
            found = sorted((entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in listed)
    except FileNotFoundError:
        raise SubmissionError(f"There is no folder {shown(str(folder))}.", LAYOUT) from None
    except NotADirectoryError:
        raise SubmissionError(f"{shown(str(folder))} is a file, not a folder.", LAYOUT) from None
    except OSError as error:
        message = f"The folder {shown(str(folder))} cannot be opened ({reason_of(error)})."
        raise SubmissionError(message, "Check who may read it.") from error
    _refuse_one_submission(folder, [name for name, mode in found if not stat.S_ISDIR(mode)])
    entries, ignored = [], []
    for name, mode in found:
        if is_clutter(name) or is_private(name):
            continue
        if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and name.lower().endswith(".zip")):
            entries.append(folder / name)
        else:
            ignored.append(Refusal(shown(name), _why_ignored(name, mode)))
    if not entries:
        there = f": only {ignored[0].path} ({ignored[0].reason})" if ignored else ""
        raise SubmissionError(f"There is no submission in {shown(str(folder))}{there}.", LAYOUT)
    return Found(tuple(entries), tuple(ignored))


def _refuse_one_submission(folder: Path, files: list[str]) -> None:
    """Stop when part files lie directly in the folder: then it is one submission, or many poured into one."""
    parts = [name for name in files if looks_like_part_file(name) and not is_private(name)]
    if not parts:
        return
    message = f"{shown(str(folder))} has part files in it ({shown(parts[0])}), so it is itself a submission."
    if all(has_platform_prefix(name) for name in parts):
        message = f"{shown(str(folder))} has the loose files of submissions in it ({shown(parts[0])})."
        raise SubmissionError(message, "Put the files of each student into a folder of their own.")
    parent = shown(str(folder.absolute().parent))
    remedy = f"Give the parent folder ({parent}), or move the part files out if they are nobody's submission."
    raise SubmissionError(message, remedy)


def _why_ignored(name: str, mode: int) -> str:
    if not stat.S_ISREG(mode):
        return KINDS.get(stat.S_IFMT(mode), "it is not a plain file")
    if name.lower().endswith(OTHER_ARCHIVES):
        return "not a submission: an archive of a kind that is not read; unpack it into a folder"
    return "not a submission: neither a folder nor a zip"
