"""The class that several files grade again."""

import shutil
import sys
from pathlib import Path

import pytest
from regrade_stand_in import CONFIG, PARTS, ROOT, StandIn, hand_in


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys.modules["autograder.pipeline.grade"], "Crew", StandIn)
    monkeypatch.setattr(StandIn, "lost", {})
    monkeypatch.setattr(StandIn, "asked", [])
    monkeypatch.setattr(StandIn, "stop_after", None)
    monkeypatch.setattr(StandIn, "rung", 1)
    monkeypatch.setattr(StandIn, "started", [])
    course = tmp_path / "course"
    for module in PARTS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "assignments" / module, course / "assignments" / module, ignore=ignored)
    (course / "grading.yml").write_text(CONFIG)
    for name in ("ada", "bob", "cyd"):
        hand_in(course, name, "x = 1\n")
    return course
