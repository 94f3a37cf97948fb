"""A part is found by each of its names, course and template where they lie, and a digest tells every change."""

import pytest

from autograder import parts as parts_module
from autograder.errors import PartError, UsageError
from autograder.parts import (
    course_root,
    find_part,
    find_parts,
    load_parts,
    public_parts,
    suites_sha256,
    template_folder,
)


@pytest.mark.parametrize(
    "word",
    [
        "part3",
        "3",
        "attention",
        "part3_attention",
        "part3_attention.py",
        "part3_attention.ipynb",
        "PART3",
        "Attention",
        " part3 ",
        "./part3_attention.py",
        ".\\part3_attention.ipynb",
    ],
)
def test_find_part_understands_every_way_to_name_one(course, word):
    assert find_part(word, load_parts(course)).name == "part3"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("atention", "no part is called 'atention'\nDid you mean 'attention'?"),
        ("part33", "Did you mean 'part3'?"),
        ("7", "Known: attention, average, part1, part3."),
        ("", "no part is called ''"),
    ],
)
def test_find_part_answers_an_unknown_word_with_the_closest(course, word, said):
    with pytest.raises(UsageError) as caught:
        find_part(word, load_parts(course))
    assert said in str(caught.value)


@pytest.mark.parametrize("words", ["3,1", "1 3", "average, part3", ["attention", "1"], ["1,3"], "3,1,3"])
def test_find_parts_gives_each_once_in_the_order_of_the_course(course, words):
    assert [part.name for part in find_parts(words, load_parts(course))] == ["part1", "part3"]


@pytest.mark.parametrize("words", ["", ",", []])
def test_find_parts_refuses_nothing(course, words):
    with pytest.raises(UsageError, match="no part is named"):
        find_parts(words, load_parts(course))


def test_course_root_is_the_nearest_folder_with_both_marks(tmp_path):
    deep = tmp_path / "course" / "assignments" / "part1_average"
    deep.mkdir(parents=True)
    assert course_root(deep) is None
    (tmp_path / "course" / "grading.yml").write_text("version: 1\n")
    assert course_root(deep) == course_root(tmp_path / "course") == tmp_path / "course"
    assert course_root(tmp_path) is None


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "site" / "autograder"
    folder.mkdir(parents=True)
    monkeypatch.setattr(parts_module, "__file__", str(folder / "parts.py"))
    return folder


def test_template_is_the_installed_one_before_the_one_of_a_checkout(package):
    with pytest.raises(PartError, match="gpt-hw build"):
        template_folder()
    (package.parent / "student_template").mkdir()
    assert template_folder() == package.parent / "student_template"
    (package / "student_template").mkdir()
    assert template_folder() == package / "student_template"


def test_public_parts_come_from_the_template(package, course):
    checks = package / "student_template" / "checks"
    checks.mkdir(parents=True)
    for name in ("part1_average", "part3_attention"):
        (course / name).rename(checks / name)
    parts = public_parts()
    assert list(parts) == ["part1", "part3"]
    assert not any(check.hidden for part in parts.values() for check in part.checks)


def test_digest_of_the_suites_is_the_same_wherever_the_course_lies(course, tmp_path):
    before = suites_sha256(load_parts(course))
    assert before == suites_sha256(load_parts(course))
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    course.rename(moved)
    assert suites_sha256(load_parts(moved)) == before


@pytest.mark.parametrize("name", ["part.yml", "test_public.py", "test_hidden.py", "part3_attention.py", "mistakes.py"])
def test_digest_of_the_suites_changes_with_every_file_that_decides_a_grade(course, name):
    path = course / "part3_attention" / name
    before = suites_sha256(load_parts(course))
    path.write_text((path.read_text() if path.exists() else "") + "# changed\n")
    assert suites_sha256(load_parts(course)) != before


def test_digest_of_the_suites_tells_a_public_run_from_a_full_one(course):
    assert suites_sha256(load_parts(course)) != suites_sha256(load_parts(course, hidden=False))


def test_digest_of_the_suites_ignores_what_editors_and_python_leave(course):
    before = suites_sha256(load_parts(course))
    (course / "part3_attention" / ".#mistakes.py").symlink_to("nowhere")
    (course / "part3_attention" / "__pycache__").mkdir()
    assert suites_sha256(load_parts(course)) == before
