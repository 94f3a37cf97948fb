"""Labs: the tables and figures of the course's two source texts, produced by the student's own code.

catalogue (which labs there are, read from their text) ─▶ run: work (the student's modules) and bench (measure, keep,
go on) ─▶ an experiment's ``run`` ─▶ report ─▶ show (terminal), plot (PNG), page (HTML).

Each lab is one module in ``experiments``; nothing is registered anywhere else.
"""

from autograder.labs.catalogue import Lab, all_labs, find_lab
from autograder.labs.report import Report
from autograder.labs.run import Settings, run_lab, save_report
from autograder.labs.work import StudentCodeError, Work

__all__ = ["Lab", "Report", "Settings", "StudentCodeError", "Work", "all_labs", "find_lab", "run_lab", "save_report"]
