"""Run inside nbgrader's environment, in the folder of a course: release, grade through the API, tell the scores.

``python drive_nbgrader.py release|grade|scores``; scores are printed as JSON, student -> check -> score or null.
"""

import json
import logging
import sys

ASSIGNMENT = "part3"


def api():
    """Open the course of the current folder."""
    from nbgrader.api import Gradebook  # noqa: F401 - registers its tables
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=".").load_config()
    return NbGraderAPI(CourseDirectory(config=config), config=config, log_level=logging.ERROR)


def main(what):
    """Do one of the three."""
    opened = api()
    if what == "release":
        done = opened.generate_assignment(ASSIGNMENT)
        if not done["success"]:
            raise SystemExit(done.get("log") or done.get("error"))
    elif what == "grade":
        for student in sorted(opened.get_submitted_students(ASSIGNMENT)):
            opened.autograde(ASSIGNMENT, student)
            opened.generate_feedback(ASSIGNMENT, student)
            print(student, file=sys.stderr, flush=True)
    else:
        print(json.dumps(scores(opened)))


def scores(opened):
    """Read every score from the gradebook."""
    found = {}
    with opened.gradebook as book:
        for submission in book.assignment_submissions(ASSIGNMENT):
            grades = submission.notebooks[0].grades if submission.notebooks else []
            found[submission.student.id] = {
                grade.name: None if grade.needs_manual_grade and grade.manual_score is None else grade.score
                for grade in grades
            }
    return found


if __name__ == "__main__":
    main(sys.argv[1])
