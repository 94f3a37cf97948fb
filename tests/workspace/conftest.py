"""A toy template, a workspace made of it, and its part."""

import pytest
from toy_workspace import MODULE, TEMPLATE, notebook

from autograder import parts as parts_module
from autograder.records import Check, Part
from autograder.workspace import init


@pytest.fixture
def template(tmp_path, monkeypatch):
    monkeypatch.setattr(parts_module, "__file__", str(tmp_path / "autograder" / "parts.py"))
    folder = tmp_path / "student_template"
    (folder / "checks" / MODULE).mkdir(parents=True)
    (folder / "checks" / MODULE / "test_public.py").write_text("")
    (folder / "README.md").write_text("Read me\n")
    (folder / f"{MODULE}.py").write_text(TEMPLATE)
    (folder / f"{MODULE}.ipynb").write_text(notebook(TEMPLATE))
    (folder / "stray.txt").write_text("")
    return folder


@pytest.fixture
def workspace(template, tmp_path):
    init(tmp_path / "gpt")
    return tmp_path / "gpt"


@pytest.fixture
def part(tmp_path):
    checks = (
        Check("rows_sum_to_one", "Rows sum to one.", 1, "attention", "", False, 1),
        Check("head_is_causal", "No future.", 1, "Head.forward", "", False, 2),
        Check("lonely", "Lonely.", 1, "alone", "Look at the axis.", False, 3),
        Check("silent", "Silent.", 1, "mute", "", False, 4),
    )
    hints = {"attention": ("question a", "idea a", "reasoning a"), "Head": ("question h", "idea h")}
    return Part("part3", "attention", MODULE, tmp_path, "Heads", 1, hints=hints, checks=checks)
