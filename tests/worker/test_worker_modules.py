"""What runs beside student code answers every request, whatever that code does, and leaves no trace of it behind."""

import random
import sys
import warnings

import numpy as np
import pytest
import torch

from autograder.source_modules import SourceModules
from autograder.wire import REPLY_LIMITS, Array, decode, encode
from autograder.worker import Session
from autograder.worker.serve import _packed
from autograder.worker.tracebacks import clip


class Asker:
    """A session with one module in it, asked as the grader asks."""

    def __init__(self, text: str, **others: str) -> None:
        self.session = Session()
        sources = {"part1_own": text, **others}
        self.imported, _ = self.session.handle({"op": "import", "module": "part1_own", "sources": sources}, [])
        self.begin()

    def begin(self, seed: int = 0) -> None:
        reply, _ = self.session.handle({"op": "begin", "seed": seed}, [])
        assert "error" not in reply

    def ask(self, op: str, name: str, *args, handle=None, **fields):
        """Send a request; return the decoded reply."""
        arrays: list[Array] = []
        kwargs = fields.pop("kwargs", {})
        message = {"op": op, "name": name, "handle": handle, "args": _node(list(args), arrays)}
        message["kwargs"] = _node(kwargs, arrays)
        for key, value in fields.items():
            message[key] = value if key == "source" else _node(value, arrays)
        reply, out = self.session.handle(message, arrays)
        return {key: node if key == "error" else decode(node, out) for key, node in reply.items()}

    def call(self, name: str, *args, handle=None, **kwargs):
        return self.ask("call", name, *args, handle=handle, kwargs=kwargs)

    def error(self, name: str, *args):
        reply = self.call(name, *args)
        assert "value" not in reply
        return reply["error"]


class Kept:
    """A handle, as the grader sends it back."""

    def __init__(self, number: int) -> None:
        self.number = number


def _node(value, arrays):
    return encode(value, arrays, lambda kept: {"handle": [kept.number, ""]})


# -- import --------------------------------------------------------------------------------------------------------


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


# -- what student code raises --------------------------------------------------------------------------------------

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


# -- replies -------------------------------------------------------------------------------------------------------


def test_what_is_not_plain_stays_and_can_be_asked():
    asker = Asker("class Counter:\n    n = 0\n    def more(self, by):\n        self.n += by\n        return self\n")
    counter = asker.call("Counter")["value"]
    assert counter.type_name == "Counter"
    again = asker.call("more", 3, handle=counter.handle)["value"]
    assert asker.ask("get", "n", handle=again.handle) == {"value": 3}


def test_a_handle_can_be_given_to_student_code():
    asker = Asker("class A:\n    x = 5\ndef read(a, more):\n    return a.x, more['deep'][0] is a\n")
    handle = asker.call("A")["value"].handle
    assert asker.call("read", Kept(handle), {"deep": [Kept(handle)]}) == {"value": (5, True)}


def test_an_object_that_answers_everything_is_only_a_handle():
    text = "class Yes:\n    def __getattr__(self, name):\n        raise SystemExit\n"
    asker = Asker(text + "    __eq__ = __lt__ = lambda *_: True\ndef f(): return Yes()\n")
    assert asker.call("f")["value"].type_name == "Yes"


def test_a_tensor_that_cannot_cross_is_named_by_its_kind():
    asker = Asker(
        "import torch\ndef f(): return torch.zeros(2, dtype=torch.complex64), torch.zeros(2, 2).to_sparse()\n"
    )
    names = [item.type_name for item in asker.call("f")["value"]]
    assert names == ["Tensor (torch.strided, torch.complex64)", "Tensor (torch.sparse_coo, torch.float32)"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("x = []\n    x.append(x)\n    return x", "nested more than"),
        ("return list(range(300_000))", "more than 200000 parts"),
        ("return 10 ** 5000", "more than 4000 digits"),
    ],
)
def test_a_result_that_cannot_be_sent_is_refused_in_words(body, why):
    error = Asker(f"def f():\n    {body}\n").error("f")
    assert error["type"] == "Refused"
    assert error["message"].startswith("the result cannot be read: ")
    assert why in error["message"]


def test_a_result_larger_than_a_reply_is_refused_in_words():
    body = b"\0" * (REPLY_LIMITS.body_bytes + 1)
    frame = _packed(3, {"value": {"tensor": 0}}, [Array("uint8", (len(body),), body)])
    assert len(frame) < 1_000
    assert b"the result is larger than 128 MiB" in frame


def test_objects_are_forgotten_when_the_next_check_begins():
    asker = Asker("class A: pass\n")
    handle = asker.call("A")["value"].handle
    asker.begin()
    assert "error" in asker.ask("get", "__doc__", handle=handle)


def test_get_reads_attributes_and_items_by_path():
    text = "import torch\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "        self.heads = torch.nn.ModuleList([torch.nn.Linear(2, 3)])\n        self.sizes = {'a': 1}\n"
    asker = Asker(text)
    handle = asker.call("M")["value"].handle
    assert asker.ask("get", "heads.0.weight", handle=handle)["value"].shape == (3, 2)
    assert asker.ask("get", "training", handle=handle) == {"value": True}
    for path in ("heads.1.weight", "nothing", "heads.0.nothing", "training.x", "sizes.0"):
        error = asker.ask("get", path, handle=handle)["error"]
        assert error["message"] == f"M has no attribute '{path}'"


# -- modules: weights and gradients --------------------------------------------------------------------------------

LINEAR = """
import torch
from torch import nn
class Head(nn.Module):
    def __init__(self, frozen=False, unused=False):
        super().__init__()
        self.q = nn.Linear(3, 2)
        if unused:
            self.extra = nn.Parameter(torch.ones(4))
        if frozen:
            self.q.bias.requires_grad_(False)
    def forward(self, x):
        return self.q(x)
    def pair(self, x):
        return self.q(x), x.sum()
    def constant(self, x):
        return torch.ones(5, 2)
    def in_place(self, x):
        x.data.mul_(2)
        return self.q(x)
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2, bias=False)
        self.b = nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight
class Plain:
    pass
def gather(x, index): return x[index]
def wrong(x): return x.sum()
"""


def test_load_sets_parameters_by_name_in_place():
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    weights = {"q.weight": torch.arange(6.0).reshape(2, 3), "q.bias": torch.tensor([1.0, 2.0])}
    assert asker.ask("load", "", handle=head, weights=weights) == {"value": None}
    got = asker.call("", torch.eye(3), handle=head)["value"]
    assert torch.equal(got, torch.eye(3) @ weights["q.weight"].T + weights["q.bias"])


@pytest.mark.parametrize(
    ("name", "weight", "message"),
    [
        ("k.weight", torch.zeros(2, 3), "Head has no parameter 'k.weight'; its parameters are: q.weight, q.bias"),
        ("q.weight", torch.zeros(3, 2), "Head's parameter 'q.weight' has shape (2, 3), expected (3, 2)"),
    ],
)
def test_load_says_what_does_not_fit_and_changes_nothing(name, weight, message):
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    before = asker.ask("get", "q.bias", handle=head)["value"]
    reply = asker.ask("load", "", handle=head, weights={"q.bias": torch.full((2,), 9.0), name: weight})
    assert reply["error"]["message"] == message
    assert torch.equal(asker.ask("get", "q.bias", handle=head)["value"], before)


def test_load_and_shapes_say_that_a_plain_object_has_no_parameters():
    asker = Asker(LINEAR)
    plain = asker.call("Plain")["value"].handle
    assert "is not an nn.Module" in asker.ask("load", "", handle=plain, weights={})["error"]["message"]
    assert "is not an nn.Module" in asker.ask("shapes", "", handle=plain)["error"]["message"]


def test_a_tied_weight_can_be_loaded_under_both_names_and_is_listed_once():
    asker = Asker(LINEAR)
    tied = asker.call("Tied")["value"].handle
    assert asker.ask("shapes", "", handle=tied) == {"value": {"a.weight": (2, 2)}}
    assert asker.ask("load", "", handle=tied, weights={"b.weight": torch.eye(2)}) == {"value": None}
    assert torch.equal(asker.ask("get", "a.weight", handle=tied)["value"], torch.eye(2))


def test_gradients_are_those_of_arguments_and_parameters():
    asker = Asker(LINEAR)
    head = asker.call("Head", unused=True)["value"].handle
    x, up = torch.randn(5, 3), torch.randn(5, 2)
    reply = asker.ask("gradients", "", x, handle=head, upstream=up)
    weight = asker.ask("get", "q.weight", handle=head)["value"]
    torch.testing.assert_close(reply["gradients"]["inputs"][0], up @ weight)
    torch.testing.assert_close(reply["gradients"]["parameters"]["q.weight"], up.T @ x)
    torch.testing.assert_close(reply["gradients"]["parameters"]["q.bias"], up.sum(0))
    assert reply["gradients"]["parameters"]["extra"] is None
    assert reply["value"].shape == (5, 2)


def test_a_method_is_differentiated_with_its_owners_parameters_and_unused_outputs():
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    x, up = torch.randn(5, 3), torch.randn(5, 2)
    reply = asker.ask("gradients", "pair", x, handle=head, upstream=(up, None))
    torch.testing.assert_close(reply["gradients"]["parameters"]["q.weight"], up.T @ x)


def test_a_frozen_parameter_and_an_integer_argument_have_no_gradient():
    asker = Asker(LINEAR)
    head = asker.call("Head", frozen=True)["value"].handle
    reply = asker.ask("gradients", "", torch.randn(5, 3), handle=head, upstream=torch.randn(5, 2))
    assert reply["gradients"]["parameters"]["q.bias"] is None
    assert reply["gradients"]["parameters"]["q.weight"] is not None
    x, index, up = torch.randn(4), torch.tensor([2, 0]), torch.tensor([1.0, 10.0])
    reply = asker.ask("gradients", "gather", x, index, upstream=up)
    assert reply["gradients"]["inputs"][1] is None
    assert reply["gradients"]["inputs"][0].tolist() == [10, 0, 1, 0]


def test_an_output_that_nothing_flows_back_from_gives_no_gradients():
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    reply = asker.ask("gradients", "constant", torch.randn(5, 3), handle=head, upstream=torch.randn(5, 2))
    assert reply["gradients"] == {"inputs": [None], "parameters": {"q.weight": None, "q.bias": None}}


def test_an_output_of_another_shape_gives_the_output_and_no_gradients():
    reply = Asker(LINEAR).ask("gradients", "wrong", torch.randn(5, 3), upstream=torch.randn(5, 3))
    assert set(reply) == {"value"}


def test_a_probe_is_built_of_the_suites_text_and_given_to_student_code():
    asker = Asker("def run(layer, x): return layer(x) + 1\n")
    source = "class Double:\n    def __init__(self, by):\n        self.by = by\n"
    source += "    def __call__(self, x):\n        return self.by * x\n"
    probe = asker.ask("probe", "Double", 10, source=source)["value"].handle
    assert asker.call("run", Kept(probe), 4) == {"value": 41}


# -- arguments that belong to the caller ---------------------------------------------------------------------------

CHANGES = """
def nothing(*args, **kwargs): return 1
def zero(x): x.zero_()
def zero_named(*, x): x.zero_()
def deep(xs): xs[1]["a"].mul_(2)
def resize(x): x.resize_(1)
def transpose(x): x.t_()
def array(x): x[0] = 5
def nan(x): x[0] = float("nan")
def one_nan_more(x): x[1] = float("nan")
def same(x): x.copy_(x.clone())
def append(xs): xs.append(1)
def sort(xs): xs.sort()
def key(d): d["new"] = 1
def replace(d): d["a"] = 2
def reference(xs): xs[0] = [1]
def meta(x): return x.shape
"""


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "changed"),
    [
        ("zero", [torch.ones(2)], {}, ["argument 1"]),
        ("nothing", [torch.ones(2), [torch.ones(2)], np.ones(2)], {"x": torch.ones(1)}, []),
        ("zero_named", [], {"x": torch.ones(2)}, ["x"]),
        ("deep", [[torch.ones(1), {"a": torch.ones(1)}]], {}, ["argument 1"]),
        ("deep", [(torch.ones(1), {"a": torch.ones(1)})], {}, ["argument 1"]),
        ("resize", [torch.ones(4)], {}, ["argument 1"]),
        ("transpose", [torch.ones(2, 3)], {}, ["argument 1"]),
        ("array", [np.ones(2)], {}, ["argument 1"]),
        ("nothing", [torch.tensor([float("nan"), 1.0])], {}, []),
        ("same", [torch.tensor([float("nan"), 1.0])], {}, []),
        ("nan", [torch.tensor([0.0, 1.0])], {}, ["argument 1"]),
        ("one_nan_more", [torch.tensor([float("nan"), 1.0])], {}, ["argument 1"]),
        ("append", [[3, 2]], {}, ["argument 1"]),
        ("sort", [[3, 2]], {}, ["argument 1"]),
        ("nothing", [[2, 3, 10**30, "text", None, 1.5, float("nan")]], {}, []),
        ("key", [{"a": 1}], {}, ["argument 1"]),
        ("replace", [{"a": 1}], {}, ["argument 1"]),
        ("reference", [[[1], 2]], {}, ["argument 1"]),
        ("meta", [torch.empty(3, device="meta")], {}, []),
        ("zero", [torch.empty(0)], {}, []),
    ],
)
def test_a_call_that_changes_its_arguments_is_noticed(name, args, kwargs, changed):
    reply = Asker(CHANGES).ask("call", name, *args, kwargs=kwargs)
    assert "error" not in reply
    assert list(reply.get("changed", {})) == changed


def test_a_call_that_changes_its_arguments_is_noticed_under_gradients_too():
    asker = Asker(LINEAR)
    head = asker.call("Head")["value"].handle
    reply = asker.ask("gradients", "in_place", torch.ones(5, 3), handle=head, upstream=torch.randn(5, 2))
    assert list(reply["changed"]) == ["argument 1"]


# -- settings of the whole process ---------------------------------------------------------------------------------


def test_begin_sets_every_setting_of_the_process_anew():
    asker = Asker(
        "import torch, random, sys\nimport numpy as np\n"
        "def spoil():\n"
        "    torch.set_default_dtype(torch.float64)\n    torch.set_grad_enabled(False)\n    torch.set_num_threads(2)\n"
        "    torch.manual_seed(3)\n    random.seed(3)\n    np.random.seed(3)\n    np.seterr(all='raise')\n"
        "    torch.set_default_device('meta')\n    torch.use_deterministic_algorithms(True)\n"
        "    torch.autograd.set_detect_anomaly(True)\n    sys.setrecursionlimit(5000)\n"
        "def look():\n"
        "    return (str(torch.get_default_dtype()), torch.is_grad_enabled(), torch.get_num_threads(), np.geterr(),\n"
        "            torch.zeros(1).device.type, torch.are_deterministic_algorithms_enabled(),\n"
        "            torch.is_anomaly_enabled(), sys.getrecursionlimit())\n"
        "def draw():\n    return torch.rand(1), random.random(), float(np.random.rand())\n"
    )
    asker.begin(seed=7)
    clean, first = asker.call("look"), asker.call("draw")
    assert clean["value"][:3] == ("torch.float32", True, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that anomaly detection is slow
        assert "error" not in asker.call("spoil")
    try:
        assert asker.call("look") != clean
    finally:
        asker.begin(seed=7)
    assert asker.call("look") == clean
    assert asker.call("draw") == first
    asker.begin(seed=8)
    assert asker.call("draw")["value"][0] != first["value"][0]
    random.seed()
