"""Whatever name a ready-made operation is called by, it is refused."""

import sys

import pytest
from forbidden_tries import one, tried

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks after torch was imported")

ATTENTION = {
    "its name": "F.scaled_dot_product_attention(q, k, v)",
    "with a mask": "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(4, 4).bool())",
    "causal": "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "in double precision": "F.scaled_dot_product_attention(q.double(), k.double(), v.double())",
    "in half precision": "F.scaled_dot_product_attention(q.half(), k.half(), v.half())",
    "with gradients": "F.scaled_dot_product_attention(q.requires_grad_(), k, v)",
    "with dropout": "F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)",
    "on meta tensors": "F.scaled_dot_product_attention(q.to('meta'), k.to('meta'), v.to('meta'))",
    "getattr": "getattr(F, 'scaled' + '_dot_product_attention')(q, k, v)",
    "vars": "vars(F)['scaled_dot_product_attention'](q, k, v)",
    "torch._C._nn": "torch._C._nn.scaled_dot_product_attention(q, k, v)",
    "torch.ops": "torch.ops.aten.scaled_dot_product_attention(q, k, v)",
    "an overload of torch.ops": "torch.ops.aten.scaled_dot_product_attention.default(q, k, v)",
    "its decomposition": "torch.ops.aten.scaled_dot_product_attention.default.decompose(q, k, v)",
    "redispatch": (
        "keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)\n"
        "torch.ops.aten.scaled_dot_product_attention.default.redispatch(keys, q, k, v)"
    ),
    "the math kernel": "torch.ops.aten._scaled_dot_product_attention_math(q, k, v)",
    "the math kernel of torch": "torch._scaled_dot_product_attention_math(q, k, v)",
    "the flash kernel": "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)",
    "the operator by its schema": (
        "op = torch._C._jit_get_operation('aten::scaled_dot_product_attention')[0]\nop(q, k, v)"
    ),
    "a thread": "in_thread(lambda: F.scaled_dot_product_attention(q, k, v))",
    "vmap": "torch.func.vmap(F.scaled_dot_product_attention)(q, k, v)",
    "grad of torch.func": "torch.func.grad(lambda t: F.scaled_dot_product_attention(t, k, v).sum())(q)",
    "jit.trace": "torch.jit.trace(lambda a: F.scaled_dot_product_attention(a, a, a), (q,))(q)",
    "jit.script": "scripted()(q, k, v)",
    "no_grad": "with_mode = torch.no_grad()(F.scaled_dot_product_attention)\nwith_mode(q, k, v)",
    "inference mode": "torch.inference_mode()(F.scaled_dot_product_attention)(q, k, v)",
    "autocast": "torch.autocast('cpu')(F.scaled_dot_product_attention)(q, k, v)",
    "the math backend chosen": (
        "from torch.nn.attention import SDPBackend, sdpa_kernel\n"
        "def f():\n    with sdpa_kernel(SDPBackend.MATH):\n        return F.scaled_dot_product_attention(q, k, v)\nf()"
    ),
    "DisableTorchFunction": (
        "def f():\n    with torch._C.DisableTorchFunction():\n"
        "        return F.scaled_dot_product_attention(q, k, v)\nf()"
    ),
    "DisableTorchFunctionSubclass": (
        "def f():\n    with torch._C.DisableTorchFunctionSubclass():\n"
        "        return F.scaled_dot_product_attention(q, k, v)\nf()"
    ),
    "without dispatch modes": (
        "from torch.utils._python_dispatch import _disable_current_modes\n"
        "def f():\n    with _disable_current_modes():\n        return F.scaled_dot_product_attention(q, k, v)\nf()"
    ),
    "below autograd": (
        "def f():\n    with torch._C._AutoDispatchBelowAutograd():\n"
        "        return F.scaled_dot_product_attention(q, k, v)\nf()"
    ),
    "a tensor subclass": ("class T(torch.Tensor): pass\nF.scaled_dot_product_attention(q.as_subclass(T), k, v)"),
    "the function of nn.functional": (
        "w, b = torch.randn(24, 8), torch.randn(24)\n"
        "F.multi_head_attention_forward(x, x, x, 8, 2, w, b, None, None, False, 0.0, torch.eye(8), None)"
    ),
    "nn.MultiheadAttention": "nn.MultiheadAttention(8, 2)(x, x, x)",
    "nn.MultiheadAttention without weights": "nn.MultiheadAttention(8, 2)(x, x, x, need_weights=False)",
    "a bare nn.MultiheadAttention": (
        "m = bare(nn.MultiheadAttention)\n"
        "m.embed_dim, m.num_heads, m.dropout, m.batch_first, m._qkv_same_embed_dim = 8, 2, 0.0, True, True\n"
        "m.kdim = m.vdim = m.head_dim = 8\nm.bias_k = m.bias_v = None\nm.add_zero_attn = False\n"
        "m.in_proj_weight, m.in_proj_bias = torch.randn(24, 8), torch.randn(24)\nm.out_proj = nn.Linear(8, 8)\n"
        "m(x, x, x)"
    ),
    "the same, on its fast path": (
        "m = bare(nn.MultiheadAttention)\n"
        "m.embed_dim, m.num_heads, m.dropout, m.batch_first, m._qkv_same_embed_dim = 8, 2, 0.0, True, True\n"
        "m.kdim = m.vdim = m.head_dim = 8\nm.bias_k = m.bias_v = None\nm.add_zero_attn = False\n"
        "m.in_proj_weight, m.in_proj_bias = nn.Parameter(torch.randn(24, 8)), nn.Parameter(torch.randn(24))\n"
        "m.out_proj = nn.Linear(8, 8)\n"
        "torch.inference_mode()(m.eval())(x, x, x, need_weights=False)"
    ),
    "a subclass of nn.MultiheadAttention": "class Mine(nn.MultiheadAttention): pass\nMine(8, 2)",
    "the native operator": (
        "w, b = torch.randn(24, 8), torch.randn(24)\n"
        "torch._native_multi_head_attention(x, x, x, 8, 2, w, b, torch.eye(8), torch.zeros(8))"
    ),
    "nn.TransformerEncoderLayer": "nn.TransformerEncoderLayer(8, 2)(x)",
    "nn.TransformerDecoderLayer": "nn.TransformerDecoderLayer(8, 2)(x, x)",
    "nn.TransformerEncoder": "nn.TransformerEncoder(nn.Identity(), 1)",
    "nn.Transformer": "nn.Transformer(8, 2, 1, 1, 16)",
    "the quantisable copy": (
        "from torch.ao.nn.quantizable import MultiheadAttention\nMultiheadAttention(8, 2)(x, x, x)"
    ),
    "flex attention": "from torch.nn.attention.flex_attention import flex_attention\nflex_attention(q, k, v)",
    "flex attention by import_module": "import importlib\nimportlib.import_module('torch.nn.attention.flex_attention')",
    "flex attention as an attribute": "import torch.nn.attention.flex_attention as flex\nflex.flex_attention(q, k, v)",
    "flex attention's operator": (
        "import torch._higher_order_ops as hop\n"
        "hop.flex_attention(q, k, v, lambda s, b, h, i, j: s, (*(None,) * 12, lambda b, h, i, j: i >= j), 0.35, {})"
    ),
    "flex attention's math": (
        "import sys\nmath = sys.modules['torch._higher_order_ops.flex_attention'].math_attention\n"
        "math(q, k, v, lambda s, b, h, i, j: s, (*(None,) * 12, lambda b, h, i, j: i >= j), 0.35, {})"
    ),
    "attention for sequences of many lengths": "from torch.nn.attention.varlen import varlen_attn\nvarlen_attn()",
    "the attention of torch.onnx": "import torch.onnx.ops\ntorch.onnx.ops.attention(q, k, v, qk_matmul_output_mode=1)",
    "the operator of torch.onnx": "import torch.onnx\ntorch.ops.onnx.Attention.opset23(q, k, v)",
    "a causal bias": (
        "from torch.nn.attention.bias import causal_lower_right\n"
        "F.scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(4, 4))"
    ),
}

ALIASES = {
    "a function bound before": ("sdpa = F.scaled_dot_product_attention\n", "sdpa(q, k, v)"),
    "a packet bound before": ("op = torch.ops.aten.scaled_dot_product_attention\n", "op(q, k, v)"),
    "an overload bound before": ("op = torch.ops.aten.scaled_dot_product_attention.default\n", "op(q, k, v)"),
    "nn.functional bound before": (
        "forward = F.multi_head_attention_forward\n",
        "forward(x, x, x, 8, 2, torch.randn(24, 8), None, None, None, False, 0.0, torch.eye(8), None)",
    ),
    "a module built before": ("m = nn.MultiheadAttention(8, 2)\n", "m(x, x, x)"),
    "a module built before, without weights": (
        "m = nn.MultiheadAttention(8, 2, batch_first=True).eval()\n",
        "m(x, x, x, need_weights=False)",
    ),
    "an encoder layer built before": ("m = nn.TransformerEncoderLayer(8, 2, batch_first=True).eval()\n", "m(x)"),
    "a scripted function": ("f = scripted()\n", "f(q, k, v)"),
    "a traced function": (
        "f = torch.jit.trace(lambda a: F.scaled_dot_product_attention(a, a, a), (q,))\n",
        "f(q)",
    ),
}

NORMALISATION = {
    "F.layer_norm": "F.layer_norm(x, (8,))",
    "torch.layer_norm": "torch.layer_norm(x, (8,))",
    "torch.native_layer_norm": "torch.native_layer_norm(x, (8,), None, None, 1e-5)",
    "torch.ops": "torch.ops.aten.layer_norm(x, (8,))",
    "an overload of torch.ops": "torch.ops.aten.native_layer_norm.default(x, (8,), None, None, 1e-5)",
    "nn.LayerNorm": "nn.LayerNorm(8)(x)",
    "a bare nn.LayerNorm": (
        "m = bare(nn.LayerNorm)\nm.normalized_shape, m.weight, m.bias, m.eps = (8,), None, None, 1e-5\nm(x)"
    ),
    "F.rms_norm": "F.rms_norm(x, (8,))",
    "nn.RMSNorm": "nn.RMSNorm(8)(x)",
    "F.group_norm": "F.group_norm(x, 1)",
    "nn.GroupNorm": "nn.GroupNorm(1, 5)(x)",
    "F.batch_norm": "F.batch_norm(x, None, None, training=True)",
    "nn.BatchNorm1d": "nn.BatchNorm1d(5)(x)",
    "F.instance_norm": "F.instance_norm(x)",
    "nn.InstanceNorm1d": "nn.InstanceNorm1d(5)(x)",
    "torch's reference": "import torch._refs\ntorch._refs.native_layer_norm(x, [8], None, None, 1e-5)",
    "torch's functional reference": "import torch._refs.nn.functional as R\nR.layer_norm(x, [8])",
    "torch's reference of group norm": "import torch._refs.nn.functional as R\nR.group_norm(x, 1)",
    "torch's table of decompositions": (
        "from torch._decomp import decomposition_table as table\n"
        "table[torch.ops.aten.native_layer_norm.default](x, [8], None, None, 1e-5)"
    ),
    "a thread": "in_thread(lambda: F.layer_norm(x, (8,)))",
    "vmap": "torch.func.vmap(lambda row: F.layer_norm(row, (8,)))(x)",
    "a quantised operator": (
        "y = torch.quantize_per_tensor(x, 0.01, 0, torch.qint8)\n"
        "torch.ops.quantized.layer_norm(y, [8], None, None, 1e-5, 0.01, 0)"
    ),
}


@pytest.fixture(scope="module")
def where_forbidden():
    """Try every route where its group is forbidden."""
    return {
        ("attention", *pair): answer
        for pair, answer in zip(ATTENTION.items(), tried(["attention"], *ATTENTION.values()), strict=True)
    } | {
        ("normalisation", *pair): answer
        for pair, answer in zip(NORMALISATION.items(), tried(["normalisation"], *NORMALISATION.values()), strict=True)
    }


@pytest.fixture(scope="module")
def where_allowed():
    """Try every route where nothing is forbidden."""
    texts = [*ATTENTION.values(), *NORMALISATION.values()]
    return dict(zip(texts, tried([], *texts), strict=True))


ROUTES = [
    *(pytest.param("attention", name, text, id=f"attention by {name}") for name, text in ATTENTION.items()),
    *(pytest.param("normalisation", name, text, id=f"normalisation by {name}") for name, text in NORMALISATION.items()),
]


@pytest.mark.parametrize(("group", "name", "text"), ROUTES)
def test_every_name_of_a_ready_made_operation_is_refused(where_forbidden, group, name, text):
    assert where_forbidden[group, name, text].startswith("forbidden: ")


@pytest.mark.parametrize(("group", "name", "text"), ROUTES)
def test_each_of_these_routes_leads_there_where_nothing_is_forbidden(where_allowed, group, name, text):
    needs_a_gpu = ("varlen_attn", "redispatch")
    if not any(word in text for word in needs_a_gpu):
        assert where_allowed[text].startswith("gave ")
    assert not where_allowed[text].startswith("forbidden")


@pytest.mark.parametrize(("before", "text"), ALIASES.values(), ids=ALIASES)
def test_attention_is_refused_to_whoever_took_hold_of_it_before(before, text):
    assert one(["attention"], text, before).startswith("forbidden: ")
