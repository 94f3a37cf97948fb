"""The line that a submission travels: intake ─▶ suite ⇄ worker ─▶ scoring ─▶ report and gradebook.

``course`` reads what is to be graded and by which rules, ``line`` grades one submission, ``grade`` a folder of them
for an instructor (``crew`` and ``lanes`` side by side, ``book`` deciding what counts), ``practice`` a student's own
workspace.
"""

from autograder.pipeline.book import Summary
from autograder.pipeline.course import Course, open_course
from autograder.pipeline.grade import Progress, grade
from autograder.pipeline.line import Line
from autograder.pipeline.practice import PartRun, Practice

__all__ = ["Course", "Line", "PartRun", "Practice", "Progress", "Summary", "grade", "open_course"]
