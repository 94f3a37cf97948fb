"""Intake: read what was handed in, and make it harmless.

find_submissions ─▶ paths ─▶ read_submission ─▶ Submission

``text`` and ``notebook`` turn bytes into source; ``names`` judges names; ``folder`` and ``archive`` list what is there
without opening it; ``taking`` chooses the part files and reads only those. Nothing is ever written or unpacked to disk.
"""

from autograder.intake.entries import Found, find_submissions
from autograder.intake.names import unique_names
from autograder.intake.taking import read_source, read_submission

__all__ = ["Found", "find_submissions", "read_source", "read_submission", "unique_names"]
