"""Part 3's checks as they are written without this tool: plain functions with asserts, for nbgrader and otter-grader.

Each function is named after the check of our suites that tests the same property, is worth the same points, and takes
by name what it needs of the student's module. Comparisons, sizes and tolerances are those of our suites.
"""

# ruff: noqa: D103 - a test's name is its sentence

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.peers.plain_references import (
    BATCH,
    BLOCK,
    D_HEAD,
    DOUBLE,
    HEADS,
    WIDTH,
    T,
    close,
    formula,
    head_formula,
    hides_the_future,
    many_formula,
    normal,
    refuses,
    some_mask,
    triangle,
    with_weights,
)


def test_attention_equals_the_fused_kernel(attention):
    q, k, v = normal(2, 5, 16), normal(2, 7, 16, seed=1), normal(2, 7, 12, seed=2)
    close(attention(q, k, v)[0], F.scaled_dot_product_attention(q, k, v), 1e-6)


def test_attention_returns_the_weights_it_mixed_with(attention):
    q, k, v = normal(2, 5, 16), normal(2, 7, 16, seed=1), normal(2, 7, 12, seed=2)
    mask = torch.ones(5, 7, dtype=torch.bool).tril(diagonal=1)
    weights = attention(q, k, v, mask=mask)[1]
    close(weights.sum(-1), torch.ones(2, 5), 1e-6)
    close(weights, F.scaled_dot_product_attention(q, k, torch.eye(7).expand(2, 7, 7), attn_mask=mask), 1e-6)


def test_attention_takes_any_mask_that_broadcasts(attention):
    q, k, v = normal(3, 5, 16), normal(3, 7, 16, seed=1), normal(3, 7, 12, seed=2)
    padding = (torch.arange(7) < torch.tensor([7, 4, 2])[:, None])[:, None, :]
    for mask in (torch.ones(5, 7, dtype=torch.bool).tril(diagonal=2), padding):
        close(attention(q, k, v, mask=mask)[0], F.scaled_dot_product_attention(q, k, v, attn_mask=mask), 1e-6)


def test_attention_refuses_a_row_that_allows_nothing(attention):
    q, k, v = normal(5, 16), normal(7, 16, seed=1), normal(7, 12, seed=2)
    one_row = torch.ones(5, 7, dtype=torch.bool)
    one_row[3] = False
    for mask in (torch.zeros(5, 7, dtype=torch.bool), one_row):
        refuses(lambda mask=mask: attention(q, k, v, mask=mask), ["mask"], ["5, 7", "5,7", "5 x 7", "5x7"])


def test_permuted_inputs_give_permuted_outputs(attention):
    x, order = normal(6, 16), torch.tensor([3, 0, 5, 1, 4, 2])
    output, shuffled = attention(x, x, x)[0], attention(x[order], x[order], x[order])[0]
    close(shuffled, output[order], 1e-6)
    assert (shuffled - output).abs().max() > 0.1


def test_head_equals_the_fused_kernel(Head):
    head, x = with_weights(Head(WIDTH, D_HEAD, BLOCK), 0.2, torch.float32), normal(BATCH, T, WIDTH)
    q, k, v = head.q(x), head.k(x), head.v(x)
    close(head(x), F.scaled_dot_product_attention(q, k, v, is_causal=True), 1e-6)
    identity = torch.eye(T).expand(BATCH, T, T)
    close(head.attention_weights(x), F.scaled_dot_product_attention(q, k, identity, is_causal=True), 1e-6)


def test_head_hides_the_future(Head):
    hides_the_future(with_weights(Head(WIDTH, D_HEAD, BLOCK)), D_HEAD)


def test_head_learns_and_saves_its_projections_only(Head):
    for bias in (False, True):
        head = Head(WIDTH, D_HEAD, BLOCK, bias=bias)
        names = {f"{n}.{kind}" for n in "qkv" for kind in (["weight", "bias"] if bias else ["weight"])}
        assert {name for name, _ in head.named_parameters()} == names
        assert not [n for n, entry in head.state_dict().items() if n not in names and entry.numel() >= BLOCK]


def test_many_heads_equal_the_library(MultiHeadAttention):
    module, x = with_weights(MultiHeadAttention(WIDTH, HEADS, BLOCK), 0.2, torch.float32), normal(BATCH, T, WIDTH)
    twin = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, bias=True).eval()
    with torch.no_grad():
        for index, name in enumerate("qkv"):
            stacked = torch.cat([getattr(head, name).weight for head in module.heads])
            twin.in_proj_weight[index * WIDTH : (index + 1) * WIDTH] = stacked
        twin.in_proj_bias.zero_()
        twin.out_proj.weight.copy_(module.proj.weight)
        twin.out_proj.bias.copy_(module.proj.bias)
        expected, maps = twin(x, x, x, attn_mask=~triangle(T), average_attn_weights=False)
    close(module(x), expected, 1e-6)
    close(module.attention_weights(x), maps, 1e-6)


def test_four_heads_cost_the_output_projection(Head, MultiHeadAttention):
    one = sum(p.numel() for p in Head(128, 128, 16).parameters())
    four = sum(p.numel() for p in MultiHeadAttention(128, 4, 16).parameters())
    assert (one, four - one) == (49_152, 16_512)


def test_attention_works_for_any_leading_axes(attention):
    for lead, t, s, d, dv, shape in (
        ((), 5, 7, 16, 12, (5, 7)),
        ((3,), 5, 7, 16, 12, (3, 1, 7)),
        ((2, 3, 2), 4, 7, 10, 6, (3, 1, 4, 7)),
        ((2,), 1, 9, 16, 5, None),
        ((2,), 64, 64, 32, 32, (64, 64)),
    ):
        q, k, v = (normal(*lead, n, w, dtype=DOUBLE, seed=n + w) for n, w in ((t, d), (s, d), (s, dv)))
        mask = None if shape is None else some_mask(*shape)
        for got, expected in zip(attention(q, k, v, mask), formula(q, k, v, mask), strict=True):
            close(got, expected, 1e-10)


def test_attention_survives_large_scores(attention):
    q, k = normal(3, 5, 16, std=12, dtype=DOUBLE), normal(3, 7, 16, std=12, dtype=DOUBLE, seed=1)
    v = normal(3, 7, 12, std=12, dtype=DOUBLE, seed=2)
    for mask in (None, some_mask(5, 7)):
        for got, expected in zip(attention(q, k, v, mask), formula(q, k, v, mask), strict=True):
            close(got, expected, 1e-9)
    assert torch.isfinite(attention(q.float(), k.float(), v.float())[0]).all()


def test_mask_holds_when_allowed_scores_are_very_low(attention):
    q, k = normal(3, 5, 16, dtype=DOUBLE), normal(3, 7, 16, dtype=DOUBLE, seed=1)
    v, mask = normal(3, 7, 12, dtype=DOUBLE, seed=2), some_mask(5, 7)
    q[..., -1], k[..., -1] = 0.0, 0.0
    wanted = formula(q, k, v, mask)
    q[..., -1], k[..., -1] = 400.0, -200.0
    for got, expected in zip(attention(q, k, v, mask), wanted, strict=True):
        close(got, expected, 1e-8)


def test_attention_sends_the_right_gradients_back(attention):
    leaves = [normal(*s, dtype=DOUBLE, seed=i) for i, s in enumerate([(2, 5, 16), (2, 7, 16), (2, 7, 12)])]
    up = [normal(2, 5, 12, dtype=DOUBLE, seed=5), normal(2, 5, 7, dtype=DOUBLE, seed=6)]
    found = []
    for function in (attention, formula):
        own = [leaf.clone().requires_grad_() for leaf in leaves]
        found.append(torch.autograd.grad(list(function(*own, some_mask(5, 7))), own, up))
    for got, expected in zip(*found, strict=True):
        close(got, expected, 1e-10)


def test_attention_judges_each_row_of_the_mask(attention):
    q, k, v = normal(3, 5, 16), normal(3, 7, 16, seed=1), normal(3, 7, 12, seed=2)
    only = torch.zeros(5, 7, dtype=torch.bool)
    only[torch.arange(5), torch.tensor([6, 0, 3, 3, 1])] = True
    close(attention(q, k, v, only)[0], v[:, [6, 0, 3, 3, 1]], 1e-6)
    one_row = torch.ones(3, 5, 7, dtype=torch.bool)
    one_row[1, 4] = False
    for mask in (torch.zeros(3, 5, 7, dtype=torch.bool), one_row):
        refuses(lambda mask=mask: attention(q, k, v, mask), ["mask"], ["3, 5, 7", "3,5,7", "3x5x7", "3 x 5 x 7"])


def test_half_precision_stays_finite_and_causal(attention, Head):
    for dtype, atol in ((torch.float16, 2e-2), (torch.bfloat16, 1.5e-1)):
        q, k, v = (normal(2, 6, 16, dtype=dtype, seed=i) for i in range(3))
        expected = formula(q.to(DOUBLE), k.to(DOUBLE), v.to(DOUBLE), triangle(6))
        for got, wanted in zip(attention(q, k, v, triangle(6)), expected, strict=True):
            close(got, wanted.to(dtype), atol)
        head, x = with_weights(Head(WIDTH, D_HEAD, BLOCK), 0.2, dtype), normal(2, T, WIDTH, dtype=dtype)
        before = head(x)
        after = head(torch.cat([x[:, :2], normal(2, T - 2, WIDTH, dtype=dtype, seed=3)], dim=1))
        assert torch.isfinite(before).all()
        close(after[:, :2], before[:, :2], atol)


def test_head_is_right_at_every_length(Head):
    for bias in (False, True):
        head = with_weights(Head(WIDTH, D_HEAD, BLOCK, bias=bias))
        for batch, length in ((BATCH, T), (1, 1), (2, BLOCK), (1, T), (BATCH, 2)):
            x = normal(batch, length, WIDTH, dtype=DOUBLE)
            expected, weights = head_formula(head, x)
            close(head(x), expected, 1e-10)
            close(head.attention_weights(x), weights, 1e-10)


def test_head_refuses_what_is_longer_than_block_size(Head):
    head, x = Head(WIDTH, D_HEAD, 11), normal(2, 13, WIDTH)
    assert head(x[:, :11]).shape == (2, 11, D_HEAD)
    refuses(lambda: head(x), ["13", "11"])
    refuses(lambda: head.attention_weights(x), ["13", "11"])


def test_mask_is_a_buffer(Head):
    head = Head(WIDTH, D_HEAD, BLOCK)
    assert [name for name, _ in head.named_parameters()] == ["q.weight", "k.weight", "v.weight"]
    if not any(each.numel() >= BLOCK for each in head.buffers()):
        head.to("meta")
        assert head(torch.empty(2, T, WIDTH, device="meta")).shape == (2, T, D_HEAD)


def test_gradient_reaches_the_past_and_only_the_past(Head):
    head, x = with_weights(Head(WIDTH, D_HEAD, BLOCK), 0.2), normal(BATCH, T, WIDTH, dtype=DOUBLE).requires_grad_()
    for t in range(T):
        upstream = torch.zeros(BATCH, T, D_HEAD, dtype=DOUBLE)
        upstream[:, t] = normal(BATCH, D_HEAD, dtype=DOUBLE, seed=t)
        size = torch.autograd.grad(head(x), x, upstream)[0].abs().amax(-1)
        assert size[:, : t + 1].min() > 1e-5
        assert (size[:, t + 1 :] <= 1e-12).all()


def test_each_sequence_is_alone(Head):
    head, x = with_weights(Head(WIDTH, D_HEAD, BLOCK)), normal(BATCH, T, WIDTH, dtype=DOUBLE)
    output, order = head(x), torch.tensor([2, 0, 1])
    for row in range(BATCH):
        close(head(x[row : row + 1]), output[row : row + 1], 1e-10)
    close(head(x[order]), output[order], 1e-10)
    assert (output[order] - output).abs().max() > 1e-3


def test_many_heads_are_exact(MultiHeadAttention):
    for heads, bias in ((HEADS, True), (6, False), (1, True)):
        module = with_weights(MultiHeadAttention(WIDTH, heads, BLOCK, qkv_bias=bias))
        assert len(list(module.parameters())) == heads * (6 if bias else 3) + 2
        for batch, length in ((BATCH, T), (1, BLOCK), (2, 1)):
            x = normal(batch, length, WIDTH, dtype=DOUBLE)
            close(module(x), many_formula(module, x)[0], 1e-10)


def test_each_head_shows_its_own_weights(MultiHeadAttention):
    module = with_weights(MultiHeadAttention(WIDTH, HEADS, BLOCK), 0.3)
    for batch, length in ((BATCH, T), (1, BLOCK), (2, 1)):
        x = normal(batch, length, WIDTH, dtype=DOUBLE)
        weights = module.attention_weights(x)
        close(weights.sum(-1), torch.ones(batch, HEADS, length, dtype=DOUBLE), 1e-10)
        close(weights, many_formula(module, x)[1], 1e-10)


def test_every_parameter_gets_its_gradient(MultiHeadAttention):
    module = with_weights(MultiHeadAttention(WIDTH, HEADS, BLOCK, qkv_bias=True), 0.3)
    x, up = normal(BATCH, T, WIDTH, dtype=DOUBLE).requires_grad_(), normal(BATCH, T, WIDTH, dtype=DOUBLE, seed=1)
    sources = [x, *module.parameters()]
    expected = torch.autograd.grad(many_formula(module, x)[0], sources, up)
    for got, right in zip(torch.autograd.grad(module(x), sources, up), expected, strict=True):
        close(got, right, 1e-9)


def test_heads_that_do_not_divide_the_width_are_refused(MultiHeadAttention):
    names = ["n_heads", "d_model", "heads", "width"]
    refuses(lambda: MultiHeadAttention(26, 7, BLOCK), names, ["7", "26"])
    refuses(lambda: MultiHeadAttention(WIDTH, 48, BLOCK), names, ["48", "24"])


def test_many_heads_are_causal_and_repeatable(MultiHeadAttention):
    module = with_weights(MultiHeadAttention(WIDTH, HEADS, BLOCK))
    x = normal(BATCH, T, WIDTH, dtype=DOUBLE)
    training, before = module(x), module.eval()(x)
    close(before, training, 1e-10)
    assert torch.equal(module(x), before)
    hides_the_future(module, WIDTH, 1e-10)
    for row in range(BATCH):
        close(module(x[row : row + 1]), before[row : row + 1], 1e-10)
