"""What students type, from ``init`` to ``pack``: each command's words, its exit code, and what it writes."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from command_runs import Done, Typed, command, refused, run
from course_folders import SOLUTIONS, solution, write_in_notebook

from autograder.intake import read_submission
from autograder.parts import public_parts


@pytest.fixture(scope="module")
def tested(workspace: Path) -> Done:
    """All parts tested at once, for a terminal that knows ASCII alone."""
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return run("test", "part1", "2", "attention", cwd=workspace, **ascii_only)


def test_init_makes_a_workspace_and_overwrites_nothing(tmp_path: Path, typed: Typed) -> None:
    done = typed("init", "work", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "Begin with: cd work && gpt-hw test part1" in done.out
    file = tmp_path / "work" / "part1_average.py"
    file.write_text("mine")
    done = typed("init", cwd=tmp_path / "work")
    assert re.search(r"^kept +part1_average\.py$", done.out, re.MULTILINE)
    assert file.read_text() == "mine"


def test_test_tells_each_part_in_plain_ascii(tested: Done) -> None:
    assert tested.code == 1
    assert tested.out.isascii()
    assert tested.err.isascii()
    assert re.search(r"^part1: \d+ of \d+ public checks pass", tested.out, re.MULTILINE)
    assert "causal_mask lets each position read itself" in tested.out


def test_test_takes_the_notebook_where_there_is_no_module(tested: Done) -> None:
    assert re.search(r"^part2: (\d+) of \1 public checks pass", tested.out, re.MULTILINE)
    assert tested.out.count("Public checks passed. The hidden checks run later") == 1


def test_test_shows_a_slip_of_syntax_with_its_line(tested: Done) -> None:
    assert "part3_attention.py does not import: SyntaxError" in tested.out
    assert "line 2" in tested.out


def test_test_as_json(workspace: Path) -> None:
    done = run("test", "part1", "--json", cwd=workspace)
    assert (done.code, done.err) == (1, "")
    assert done.json["version"] == 1
    (part,) = done.json["parts"]
    assert part["part"] == "part1"
    outcomes = {check["id"]: check["outcome"] for check in part["checks"]}
    assert outcomes["causal_mask_hides_the_future"] == "failed"
    assert outcomes["prefix_mean_loop_averages_each_prefix"] == "passed"
    assert 0 < part["score"] < part["points"]


def test_test_says_which_file_is_missing_and_tests_the_others(workspace: Path, tmp_path: Path) -> None:
    shutil.copy(SOLUTIONS / "part1_average.py", tmp_path)
    done = run("test", "part1", "part2", cwd=tmp_path)
    assert done.code == 2
    assert f"part2: there is no part2_scores.py in {tmp_path}" in done.err
    assert "gpt-hw init" in done.err
    assert "Public checks passed." in done.out


def test_pdb_stops_in_the_students_frame(tmp_path: Path) -> None:
    text = (
        solution("part1_average") + "\n\ndef causal_mask(T, device=None):\n    size = T + 7000\n    return undefined\n"
    )
    (tmp_path / "part1_average.py").write_text(text)
    done = run("test", "part1", "--pdb", cwd=tmp_path, stdin="p size\nq\n")
    assert done.code == 1
    assert re.search(r"part1_average\.py\(\d+\)causal_mask\(\)", done.out)
    assert re.search(r"\(Pdb\) 70\d\d", done.out), "the student's local variables can be seen"
    assert "in the debugger" in done.out
    assert "the grader failed" not in done.out
    assert not (tmp_path / ".gpt-hw").exists(), "a run in the debugger is no result"


def test_status_remembers_the_last_run(workspace: Path, tested: Done, typed: Typed) -> None:
    done = typed("status", cwd=workspace)
    assert (done.code, done.err) == (0, "")
    rows = typed("status", "--json", cwd=workspace).json["parts"]
    state = {row["part"]: row for row in rows}
    assert state["part1"]["progress"] == "written"
    assert state["part1"]["last"]["passed"] < state["part1"]["last"]["total"]
    assert state["part2"]["source"].endswith("part2_scores.ipynb")
    assert state["part2"]["last"]["passed"] == state["part2"]["last"]["total"]
    assert "part3_attention.py, line 2" in state["part3"]["problem"]
    for row in rows:
        assert row["part"] in done.out


def test_status_of_a_new_workspace_lists_what_is_left_once_it_is_begun(tmp_path: Path, typed: Typed) -> None:
    typed("init", cwd=tmp_path)
    path = tmp_path / "part1_average.py"
    stub = 'raise NotImplementedError("part1: causal_mask is not written yet")'
    text = path.read_text()
    assert stub in text
    assert "causal_mask" not in typed("status", cwd=tmp_path).out
    path.write_text(text.replace(stub, "return None"))
    row = typed("status", "--json", cwd=tmp_path).json["parts"][0]
    assert row["progress"] == "in progress"
    assert "masked_softmax" in row["unwritten"]
    assert "causal_mask" not in row["unwritten"]


def test_hints_climb_one_rung_at_a_time_and_json_gives_no_more(workspace: Path, typed: Typed) -> None:
    first = typed("hint", "part1", "causal_mask", cwd=workspace)
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("causal_mask, question (1 of 3)\n")
    second = typed("hint", "1", "causal_mask_hides_the_future", "--json", cwd=workspace).json
    assert (second["exercise"], second["rung"], second["level"]) == ("causal_mask", "idea", 2)
    assert "hints" not in json.dumps(second)
    assert typed("hint", "average", "causal_mask", cwd=workspace).out.startswith(
        "causal_mask, line of reasoning (3 of 3)"
    )
    assert "That was the last hint" in typed("hint", "part1", "test_causal_mask", cwd=workspace).out


def test_doctor_as_json(workspace: Path) -> None:
    done = run("doctor", "--json", cwd=workspace)
    assert done.err == ""
    assert done.code == (1 if done.json["problems"] else 0)
    assert done.json["facts"]["gpt-hw"]
    assert [rung["rung"] for rung in done.json["rungs"]] == [1, 2]


@pytest.mark.parametrize("words", [["--help"], ["status"], ["status", "--json"], ["grade", "-h"]], ids=" ".join)
def test_a_reader_who_has_seen_enough_is_no_error(workspace: Path, words: list[str]) -> None:
    with subprocess.Popen(
        command(*words), cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode in (0, 1)


# -- pack ------------------------------------------------------------------------------------------------------------


def test_pack_takes_what_is_graded_and_intake_reads_it_back(tmp_path: Path, typed: Typed) -> None:
    typed("init", cwd=tmp_path)
    write_in_notebook(tmp_path, "part2_scores")
    (tmp_path / "part1_average.py").write_text(solution("part1_average"))
    (tmp_path / "notes.txt").write_text("not for anybody")
    done = typed("pack", cwd=tmp_path)
    assert done.code == 0
    assert re.search(r"^took +part1_average\.py$", done.out, re.MULTILINE)
    assert re.search(r"^took +part2_scores\.ipynb$", done.out, re.MULTILINE)
    assert "notes" not in done.out
    assert done.out.endswith("Hand in submission.zip\n")
    assert "warning: part3_attention.py is still as it was given out" in done.err
    with zipfile.ZipFile(tmp_path / "submission.zip") as archive:
        assert {"part1_average.py", "part2_scores.ipynb", "part3_attention.py"} <= set(archive.namelist())
    read = read_submission(tmp_path / "submission.zip", {part.module: part.name for part in public_parts().values()})
    assert read.sources["part1_average"] == solution("part1_average")
    assert "def scaled_scores" in read.sources["part2_scores"]
    assert (read.problems, read.refused) == ({}, ())
    first = (tmp_path / "submission.zip").read_bytes()
    assert typed("pack", cwd=tmp_path).code == 0
    assert (tmp_path / "submission.zip").read_bytes() == first, "packing again replaces the zip by the same one"


def test_pack_warns_of_what_is_left_and_of_what_would_score_nothing(tmp_path: Path, typed: Typed) -> None:
    stub = '    raise NotImplementedError("part1: causal_mask is not written yet")\n'
    (tmp_path / "part1_average.py").write_text(f"def causal_mask(T, device=None):\n{stub}")
    (tmp_path / "part2_scores.py").write_text("def broken(:\n")
    (tmp_path / "part3_attention.ipynb").write_text("{")
    done = typed("pack", "--out", tmp_path / "mine.zip", cwd=tmp_path)
    assert done.code == 1
    assert "warning: part1_average.py: not written yet: causal_mask" in done.err
    assert "problem: part2_scores.py, line 1: " in done.err
    assert re.search(r"problem: .*part3_attention\.ipynb.*; as it is, it scores 0", done.err)
    assert zipfile.is_zipfile(tmp_path / "mine.zip")


def test_pack_refuses_a_workspace_in_which_nothing_is_written(tmp_path: Path, typed: Typed) -> None:
    typed("init", cwd=tmp_path)
    refused(typed("pack", cwd=tmp_path), "still as it was given out", "write an exercise first")
    assert not (tmp_path / "submission.zip").exists()
