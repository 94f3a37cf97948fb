"""Ask a session of the worker as the grader asks, without a wall."""

from autograder.wire import Array, decode, encode
from autograder.worker import Session

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
