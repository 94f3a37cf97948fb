"""What stands in a check cell's module and what it shows, without a kernel."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.intake.text import Unreadable
from autograder.notebook.executed import Executed, Module
from autograder.notebook.figure import figure
from autograder.notebook.page import Page
from autograder.records import Check, CheckResult, Outcome, Part

PART = Part("part3", "attention", "part3_attention", Path("part3_attention"), "One <head>", 1)


def module_of(*runs: tuple[str, str | None]) -> Module:
    """Run cells, given as text and the editor's name for the cell."""
    executed = Executed()
    for number, (source, cell) in enumerate(runs, start=1):
        executed.begin(source, number, cell)
    return executed.module("this notebook")


def values(module: Module) -> dict[str, object]:
    namespace: dict[str, object] = {"__name__": "part3_attention"}
    exec(module.text, namespace)
    return namespace


def test_a_cell_counts_as_it_was_last_run():
    module = module_of(("x = 1", "a"), ("y = 5", "b"), ("x = 2", "a"))
    assert (values(module)["x"], values(module)["y"]) == (2, 5)
    assert "x = 1" not in module.text


def test_of_two_cells_that_define_a_name_the_one_run_last_counts():
    assert values(module_of(("def f(): return 1", "a"), ("def f(): return 2", "b")))["f"]() == 2
    assert (
        values(module_of(("def f(): return 1", "a"), ("def f(): return 2", "b"), ("def f(): return 1", "a")))["f"]()
        == 1
    )


def test_a_repeated_cell_brings_back_only_what_was_last():
    runs = (("x, y = 1, 1", "a"), ("x = 2", "b"), ("y = 3", "c"), ("x, y = 1, 1", "a"), ("y = 4", "c"))
    assert {name: values(module_of(*runs))[name] for name in "xy"} == {"x": 1, "y": 4}


def test_an_import_that_is_run_again_stays_before_what_needs_it():
    again = module_of(("import math", "a"), ("class C:\n    pi = math.pi", "b"), ("import math", "a"))
    assert values(again)["C"].pi > 3


def test_names_are_known_wherever_an_import_finds_them():
    source = (
        "import a.b, c as d\nfrom e import f\nif True:\n    def g(): h = 1\nelse:\n    class I: j = 1\n"
        "for k in [l for l in (1,)]:\n    m, (n, *o) = 1, (2, 3)\n"
        "if __name__ == '__main__':\n    p = 1\nwith open(q := 'x') as r: pass\nf = lambda: (s := 1)"
    )
    assert module_of((source, "a")).names == set("dfgIkmnoqr") | {"a.b"}


def test_check_cells_and_other_languages_are_left_out():
    module = module_of(
        ("import autograder.notebook", None),
        ("%%bash\nls", "b"),
        ("%matplotlib inline\nx = 1", "c"),
        ("from autograder.notebook import check\n\ncheck('part3')", "d"),
        ("!pip list", "e"),
    )
    assert [line for line in module.text.splitlines() if line] == [
        "# %%",
        "# %matplotlib inline",
        "x = 1",
        "# %%",
        "# !pip list",
    ]


def test_where_the_editor_names_no_cells_an_edited_definition_takes_the_place_of_the_old_one():
    executed = Executed()
    executed.begin("def f(:", 1)
    executed.fail(executed.begin("def f():\n    return missing\nf()", 2))
    executed.fail(executed.begin("f(", 3))
    executed.fail(executed.begin("f() + missing", 4))
    executed.begin("def f():\n    return 1", 5)
    assert executed.module("this notebook").text == "# %%\ndef f():\n    return 1\n"


def test_where_it_names_them_a_slip_is_kept_and_told():
    module = module_of(("def f():\n    return 1", "a"), ("def f(:", "a"))
    with pytest.raises(SyntaxError):
        values(module)


def test_a_deleted_cell_is_forgotten_until_it_is_run_again():
    executed = Executed()
    executed.begin("x = 1", 1, "a")
    executed.forget(["a", "never there"])
    assert not executed.module("this notebook").text
    executed.begin("x = 2", 2, "a")
    assert executed.module("this notebook").names == {"x"}


def test_lines_are_told_as_cells():
    executed = Executed()
    executed.begin("x = 1\ny = 2", 3, "a")
    executed.begin("# mine\n\nz = x / 0", 12, "b")
    module = executed.module("this notebook")
    line = module.text.splitlines().index("z = x / 0") + 1
    told = f'part3_attention.py does not import\n  File "part3_attention.py", line {line}, in <module>'
    assert (
        module.with_cells(told, "part3_attention.py")
        == "this notebook does not import\n  Cell [12], line 3, in <module>"
    )
    first = "invalid syntax (part3_attention.py, line 2)"
    assert module.with_cells(first, "part3_attention.py") == "invalid syntax (cell [3], line 1)"
    assert (
        module.with_cells('File "part1_average.py", line 2', "part3_attention.py") == 'File "part1_average.py", line 2'
    )


def test_text_that_no_file_could_hold_is_refused_in_words():
    with pytest.raises(Unreadable, match="NUL byte"):
        module_of(("x = '\0'", "a"))
    with pytest.raises(Unreadable, match="1 MiB"):
        module_of(("x = '" + "a" * (1 << 20) + "'", "a"))


def result(outcome: Outcome = Outcome.FAILED, title: str = "It works.", **fields: str) -> CheckResult:
    check = Check(title, title, 2, "attention", "<i>Which</i> axis?", False, 1)
    return CheckResult(check, outcome, **fields)


def page(*results: CheckResult, **fields: object) -> Page:
    part = Part(
        **{name: getattr(PART, name) for name in PART.__slots__} | {"checks": tuple(one.check for one in results)}
    )
    return Page(part, results, **fields)


def test_a_page_is_html_without_scripts_classes_or_what_a_student_wrote_as_html():
    evil = '<script>alert(1)</script><img src=x onerror="alert(2)">\x1b[31m'
    shown = page(
        result(message=evil, diagnosis=evil, traceback=evil, picture=evil, printed=evil),
        result(Outcome.PASSED, evil),
        result(Outcome.ERROR, "Ours.", message=evil),
        result(Outcome.TIMED_OUT, "Slow.", message="too slow"),
        notices=[evil],
        exercises=["attention"],
    ).html()
    assert not re.search(r"<(script|img|style|link|a)\b", shown)
    assert not re.search(r"<[^>]* (class|on\w+|id|href|src)=", shown)
    assert "\x1b" not in shown
    assert "&lt;script&gt;" in shown
    assert "One &lt;head&gt;" in page(result()).html()
    for word in ("✓ passed", "✗ failed", "✗ out of time", "! not scored", "The grader failed at this check, not you."):
        assert word in shown


def test_a_page_says_nothing_twice():
    same = {"diagnosis": "These are the numbers of a known mistake.", "traceback": "Cell [3], line 2\nNameError: x"}
    shown = page(
        result(message="a", **same), result(title="B.", message="b", **same), result(title="C.", message="b", **same)
    )
    html = shown.html()
    assert html.count(same["diagnosis"]) == html.count("NameError: x") == 1
    assert "the same mistake as above." in html and "The same error in the same line as above." in html
    assert "The same as at: B." in html


def test_a_page_passes_only_where_everything_asked_for_does():
    passed, failed = result(Outcome.PASSED, "A."), result(Outcome.FAILED, "B.")
    assert page(passed).is_passed
    assert not page(passed, failed).is_passed
    assert not Page(page(passed, failed).part, [passed]).is_passed  # the other exercise was not run
    assert not Page(notices=["no part is called so"]).is_passed
    assert "hidden ones run when the work is graded" in page(passed).html()
    assert "hidden ones" not in page(passed, exercises=["attention"]).html()


def test_a_picture_becomes_squares_of_which_dark_is_large_in_any_theme():
    picture = (
        "yours       expected   (at [0])\n██  ░░░░    ▒▒▓▓??  \n            ░░██    \ndarker is larger, ? is not finite"
    )
    drawn = figure(picture)
    colours = {"#08306b": 2, "#ffffff": 8, "#c6dbef": 3, "#6baed6": 1, "#2171b5": 1, "#e0584f": 1}
    assert {colour: drawn.count(colour) for colour in colours} == colours
    assert drawn.count("<tr") == 4
    mask = figure("yours    expected\n■ · ·    ■ · ·\n■ ■ ■    ■ ■ ·\n■ may attend  · may not")
    assert mask.count("#2171b5") == 7 and "blue may attend" in mask


@pytest.mark.parametrize("text", ["", "a", "yours expected", "some\nother\ntext", "yours\nexpected\nx"])
def test_a_picture_of_another_kind_stays_text(text):
    assert figure(text) == ""


def test_without_a_notebook_the_check_names_the_command():
    program = (
        "from autograder.notebook import check\ntry:\n    check('part3')\nexcept Exception as error:\n    print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "use gpt-hw test" in ran.stdout
