"""Regions: the solution is a part's file without its markers, the template has one raise for each."""

from textwrap import dedent

import pytest
from toy_parts import PART_FILE

from autograder.build import find_regions, solution, template
from autograder.records import Part

NOT_WRITTEN = 'raise NotImplementedError("part1: {} is not written yet")'


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
