"""Parts and checks are read from text, before anything of a part runs."""

import textwrap

import pytest
from toy_course import PART_YML, PUBLIC, suite, write_part

from autograder.errors import PartError
from autograder.parts import load_parts
from autograder.records import Check


def test_parts_reads_a_part_and_its_checks(course):
    part = load_parts(course)["part3"]
    assert (part.name, part.topic, part.module) == ("part3", "attention", "part3_attention")
    assert (part.title, part.version, part.folder) == ("One head", 1, course / "part3_attention")
    assert (part.needs, part.forbidden) == (("part1_average",), ("attention",))
    assert part.hints == {"attention": ("Which axis?", "A weighted mean.", "Scores first.")}
    assert part.points == 6.5
    assert part.checks == (
        Check("rows_sum_to_one", "Each row of the weights sums to one.", 2.0, "attention", "Which axis?", False, 5),
        Check("head_is_causal", "A head does not see the future.", 1.5, "Head", "", False, 15, 30.0),
        Check("head_is_exact", "A head gives the exact numbers.", 3.0, "Head.forward", "", True, 4),
    )


def test_parts_leaves_hidden_checks_out_when_told(course):
    assert [check.hidden for check in load_parts(course, hidden=False)["part3"].checks] == [False, False]


def test_parts_come_in_the_order_of_their_numbers(course):
    write_part(course / "part10_last", "version: 1\ntitle: Last\n", suite("test_last"))
    (course / "__pycache__").mkdir()
    (course / "notes.txt").write_text("no part")
    assert list(load_parts(course)) == ["part1", "part3", "part10"]


@pytest.mark.parametrize("name", ["part3", "part03_x", "part0_x", "Part2_mean", "part2-mean", "part2_Mean", "part_x"])
def test_parts_refuses_a_folder_that_is_not_named_like_a_part(course, name):
    (course / name).mkdir()
    with pytest.raises(PartError, match="is not named like a part"):
        load_parts(course)


@pytest.mark.parametrize("name", ["part3_other", "part4_attention"])
def test_parts_refuses_two_parts_with_one_number_or_topic(course, name):
    write_part(course / name, PART_YML, PUBLIC)
    with pytest.raises(PartError, match="share a number or a topic"):
        load_parts(course)


def test_parts_says_when_there_is_no_part(tmp_path):
    with pytest.raises(PartError, match="there is no part in"):
        load_parts(tmp_path)
    with pytest.raises(PartError, match="there is no folder"):
        load_parts(tmp_path / "assignments")


PART_YML_SLIPS = [
    ("title: x\n", "part3_attention/part.yml: version is missing"),
    ("version: 1\n", "part3_attention/part.yml: title is missing"),
    ("version: 2\ntitle: x\n", "written for a newer gpt-hw"),
    ("version: 1\ntitle: x\nneed: []\n", "need: there is no such setting here\nDid you mean 'needs'?"),
    ("version: 1\ntitle: [x]\n", 'title: expected some text, found ["x"]'),
    ("version: 1\ntitle: x\nneeds: part1_average\n", 'needs: expected a list of texts, found "part1_average"'),
    ("version: 1\ntitle: x\nneeds: [part1_averge]\n", "Did you mean 'part1_average'?"),
    ("version: 1\ntitle: x\nminutes: long\n", 'minutes: expected a whole number of at least 1, found "long"'),
    ("version: 1\ntitle: x\nforbidden: [normalization]\n", "Did you mean 'normalisation'?"),
    ("version: 1\ntitle: x\nhints: {attention: word}\n", 'hints.attention: expected a list of texts, found "word"'),
    ("version: 1\ntitle: x\nhints: {attention: [a, b, c, d]}\n", "hints.attention: expected 3 hints"),
    ("version: 1\ntitle: x\nhints: {attention: []}\n", "hints.attention: expected 3 hints"),
    ("version: 1\ntitle: x\nhints: {atention: [a]}\n", "no check is about this exercise\nDid you mean 'attention'?"),
    ("version: 1\ntitle: x\ntitle: y\n", "part3_attention/part.yml, line 3, column 1: not valid YAML"),
]


@pytest.mark.parametrize(("text", "said"), PART_YML_SLIPS, ids=range(len(PART_YML_SLIPS)))
def test_parts_refuses_a_slip_in_part_yml(course, text, said):
    (course / "part3_attention" / "part.yml").write_text(text)
    with pytest.raises(PartError) as caught:
        load_parts(course)
    assert said in str(caught.value)


SUITE_SLIPS = [
    (suite("test_x", "# nothing"), 2, "test_x has 0 @check, expected one"),
    (suite("test_x", "@check(points=1, exercise='f')\n@check(points=1, exercise='f')"), 3, "test_x has 2 @check"),
    (suite("test_x", "@check"), 1, "test_x: @check takes named arguments only"),
    (suite("test_x", "@check(2, exercise='f')"), 1, "test_x: @check takes named arguments only"),
    (suite("test_x", "@check(points=1 + 1, exercise='f')"), 1, "test_x: points: not a literal: 1 + 1"),
    (suite("test_x", "@check(points=1, exercise=NAME)"), 1, "test_x: exercise: not a literal: NAME"),
    (suite("test_x", "@check(points=1, exercise='f', hint=f'{1}')"), 1, "test_x: hint: not a literal"),
    (suite("test_x", "@check(**settings)"), 1, "test_x: @check has no argument '**'"),
    (suite("test_x", "@check(point=1, exercise='f')"), 1, "no argument 'point'\nDid you mean 'points'?"),
    (suite("test_x", "@check(exercise='f')"), 1, "test_x: points is missing"),
    (suite("test_x", "@check(points=1)"), 1, "test_x: exercise is missing"),
    (suite("test_x", "@check(points=0, exercise='f')"), 1, "test_x: points: expected a number above 0, found 0"),
    (suite("test_x", "@check(points=-1, exercise='f')"), 1, "points: expected a number above 0, found -1"),
    (suite("test_x", "@check(points='2', exercise='f')"), 1, "points: expected a number above 0, found '2'"),
    (suite("test_x", "@check(points=True, exercise='f')"), 1, "points: expected a number above 0, found True"),
    (suite("test_x", "@check(points=1e999, exercise='f')"), 1, "points: expected a number above 0, found inf"),
    (suite("test_x", "@check(points=1, exercise='')"), 1, "exercise: expected the name of a function or class"),
    (suite("test_x", "@check(points=1, exercise='f', hint=3)"), 1, "hint: expected a text, found 3"),
    (suite("test_x", "@check(points=1, exercise='f', timeout_s=0)"), 1, "timeout_s: expected seconds above 0"),
    (suite("test_x", "@check(points=1, exercise='f', trains=1)"), 1, "trains: expected True or False"),
    (suite("test_x", body="pass"), 2, "test_x has no docstring"),
    (suite("test_x", body='"""  """'), 2, "test_x has no docstring"),
    (suite("rows_sum"), 2, "rows_sum is a check but pytest will not run it"),
    ("class TestX:\n" + textwrap.indent(suite("test_x"), "    "), 3, "test_x is not a plain function of the suite"),
    (suite("test_x").replace("def", "async def"), 2, "test_x is not a plain function of the suite"),
    (suite("test_x") + suite("test_x"), 5, "test_x is already in test_public.py:2"),
    (suite("test_x") + "def broken(:\n", 4, "not valid Python: invalid syntax"),
]


@pytest.mark.parametrize(("text", "line", "said"), SUITE_SLIPS, ids=range(len(SUITE_SLIPS)))
def test_parts_refuses_a_slip_in_a_suite_and_says_the_line(course, text, line, said):
    path = course / "part1_average" / "test_public.py"
    path.write_text(text)
    with pytest.raises(PartError) as caught:
        load_parts(course)
    assert caught.value.message.startswith(f"{path}:{line}: ")
    assert said in str(caught.value)
    assert caught.value.remedy


def test_parts_refuses_one_id_in_both_suites(course):
    folder = course / "part1_average"
    (folder / "test_hidden.py").write_text("\n" + suite("test_mean"))
    with pytest.raises(PartError, match=r"test_hidden\.py:3: test_mean is already in test_public\.py:2"):
        load_parts(course)


@pytest.mark.parametrize("name", ["test_public.py", "test_hidden.py"])
def test_parts_refuses_a_suite_without_a_check(course, name):
    (course / "part3_attention" / name).write_text("import torch\n")
    with pytest.raises(PartError, match=f"{name}: there is no check in it"):
        load_parts(course)


def test_parts_refuses_a_part_without_a_public_suite(course):
    (course / "part1_average" / "test_public.py").unlink()
    with pytest.raises(PartError, match="Every part has a test_public"):
        load_parts(course)


def test_parts_refuses_a_suite_that_is_not_text(course):
    (course / "part1_average" / "test_public.py").write_bytes(b"x = 1\x00\n")
    with pytest.raises(PartError, match=r"test_public\.py"):
        load_parts(course)
