"""A notebook gives the code that a student wrote in it, without checks and magics, or is a problem in words."""

import hashlib
import json
from pathlib import Path
from textwrap import indent

import pytest
from intake_cases import book, cell, code_lines, read_book

from autograder.intake import notebook
from autograder.intake.magics import plain_python


def test_code_cells_are_joined_with_marks_and_other_cells_left_out(tmp_path: Path) -> None:
    data = book(
        cell("# Title", "markdown"), cell(["x = 1\n", "y = 2"]), cell("raw", "raw"), cell("z = 3\r\n"), cell("")
    )
    submission = read_book(tmp_path, data)
    assert submission.problems == {}
    assert submission.sources == {"part3_attention": "# %%\nx = 1\ny = 2\n\n# %%\nz = 3\n\n# %%\n\n"}
    assert submission.sha256 == {"part3_attention.ipynb": hashlib.sha256(data).hexdigest()}


def test_format_3_is_read_from_its_worksheets(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "language": "python", "input": ["x = 1"]}, {"cell_type": "heading", "source": "T"}]
    data = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, {"cells": cells}]}).encode()
    assert code_lines(read_book(tmp_path, data).sources["part3_attention"]) == ["x = 1", "x = 1"]


@pytest.mark.parametrize(
    "data",
    [
        book(cell("x = 1"))[:-10],
        b"",
        b"null",
        b"[]",
        b"4",
        b'"text"',
        b"\xff\xfe{}",
        b"{} {}",
        b"{}",
        b'{"nbformat": 4}',
        b'{"nbformat": 4, "cells": {}}',
        b'{"nbformat": 4, "cells": [1]}',
        b'{"nbformat": 4, "cells": [{}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": 7}]}',
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [7]}]}',
        b'{"nbformat": 3, "worksheets": 1}',
        b'{"nbformat": 3, "worksheets": [1]}',
        b'{"nbformat": 2, "worksheets": []}',
        b'{"nbformat": 5, "cells": []}',
        b'{"nbformat": true, "cells": []}',
        b'{"nbformat": [[4]], "cells": []}',
        b'{"nbformat": ' + b"9" * 5000 + b"}",
        b"[" * 200_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_is_no_notebook_is_a_problem(tmp_path: Path, data: bytes) -> None:
    submission = read_book(tmp_path, data)
    assert submission.sources == {}
    assert submission.problems["part3_attention"].startswith("not gradable: invalid notebook (")


@pytest.mark.parametrize(
    "data",
    [
        book(cell("x <- 1"), metadata={"kernelspec": {"language": "R"}}),
        book(cell("x <- 1"), metadata={"language_info": {"name": "R"}}),
        book(cell("x <- 1", vscode={"languageId": "R"})),
        json.dumps(
            {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "language": "R", "input": "x"}]}]}
        ).encode(),
    ],
)
def test_a_notebook_in_another_language_is_a_problem(tmp_path: Path, data: bytes) -> None:
    submission = read_book(tmp_path, data)
    assert submission.problems == {
        "part3_attention": "not gradable: cell 1 of part3_attention.ipynb is in R, not in Python"
    }


@pytest.mark.parametrize(
    "metadata", [None, 7, [], {"kernelspec": 7}, {"kernelspec": {"language": 7}, "language_info": {"name": "python"}}]
)
def test_odd_metadata_do_not_matter(tmp_path: Path, metadata: object) -> None:
    odd = {"cell_type": "code", "source": "x = 1", "metadata": [1]}
    assert code_lines(read_book(tmp_path, book(odd, metadata=metadata)).sources["part3_attention"]) == ["x = 1"]


def test_check_cells_are_left_out_and_solution_cells_kept(tmp_path: Path) -> None:
    data = book(
        cell("solution = 1", nbgrader={"grade": False, "solution": True, "grade_id": "a"}),
        cell("assert locked", nbgrader={"grade": True, "solution": False, "grade_id": "b"}),
        cell("by_hand = 2", nbgrader={"grade": True, "solution": True, "grade_id": "c"}),
        cell("given = 3", nbgrader={"grade": False, "solution": False, "locked": True, "grade_id": "d"}),
        cell("assert tagged", tags=["active-ipynb"]),
    )
    submission = read_book(tmp_path, data)
    assert code_lines(submission.sources["part3_attention"]) == ["solution = 1", "by_hand = 2", "given = 3"]
    assert submission.warnings == ()


CHECK_CELL = 'from autograder.notebook import check\n\ncheck("part3", "attention")'


@pytest.mark.parametrize(
    ("cells", "left"),
    [
        ([CHECK_CELL], []),
        (["import autograder.notebook"], []),
        (["import autograder.notebook as nb", "nb.check('part3', must_pass=True)"], []),
        (["from autograder.notebook import check as look", "x = 1\nlook()"], ["x = 1", "pass"]),
        (["check('part3')"], []),  # the cell with the import is gone
        ([CHECK_CELL + "\nx = 1"], ["pass", "pass", "x = 1"]),
        ([f'if __name__ == "__main__":\n{indent(CHECK_CELL, "    ")}'], []),
        (
            ["if __name__ == '__main__':\n    check('part3')\n    print(1)"],
            [
                "if __name__ == '__main__':",
                "    check('part3')",
                "    print(1)",
            ],
        ),
        (["check('é'); x = 'é'; check(\n'part3'\n); y = 2"], ["pass; x = 'é'; pass; y = 2"]),
        (["%%time\n" + CHECK_CELL], []),
        (["def check(x):\n    return x", "y = check(1)"], ["def check(x):", "    return x", "y = check(1)"]),
        (["from mine import check", "check(1)"], ["from mine import check", "check(1)"]),
        (["check(", "x = 1"], ["check(", "x = 1"]),
        (["if " + "-" * 3000 + "1: check()"], ["if " + "-" * 3000 + "1: check()"]),
        (["if x" + "[0]" * 3000 + ": check()"], ["if x" + "[0]" * 3000 + ": check()"]),
        (["def f():\n    check('part3')"], ["def f():", "    check('part3')"]),
    ],
)
def test_check_calls_are_left_out_with_or_without_their_tag(tmp_path: Path, cells: list[str], left: list[str]) -> None:
    made = {"tags": ["active-ipynb"], "gpt_hw": {"role": "check"}}
    for name, metadata in (("tagged", made), ("plain", {})):
        (tmp_path / name).mkdir()
        submission = read_book(tmp_path / name, book(*(cell(source, **metadata) for source in cells)))
        assert code_lines(submission.sources["part3_attention"]) == left


def test_a_check_call_leaves_the_lines_where_they_were(tmp_path: Path) -> None:
    submission = read_book(tmp_path, book(cell("check(\n  'part3'\n)\nx = 1")))
    assert submission.sources["part3_attention"].split("\n") == ["# %%", "pass", "", "", "x = 1", ""]


def test_a_check_cell_that_is_locked_for_nbgrader_is_left_out_whole(tmp_path: Path) -> None:
    locked = {"grade": True, "solution": False, "grade_id": "check-attention"}
    data = book(cell(CHECK_CELL + "\nx = 1", gpt_hw={"role": "check"}, nbgrader=locked), cell("y = 2"))
    assert code_lines(read_book(tmp_path, data).sources["part3_attention"]) == ["y = 2"]


def test_a_copied_cell_is_warned_of(tmp_path: Path) -> None:
    metadata = {"grade": True, "solution": False, "grade_id": "test_a"}
    submission = read_book(
        tmp_path, book(cell("assert 1", nbgrader=metadata), cell("assert 1", nbgrader=metadata), cell("x = 1"))
    )
    assert code_lines(submission.sources["part3_attention"]) == ["x = 1"]
    assert submission.warnings == ("part3: part3_attention.ipynb: cell 2 is a second copy of the cell 'test_a'",)


def test_a_cell_in_another_magic_is_left_out_with_a_warning(tmp_path: Path) -> None:
    submission = read_book(tmp_path, book(cell("%%bash\nrm -rf /"), cell("%%time\nx = 1")))
    assert code_lines(submission.sources["part3_attention"]) == ["# %%time", "x = 1"]
    assert submission.warnings == ("part3: part3_attention.ipynb: cell 1 begins with %%bash and was left out",)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
        ("!pip install torch\n!ls \\\n  -l\nx = 1", "# !pip install torch\n# !ls \\\n#   -l\nx = 1"),
        ("if x:\n    !pip install torch\n", "if x:\n    pass  # !pip install torch\n"),
        ("torch.nn?\nx??\n?x\n%time?", "# torch.nn?\n# x??\n# ?x\n# %time?"),
        ("files = !ls\nwhere = %pwd", "# files = !ls\n# where = %pwd"),
        ("\n%%capture out\n%%time\n%time f()\nx = 1", "\n# %%capture out\n# %%time\n# %time f()\nx = 1"),
        ("x = (a\n     % b)\ny = a \\\n  % b", "x = (a\n     % b)\ny = a \\\n  % b"),
        ('"""\n%magic\n!shell\nwhat?\n"""\n%magic', '"""\n%magic\n!shell\nwhat?\n"""\n# %magic'),
        ("# really?\nx = 'why?'\ny = a != b\nz = a % b", "# really?\nx = 'why?'\ny = a != b\nz = a % b"),
        ("x = 'it\\'s (' # )\n%magic", "x = 'it\\'s (' # )\n# %magic"),
        ("x = 'open\n%magic", "x = 'open\n# %magic"),
        ("x = 1\n%%bash", "x = 1\n# %%bash"),
        ("", ""),
    ],
)
def test_magics_become_comments_and_python_stays(source: str, expected: str) -> None:
    text, dropped = plain_python(source)
    assert dropped == ""
    assert text == expected
    assert text.count("\n") == source.count("\n")


@pytest.mark.parametrize(
    "magic", ["%%bash", "%%writefile x.py", "%%html", "%%python", "%%", "\n%%bash", "%%time\n%%bash"]
)
def test_other_cell_magics_drop_the_cell(magic: str) -> None:
    text, dropped = plain_python(f"{magic}\nx = 1")
    assert text == ""
    assert dropped.startswith("%%")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [("x = '\0'", "NUL byte in line 2"), ("x = 1\ny = '\ud800'", "half of a surrogate pair) in line 3")],
)
def test_characters_that_cannot_be_sent_on_are_a_problem(tmp_path: Path, source: str, sentence: str) -> None:
    assert sentence in read_book(tmp_path, book(cell(source))).problems["part3_attention"]


def test_a_coding_line_in_a_notebook_is_made_true(tmp_path: Path) -> None:
    source = read_book(tmp_path, book(cell("# coding: latin-1\nx = '\xe9'"))).sources["part3_attention"]
    assert source == "# %%\n# coding: utf-8\nx = '\xe9'\n"


def test_large_outputs_are_read_past_and_large_sources_refused(tmp_path: Path) -> None:
    large = {**cell("x = 1"), "outputs": [{"data": {"image/png": "A" * (3 << 20)}}]}
    assert code_lines(read_book(tmp_path, book(large)).sources["part3_attention"]) == ["x = 1"]
    submission = read_book(tmp_path, book(*[cell("#" * (300 << 10)) for _ in range(4)]))
    assert "more than 1 MiB of source" in submission.problems["part3_attention"]


def test_too_large_a_notebook_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.intake.taking.NOTEBOOK_LIMIT", 1 << 20)
    submission = read_book(tmp_path, book(cell("x = 1")) + b" " * (1 << 20))
    assert "part3_attention.ipynb is larger than 1 MiB" in submission.problems["part3_attention"]


def test_a_notebook_of_millions_of_values_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "BRACKET_LIMIT", 100)
    submission = read_book(tmp_path, book(cell("x = 1"), outputs=[[]] * 200))
    assert "clear its outputs" in submission.problems["part3_attention"]
