"""Make solutions/ and student_template/ from assignments/: authors write each thing once."""

from autograder.build.notebook import to_notebook
from autograder.build.regions import Region, find_regions, solution, template
from autograder.build.tree import check, plan, write

__all__ = ["Region", "check", "find_regions", "plan", "solution", "template", "to_notebook", "write"]
