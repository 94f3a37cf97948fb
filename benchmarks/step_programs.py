"""What ``benchmarks.steps`` times: each function here makes one program, a call without arguments.

A process that makes one has solutions/ on its path, and has loaded nothing yet.
"""

import importlib
import time
import tracemalloc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.suite.connection import PartConnection

Program = Callable[[], Any]

TRAINED = {"vocab_size": 32, "block_size": 32, "n_layers": 1, "n_heads": 4, "d_model": 64}  # as part 7's checks do
DEEPER = {"vocab_size": 65, "block_size": 64, "n_layers": 4, "n_heads": 4, "d_model": 128}
STEPS = 300  # of a training check of part 7
BATCH = 16  # of part 9
_HEADS = 4

# Part 9: the graph, and gradients by hand.


def graph(*, E: int, T: int, V: int, dtype: str) -> Program:
    """Make a step of part 9's transformer: forward, and back through its graph."""
    model, idx, targets = _engine(E=E, T=T, V=V, dtype=dtype)
    parameters = model.parameters()

    def step() -> tuple[float, dict[str, Any]]:
        for p in parameters.values():
            p.zero_grad()
        loss = model.loss(idx, targets)
        loss.backward_all()
        return float(loss.data), parameters

    return step


def by_hand(*, E: int, T: int, V: int, dtype: str) -> Program:
    """Make the same step without a graph."""
    from benchmarks.plain_part9 import loss_and_grads

    model, idx, targets = _engine(E=E, T=T, V=V, dtype=dtype)
    arrays = {name: p.data for name, p in model.parameters().items()}
    return lambda: loss_and_grads(arrays, idx, targets, _HEADS)


def _engine(*, E: int, T: int, V: int, dtype: str) -> tuple[Any, Any, Any]:
    import numpy as np

    part9 = importlib.import_module("part9_engine")
    draw = np.random.default_rng(0)
    model = part9.TransformerLM(V, block_size=T, n_blocks=1, n_heads=_HEADS, d_embed=E, rng=draw)
    for p in model.parameters().values():  # no ones and zeros: they would hide a forgotten factor
        p.data = (p.data + draw.normal(0.0, 0.2, p.data.shape)).astype(dtype)
    return model, draw.integers(0, V, (BATCH, T)), draw.integers(0, V, (BATCH, T))


def compare_engines(*, E: int, T: int, V: int, dtype: str) -> None:
    """Require that both give one loss and the same gradients.

    Raises:
        RuntimeError: They do not.
    """
    import numpy as np

    sizes: dict[str, Any] = {"E": E, "T": T, "V": V, "dtype": dtype}
    (loss, parameters), (same, gradients) = graph(**sizes)(), by_hand(**sizes)()
    apart = [float(np.abs(gradients[name] - p.grad).max()) for name, p in parameters.items()]
    if max(*apart, abs(loss - same)) > (1e-9 if dtype == "float64" else 1e-5) or set(gradients) != set(parameters):
        raise RuntimeError(f"the two engines do not agree: losses {loss} and {same}, gradients {max(apart)} apart")


def peak_mib(step: Program) -> float:
    """Weigh what one step holds at most, beside what was there before it; numpy tells tracemalloc of every array."""
    tracemalloc.start()
    try:
        kept = step()
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak / (1 << 20)


# Part 7: the GPT that students build, and one of ready-made pieces.


def course(*, plan: dict[str, int], batch: int, steps: int) -> Program:
    """Make part 7's loop on part 6's GPT."""
    part7, (ours, _), tokens = _loops(plan)
    return lambda: part7.train(ours, tokens, steps, batch, plan["block_size"], 1e-3)


def fused(*, plan: dict[str, int], batch: int, steps: int) -> Program:
    """Make the other loop on the other GPT."""
    from benchmarks.fused_gpt import train

    _, (_, other), tokens = _loops(plan)
    return lambda: train(other, tokens, steps, batch, plan["block_size"], 1e-3)


def course_on_ready_made_kernels(*, plan: dict[str, int], batch: int, steps: int) -> Program:
    """Make the first with torch's LayerNorm and attention kernel in it: what writing them by hand costs."""
    from torch.nn import functional as F

    def norm(self: Any, x: Any) -> Any:
        return F.layer_norm(x, (x.shape[-1],), self.weight, self.bias, self.eps)

    def attend(self: Any, x: Any) -> Any:
        q, k, v = (self.split_heads(layer(x)) for layer in (self.q, self.k, self.v))
        return self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2))

    part4, part5 = (importlib.import_module(module) for module in ("part4_block", "part5_positions"))
    part4.LayerNorm.forward, part5.CausalSelfAttention.forward = norm, attend
    return course(plan=plan, batch=batch, steps=steps)


def _loops(plan: dict[str, int]) -> tuple[Any, tuple[Any, Any], Any]:
    import torch

    from benchmarks.fused_gpt import FusedGPT

    torch.set_num_threads(1)
    part6, part7 = (importlib.import_module(module) for module in ("part6_gpt", "part7_training"))
    torch.manual_seed(0)
    ours, other = part6.GPT(part6.GPTConfig(**plan)), FusedGPT(**plan)
    other.load_course({name: each.detach() for name, each in ours.named_parameters()})
    return part7, (ours, other), torch.randint(plan["vocab_size"], (99_000,))


def compare_loops(*, plan: dict[str, int], batch: int, steps: int) -> None:
    """Require that both GPTs have the same parameters, and give the same logits.

    Raises:
        RuntimeError: They do not.
    """
    import torch

    _, models, tokens = _loops(plan)
    with torch.no_grad():
        first, second = (model(tokens[: batch * plan["block_size"]].view(batch, -1)) for model in models)
    counts = [sum(p.numel() for p in model.parameters()) for model in models]
    apart = float((first - second).abs().max())
    if apart > 1e-5 or counts[0] != counts[1]:
        raise RuntimeError(f"the two GPTs do not agree: logits {apart} apart, {counts} parameters")


# The harness: one training behind the wall, and the same in a plain process.

PROBE = f"""
import time


def processor_s():
    return time.process_time()


def build():
    from part6_gpt import GPT, GPTConfig

    return GPT(GPTConfig(**{TRAINED}))
"""
_HOW = (STEPS, 32, TRAINED["block_size"], 3e-3)


def bare_training() -> Program:
    """Make what a training check asks for, in a plain process: build, train, hand the weights over."""
    part7, _, tokens = _loops(TRAINED)
    space: dict[str, Any] = {}
    exec(PROBE, space)

    def run() -> list[Any]:
        model = space["build"]()
        part7.train(model, tokens, *_HOW, warmup_steps=20)
        return [each.detach().clone() for each in model.parameters()]

    return run


def walled_training(connection: "PartConnection") -> float:
    """Ask for it as a suite does; count the seconds of processor time of this process and of the worker."""
    import torch

    from autograder.checks import Student

    student, tokens = Student(connection), torch.randint(TRAINED["vocab_size"], (99_000,))
    here, there = time.process_time(), student.probe(PROBE, "processor_s")
    model = student.probe(PROBE, "build")
    student.train(model, tokens, *_HOW, warmup_steps=20)
    for name in model.shapes:
        model.get(name)
    return float(student.probe(PROBE, "processor_s") - there + time.process_time() - here)
