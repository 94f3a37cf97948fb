"""A submission is imported with the parts that it needs, and neither Python nor another submission sees it."""

import sys

import pytest
from session_asker import Asker

from autograder.source_modules import SourceModules
from autograder.worker import Session


def test_a_module_is_imported_and_its_functions_are_called():
    asker = Asker("def double(x, times=2):\n    return x * times\n")
    assert asker.imported == {"value": None}
    assert asker.call("double", 3) == {"value": 6}
    assert asker.call("double", 3, times=5) == {"value": 15}


def test_a_name_that_is_not_there_is_told_in_words():
    error = Asker("def attention(): ...\n").error("Head")
    assert error == {"type": "Refused", "message": "part1_own.py defines no 'Head'", "traceback": ""}


def test_a_syntax_error_is_told_with_line_and_caret():
    error = Asker("x = 1\ndef f(:\n    pass\n").imported["error"]
    assert error["type"] == "SyntaxError"
    assert 'File "part1_own.py", line 2' in error["traceback"]
    assert "def f(:" in error["traceback"]
    assert "^" in error["traceback"]


@pytest.mark.parametrize("what", ["raise ValueError('at import')", "raise SystemExit(0)", "import no_such_module"])
def test_an_import_that_fails_is_an_answer(what):
    reply = Asker(what).imported
    assert set(reply["error"]) == {"type", "bases", "message", "traceback"}
    assert 'File "part1_own.py", line 1' in reply["error"]["traceback"]


def test_a_part_imports_an_earlier_part():
    asker = Asker(
        "from part0_earlier import K\nimport part0_earlier\n"
        "def f():\n    from part0_earlier import g\n    return g() + K\n",
        part0_earlier="K = 2\ndef g():\n    return 40\n",
    )
    assert asker.call("f") == {"value": 42}


def test_a_part_is_imported_once():
    asker = Asker(
        "import part0_earlier as a\ndef f():\n    import part0_earlier as b\n    return a is b and b.count\n",
        part0_earlier="import random\ncount = random.random()\n",
    )
    assert asker.call("f") == asker.call("f")
    assert isinstance(asker.call("f")["value"], float)


def test_a_submission_cannot_be_called_like_another_module():
    for name in ("json", "torch", "numpy", "pytest", "autograder", "sitecustomize", "os.path", "part", "xpart1_a"):
        before = sys.modules.get(name)
        with pytest.raises(ValueError, match="is not the name of a part's module"):
            SourceModules({name: "x = 1"})
        reply, _ = Session().handle({"op": "import", "module": name, "sources": {name: "x = 1"}}, [])
        assert reply["error"]["type"] == "ValueError"
        assert sys.modules.get(name) is before


def test_modules_of_one_session_are_never_seen_by_another_or_by_python():
    before, finders = set(sys.modules), list(sys.meta_path)  # labs' tests in this process leave some of their own
    first = Asker(
        "import part0_earlier\nwho = 'first'\ndef f(): return who, part0_earlier.who\n", part0_earlier="who = 1"
    )
    second = Asker(
        "import part0_earlier\nwho = 'second'\ndef f(): return who, part0_earlier.who\n", part0_earlier="who = 2"
    )
    alone = Asker("import part0_earlier\n")
    assert first.call("f") == {"value": ("first", 1)}
    assert second.call("f") == {"value": ("second", 2)}
    assert first.call("f") == {"value": ("first", 1)}
    assert alone.imported["error"]["type"] == "ModuleNotFoundError"
    assert not [name for name in set(sys.modules) - before if name.startswith("part")]
    assert sys.meta_path == finders


def test_a_module_of_that_name_that_python_has_already_is_neither_used_nor_lost(monkeypatch):
    mine = type(sys)("part1_own")
    monkeypatch.setitem(sys.modules, "part1_own", mine)
    asker = Asker("def f():\n    import part1_own\n    return part1_own.f is f\n")
    assert asker.call("f") == {"value": True}
    assert sys.modules["part1_own"] is mine
    assert not vars(mine).get("f")


def test_a_module_knows_its_name_file_and_source():
    asker = Asker("import inspect\ndef f():\n    return __name__, __file__, inspect.getsource(f)[:8]\n")
    assert asker.call("f") == {"value": ("part1_own", "part1_own.py", "def f():")}
