"""A student's fault is told as a student's, with the student's lines, and ours stays ours."""

import sys
from pathlib import Path

import pytest
from toy_lab import SOUND, STUB, measured, toy_bench

from autograder.labs import Settings, StudentCodeError, Work, find_lab, run_lab


def told(text: str, tmp_path: Path, **sources: str) -> StudentCodeError:
    with pytest.raises(StudentCodeError) as error:
        toy_bench(tmp_path, text, **sources).measure(measured, [{"n": 1}])
    return error.value


def test_what_is_not_written_yet_is_named(tmp_path):
    error = told(STUB, tmp_path)
    assert error.message == "this needs mean of part1, which is not written yet"
    assert "gpt-hw hint part1" in error.remedy


def test_a_missing_name_is_named(tmp_path):
    assert told("x = 1\n", tmp_path).message == "part1_toy.py defines no 'mean'"


def test_a_failure_shows_the_students_frames_and_none_of_ours(tmp_path):
    message = told("def mean(x):\n    return x / missing\n", tmp_path).message
    assert 'File "part1_toy.py", line 2, in mean' in message
    assert "return x / missing" in message
    assert "autograder" not in message


def test_a_slip_of_syntax_is_shown_with_its_line(tmp_path):
    assert 'File "part1_toy.py", line 1' in told("def mean(x)\n", tmp_path).message


def test_a_value_that_the_lab_cannot_use_is_the_students(tmp_path):
    def wants_number(bench, seed):
        return bench.part("part1").mean([1]) + 1

    with pytest.raises(StudentCodeError, match=r"what your code gave cannot be used \(part1\): TypeError"):
        toy_bench(tmp_path, "def mean(x):\n    return None\n").measure(wants_number, [{}])


def test_a_missing_file_is_told_before_anything_runs(tmp_path):
    with pytest.raises(StudentCodeError, match="needs part2"):
        run_lab(find_lab("variance"), Work({"part1_average": SOUND}), Settings(tmp_path))


def test_our_own_failure_stays_ours(tmp_path):
    work = Work({"part1_toy": "def mean(x):\n    return x / missing\n"}, is_ours=True)
    with pytest.raises(NameError), work.guarded(("part1",)):
        work.part("part1").mean(1)


def test_two_works_do_not_see_each_other():
    one, other = Work({"part1_toy": "a = 1\n"}), Work({"part1_toy": "a = 2\n"})
    assert (one.part("part1").a, other.part("part1").a, one.part("part1").a) == (1, 2, 1)


def test_a_works_modules_are_there_to_the_end_of_the_outer_block_and_no_longer():
    work, finders = Work({"part1_average": SOUND, "part2_scores": "import part1_average\n"}), sys.meta_path[:]
    with work.active():
        work.part("part2")  # enters and leaves a block of its own
        import part1_average

        assert part1_average.mean([1, 3]) == 2
    assert sys.meta_path == finders
    assert "part1_average" not in sys.modules
