"""Try lines of code where groups of operations are forbidden: for good, so in a forked process of their own."""

import json
import os

import torch

from autograder.worker import forbidden

SETUP = """
import threading, warnings
import torch
from torch import nn
from torch.nn import functional as F
warnings.simplefilter("ignore")
torch.manual_seed(0)
q = k = v = torch.randn(2, 3, 4, 8)
x = torch.randn(2, 5, 8)
def in_thread(call):
    seen = []
    def run():
        try:
            seen.append(call())
        except BaseException as error:
            seen.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(seen[0], BaseException):
        raise seen[0]
    return seen[0]
def scripted():
    import linecache
    text = "def f(q, k, v):\\n    return torch._C._nn.scaled_dot_product_attention(q, k, v)\\n"
    linecache.cache["scripted.py"] = (len(text), None, text.splitlines(True), "scripted.py")
    space = {"torch": torch, "__name__": "scripted"}
    exec(compile(text, "scripted.py", "exec"), space)
    return torch.jit.script(space["f"])
def bare(kind):
    made = kind.__new__(kind)
    nn.Module.__init__(made)
    return made
"""


def tried(groups, *texts: str, before: str = "") -> list[str]:
    """Run texts one after another in a child where groups are forbidden.

    Args:
        groups: What is forbidden.
        texts: Lines each; the last one is an expression.
        before: Runs before anything is forbidden, as another library's import would.

    Returns:
        For each text ``forbidden: <message>``, ``raised <type>: <message>`` or ``gave <value>``.
    """
    for group in forbidden.GROUPS:  # as a fork server does, so that no child has to
        forbidden.kernels(group)
    torch.set_num_threads(1)
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        with open(write_end, "w") as stream:
            try:
                base: dict[str, object] = {"__name__": "child"}
                exec(SETUP + before, base)
                forbidden.forbid(groups)
                for text in texts:
                    space = dict(base)
                    exec(SETUP, space)  # inputs that no other text has touched
                    json.dump(_outcome(text, space), stream)
                    stream.write("\n")
                    stream.flush()
            finally:
                os._exit(0)
    os.close(write_end)
    with open(read_end) as stream:
        answers = [json.loads(line) for line in stream]
    _, status = os.waitpid(pid, 0)
    return answers + [f"the child ended with {status}"] * (len(texts) - len(answers))


def one(groups, text: str, before: str = "") -> str:
    """Try a single text in a child of its own."""
    return tried(groups, text, before=before)[0]


def _outcome(text: str, space: dict[str, object]) -> str:
    *lines, last = text.strip().splitlines()
    try:
        exec("\n".join(lines), space)
        value = eval(last, space)
    except BaseException as error:
        chain = [error, error.__cause__, error.__context__]
        hit = next((e for e in chain if isinstance(e, forbidden.ForbiddenOperation)), None)
        if hit is not None or "ForbiddenOperation" in str(error):
            return f"forbidden: {hit or error}"
        return f"raised {type(error).__name__}: {error}"
    return f"gave {value!r}"
