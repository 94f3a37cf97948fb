"""What a course writes without this tool: a pytest file beside the submission, in one process with it.

It checks part 3 as well as such a file usually does, and is the peer that a grading is compared with. pytest is
started in the folder of the submission, so that its modules are found.
"""

# ruff: noqa: D103 - a test's name is its sentence

import torch
import torch.nn.functional as F
from part3_attention import Head, MultiHeadAttention, attention


def _inputs(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_attention_equals_the_fused_kernel() -> None:
    q, k, v = _inputs(2, 5, 16), _inputs(2, 7, 16), _inputs(2, 7, 12)
    assert torch.allclose(attention(q, k, v)[0], F.scaled_dot_product_attention(q, k, v), atol=1e-6)


def test_attention_with_a_mask() -> None:
    q, mask = _inputs(2, 5, 16), torch.ones(5, 5, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
    assert torch.allclose(attention(q, q, q, mask)[0], expected, atol=1e-6)


def test_weights_sum_to_one() -> None:
    q = _inputs(2, 5, 16)
    assert torch.allclose(attention(q, q, q)[1].sum(-1), torch.ones(2, 5))


def test_attention_in_float64() -> None:
    q = _inputs(2, 5, 16).double()
    assert attention(q, q, q)[0].dtype == torch.float64


def test_attention_has_gradients() -> None:
    q = _inputs(2, 5, 16).requires_grad_()
    attention(q, q, q)[0].sum().backward()
    assert q.grad is not None


def test_head_is_causal() -> None:
    head, x = Head(24, 6, 8), _inputs(3, 5, 24)
    changed = x.clone()
    changed[:, 3:] += 1
    assert torch.allclose(head(x)[:, :3], head(changed)[:, :3], atol=1e-6)


def test_head_has_three_projections() -> None:
    assert len([p for p in Head(24, 6, 8).parameters() if p.dim() == 2]) == 3


def test_head_refuses_what_is_too_long() -> None:
    try:
        Head(24, 6, 8)(_inputs(1, 9, 24))
    except ValueError:
        return
    raise AssertionError("no ValueError")


def test_many_heads_keep_the_shape() -> None:
    assert MultiHeadAttention(24, 4, 8)(_inputs(3, 5, 24)).shape == (3, 5, 24)


def test_many_heads_are_causal() -> None:
    heads, x = MultiHeadAttention(24, 4, 8), _inputs(3, 5, 24)
    changed = x.clone()
    changed[:, 3:] += 1
    assert torch.allclose(heads(x)[:, :3], heads(changed)[:, :3], atol=1e-6)
