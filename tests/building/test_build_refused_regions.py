"""A region that is unsound, or nearly a marker, is refused with its file, its line and a remedy."""

import pytest
from toy_parts import GOOD

from autograder.build import find_regions
from autograder.errors import BuildError


def lines(*each: str) -> str:
    return "\n".join(each) + "\n"


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
