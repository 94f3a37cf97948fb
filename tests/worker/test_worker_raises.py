"""Whatever student code raises is an answer that shows the student's own lines, and the session goes on."""

import pytest
import torch
from session_asker import Asker

from autograder.worker.serve import _packed
from autograder.worker.tracebacks import clip

RAISES = """
import sys, torch
class Silent(Exception):
    def __str__(self):
        raise SystemExit("not even a text")
class Recursive(Exception):
    def __str__(self):
        return str(self)
class Text(str):
    def __len__(self):
        return 0
    def __getitem__(self, key):
        raise ValueError
class Long(Exception):
    def __str__(self):
        return Text("x" * 100_000)
class Meta(type):
    __name__ = property(lambda cls: 1 / 0)
    def mro(cls):
        return super().mro()
class Nameless(Exception, metaclass=Meta):
    pass
def exit(): raise SystemExit(0)
def quit(): sys.exit("bye")
def interrupt(): raise KeyboardInterrupt
def generator_exit(): raise GeneratorExit
def stop_iteration(): raise StopIteration(3)
def recursion(): return recursion()
def memory(): raise MemoryError
def too_much(): return torch.empty(2**50)
def silent(): raise Silent
def recursive(): raise Recursive
def long(): raise Long
def nameless(): raise Nameless("words")
def group(): raise ExceptionGroup("several", [ValueError(1), TypeError(2)])
def surrogate(): raise ValueError("\\ud800")
def base(): raise BaseException("base")
def chained():
    try:
        {}["x"]
    except KeyError as error:
        raise ValueError("after") from error
def fine(): return 1
"""


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("exit", "SystemExit", "0"),
        ("quit", "SystemExit", "bye"),
        ("interrupt", "KeyboardInterrupt", ""),
        ("generator_exit", "GeneratorExit", ""),
        ("stop_iteration", "StopIteration", "3"),
        ("recursion", "RecursionError", "maximum recursion depth exceeded"),
        ("memory", "MemoryError", ""),
        ("too_much", "RuntimeError", "can't allocate memory"),
        ("silent", "Silent", "(its text could not be read: SystemExit)"),
        ("recursive", "Recursive", "(its text could not be read: RecursionError)"),
        ("nameless", "Nameless", "words"),
        ("group", "ExceptionGroup", "several (2 sub-exceptions)"),
        ("surrogate", "ValueError", "\ud800"),
        ("base", "BaseException", "base"),
        ("chained", "ValueError", "after"),
    ],
)
def test_whatever_is_raised_is_an_answer_and_the_session_goes_on(name, kind, message):
    asker = Asker(RAISES)
    error = asker.error(name)
    assert error["type"] == kind
    assert message in error["message"]
    assert _packed(1, {"error": error}, [])  # it can be sent
    assert asker.call("fine") == {"value": 1}


def test_a_text_is_cut_even_if_it_lies_about_its_length():
    message = Asker(RAISES).error("long")["message"]
    assert type(message) is str
    assert len(message) < 6_000
    assert "characters left out" in message


def test_bases_are_told_so_that_subclasses_count():
    error = Asker("class Mine(ValueError): pass\ndef f(): raise Mine\n").error("f")
    assert (error["type"], error["bases"][:2]) == ("Mine", ["ValueError", "Exception"])


def test_a_traceback_holds_the_students_frames_and_carets_and_nothing_else():
    asker = Asker(
        "import torch\nfrom part0_earlier import inner\n"
        "class Head(torch.nn.Module):\n    def forward(self, x):\n        return 1 + inner(x)\n",
        part0_earlier="def inner(x):\n    return x @ x.bad\n",
    )
    head = asker.call("Head")["value"].handle
    error = asker.call("", torch.zeros(2), handle=head)["error"]
    text = error["traceback"]
    assert [line.strip() for line in text.splitlines() if "File" in line] == [
        'File "part1_own.py", line 5, in forward',
        'File "part0_earlier.py", line 2, in inner',
    ]
    assert "return x @ x.bad" in text
    assert "^^^^^" in text
    assert text.endswith("AttributeError: 'Tensor' object has no attribute 'bad'\n")
    for ours in ("site-packages", "autograder", "session", "_wrapped_call_impl"):
        assert ours not in text


def test_a_traceback_reaches_the_student_through_many_frames_of_a_library():
    text = "def f():\n    nested = []\n    for _ in range(90):\n        nested = [nested]\n"
    text += (
        "    return g(nested)\ndef g(nested):\n    import copy\n    class Bad:\n        def __deepcopy__(self, memo):\n"
    )
    text += "            raise ValueError('deep')\n    inner = nested\n    while inner[0]:\n        inner = inner[0]\n"
    text += "    inner[0] = Bad()\n    return copy.deepcopy(nested)\n"
    text = text.replace("while inner[0]:", "while inner and inner[0]:").replace(
        "inner[0] = Bad()", "inner[:] = [Bad()]"
    )
    error = Asker(text).error("f")
    assert "in f" in error["traceback"]
    assert "in g" in error["traceback"]


def test_a_deep_recursion_gives_a_short_traceback():
    text = Asker(RAISES).error("recursion")["traceback"]
    assert len(text) < 5_000
    assert "Previous line repeated" in text


def test_clip_keeps_both_ends():
    assert clip("short") == "short"
    cut = clip("a" * 60 + "b" * 60, limit=20)
    assert cut.startswith("a" * 10 + "\n")
    assert cut.endswith("\n" + "b" * 10)
