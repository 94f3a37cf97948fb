"""The hidden suite of part 3: the same contract at its edges, in float64, and through the gradients."""

import math

import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, raises_value_error, tensor, tuple_of

BATCH, T, BLOCK_SIZE, D_MODEL, N_HEADS, D_HEAD = 3, 5, 8, 24, 4, 6
DOUBLE = torch.float64


def oracle(q, k, v, mask=None):
    """Do what attention must do, written out once more."""
    scores = torch.einsum("...td,...sd->...ts", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -math.inf)
    shares = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    weights = shares / shares.sum(dim=-1, keepdim=True)
    return torch.einsum("...ts,...se->...te", weights, v), weights


def triangle(length):
    """Let each position see itself and those before it."""
    return torch.arange(length)[:, None] >= torch.arange(length)


def head_oracle(x, weights, prefix=""):
    """Run one causal head on weights that are given by name."""
    q, k, v = (F.linear(x, weights[f"{prefix}{n}.weight"], weights.get(f"{prefix}{n}.bias")) for n in "qkv")
    return oracle(q, k, v, triangle(x.shape[-2]))


def many_oracle(x, weights, n_heads):
    """Run all heads and the projection on weights that are given by name."""
    outputs, maps = zip(*(head_oracle(x, weights, f"heads.{j}.") for j in range(n_heads)), strict=True)
    return F.linear(torch.cat(outputs, dim=-1), weights["proj.weight"], weights["proj.bias"]), torch.stack(maps, dim=1)


def head_shapes(d_model=D_MODEL, d_head=D_HEAD, bias=False, prefix=""):
    """Name the parameters of one head, with their shapes."""
    shapes = {f"{prefix}{name}.weight": (d_head, d_model) for name in "qkv"}
    if bias:
        shapes |= {f"{prefix}{name}.bias": (d_head,) for name in "qkv"}
    return shapes


def many_shapes(n_heads=N_HEADS, bias=False):
    """Name the parameters of all heads and of the projection, with their shapes."""
    shapes = {"proj.weight": (D_MODEL, D_MODEL), "proj.bias": (D_MODEL,)}
    for index in range(n_heads):
        shapes |= head_shapes(d_head=D_MODEL // n_heads, bias=bias, prefix=f"heads.{index}.")
    return shapes


def some_mask(rng, *shape):
    """Draw a mask that leaves at least one key to each query."""
    mask = rng.uniform(*shape) < 0.6
    mask[..., 1] = True
    return mask


def pair(reply):
    """Take attention's two results."""
    return tuple_of(reply, 2, what="what attention returns")


@check(points=3, exercise="attention", hint="Which of your lines would break if there were no batch axis, or two more?")
def test_attention_works_for_any_leading_axes(student, rng):
    """None, one or three leading axes, one token or sixty-four: the same four verbs, exactly."""
    cases = [
        ((), 5, 7, 16, 12, (5, 7)),
        ((3,), 5, 7, 16, 12, (3, 1, 7)),
        ((2, 3, 2), 4, 7, 10, 6, (3, 1, 4, 7)),
        ((2,), 1, 9, 16, 5, None),
        ((2,), 64, 64, 32, 32, (64, 64)),
    ]
    for leading, t, s, d, dv, mask_shape in cases:
        q, k = rng.normal(*leading, t, d, dtype=DOUBLE), rng.normal(*leading, s, d, dtype=DOUBLE)
        v = rng.normal(*leading, s, dv, dtype=DOUBLE)
        mask = None if mask_shape is None else some_mask(rng, *mask_shape)
        output, weights = pair(student.attention(q, k, v, mask))
        expected, expected_weights = oracle(q, k, v, mask)
        # float64 rounding is 1e-16 of each number; right programs were seen to differ by 3e-15 at most.
        agree(weights, expected_weights, atol=1e-10, what=f"the weights for q {tuple(q.shape)}")
        agree(output, expected, atol=1e-10, what=f"the output for q {tuple(q.shape)}")
    q, k, v = rng.normal(2, 1, 16, dtype=DOUBLE), rng.normal(2, 1, 16, dtype=DOUBLE), rng.normal(2, 1, 12, dtype=DOUBLE)
    output, _ = pair(student.attention(q, k, v))
    agree(output, v, atol=1e-10, what="the output for a single key, which gets all the attention")  # float64, as above


@check(points=2, exercise="attention", hint="Is what you feed to exp still the score, when scores are in the hundreds?")
def test_attention_survives_large_scores(student, rng):
    """Inputs twelve times as large make scores in the hundreds: still the right keys, and no overflow."""
    q, k = rng.normal(3, 5, 16, std=12, dtype=DOUBLE), rng.normal(3, 7, 16, std=12, dtype=DOUBLE)
    v, mask = rng.normal(3, 7, 12, std=12, dtype=DOUBLE), some_mask(rng, 5, 7)
    for allowed in (None, mask):
        output, weights = pair(student.attention(q, k, v, allowed))
        expected, expected_weights = oracle(q, k, v, allowed)
        # A score of 500 carries a float64 rounding of 1e-13, which exp passes on; times values of 12 that is 1e-11.
        agree(weights, expected_weights, atol=1e-9, what="the weights at large scores")
        agree(output, expected, atol=1e-9, what="the output at large scores")
    q, k, v = rng.normal(3, 5, 16, std=12), rng.normal(3, 7, 16, std=12), rng.normal(3, 7, 12)
    output, _ = pair(student.attention(q, k, v))
    output = tensor(output, shape=(3, 5, 12), what="the float32 output at large scores")
    expect(torch.isfinite(output).all(), "Scores in the hundreds must not overflow in float32.", evidence=output)


@check(
    points=2,
    exercise="attention",
    hint="What if every allowed score is far below the number that you put under the mask?",
)
def test_mask_holds_when_allowed_scores_are_very_low(student, rng):
    """All scores are lowered by 20,000, which changes no share: what is masked stays masked."""
    q, k = rng.normal(3, 5, 16, dtype=DOUBLE), rng.normal(3, 7, 16, dtype=DOUBLE)
    v, mask = rng.normal(3, 7, 12, dtype=DOUBLE), some_mask(rng, 5, 7)
    q[..., -1], k[..., -1] = 0.0, 0.0
    expected, expected_weights = oracle(q, k, v, mask)
    q[..., -1], k[..., -1] = 400.0, -200.0  # one column adds 400 * -200 / sqrt(16) = -20,000 to each score
    output, weights = pair(student.attention(q, k, v, mask))
    # A score of 20,000 has a float64 rounding of 4e-12, and a sum of sixteen terms a few times that.
    agree(weights, expected_weights, atol=1e-8, what="the weights when every score is lowered by 20,000")
    agree(output, expected, atol=1e-8, what="the output when every score is lowered by 20,000")


@check(points=2, exercise="attention", hint="Does every step from the inputs to both results stay inside the graph?")
def test_attention_sends_the_right_gradients_back(student, rng):
    """The gradients of q, k and v, through the output and through the weights, are those of the formula."""
    q, k = rng.normal(2, 5, 16, dtype=DOUBLE), rng.normal(2, 7, 16, dtype=DOUBLE)
    v, mask = rng.normal(2, 7, 12, dtype=DOUBLE), some_mask(rng, 5, 7)
    to_output, to_weights = rng.normal(2, 5, 12, dtype=DOUBLE), rng.normal(2, 5, 7, dtype=DOUBLE)
    got = student.attention.gradients(q, k, v, mask=mask, upstream=(to_output, to_weights))
    leaves = [each.clone().requires_grad_() for each in (q, k, v)]
    output, weights = oracle(*leaves, mask)
    expected = torch.autograd.grad([output, weights], leaves, [to_output, to_weights])
    for name, mine, right in zip("qkv", got.inputs, expected, strict=True):
        agree(mine, right, atol=1e-10, what=f"the gradient of {name}")  # float64: rounding is far below


@check(points=2, exercise="attention", hint="Which axis of the mask must hold at least one True, in every sequence?")
def test_attention_judges_each_row_of_the_mask(student, rng):
    """One empty row in one sequence is refused; a row with a single key is not, and gets that key's value."""
    q, k, v = rng.normal(3, 5, 16), rng.normal(3, 7, 16), rng.normal(3, 7, 12)
    only = torch.zeros(5, 7, dtype=torch.bool)
    only[torch.arange(5), torch.tensor([6, 0, 3, 3, 1])] = True
    output, _ = pair(student.attention(q, k, v, only))
    # A share of exactly 1 and shares of exactly 0: nothing is left to round.
    agree(output, v[:, [6, 0, 3, 3, 1]], atol=1e-6, what="the output when each query may see one key")
    padding = torch.ones(3, 1, 7, dtype=torch.bool)
    padding[2] = False
    one_row = torch.ones(3, 5, 7, dtype=torch.bool)
    one_row[1, 4] = False
    for mask, reason in (
        (torch.zeros(3, 5, 7, dtype=torch.bool), "nothing is allowed anywhere"),
        (padding, "the third sequence has no key"),
        (one_row, "row 4 of the second sequence is empty"),
    ):
        written = [", ".join(map(str, shape)) for shape in (mask.shape, (3, 5, 7))]  # as given, or as broadcast
        alternatives = tuple(text.replace(", ", comma) for text in written for comma in (", ", ",", " x ", "x"))
        raises_value_error(student.attention, q, k, v, mask, mentions=["mask", alternatives], because=reason)


@check(points=2, exercise="attention", hint="Which number under the mask can every float type hold?")
def test_half_precision_stays_finite_and_causal(student, rng):
    """In float16 and bfloat16 the results are finite, near the truth, and of the input's dtype."""
    # One rounding is 5e-4 of a number in float16 and 4e-3 in bfloat16; scores and values reach 4, several are added.
    for dtype, atol in ((torch.float16, 2e-2), (torch.bfloat16, 1.5e-1)):
        q, k, v = (rng.normal(2, 6, 16, dtype=dtype) for _ in range(3))
        output, weights = pair(student.attention(q, k, v, triangle(6)))
        expected, expected_weights = oracle(q.to(DOUBLE), k.to(DOUBLE), v.to(DOUBLE), triangle(6))
        agree(weights, expected_weights.to(dtype), atol=atol, what=f"the weights in {dtype}")
        agree(output, expected.to(dtype), atol=atol, what=f"the output in {dtype}")
        head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE)
        head.load(rng.like(head_shapes(), std=0.2))
        head.to(dtype)
        x = rng.normal(2, T, D_MODEL, dtype=dtype)
        changed = torch.cat([x[:, :2], rng.normal(2, T - 2, D_MODEL, dtype=dtype)], dim=1)
        before = tensor(head(x), shape=(2, T, D_HEAD), dtype=dtype, what=f"a head's output in {dtype}")
        after = tensor(head(changed), shape=(2, T, D_HEAD), dtype=dtype, what=f"a head's output in {dtype}")
        expect(torch.isfinite(before).all(), f"A head's output in {dtype} must be finite.", evidence=before)
        agree(after[:, :2], before[:, :2], atol=atol, what=f"a head's outputs before the change, in {dtype}")


@check(points=3, exercise="Head", hint="What did your head remember from the call before?")
def test_head_is_right_at_every_length(student, rng):
    """A short sequence, one token, block_size tokens and a short one again, with biases and without."""
    for bias in (False, True):
        head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE, bias=bias)
        head.to(DOUBLE)
        weights = head.load(rng.like(head_shapes(bias=bias), dtype=DOUBLE))
        for batch, length in ((BATCH, T), (1, 1), (2, BLOCK_SIZE), (1, T), (BATCH, 2)):
            x = rng.normal(batch, length, D_MODEL, dtype=DOUBLE)
            expected, expected_weights = head_oracle(x, weights)
            # float64; weights of 0.7 make scores of about 12, whose rounding stays below 1e-13.
            agree(head(x), expected, atol=1e-10, what=f"the output for B = {batch}, T = {length}, bias={bias}")
            agree(head.attention_weights(x), expected_weights, atol=1e-10, what=f"the weights for T = {length}")


@check(points=1, exercise="Head", hint="What does your head say to a sequence that is longer than its mask?")
def test_head_refuses_what_is_longer_than_block_size(student, rng):
    """More than block_size tokens are refused with the number, by forward and by attention_weights."""
    head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=11)
    x = rng.normal(2, 13, D_MODEL)
    tensor(head(x[:, :11]), shape=(2, 11, D_HEAD), what="the output for exactly block_size tokens")
    for target in (head, head.attention_weights):
        raises_value_error(target, x, mentions=[("13", "11")], because="13 tokens, where block_size is 11")


@check(points=2, exercise="Head", hint="Which of a module's tensors does .to() take along?")
def test_mask_is_a_buffer(student, rng):
    """The mask moves with the module and is not one of its parameters."""
    head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE)
    equal(head.shapes, head_shapes(), what="the parameters of a Head")
    buffers = head.get("_buffers")  # what nn.Module itself keeps; a mask of any form has block_size entries or more
    kept = buffers.values() if isinstance(buffers, dict) else ()
    if any(isinstance(each, torch.Tensor) and each.numel() >= BLOCK_SIZE for each in kept):
        return
    # It may sit in a module inside the head. Then everything must work on another device: meta has shapes, no numbers.
    head.to("meta")
    output = head(torch.empty(2, T, D_MODEL, device="meta"))
    agree(output, torch.empty(2, T, D_HEAD, device="meta"), atol=0.0, what="the output on another device")


@check(
    points=2,
    exercise="Head",
    hint="From which positions can a gradient at position t come, and does it reach them all?",
)
def test_gradient_reaches_the_past_and_only_the_past(student, rng):
    """A gradient sent back from position t reaches every position up to t, and none after it."""
    head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE)
    head.to(DOUBLE)
    head.load(rng.like(head_shapes(), std=0.2, dtype=DOUBLE))  # mild scores, so that no share is nearly 0
    x = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
    for t in range(T):
        upstream = torch.zeros(BATCH, T, D_HEAD, dtype=DOUBLE)
        upstream[:, t] = rng.normal(BATCH, D_HEAD, dtype=DOUBLE)
        got = head.gradients(x, upstream=upstream).inputs[0]
        got = tensor(got, shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the gradient of x")
        size = got.abs().amax(dim=-1)
        # Right gradients are around 0.1 here; 1e-5 is far below them and far above any rounding.
        expect(size[:, : t + 1].min() > 1e-5, f"Position {t} must read every position from 0 to {t}.", evidence=got)
        # An exact 0, or what rounding leaves of one.
        after = got[:, t + 1 :]
        agree(after, torch.zeros_like(after), atol=1e-12, what=f"the gradient of position {t} on later ones")


@check(points=2, exercise="Head", hint="Which axis is the batch, and does any of your operations run along it?")
def test_each_sequence_is_alone(student, rng):
    """Each sequence of a batch gives what it gives alone, in whatever order the batch is written."""
    head = student.Head(d_model=D_MODEL, d_head=D_HEAD, block_size=BLOCK_SIZE)
    head.to(DOUBLE)
    head.load(rng.like(head_shapes(), dtype=DOUBLE))
    x = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
    output = tensor(head(x), shape=(BATCH, T, D_HEAD), dtype=DOUBLE, what="the output")
    for row in range(BATCH):
        # Another batch size may be summed in another order: float64 rounding.
        agree(head(x[row : row + 1]), output[row : row + 1], atol=1e-10, what=f"sequence {row} alone")
    order = torch.tensor([2, 0, 1])
    agree(head(x[order]), output[order], atol=1e-10, what="the batch in another order")  # the same rounding
    differ = (output[order] - output).abs().amax() > 1e-3  # three random sequences: outputs of about 1 differ
    expect(differ, "Three different sequences give the same output: it does not depend on the tokens.", evidence=output)


@check(
    points=3,
    exercise="MultiHeadAttention",
    hint="Which columns belong to which head, and how often is each bias added?",
)
def test_many_heads_are_exact(student, rng):
    """One, four and six heads, with biases and without, at every length: the formula in float64."""
    for n_heads, bias in ((N_HEADS, True), (6, False), (1, True)):
        module = student.MultiHeadAttention(D_MODEL, n_heads, BLOCK_SIZE, qkv_bias=bias)
        equal(module.shapes, many_shapes(n_heads, bias), what=f"the parameters for {n_heads} heads, qkv_bias={bias}")
        module.to(DOUBLE)
        weights = module.load(rng.like(many_shapes(n_heads, bias), dtype=DOUBLE))
        for batch, length in ((BATCH, T), (1, BLOCK_SIZE), (2, 1)):
            x = rng.normal(batch, length, D_MODEL, dtype=DOUBLE)
            # float64; outputs of about 10, whose rounding stays below 1e-13.
            what = f"the output of {n_heads} heads for B = {batch}, T = {length}"
            agree(module(x), many_oracle(x, weights, n_heads)[0], atol=1e-10, what=what)


@check(
    points=2,
    exercise="MultiHeadAttention",
    hint="Where does the axis of the heads stand, and are the maps all different?",
)
def test_each_head_shows_its_own_weights(student, rng):
    """attention_weights has one causal map for each head, in the order of the heads."""
    module = student.MultiHeadAttention(D_MODEL, N_HEADS, BLOCK_SIZE)
    module.to(DOUBLE)
    weights = module.load(rng.like(many_shapes(), std=0.3, dtype=DOUBLE))
    for batch, length in ((BATCH, T), (1, BLOCK_SIZE), (2, 1)):
        x = rng.normal(batch, length, D_MODEL, dtype=DOUBLE)
        got = tensor(
            module.attention_weights(x), shape=(batch, N_HEADS, length, length), dtype=DOUBLE, what="the weights"
        )
        # float64: a sum of at most eight shares, then the maps themselves.
        ones = torch.ones(batch, N_HEADS, length, dtype=DOUBLE)
        agree(got.sum(dim=-1), ones, atol=1e-10, what="the sum of each row of weights")
        agree(got, many_oracle(x, weights, N_HEADS)[1], atol=1e-10, what="the weights", picture=True)


@check(points=2, exercise="MultiHeadAttention", hint="Is every parameter used, and is any of them used twice?")
def test_every_parameter_gets_its_gradient(student, rng):
    """The gradients of x and of every weight and bias are those of the formula."""
    module = student.MultiHeadAttention(D_MODEL, N_HEADS, BLOCK_SIZE, qkv_bias=True)
    module.to(DOUBLE)
    weights = module.load(rng.like(many_shapes(bias=True), std=0.3, dtype=DOUBLE))
    x, upstream = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE), rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
    got = module.gradients(x, upstream=upstream)
    leaves = {"x": x.clone()} | {name: weight.clone() for name, weight in weights.items()}
    for leaf in leaves.values():
        leaf.requires_grad_()
    output, _ = many_oracle(leaves["x"], leaves, N_HEADS)
    expected = dict(zip(leaves, torch.autograd.grad(output, list(leaves.values()), upstream), strict=True))
    # float64; gradients of up to 100, whose rounding stays below 1e-12.
    agree(got.inputs[0], expected.pop("x"), atol=1e-9, what="the gradient of x")
    for name, right in expected.items():
        agree(got.parameters.get(name), right, atol=1e-9, what=f"the gradient of {name}")


@check(points=1, exercise="MultiHeadAttention", hint="How many columns do seven heads of 26 // 7 fill?")
def test_heads_that_do_not_divide_the_width_are_refused(student, rng):
    """Seven heads in a width of 26 are refused, and the message says which numbers do not fit."""
    names = ("n_heads", "d_model", "heads", "width")
    raises_value_error(
        student.MultiHeadAttention, 26, 7, BLOCK_SIZE, mentions=[names, ("7", "26")], because="7 does not divide 26"
    )
    raises_value_error(
        student.MultiHeadAttention,
        d_model=D_MODEL,
        n_heads=48,
        block_size=BLOCK_SIZE,
        mentions=[names, ("48", "24")],
        because="48 heads would have no column each",
    )


@check(
    points=2, exercise="MultiHeadAttention", hint="Is anything in the merge read in another order than it was written?"
)
def test_many_heads_are_causal_and_repeatable(student, rng):
    """Heads together still hide the future and keep sequences apart, and two evaluations are equal."""
    module = student.MultiHeadAttention(D_MODEL, N_HEADS, BLOCK_SIZE)
    module.to(DOUBLE)
    module.load(rng.like(many_shapes(), dtype=DOUBLE))
    x = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
    training = tensor(module(x), shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the output")
    module.eval()
    before = tensor(module(x), shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the output in eval mode")
    agree(before, training, atol=1e-10, what="the output in eval mode")  # nothing here may differ: float64 rounding
    equal(module(x), before, what="a second evaluation of the same x")
    for t in range(1, T):
        changed = torch.cat([x[:, :t], rng.normal(BATCH, T - t, D_MODEL, dtype=DOUBLE)], dim=1)
        after = tensor(module(changed), shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the output")
        # float64: the same sums in the same order, up to rounding.
        agree(after[:, :t], before[:, :t], atol=1e-10, what=f"what stands before position {t}, when {t} on changes")
        moved = (after[:, t:] - before[:, t:]).abs().amax() > 1e-3  # new tokens there: outputs of about 1 are others
        expect(moved, f"The outputs from position {t} on do not depend on the tokens there.", evidence=after)
    for row in range(BATCH):
        agree(module(x[row : row + 1]), before[row : row + 1], atol=1e-10, what=f"sequence {row} alone")  # as above
