"""Whatever a worker answers, a check ends as passed or failed: no forged reply is an error of ours, or fills us."""

import math
import random
import resource
from pathlib import Path

import pytest
import torch

from autograder.checks.catalogue import NoCatalogue
from autograder.parts import load_parts
from autograder.pipeline import open_course
from autograder.records import Limits, Outcome
from autograder.suite import run_part
from autograder.wire import REPLY_LIMITS, encode, pack, read_frame

ROOT = Path(__file__).resolve().parents[2]
PARTS = load_parts(ROOT / "assignments")
CONFIG = open_course(ROOT).config
DTYPES = (torch.float32, torch.float32, torch.float64, torch.float64, torch.int64, torch.bool, torch.bfloat16)
TEXTS = ("", "x" * 5000, "\x1b[2J<script>", "\udc80", "\u202e", "mask 5, 7")
BROKEN = ({}, {"value": {"tensor": 99}}, {"value": {"list": 5}}, {"value": {"dict": [[{"list": []}, 1]]}}, {"x": 1})
ERRORS = (
    {"type": "ValueError", "message": "x", "traceback": ""},
    {"type": "x\x1b", "bases": ["ValueError"], "message": "mask 5, 7", "traceback": "t"},
    {"type": 5},
    [],
    "x",
    {"type": "ValueError", "bases": [1], "message": None, "traceback": {}},
    {},
)


class Forger:
    """A worker that imports whatever it is given and then answers at random, often nearly right."""

    alive = True

    def __init__(self, seed: int, *, numpy: bool) -> None:
        self.random = random.Random(seed)
        self.numpy = numpy
        self.shapes: list[tuple[int, ...]] = [(), (3, 5, 24), (0,)]

    def allow(self, seconds):
        pass

    def threads(self):
        return 1

    def printed(self):
        return ""

    def forget_printed(self):
        pass

    def close(self):
        pass

    def tensor(self):
        draw = self.random
        shape = draw.choice(self.shapes)
        value = torch.zeros(1 if math.prod(shape) > 1_000_000 else shape)
        value = (value + draw.choice([0.0, 0.5, 1e30])).to(draw.choice(DTYPES))
        if value.is_floating_point() and value.numel() and draw.random() < 0.3:
            value.view(-1)[draw.randrange(value.numel())] = draw.choice([math.nan, math.inf, -math.inf])
        if draw.random() < 0.1:
            return value.to("meta")
        as_array = value.dtype is not torch.bfloat16 and draw.random() < (0.7 if self.numpy else 0.05)
        return value.numpy() if as_array else value

    def value(self, depth=0):
        draw = self.random
        kind = draw.randrange(16)
        if kind < 8 or depth > 3:
            return self.tensor()
        if kind < 11:
            return draw.choice([list, tuple, tuple])(self.value(depth + 1) for _ in range(draw.choice([0, 1, 2, 2, 3])))
        if kind == 11:
            names = ("q.weight", "x", 1, None, (1, 2), True, "inputs")
            return {draw.choice(names): self.value(depth + 1) for _ in range(draw.randrange(4))}
        plain = (None, True, 0, -1, 10**3999, 2**63, math.nan, math.inf, 1e308, 0.5, *TEXTS, torch.int8, object())
        return draw.choice(plain)

    def request(self, message, arrays):
        if message["op"] in ("import", "begin"):
            return {"value": None}, []
        draw, out = self.random, []
        self.shapes = [*self.shapes, *(array.shape for array in arrays)][-12:]
        makes = message["op"] == "probe" or str(message.get("name"))[:1].isupper()
        if draw.random() < 0.03:
            header = draw.choice(BROKEN)
        elif draw.random() < 0.05:
            header = {"error": draw.choice(ERRORS)}
        elif makes and draw.random() < 0.8:
            header = {"value": _handle(None)}
        elif message["op"] == "load" and draw.random() < 0.8:
            header = {"value": None}
        elif message["op"] == "shapes" and draw.random() < 0.8:
            shapes = {
                name: draw.choice([(24, 6), (6, 24), (-1,), (0,), (10**5, 10**5), (10**30,), "x"])
                for name in ("q.weight", "x")
            }
            header = {"value": encode(shapes, out, _handle)}
        else:
            header = {"value": encode(self.value(), out, _handle)}
        if message["op"] == "gradients" and draw.random() < 0.8:
            inputs = [self.tensor() if draw.random() < 0.8 else None for _ in range(draw.randrange(5))]
            found = {"inputs": inputs, "parameters": {"q.weight": self.tensor(), "x": None}}
            header = {**header, "gradients": encode(draw.choice([found, found, self.value()]), out, _handle)}
        if draw.random() < 0.03:
            header = {**header, "changed": encode(self.value(), out, _handle)}
        frame, place = pack(header, out, REPLY_LIMITS), 0

        def read_exactly(size):
            nonlocal place
            place += size
            return frame[place - size : place]

        return read_frame(read_exactly, REPLY_LIMITS)


def _handle(value):
    return {"handle": [1, "Head"]}


def results_of(part, worker):
    return run_part(
        part,
        {part.module: "x"},
        lambda: worker,
        seed=1,
        limits=Limits(),
        catalogue=NoCatalogue(),
        bands=CONFIG.bands.get(part.name),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PARTS)
def test_no_forged_reply_is_an_error_of_ours(name, seed):
    results = results_of(PARTS[name], Forger(seed, numpy=PARTS[name].libraries == ("numpy",)))
    assert [(r.check.id, r.message) for r in results if r.outcome is Outcome.ERROR] == []
    assert len(results) == len(PARTS[name].checks)


class Hoarder(Forger):
    """Answers every call with forty MiB, of NaN."""

    def request(self, message, arrays):
        if message["op"] in ("import", "begin"):
            return {"value": None}, []
        out = []
        return {"value": encode(torch.full((10_000_000,), math.nan), out, _handle)}, out


def test_large_replies_do_not_pile_up():
    torch.full((10_000_000,), math.nan).double().isfinite().all()  # what one comparison takes is taken before
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = results_of(PARTS["part3"], Hoarder(0, numpy=False))
    assert all(result.outcome is Outcome.FAILED for result in results)
    grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib) / 1024
    assert grown_mib < 400  # 26 answers are 1 GiB
