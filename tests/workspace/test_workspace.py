"""A student's workspace: init overwrites nothing, and status survives whatever stands there."""

import os
from pathlib import Path

import pytest
from toy_workspace import MODULE, TEMPLATE, notebook

from autograder.errors import UsageError
from autograder.workspace import (
    Initialised,
    Progress,
    PublicResult,
    find_source,
    init,
    read_results,
    record_result,
    status,
)

WRITTEN = "def attention(q, k, v):\n    raise NotImplementedError('ragged')\n"


def test_init_copies_parts_and_readme_and_no_checks(template, tmp_path):
    made = init(tmp_path / "new" / "gpt")
    names = ["README.md", f"{MODULE}.ipynb", f"{MODULE}.py"]
    assert made == Initialised(created=tuple(tmp_path / "new" / "gpt" / name for name in names), kept=())
    assert sorted(path.name for path in (tmp_path / "new" / "gpt").iterdir()) == names
    assert (tmp_path / "new" / "gpt" / f"{MODULE}.py").read_bytes() == (template / f"{MODULE}.py").read_bytes()


def test_init_overwrites_nothing_and_says_what_it_kept(template, tmp_path):
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / f"{MODULE}.py").write_text("my work\n")
    (tmp_path / "gpt" / "README.md").symlink_to(tmp_path / "outside.md")
    made = init(tmp_path / "gpt")
    assert [path.name for path in made.created] == [f"{MODULE}.ipynb"]
    assert [path.name for path in made.kept] == ["README.md", f"{MODULE}.py"]
    assert (tmp_path / "gpt" / f"{MODULE}.py").read_text() == "my work\n"
    assert not (tmp_path / "outside.md").exists()


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_init_refuses_a_file_as_its_folder(template, tmp_path, name):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is a file, not a folder"):
        init(tmp_path / name)


def test_init_says_when_it_may_not_write(template, tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(UsageError, match=r"cannot write in .* \(Permission denied\)"):
        init(tmp_path / "gpt")


def test_source_is_the_module_before_the_notebook(workspace, part):
    module, own = workspace / f"{MODULE}.py", workspace / f"{MODULE}.ipynb"
    assert find_source(workspace, part) == module
    own.write_text(notebook(TEMPLATE, outputs="ran"))
    assert find_source(workspace, part) == module
    own.write_text(notebook(WRITTEN))
    assert find_source(workspace, part) == own, "the student works in the notebook and left the module alone"
    module.write_text(WRITTEN)
    assert find_source(workspace, part) == module
    module.unlink()
    assert find_source(workspace, part) == own
    own.unlink()
    assert find_source(workspace, part) is None


def test_status_of_a_fresh_workspace_is_not_started(workspace, part):
    (found,) = status(workspace, {"part3": part})
    assert (found.progress, found.unwritten, found.problem) == (
        Progress.NOT_STARTED,
        ("attention", "Head.forward"),
        "",
    )


def test_status_ignores_line_endings(workspace, part):
    (workspace / f"{MODULE}.py").write_bytes(TEMPLATE.replace("\n", "\r\n").encode())
    assert status(workspace, [part])[0].progress is Progress.NOT_STARTED


def test_status_counts_the_exercises_that_are_not_written(workspace, part):
    half = TEMPLATE.replace('raise NotImplementedError("part3: attention is not written yet")', "return q")
    (workspace / f"{MODULE}.py").write_text(half)
    found = status(workspace, [part])[0]
    assert (found.progress, found.unwritten) == (Progress.IN_PROGRESS, ("Head.forward",))


def test_status_names_exercises_in_the_order_of_the_file(workspace, part):
    later = '\ndef last():\n    raise NotImplementedError("part3: last is not written yet")\n'
    (workspace / f"{MODULE}.py").write_text(TEMPLATE + later)
    assert status(workspace, [part])[0].unwritten == ("attention", "Head.forward", "last")


def test_status_takes_another_error_of_the_student_for_written(workspace, part):
    (workspace / f"{MODULE}.py").write_text(WRITTEN + '# raise NotImplementedError("part3: x is not written yet")\n')
    assert status(workspace, [part])[0].progress is Progress.WRITTEN


def test_status_of_a_file_that_is_not_python_names_the_line(workspace, part):
    (workspace / f"{MODULE}.py").write_text(TEMPLATE + "def broken(:\n")
    found = status(workspace, [part])[0]
    assert found.progress is Progress.IN_PROGRESS
    assert found.unwritten == ("attention", "Head.forward")
    assert found.problem == f"{MODULE}.py, line 11: invalid syntax"


@pytest.mark.parametrize("data", [b"x = '\x00'\n", b"(" * 5000, b"\xff\xfe\xfa"])
def test_status_survives_a_damaged_module(workspace, part, data):
    (workspace / f"{MODULE}.py").write_bytes(data)
    found = status(workspace, [part])[0]
    assert found.progress is Progress.IN_PROGRESS
    assert found.problem.startswith(f"{MODULE}.py, line 1: ")


def test_status_reads_a_notebook_with_lines_for_the_notebook(workspace, part):
    (workspace / f"{MODULE}.py").unlink()
    cells = [
        "%load_ext autoreload\n!pip list\nif True:\n    %time\n",
        "%%bash\nls -l | wc\n",
        "rest = (7\n % 4)",
        TEMPLATE,
    ]
    (workspace / f"{MODULE}.ipynb").write_text(notebook(*cells))
    found = status(workspace, [part])[0]
    assert (found.unwritten, found.problem) == (("attention", "Head.forward"), "")
    (workspace / f"{MODULE}.ipynb").write_text(notebook("x = 1", "def f(:\n"))
    assert status(workspace, [part])[0].problem == f"{MODULE}.ipynb, cell 2 line 1: invalid syntax"


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": [1]}', '{"cells": [{"cell_type": "code", "source": 1}]}'])
def test_status_survives_a_broken_notebook(workspace, part, text):
    (workspace / f"{MODULE}.py").unlink()
    (workspace / f"{MODULE}.ipynb").write_text(text)
    assert "it is not a notebook" in status(workspace, [part])[0].problem


def test_status_says_what_is_missing(workspace, part):
    for suffix in (".py", ".ipynb"):
        (workspace / f"{MODULE}{suffix}").unlink()
    found = status(workspace, [part])[0]
    assert (found.progress, found.source) == (Progress.MISSING, None)


def test_results_are_remembered_by_part(workspace, part):
    record_result(workspace, "part1", 1, 2, 0.5, 3)
    record_result(workspace, "part3", 3, 5, 4, 9.5)
    record_result(workspace, "part3", 4, 5, 6.5, 9.5)
    assert read_results(workspace) == {"part1": PublicResult(1, 2, 0.5, 3), "part3": PublicResult(4, 5, 6.5, 9.5)}
    assert status(workspace, [part])[0].last == PublicResult(4, 5, 6.5, 9.5)
    assert os.listdir(workspace / ".gpt-hw") == ["last.json"]


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"\xff",
    b"[" * 100_000,
    b'{"version": 1}',
    b'{"version": 2, "parts": {"part3": {"passed": 1, "total": 1, "points": 1, "max_points": 1}}}',
    b'{"version": 1, "parts": []}',
    b'{"version": 1, "parts": {"part3": 1}}',
    b'{"version": 1, "parts": {"part3": {"passed": 1}}}',
    b'{"version": 1, "parts": {"part3": {"passed": "1", "total": 1, "points": 1, "max_points": 1}}}',
    b'{"version": 1, "parts": {"part3": {"passed": true, "total": 1, "points": 1, "max_points": 1}}}',
    b'{"version": 1, "parts": {"part3": {"passed": 2, "total": 1, "points": 1, "max_points": 1}}}',
    b'{"version": 1, "parts": {"part3": {"passed": 1, "total": 1, "points": NaN, "max_points": 1}}}',
    b'{"version": 1, "parts": {"part3": {"passed": 1, "total": 1, "points": 1, "max_points": Infinity}}}',
]


@pytest.mark.parametrize("data", DAMAGED, ids=range(len(DAMAGED)))
def test_results_that_are_damaged_are_left_out_and_written_anew(workspace, data):
    (workspace / ".gpt-hw").mkdir()
    (workspace / ".gpt-hw" / "last.json").write_bytes(data)
    assert read_results(workspace) == {}
    record_result(workspace, "part3", 1, 2, 1, 2)
    assert read_results(workspace) == {"part3": PublicResult(1, 2, 1, 2)}


@pytest.mark.parametrize("blocked", [".gpt-hw", ".gpt-hw/last.json/x"])
def test_results_that_cannot_be_written_stop_nothing(workspace, blocked):
    (workspace / blocked).parent.mkdir(parents=True, exist_ok=True)
    (workspace / blocked).write_text("in the way")
    record_result(workspace, "part3", 1, 2, 1, 2)
    assert read_results(workspace) == {}
    assert not list(workspace.rglob("*.new"))
