"""The generated tree: exactly the planned files, nothing of anybody's own, and a check that shows what differs."""

from pathlib import Path

import pytest
from toy_parts import PART_FILE, add_part

from autograder.build import check, plan, solution, write
from autograder.errors import BuildError


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A repository with two parts, the second of which imports the first."""
    add_part(tmp_path / "assignments", "part1_twice", PART_FILE)
    later = "from part1_twice import double\n\n\n" + PART_FILE.partition("# %%\nFACTOR = 2\n\n\n")[2]
    add_part(tmp_path / "assignments", "part2_more", later, needs="part1_twice")
    (tmp_path / "assignments" / "README.md").write_text("# Toy\n", encoding="utf-8")
    return tmp_path


def build(course: Path, **names: object) -> list[str]:
    return write(plan(course / "assignments", **names), course)  # type: ignore[arg-type]


def test_plan_names_exactly_the_generated_files(course: Path) -> None:
    expected = {"student_template/README.md"}
    for module in ("part1_twice", "part2_more"):
        expected |= {f"solutions/{module}.py", f"student_template/{module}.py", f"student_template/{module}.ipynb"}
        expected |= {f"student_template/checks/{module}/{name}" for name in ("part.yml", "test_public.py")}
    assert set(plan(course / "assignments")) == expected
    expected |= {f"student_template/checks/{module}/diagnoses.json" for module in ("part1_twice", "part2_more")}
    assert set(plan(course / "assignments", lambda part: {})) == expected


def test_diagnoses_are_dumped_sorted_and_left_out_where_there_are_none(course: Path) -> None:
    made = plan(course / "assignments", lambda part: {"b": [1.5], "a": part.name} if part.name == "part1" else None)
    assert made["student_template/checks/part1_twice/diagnoses.json"] == b'{\n "a": "part1",\n "b": [\n  1.5\n ]\n}\n'
    assert "student_template/checks/part2_more/diagnoses.json" not in made


def test_build_of_a_current_tree_changes_nothing(course: Path) -> None:
    assert len(build(course)) == len(plan(course / "assignments"))
    times = {path: path.stat().st_mtime_ns for path in course.rglob("*")}
    assert build(course) == []
    assert {path: path.stat().st_mtime_ns for path in course.rglob("*")} == times


def test_build_touches_only_what_changed_and_leaves_no_temporary_file(course: Path) -> None:
    build(course)
    path = course / "assignments" / "part1_twice" / "part1_twice.py"
    path.write_text(PART_FILE.replace("FACTOR * x", "x + x"), encoding="utf-8")
    assert build(course) == ["changed solutions/part1_twice.py"]
    generated = {
        path.relative_to(course).as_posix()
        for folder in ("solutions", "student_template")
        for path in (course / folder).rglob("*")
        if path.is_file()
    }
    assert generated == set(plan(course / "assignments"))


def test_build_removes_what_an_earlier_build_made_and_keeps_what_is_somebodys_own(course: Path) -> None:
    build(course)
    own = course / "student_template" / "notes.txt"
    own.write_text("mine", encoding="utf-8")
    for path in (course / "assignments" / "part2_more").iterdir():
        path.unlink()
    (course / "assignments" / "part2_more").rmdir()
    stale = [
        "solutions/part2_more.py",
        "student_template/checks/part2_more/part.yml",
        "student_template/checks/part2_more/test_public.py",
        "student_template/part2_more.ipynb",
        "student_template/part2_more.py",
    ]
    assert all(f"stale: {name}" in check(plan(course / "assignments"), course) for name in stale)
    assert build(course) == [f"removed {name}" for name in stale]
    assert own.read_text(encoding="utf-8") == "mine"
    assert not (course / "student_template" / "checks" / "part2_more").exists()


def test_check_is_silent_on_a_current_tree_and_writes_nothing(course: Path) -> None:
    planned = plan(course / "assignments")
    assert check(planned, course)
    assert not (course / "solutions").exists()
    build(course)
    assert check(planned, course) == ""


def test_check_shows_the_difference_what_is_missing_and_the_repair(course: Path) -> None:
    build(course)
    (course / "solutions" / "part1_twice.py").unlink()
    path = course / "student_template" / "part1_twice.py"
    path.write_text(path.read_text(encoding="utf-8").replace("FACTOR = 2", "FACTOR = 3"), encoding="utf-8")
    (course / "student_template" / "part2_more.py").write_bytes(b"\xff\xfe\x00")
    report = check(plan(course / "assignments"), course)
    assert "missing: solutions/part1_twice.py" in report
    assert "-FACTOR = 3\n+FACTOR = 2\n" in report
    assert "binary files differ: student_template/part2_more.py" in report
    assert report.endswith("\nTo repair it, run: gpt-hw build\n")


def test_check_sees_other_line_endings(course: Path) -> None:
    build(course)
    path = course / "solutions" / "part1_twice.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "line endings differ: solutions/part1_twice.py" in check(plan(course / "assignments"), course)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": [1.0, 1e6]}, {"a": [1.00005, 1e6 + 50]}),
        ({"a": float("nan")}, {"a": float("nan")}),
        ({"a": 0}, {"a": 1e-5}),
    ],
)
def test_diagnoses_that_differ_by_rounding_are_current(course: Path, old: object, new: object) -> None:
    build(course, diagnose=lambda part: old)
    assert check(plan(course / "assignments", lambda part: new), course) == ""  # type: ignore[arg-type,return-value]
    assert build(course, diagnose=lambda part: new) == []


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ({"a": [1.0]}, {"a": [1.001]}, "-/a/0: 1.0\n+/a/0: 1.001"),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, "-/b\n+/c"),
        ({"a": [1]}, {"a": [1, 2]}, "+/a: [1, 2]"),
        ({"a": True}, {"a": 1}, "+/a: 1"),
        ({"a": 1.0}, {"a": float("nan")}, "+/a: NaN"),
        ({"a": 3}, {"a": 4}, "+/a: 4"),
    ],
)
def test_diagnoses_that_differ_by_more_are_shown_by_place(course: Path, old: object, new: object, shown: str) -> None:
    build(course, diagnose=lambda part: old)
    assert shown in check(plan(course / "assignments", lambda part: new), course)  # type: ignore[arg-type,return-value]
    name = "student_template/checks/part1_twice/diagnoses.json"
    assert f"changed {name}" in build(course, diagnose=lambda part: new)


def test_diagnoses_that_are_no_json_are_named(course: Path) -> None:
    build(course, diagnose=lambda part: {"a": 1})
    (course / "student_template" / "checks" / "part1_twice" / "diagnoses.json").write_text("{", encoding="utf-8")
    assert "not JSON" in check(plan(course / "assignments", lambda part: {"a": 1}), course)


def test_part_without_a_region_is_refused_lest_its_solution_be_given_out(course: Path) -> None:
    path = course / "assignments" / "part2_more" / "part2_more.py"
    path.write_text(solution(PART_FILE, "x.py"), encoding="utf-8")
    with pytest.raises(BuildError, match="no solution region"):
        plan(course / "assignments")


@pytest.mark.parametrize("name", ["README.md", "part1_twice/part1_twice.py"])
def test_missing_file_of_the_author_is_named(course: Path, name: str) -> None:
    (course / "assignments" / name).unlink()
    with pytest.raises(BuildError, match=f"{name}: this file is missing"):
        plan(course / "assignments")


def test_part_file_that_is_not_utf8_is_named(course: Path) -> None:
    (course / "assignments" / "part1_twice" / "part1_twice.py").write_bytes(b"# \xff\n")
    with pytest.raises(BuildError, match="not UTF-8"):
        plan(course / "assignments")
