"""A call that changes its arguments is noticed, and the next check finds every setting of the process anew."""

import random
import warnings

import numpy as np
import pytest
import torch
from session_asker import LINEAR, Asker

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
