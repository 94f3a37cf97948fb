"""The build, on toy courses: what is made of a part's file, and which files it refuses."""

import ast
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import jupytext
import nbformat
import pytest

from autograder.build import check, find_regions, plan, solution, template, to_notebook, write
from autograder.errors import BuildError
from autograder.intake.notebook import read_notebook
from autograder.records import Check, Part

PART_FILE = '''\
# %% [markdown]
# # Part 1 · Twice
#
# In the end, solution and template differ in a few lines only.

# %%
"""Part 1: twice and thrice."""

# %%
FACTOR = 2


def double(x):
    """Give twice x."""
    ### BEGIN SOLUTION
    if x == 0:
        return 0

    return FACTOR * x
    ### END SOLUTION


# %%
class Counter:
    """Count upwards."""

    def __init__(self, start):
        """Begin at start."""
        ### BEGIN SOLUTION
        self.value = start
        ### END SOLUTION

    def advance(self):
        """Go one further."""
        ### BEGIN SOLUTION
        self.value += 1
        return self.value
        ### END SOLUTION


# %% tags=["active-ipynb"]
# assert double(2) == 4
'''
NOT_WRITTEN = 'raise NotImplementedError("part1: {} is not written yet")'
PUBLIC = '''\
from autograder.checks import check, equal

@check(points=2, exercise="double")
def test_double_of_two_is_four(student):
    """Twice 2 is 4."""
    equal(student.double(2), 4, what="double(2)")
'''
HIDDEN = PUBLIC.replace("two_is_four", "three_is_six").replace("2 is 4", "3 is 6").replace("(2), 4", "(3), 6")


def add_part(assignments: Path, name: str, text: str, needs: str = "") -> None:
    folder = assignments / name
    folder.mkdir(parents=True)
    (folder / "part.yml").write_text(f"version: 1\ntitle: Twice\nneeds: [{needs}]\n", encoding="utf-8")
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (folder / "test_public.py").write_text(PUBLIC, encoding="utf-8")
    (folder / "test_hidden.py").write_text(HIDDEN, encoding="utf-8")
    (folder / "mistakes.py").write_text("", encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A repository with two parts, the second of which imports the first."""
    add_part(tmp_path / "assignments", "part1_twice", PART_FILE)
    later = "from part1_twice import double\n\n\n" + PART_FILE.partition("# %%\nFACTOR = 2\n\n\n")[2]
    add_part(tmp_path / "assignments", "part2_more", later, needs="part1_twice")
    (tmp_path / "assignments" / "README.md").write_text("# Toy\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def part() -> Part:
    return Part("part1", "twice", "part1_twice", Path("assignments/part1_twice"), "Twice", 1)


def build(course: Path, **names: object) -> list[str]:
    return write(plan(course / "assignments", **names), course)  # type: ignore[arg-type]


# --- regions ---------------------------------------------------------------------------------------------------------


def test_solution_is_the_part_file_without_the_lines_of_its_markers() -> None:
    expected = [line for line in PART_FILE.splitlines() if "### " not in line]
    assert solution(PART_FILE, "x.py").splitlines() == expected


def test_template_has_one_raise_for_each_region_and_all_other_lines_as_they_were(part: Part) -> None:
    expected: list[str] = []
    names = iter(("double", "Counter.__init__", "Counter.advance"))
    inside = False
    for line in PART_FILE.splitlines():
        if "### BEGIN" in line:
            inside = True
            expected.append(line.partition("#")[0] + NOT_WRITTEN.format(next(names)))
        if not inside:
            expected.append(line)
        inside = inside and "### END" not in line
    assert template(PART_FILE, part).splitlines() == expected


def test_template_runs_and_each_exercise_raises_with_part_and_name(part: Part) -> None:
    module: dict[str, object] = {}
    exec(template(PART_FILE, part), module)
    with pytest.raises(NotImplementedError, match=r"^part1: double is not written yet$"):
        module["double"](2)  # type: ignore[operator]
    with pytest.raises(NotImplementedError, match=r"^part1: Counter.__init__ is not written yet$"):
        module["Counter"](2)  # type: ignore[operator]


def test_windows_line_endings_give_the_same_template(part: Part) -> None:
    assert template(PART_FILE.replace("\n", "\r\n"), part) == template(PART_FILE, part)


def test_regions_are_found_with_line_name_and_indentation() -> None:
    found = [(region.name, region.begin, region.end, region.indent) for region in find_regions(PART_FILE, "x.py")]
    lines = PART_FILE.splitlines()
    assert [name for name, *_ in found] == ["double", "Counter.__init__", "Counter.advance"]
    assert all(lines[begin - 1].strip() == "### BEGIN SOLUTION" for _, begin, _, _ in found)
    assert all(lines[end - 1].strip() == "### END SOLUTION" for _, _, end, _ in found)
    assert [indent for *_, indent in found] == ["    ", "        ", "        "]


@pytest.mark.parametrize(
    "text",
    [
        """
        async def f(x):
            ### BEGIN SOLUTION
            return x
            ### END SOLUTION
        """,
        """
        @staticmethod
        def f(
            x,
        ):
            y = 1
            ### BEGIN SOLUTION
            @decorated
            def inner():
                return x

            # a comment of the solution
            z = (
                inner() + y
            )
            ### END SOLUTION
            return z
        """,
        """
        def f(x):
            ### BEGIN SOLUTION
            y = x
            ### END SOLUTION
            print(y)
            ### BEGIN SOLUTION
            return y
            ### END SOLUTION
        """,
        """
        class Outer:
            class Inner:
                def f(self):
                    ### BEGIN SOLUTION
                    if self:
                        return 1
                    else:
                        return 2
                    ### END SOLUTION
        """,
        # prose and names that are no markers
        '''
        # # no solution
        # To begin, solution by hand. An append solution; the weekend: solution of Monday.
        def end_of(solution):
            """Begin anew."""
            ### BEGIN SOLUTION
            return solution
            ### END SOLUTION
        ''',
    ],
)
def test_unusual_but_sound_regions_are_taken(text: str, part: Part) -> None:
    text = dedent(text)
    compile(solution(text, "x.py"), "x.py", "exec")
    unsolved = template(text, part)
    assert unsolved.count("NotImplementedError") == text.count("### BEGIN SOLUTION")


def lines(*each: str) -> str:
    return "\n".join(each) + "\n"


GOOD = """\
def f(x):
    '''Give x.'''
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION
"""
REFUSED = [
    # what, line of the message, words of the message, text
    ("nested", 4, "inside the region of line 3", GOOD.replace("    return", "    ### BEGIN SOLUTION\n    return")),
    ("unclosed", 3, "never closed", GOOD.replace("    ### END SOLUTION\n", "")),
    ("stray end", 4, "ends no region", GOOD.replace("    ### BEGIN SOLUTION\n", "")),
    ("second end", 6, "ends no region", GOOD + "    ### END SOLUTION\n"),
    ("empty", 3, "holds no statement", GOOD.replace("    return x\n", "\n    # only a comment\n")),
    ("lower case", 3, "looks like a marker", GOOD.replace("BEGIN", "Begin")),
    ("lower case end", 5, "looks like a marker", GOOD.replace("END SOLUTION", "end solution")),
    ("two hashes", 3, "looks like a marker", GOOD.replace("### BEGIN", "## BEGIN")),
    ("four hashes", 5, "looks like a marker", GOOD.replace("### END", "#### END")),
    ("one hash", 3, "looks like a marker", GOOD.replace("### BEGIN", "# BEGIN")),
    ("no blank", 3, "looks like a marker", GOOD.replace("### BEGIN", "###BEGIN")),
    ("two blanks", 3, "looks like a marker", GOOD.replace("### BEGIN", "###  BEGIN")),
    ("tab", 3, "looks like a marker", GOOD.replace("BEGIN SOL", "BEGIN\tSOL")),
    ("no-break space", 3, "looks like a marker", GOOD.replace("BEGIN SOL", "BEGIN\u00a0SOL")),
    ("zero-width space", 3, "looks like a marker", GOOD.replace("BEGIN SOL", "BEGIN\u200b SOL")),
    ("joined", 3, "looks like a marker", GOOD.replace("BEGIN SOLUTION", "BEGIN_SOLUTION")),
    ("plural", 3, "looks like a marker", GOOD.replace("BEGIN SOLUTION", "BEGIN SOLUTIONS")),
    ("start", 3, "looks like a marker", GOOD.replace("BEGIN SOLUTION", "START SOLUTION")),
    ("turned round", 3, "looks like a marker", GOOD.replace("BEGIN SOLUTION", "SOLUTION BEGIN")),
    ("letters swapped", 3, "looks like a marker", GOOD.replace("BEGIN", "BEIGN")),
    ("letter lost", 5, "looks like a marker", GOOD.replace("END SOLUTION", "END SOLUTON")),
    ("word lost", 3, "looks like a marker", GOOD.replace("BEGIN SOLUTION", "BEGIN")),
    ("other word", 5, "looks like a marker", GOOD.replace("END SOLUTION", "END ANSWER")),
    ("text after it", 3, "looks like a marker", GOOD.replace("BEGIN SOLUTION", "BEGIN SOLUTION (one line)")),
    ("decorated", 3, "looks like a marker", GOOD.replace("BEGIN SOLUTION", "BEGIN SOLUTION ###")),
    ("after code", 4, "looks like a marker", GOOD.replace("return x\n    ###", "return x  ###")),
    ("in a docstring", 2, "looks like a marker", GOOD.replace("Give x.", "Give x. ### BEGIN SOLUTION")),
    (
        "alone in a docstring",
        3,
        "looks like a marker",
        GOOD.replace("Give x.", "Give x.\n    ### BEGIN SOLUTION\n    "),
    ),
    ("in a string", 4, "looks like a marker", GOOD.replace("return x", "return '### END SOLUTION'")),
    ("in markdown", 1, "looks like a marker", "# The part between BEGIN SOLUTION and the rest.\n" + GOOD),
    ("module level", 1, "not inside a function", "### BEGIN SOLUTION\nX = 1\n### END SOLUTION\n"),
    ("class level", 2, "not inside a function", "class A:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n"),
    ("a whole function", 1, "not inside a function", "### BEGIN SOLUTION\ndef f(x):\n    return x\n### END SOLUTION\n"),
    (
        "signature",
        1,
        "not inside a function",
        "### BEGIN SOLUTION\ndef f(x):\n    y = 2\n    ### END SOLUTION\n    return y\n",
    ),
    (
        "decorator",
        2,
        "not inside a function",
        "import a\n### BEGIN SOLUTION\n@a.b\ndef f(x):\n    y = 2\n    ### END SOLUTION\n    return y\n",
    ),
    (
        "constant after the function",
        3,
        "not inside a function",
        GOOD.replace("    ### END", "X = 3\n    ### END").replace("    ### END", "### END"),
    ),
    (
        "two functions",
        3,
        "more than one function",
        GOOD.replace("    ### END SOLUTION\n", "\ndef g(x):\n    return x\n    ### END SOLUTION\n"),
    ),
    (
        "into the next function",
        3,
        "more than one function",
        GOOD.replace("    ### END SOLUTION\n", "\ndef g(x):\n    y = x\n    ### END SOLUTION\n    return y\n"),
    ),
    (
        "two methods",
        2,
        "more than one function",
        lines(
            "class A:",
            "    ### BEGIN SOLUTION",
            "    def f(self):",
            "        pass",
            "    def g(self):",
            "        pass",
            "    ### END SOLUTION",
        ),
    ),
    (
        "docstring inside",
        2,
        "holds the docstring",
        "def f(x):\n    ### BEGIN SOLUTION\n    '''D.'''\n    return x\n    ### END SOLUTION\n",
    ),
    ("begin not indented", 3, "not indented as the body", GOOD.replace("    ### BEGIN", "### BEGIN")),
    ("end not indented", 5, "not indented as the body", GOOD.replace("    ### END", "### END")),
    ("both indented too far", 3, "not indented as the body", GOOD.replace("    ###", "        ###")),
    (
        "in a block",
        3,
        "inside an inner block",
        "def f(x):\n    if x:\n        ### BEGIN SOLUTION\n        return x\n        ### END SOLUTION\n",
    ),
    (
        "half a block",
        3,
        "inside an inner block",
        "def f(x):\n    if x:\n        ### BEGIN SOLUTION\n        x = 2\n    return x\n    ### END SOLUTION\n",
    ),
    (
        "else without if",
        4,
        "inside an inner block",
        lines(
            "def f(x):",
            "    if x:",
            "        y = 1",
            "    ### BEGIN SOLUTION",
            "    else:",
            "        y = 2",
            "    ### END SOLUTION",
            "    return y",
        ),
    ),
    (
        "inner function",
        3,
        "inside an inner function",
        lines(
            "def f(x):",
            "    def g():",
            "        ### BEGIN SOLUTION",
            "        return x",
            "        ### END SOLUTION",
            "    return g",
        ),
    ),
    (
        "in an expression",
        3,
        "inside an expression",
        "def f(x):\n    return sum(\n    ### BEGIN SOLUTION\n    x,\n    ### END SOLUTION\n    )\n",
    ),
    (
        "in a signature",
        2,
        "inside an expression",
        "def f(\n    ### BEGIN SOLUTION\n    x,\n):\n    return x\n    ### END SOLUTION\n",
    ),
    ("not Python", 4, "not valid Python", GOOD.replace("return x", "return x +")),
    ("open bracket", 7, "not valid Python", GOOD + "X = (1,\n"),
    ("wrong dedent", 4, "not valid Python", GOOD.replace("    return", "  return")),
]


@pytest.mark.parametrize(("line", "words", "text"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_unsound_region_is_refused_with_file_line_and_remedy(line: int, words: str, text: str) -> None:
    with pytest.raises(BuildError) as caught:
        find_regions(text, "assignments/part1_twice/part1_twice.py")
    assert caught.value.message.startswith(f"assignments/part1_twice/part1_twice.py:{line}: ")
    assert words in caught.value.message
    assert caught.value.remedy


# --- notebook --------------------------------------------------------------------------------------------------------


def made_notebook(part: Part, text: str = PART_FILE) -> str:
    return to_notebook(template(text, part), part, find_regions(text, "x.py"))


def test_notebook_is_valid_and_the_same_each_time(part: Part) -> None:
    text = made_notebook(part)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == made_notebook(part)
    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in json.loads(text)["cells"]]
    assert len(set(ids)) == len(ids)


def test_notebook_cells_keep_their_ids_when_one_is_put_before_them(part: Part) -> None:
    part = checked(part, "double", "Counter")
    before = [cell["id"] for cell in json.loads(made_notebook(part))["cells"]]
    after = [cell["id"] for cell in json.loads(made_notebook(part, "# %%\nimport math\n\n" + PART_FILE))["cells"]]
    assert set(before) < set(after)
    assert len(after) == len(before) + 1


def test_notebook_cells_with_a_region_are_solution_cells_named_after_it(part: Part) -> None:
    cells = json.loads(made_notebook(part))["cells"]
    solution_cells = {
        "".join(cell["source"]): cell["metadata"]["nbgrader"] for cell in cells if cell["metadata"].get("nbgrader")
    }
    assert [metadata["grade_id"] for metadata in solution_cells.values()] == ["double", "Counter"]
    for metadata in solution_cells.values():
        expected = {"schema_version": 3, "grade": False, "solution": True, "locked": False, "task": False}
        assert {key: value for key, value in metadata.items() if key != "grade_id"} == expected
    assert all("is not written yet" in source for source in solution_cells)


def test_notebook_holds_the_code_of_the_template_and_activates_its_own_cells(part: Part) -> None:
    notebook = nbformat.reads(made_notebook(part), as_version=4)
    assert notebook.cells[-1].source == "assert double(2) == 4"
    back = jupytext.writes(notebook, fmt="py:percent")
    assert ast.dump(ast.parse(back)) == ast.dump(ast.parse(template(PART_FILE, part)))


def checked(part: Part, *exercises: str, hidden: tuple[str, ...] = ()) -> Part:
    """Give the part a check of each exercise."""
    wanted = [(name, False) for name in exercises] + [(name, True) for name in hidden]
    checks = [Check(f"c{n}", "Title.", 1, name, "", is_hidden, n) for n, (name, is_hidden) in enumerate(wanted)]
    return replace(part, checks=tuple(checks))


def test_notebook_has_a_check_cell_after_each_exercise_and_one_for_the_part(part: Part) -> None:
    text = made_notebook(checked(part, "double", "Counter.advance", "Counter"))
    cells = json.loads(text)["cells"]
    told = [cell["metadata"].get("gpt_hw") for cell in cells]
    assert [each for each in told if each] == [
        {"role": "setup", "part": "part1"},
        {"role": "check", "part": "part1", "exercises": ["double"]},
        {"role": "check", "part": "part1", "exercises": ["Counter"]},
        {"role": "check", "part": "part1", "exercises": []},
    ]
    first_code = next(index for index, cell in enumerate(cells) if cell["cell_type"] == "code")
    assert told[first_code] == {"role": "setup", "part": "part1"}
    for before, cell in pairwise(cells):
        if cell["metadata"].get("gpt_hw", {}).get("exercises"):
            assert before["metadata"]["nbgrader"]["grade_id"] == cell["metadata"]["gpt_hw"]["exercises"][0]
    for cell in cells:
        if "gpt_hw" in cell["metadata"]:
            ast.parse("".join(cell["source"]))
            assert cell["metadata"]["tags"] == ["active-ipynb"]
            assert "nbgrader" not in cell["metadata"]
    assert "".join(cells[-1]["source"]).endswith('\n    check("part1")')
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == made_notebook(checked(part, "double", "Counter.advance", "Counter"))


def test_notebook_checks_nothing_that_has_hidden_checks_alone(part: Part) -> None:
    assert "gpt_hw" not in made_notebook(checked(part, hidden=("double",)))
    cells = json.loads(made_notebook(checked(part, "double", hidden=("Counter",))))["cells"]
    told = [
        cell["metadata"]["gpt_hw"]["exercises"] for cell in cells if "exercises" in cell["metadata"].get("gpt_hw", {})
    ]
    assert told == [["double"], []]


def test_notebook_becomes_the_template_when_it_is_handed_in(part: Part) -> None:
    data = made_notebook(checked(part, "double", "Counter")).encode()
    handed_in, _ = read_notebook(data, "part1_twice.ipynb")
    assert ast.dump(ast.parse(handed_in)) == ast.dump(ast.parse(template(PART_FILE, part)))


def test_notebook_with_an_exercise_in_two_cells_is_refused(part: Part) -> None:
    with pytest.raises(BuildError, match="2 cells hold the exercise double"):
        made_notebook(
            part, PART_FILE.replace("# %%\nclass", "# %%\n" + GOOD.replace("def f", "def double") + "\n# %%\nclass")
        )


# --- tree ------------------------------------------------------------------------------------------------------------


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
