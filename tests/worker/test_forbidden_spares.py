"""Where ready-made operations are refused, and told why, everything else goes on as before."""

import subprocess
import sys

import pytest
import torch
from forbidden_tries import one, tried

from autograder.worker import forbidden

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks after torch was imported")

ORDINARY = {
    "softmax": "t = x.clone().requires_grad_()\nt.softmax(-1).square().sum().backward()\nt.grad.shape",
    "matmul": "t = q.clone().requires_grad_()\n(t @ t.mT).sum().backward()\nt.grad.shape",
    "einsum": "torch.einsum('bhtd,bhsd->bhts', q, k).shape",
    "linear": "m = nn.Linear(8, 3)\nm(x).sum().backward()\nm.weight.grad.shape",
    "embedding": "m = nn.Embedding(5, 8)\nm(torch.tensor([1, 2])).sum().backward()\nm.weight.grad.shape",
    "gelu": "t = x.clone().requires_grad_()\nF.gelu(t).sum().backward()\nt.grad.shape",
    "dropout": "F.dropout(x, 0.5).shape",
    "cross entropy": (
        "t = torch.randn(6, 5, requires_grad=True)\n"
        "F.cross_entropy(t, torch.tensor([0, 1, 2, 3, 4, 0])).backward()\nt.grad.shape"
    ),
    "masked fill": "x.masked_fill(x > 0, float('-inf')).softmax(-1).shape",
    "mean and variance": "(x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()",
    "vector norm": "torch.linalg.vector_norm(x).shape, F.normalize(x).shape, x.norm()",
    "an optimizer": (
        "m = nn.Linear(8, 3)\no = torch.optim.AdamW(m.parameters())\nm(x).sum().backward()\no.step()\n"
        "nn.utils.clip_grad_norm_(m.parameters(), 1.0)"
    ),
    "meta tensors": "nn.Linear(8, 3, device='meta')(x.to('meta')).shape",
    "a convolution": "nn.Conv1d(5, 2, 3)(x).shape",
}
LAYER_NORM = "m = nn.LayerNorm(8)\nt = x.clone().requires_grad_()\nm(t).square().sum().backward()\nt.grad.shape"


def test_ordinary_operations_go_on_forwards_and_backwards():
    answers = dict(zip(ORDINARY, tried(forbidden.GROUPS, *ORDINARY.values()), strict=True))
    assert {name: answer for name, answer in answers.items() if not answer.startswith("gave ")} == {}


def test_layer_norm_goes_on_where_only_attention_is_forbidden():
    assert one(["attention"], LAYER_NORM) == "gave torch.Size([2, 5, 8])"
    assert one(["attention"], "nn.RMSNorm(8)(x).shape") == "gave torch.Size([2, 5, 8])"


def test_attention_goes_on_where_only_normalisation_is_forbidden():
    assert one(["normalisation"], "nn.MultiheadAttention(8, 2)(x, x, x)[0].shape").startswith("gave ")
    assert one(["normalisation"], "F.scaled_dot_product_attention(q, k, v).shape").startswith("gave ")


def test_ordinary_numbers_are_not_touched():
    text = "torch.manual_seed(1)\nnn.Linear(8, 3)(torch.randn(2, 8)).softmax(-1).sum().item()"
    assert one(forbidden.GROUPS, text) == one([], text)


def test_the_message_names_the_operation_and_says_why():
    assert one(["attention"], "F.scaled_dot_product_attention(q, k, v)") == (
        "forbidden: scaled_dot_product_attention is ready-made: writing it is the exercise, "
        "so the checks do not accept it"
    )
    assert "nn.MultiheadAttention".removeprefix("nn.") in one(["attention"], "nn.MultiheadAttention(8, 2)")
    assert "forbidden: normalize is ready-made" in one(
        ["normalisation"], "import torch._refs\ntorch._refs.native_layer_norm(x, [8], None, None, 1e-5)"
    )


def test_it_holds_when_garbage_is_collected_and_when_it_was_refused_before():
    text = (
        "import gc\nfor _ in range(3):\n    try:\n        F.scaled_dot_product_attention(q, k, v)\n"
        "    except RuntimeError:\n        gc.collect()\nF.scaled_dot_product_attention(q, k, v)"
    )
    assert one(["attention"], text).startswith("forbidden:")


def test_forbidding_takes_no_effect_on_the_process_that_forked():
    one(forbidden.GROUPS, "1")
    q = torch.randn(1, 2, 3, 4)
    assert torch.nn.functional.scaled_dot_product_attention(q, q, q).shape == q.shape
    assert torch.nn.LayerNorm(4)(q).shape == q.shape


def test_an_optimizer_can_be_made_where_torch_imports_its_compiler_only_then():
    """A student's own run has not imported it before; it registers operators of its own while it is imported."""
    text = (
        "import sys\nimport torch\nfrom autograder.worker import forbidden\nforbidden.forbid(['attention'])\n"
        "assert 'torch._dynamo' not in sys.modules\n"
        "torch.optim.AdamW(torch.nn.Linear(2, 2).parameters())\nimport torch.onnx.ops\n"
        "q = torch.ones(1, 2, 3, 4)\n"
        "try:\n    torch.ops.onnx.Attention.opset23(q, q, q, qk_matmul_output_mode=1)\n"
        "except forbidden.ForbiddenOperation as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(" is ")[0]) == (0, "Attention"), done.stderr
