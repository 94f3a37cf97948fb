"""nbgrader as the author's tool, the store and the renderer; the wall stays the judge.

assignments/ ─ source ─▶ a course of nbgrader ─ its commands ─▶ submitted/ ─ batch, grading ─▶ gradebook, feedback

``questions`` reads what is graded by hand, ``cells`` says which cell of a notebook stands for which checks, ``source``
makes the instructor's notebook, ``course`` the folder around it.

The rest runs inside nbgrader's own process. ``release`` leaves the stubs. ``collect`` reads downloads. ``batch`` reads
submissions and grades them, ``recover`` mends what students did to their notebooks, ``tolerance`` keeps one accident
from stopping the others; ``grading`` and ``feedback`` are what nbgrader calls, ``cell_output`` is what a student sees.
``exporting`` writes nbgrader's table, ``database`` brings the results of ``gpt-hw grade`` into nbgrader's gradebook.
"""

import os
import sys
from pathlib import Path

# nbgrader starts alembic by its name, which an environment that is used without being activated has on no PATH.
_BESIDE_PYTHON = str(Path(sys.executable).parent)
if _BESIDE_PYTHON not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join([_BESIDE_PYTHON, os.environ.get("PATH", os.defpath)])
