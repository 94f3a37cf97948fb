"""The public suite of part 3: what a student runs while writing."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, raises_value_error, tensor, tuple_of

# Sizes that differ from each other, so that mixing up two of them cannot go unnoticed.
BATCH, T, BLOCK_SIZE, D_MODEL, N_HEADS, D_HEAD = 3, 5, 8, 24, 4, 6


def head_shapes(prefix="", bias=False):
    """Name the parameters of one head, with their shapes."""
    shapes = {f"{prefix}{name}.weight": (D_HEAD, D_MODEL) for name in "qkv"}
    if bias:
        shapes |= {f"{prefix}{name}.bias": (D_HEAD,) for name in "qkv"}
    return shapes


def many_shapes(bias=False):
    """Name the parameters of all heads and of the projection, with their shapes."""
    shapes = {"proj.weight": (D_MODEL, D_MODEL), "proj.bias": (D_MODEL,)}
    for index in range(N_HEADS):
        shapes |= head_shapes(f"heads.{index}.", bias)
    return shapes


def library_twin(weights):
    """Build torch's ready-made module (which this part forbids) and copy the weights into it."""
    twin = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    with torch.no_grad():
        for index, name in enumerate("qkv"):  # torch stacks the queries of all heads, then keys, then values
            rows = slice(index * D_MODEL, (index + 1) * D_MODEL)
            stacked = [weights[f"heads.{head}.{name}.weight"] for head in range(N_HEADS)]
            twin.in_proj_weight[rows] = torch.cat(stacked)
            biases = [weights.get(f"heads.{head}.{name}.bias", torch.zeros(D_HEAD)) for head in range(N_HEADS)]
            twin.in_proj_bias[rows] = torch.cat(biases)
        twin.out_proj.weight.copy_(weights["proj.weight"])
        twin.out_proj.bias.copy_(weights["proj.bias"])
    return twin.eval()


def count(shapes):
    """Add up the sizes of parameters."""
    return sum(math.prod(shape) for shape in shapes.values())


@check(points=2, exercise="attention", hint="By which width is a score divided, and which axis do the shares run over?")
def test_attention_equals_the_fused_kernel(student, rng):
    """Seven keys for five queries: the output is what torch's fused kernel gives."""
    q, k, v = rng.normal(2, 5, 16), rng.normal(2, 7, 16), rng.normal(2, 7, 12)
    output, _ = tuple_of(student.attention(q, k, v), 2, what="what attention returns")
    # Two float32 programs that add in different orders differ by up to 3e-7 at these sizes; mistakes by 1e-3 and more.
    agree(output, F.scaled_dot_product_attention(q, k, v), atol=1e-6, what="the output", picture=True)


@check(points=2, exercise="attention", hint="What does one row of the weights have to add up to, and who spends it?")
def test_attention_returns_the_weights_it_mixed_with(student, rng):
    """The weights are returned as they were used: rows of shares, 0 where the mask forbids."""
    q, k, v = rng.normal(2, 5, 16), rng.normal(2, 7, 16), rng.normal(2, 7, 12)
    mask = torch.ones(5, 7, dtype=torch.bool).tril(diagonal=1)
    _, weights = tuple_of(student.attention(q, k, v, mask=mask), 2, what="what attention returns")
    weights = tensor(weights, shape=(2, 5, 7), what="the weights")
    # Seven float32 numbers below 1 are added: their rounding stays below 1e-6.
    agree(weights.sum(dim=-1), torch.ones(2, 5), atol=1e-6, what="the sum of each row of weights")
    # The fused kernel mixes; where the values are the identity matrix, its mixture is the weights themselves.
    identity = torch.eye(7).expand(2, 7, 7)
    expected = F.scaled_dot_product_attention(q, k, identity, attn_mask=mask)
    agree(weights, expected, atol=1e-6, what="the weights", picture=True)  # 1e-6: float32 rounding, as above


@check(points=2, exercise="attention", hint="Which value must a forbidden score have so that its share is 0?")
def test_attention_takes_any_mask_that_broadcasts(student, rng):
    """One mask for all sequences, or one for each: both broadcast to the scores."""
    q, k, v = rng.normal(3, 5, 16), rng.normal(3, 7, 16), rng.normal(3, 7, 12)
    lengths = torch.tensor([7, 4, 2])
    masks = {
        "(T, S)": torch.ones(5, 7, dtype=torch.bool).tril(diagonal=2),
        "(B, 1, S)": (torch.arange(7) < lengths[:, None])[:, None, :],
    }
    for shape, mask in masks.items():
        output, _ = tuple_of(student.attention(q, k, v, mask=mask), 2, what="what attention returns")
        expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        agree(output, expected, atol=1e-6, what=f"the output under a mask {shape}")  # 1e-6: float32 rounding


@check(points=1, exercise="attention", hint="What are the shares of a query that may see no key at all?")
def test_attention_refuses_a_row_that_allows_nothing(student, rng):
    """A query that may see nothing is refused, and the message names the mask and its shape."""
    q, k, v = rng.normal(5, 16), rng.normal(7, 16), rng.normal(7, 12)
    no_row = torch.zeros(5, 7, dtype=torch.bool)
    no_row_3 = torch.ones(5, 7, dtype=torch.bool)
    no_row_3[3] = False
    shape = ("5, 7", "5,7", "5 x 7", "5x7")
    for mask, reason in ((no_row, "the mask allows nothing at all"), (no_row_3, "row 3 of the mask allows nothing")):
        raises_value_error(student.attention, q, k, v, mask=mask, mentions=["mask", shape], because=reason)


@check(points=2, exercise="attention", hint="Does anything in your function depend on where a token stands?")
def test_permuted_inputs_give_permuted_outputs(student, rng):
    """Without a mask, shuffled tokens carry their results to their new places."""
    x, order = rng.normal(6, 16), rng.permutation(6)
    output, _ = tuple_of(student.attention(x, x, x), 2, what="what attention returns")
    output = tensor(output, shape=(6, 16), what="the output")
    shuffled, _ = tuple_of(student.attention(x[order], x[order], x[order]), 2, what="what attention returns")
    shuffled = tensor(shuffled, shape=(6, 16), what="the output for shuffled tokens")
    # The same six products are added in another order: float32 rounding, below 1e-6 here.
    agree(shuffled, output[order], atol=1e-6, what="the output for shuffled tokens")
    # These tokens differ by about 5 from each other, so their results cannot all be alike.
    moved = (shuffled - output).abs().max().item()
    expect(moved > 0.1, "Shuffled tokens gave the same rows in the same places: each token must keep its own result.")


@check(
    points=3,
    exercise="Head",
    hint="Which width stands under the root, and which corner of the mask is for five tokens?",
)
def test_head_equals_the_fused_kernel(student, rng):
    """With the suite's weights a head gives what the fused kernel gives, for T below block_size."""
    head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE)
    # 0.2 makes projections with a standard deviation of about 1, where float32 still agrees to 1e-6.
    weights = head.load(rng.like(head_shapes(), std=0.2))
    x = rng.normal(BATCH, T, D_MODEL)
    q, k, v = (F.linear(x, weights[f"{name}.weight"]) for name in "qkv")
    agree(head(x), F.scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-6, what="the output")
    identity = torch.eye(T).expand(BATCH, T, T)
    expected = F.scaled_dot_product_attention(q, k, identity, is_causal=True)
    agree(head.attention_weights(x), expected, atol=1e-6, what="the weights", picture=True)  # 1e-6: as above


@check(points=2, exercise="Head", hint="Which tokens may position t read, and is anything else summed before the mask?")
def test_head_hides_the_future(student, rng):
    """Whatever comes from position t on is replaced, for every t: nothing before t moves."""
    head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE)
    head.to(torch.float64)
    head.load(rng.like(head_shapes(), dtype=torch.float64))  # 0.7: scores of about 12, where a leak shows
    x = rng.normal(BATCH, T, D_MODEL, dtype=torch.float64)
    before = tensor(head(x), shape=(BATCH, T, D_HEAD), dtype=torch.float64, what="the output")
    for t in range(1, T):
        changed = torch.cat([x[:, :t], rng.normal(BATCH, T - t, D_MODEL, dtype=torch.float64)], dim=1)
        after = tensor(head(changed), shape=(BATCH, T, D_HEAD), dtype=torch.float64, what="the output")
        # float64 rounds at 1e-15 here: a difference of 1e-6 was read from the future.
        agree(after[:, :t], before[:, :t], atol=1e-6, what=f"what stands before position {t}, when {t} on changes")
        moved = (after[:, t:] - before[:, t:]).abs().amax() > 1e-3  # new tokens there: outputs of about 1 are others
        expect(moved, f"The outputs from position {t} on do not depend on the tokens there.", evidence=after)


@check(points=2, exercise="Head", hint="What is learned, what is only kept, and what does a checkpoint need?")
def test_head_learns_and_saves_its_projections_only(student, rng):
    """A head has three weights (three biases where asked), and the mask is not in the state dict."""
    for bias in (False, True):
        head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE, bias=bias)
        equal(head.shapes, head_shapes(bias=bias), what=f"the parameters of a Head with bias={bias}")
        state = head.state_dict()
        expect(isinstance(state, dict), "Head.state_dict() must give a dictionary, as every nn.Module's does.")
        # A mask in whatever form has at least block_size entries; a smaller extra (a constant) harms no checkpoint.
        large = [n for n, entry in state.items() if isinstance(entry, torch.Tensor) and entry.numel() >= BLOCK_SIZE]
        extra = sorted(str(name) for name in large if name not in head_shapes(bias=True))
        expect(not extra, f"The state dict holds {', '.join(extra)}: a mask can be made anew.", evidence=extra)


@check(
    points=3,
    exercise="MultiHeadAttention",
    hint="In which order are the heads laid side by side, and what comes after?",
)
def test_many_heads_equal_the_library(student, rng):
    """With weights copied, four heads give what nn.MultiheadAttention gives."""
    module = student.MultiHeadAttention(d_model=D_MODEL, n_heads=N_HEADS, block_size=BLOCK_SIZE)
    # 0.2 makes projections with a standard deviation of about 1, where float32 still agrees to 1e-6. Outputs of 3 occur
    # among them, whose last bit alone is 2.4e-7: hence as much again in proportion.
    weights = module.load(rng.like(many_shapes(), std=0.2))
    x = rng.normal(BATCH, T, D_MODEL)
    forbidden = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)  # here True means "may not": torch's old convention
    with torch.no_grad():
        expected, per_head = library_twin(weights)(x, x, x, attn_mask=forbidden, average_attn_weights=False)
    agree(module(x), expected, atol=1e-6, rtol=1e-6, what="the output")
    agree(module.attention_weights(x), per_head, atol=1e-6, what="the weights", picture=True)  # 1e-6: as above


@check(points=2, exercise="MultiHeadAttention", hint="How many numbers are in a (d, d) matrix and a bias at d = 128?")
def test_four_heads_cost_the_output_projection(student, rng):
    """At d = 128, four heads of 32 have 16,512 parameters more than one head of 128."""
    one = student.Head(d_model=128, d_head=128, block_size=16)
    four = student.MultiHeadAttention(d_model=128, n_heads=4, block_size=16)
    equal(count(one.shapes), 49_152, what="the parameters of one head of 128")
    equal(count(four.shapes) - count(one.shapes), 16_512, what="what four heads of 32 cost more than one of 128")
