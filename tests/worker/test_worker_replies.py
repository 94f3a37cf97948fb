"""A result that is not plain data stays and can be asked, and one that cannot be sent is refused in words."""

import pytest
from session_asker import Asker, Kept

from autograder.wire import REPLY_LIMITS, Array
from autograder.worker.serve import _packed


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
