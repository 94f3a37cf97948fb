"""The hidden suite of part 5: the same contract at its edges, in every dtype, far out, and through the gradients."""

import math

import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, raises_value_error, tensor

BATCH, T, D_MODEL, N_HEADS = 3, 5, 24, 4
DOUBLE = torch.float64
SCHEMES = ("none", "rope", "alibi")

# The published slopes, as exponents of two.
EXPONENTS = {
    1: [8.0],
    2: [4.0, 8.0],
    3: [4.0, 8.0, 2.0],
    4: [2.0, 4.0, 6.0, 8.0],
    5: [2.0, 4.0, 6.0, 8.0, 1.0],
    6: [2.0, 4.0, 6.0, 8.0, 1.0, 3.0],
    7: [2.0, 4.0, 6.0, 8.0, 1.0, 3.0, 5.0],
    8: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    12: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.5, 1.5, 2.5, 3.5],
    16: [0.5 * i for i in range(1, 17)],
    20: [0.5 * i for i in range(1, 17)] + [0.25, 0.75, 1.25, 1.75],
}


def slopes_of(n_heads):
    """Give the slopes in float64."""
    return 2.0 ** -torch.tensor(EXPONENTS[n_heads], dtype=DOUBLE)


def turned(x, places=None, base=10_000.0):
    """Rotate pairs as complex numbers, in float64."""
    places = torch.arange(x.shape[-2]) if places is None else places
    d = x.shape[-1]
    angles = places.to(DOUBLE)[:, None] * base ** (-torch.arange(0, d, 2, dtype=DOUBLE) / d)
    pairs = torch.view_as_complex(x.to(DOUBLE).unflatten(-1, (d // 2, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def waves(length, d, base=10_000.0):
    """Compute the sinusoids in float64: each is the vector (0, 1) of its pair, mirrored and turned."""
    places = torch.arange(length, dtype=DOUBLE)
    rows = torch.empty(length, d, dtype=DOUBLE)
    for column in range(d):
        angle = places * base ** (-(column - column % 2) / d)
        rows[:, column] = angle.cos() if column % 2 else angle.sin()
    return rows


def oracle(x, weights, n_heads, positions="none"):
    """Run attention head by head on weights that are given by name; returns the output and the maps."""
    length, d_head = x.shape[1], x.shape[2] // n_heads
    q, k, v = (F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias")) for name in "qkv")
    steps = torch.arange(length)[:, None] - torch.arange(length)
    outputs, maps = [], []
    for head in range(n_heads):
        own = slice(head * d_head, (head + 1) * d_head)
        mine_q, mine_k = q[..., own], k[..., own]
        if positions == "rope":
            mine_q, mine_k = turned(mine_q), turned(mine_k)
        scores = torch.einsum("btd,bsd->bts", mine_q, mine_k) / math.sqrt(d_head)
        if positions == "alibi":
            scores = scores - slopes_of(n_heads)[head] * steps
        maps.append(torch.where(steps >= 0, scores, -math.inf).softmax(dim=-1))
        outputs.append(maps[-1] @ v[..., own])
    return F.linear(torch.cat(outputs, dim=-1), weights["proj.weight"], weights["proj.bias"]), torch.stack(maps, dim=1)


def shapes(bias=True, d_model=D_MODEL):
    """Name the parameters of CausalSelfAttention, with their shapes."""
    names = ["q", "k", "v", "proj"] if bias else ["proj"]
    weights = {f"{name}.weight": (d_model, d_model) for name in ("q", "k", "v", "proj")}
    return weights | {f"{name}.bias": (d_model,) for name in names}


def build(student, rng, std, **options):
    """Make a module in float64 with drawn weights; returns both."""
    module = student.CausalSelfAttention(d_model=D_MODEL, **options)
    module.to(DOUBLE)
    return module, module.load(rng.like(shapes(options.get("qkv_bias", True)), std=std, dtype=DOUBLE))


def refused(student, options, mentions, because):
    """Require a ValueError, when the module is built or at its first call at the latest."""
    if student.CausalSelfAttention.ask((), options).error is None:
        module = student.CausalSelfAttention(**options)
        raises_value_error(module, torch.ones(1, T, options["d_model"]), mentions=mentions, because=because)
    else:
        raises_value_error(student.CausalSelfAttention, mentions=mentions, because=because, **options)


@check(points=2, exercise="LearnedPositions", hint="Counted from which end is time the same axis for every x?")
def test_learned_positions_for_any_leading_axes(student, rng):
    """None, one or three leading axes, T = 1, below block_size and equal to it, one after the other."""
    module = student.LearnedPositions(block_size=8, d_model=6)
    equal(module.shapes, {"pos_emb.weight": (8, 6)}, what="the parameters of LearnedPositions")
    module.to(DOUBLE)
    table = module.load({"pos_emb.weight": rng.normal(8, 6, dtype=DOUBLE)})["pos_emb.weight"]
    for shape in ((3, 5, 6), (8, 6), (2, 3, 4, 7, 6), (1, 1, 6), (9, 8, 6), (2, 10, 3, 6)):
        x = rng.normal(*shape, dtype=DOUBLE)
        # One addition in float64.
        agree(module(x), x + table[: shape[-2]], atol=1e-12, what=f"the output for x {shape}")


@check(points=1, exercise="LearnedPositions", hint="Which of the rows had a part in the output?")
def test_learned_positions_train_the_rows_in_use(student, rng):
    """The upstream gradient goes to x as it is, summed over the batch to each row in use, and to no other row."""
    module = student.LearnedPositions(block_size=8, d_model=6)
    module.to(DOUBLE)
    module.load({"pos_emb.weight": rng.normal(8, 6, dtype=DOUBLE)})
    x, upstream = rng.normal(BATCH, T, 6, dtype=DOUBLE), rng.normal(BATCH, T, 6, dtype=DOUBLE)
    got = module.gradients(x, upstream=upstream)
    # Sums of three numbers in float64.
    agree(got.inputs[0], upstream, atol=1e-12, what="the gradient of x")
    expected = torch.cat([upstream.sum(dim=0), torch.zeros(3, 6, dtype=DOUBLE)])
    agree(got.parameters.get("pos_emb.weight"), expected, atol=1e-12, what="the gradient of the table")


@check(points=1, exercise="LearnedPositions", hint="On which device are the ids that you look up?")
def test_learned_positions_follow_dtype_and_device(student, rng):
    """The table works in half precision and on another device, and nothing has to be moved by hand."""
    for dtype, atol in ((torch.float16, 5e-3), (torch.bfloat16, 4e-2)):  # one rounding of numbers up to 8
        module = student.LearnedPositions(block_size=8, d_model=6)
        table = module.load({"pos_emb.weight": rng.normal(8, 6)})["pos_emb.weight"]
        module.to(dtype)
        x = rng.normal(BATCH, T, 6, dtype=dtype)
        expected = (x.to(DOUBLE) + table[:T].to(dtype).to(DOUBLE)).to(dtype)
        agree(module(x), expected, atol=atol, what=f"the output in {dtype}")
    module = student.LearnedPositions(block_size=8, d_model=6)
    module.to("meta")  # a device that has shapes and no numbers
    nowhere = torch.empty(BATCH, T, 6, device="meta")
    agree(module(nowhere), nowhere, atol=0.0, what="the output on another device")


@check(points=2, exercise="sinusoidal_positions", hint="Which exponent have the first pair, the second and the last?")
def test_sinusoids_are_exact(student, rng):
    """For any width, base and number of places, out to place 1,999."""
    # An angle of 2,000 in float32 was seen to be off by 2e-4 at most; angles below 50 by 6e-6.
    for length, d, base, atol in ((8, 6, 1e4, 5e-5), (50, 10, 500.0, 5e-5), (7, 2, 10.0, 5e-5), (2_000, 16, 1e4, 2e-3)):
        got = student.sinusoidal_positions(length, d, base=base)
        agree(got, waves(length, d, base).float(), atol=atol, what=f"{length} rows of width {d} at base {base:g}")
    agree(student.sinusoidal_positions(6, 20), waves(6, 20).float(), atol=5e-5, what="six rows at the default base")


@check(points=1, exercise="sinusoidal_positions", hint="How many columns does one wave need?")
def test_sinusoids_need_an_even_width(student, rng):
    """A width of 7 leaves a wave without its partner: it is refused with the number."""
    tensor(student.sinusoidal_positions(4, 6), shape=(4, 6), dtype=torch.float32)  # what is even is not refused
    for d in (7, 1):
        raises_value_error(student.sinusoidal_positions, 4, d, mentions=[str(d)], because=f"{d} is odd")


@check(points=2, exercise="rope", hint="Which axis counts places, and which places are these?")
def test_rope_is_exact(student, rng):
    """Any leading axes, widths, bases, and places in any order give the formula's numbers."""
    cases = [
        ((3, 4), 5, 6, 1e4, None),
        ((2,), 7, 16, 500.0, rng.integers(0, 40, 7)),
        ((), 6, 8, 1e4, torch.tensor([5, 0, 3, 3, 17, 1])),
        ((2, 3, 2), 4, 10, 20.0, None),
        ((3,), 1, 2, 1e4, torch.tensor([9])),
        ((1, 6), 9, 4, 1e4, rng.permutation(9)),
    ]
    for leading, length, d, base, places in cases:
        x = rng.normal(*leading, length, d)
        got = student.rope(x, base=base) if places is None else student.rope(x, positions=places, base=base)
        # An angle of 40 in float32 was seen to be off by 5e-6, times entries of up to 4.
        what = f"x {tuple(x.shape)} at base {base:g}, turned" + ("" if places is None else f" at {places.tolist()}")
        agree(got, turned(x, places, base).float(), atol=5e-5, what=what)
    x = rng.normal(2, 5, 12)
    agree(student.rope(x), turned(x).float(), atol=5e-5, what="x (2, 5, 12), turned with the defaults")  # as above


@check(points=2, exercise="rope", hint="What is 100,001 in the dtype that your angles are computed in?")
def test_rope_is_right_far_out(student, rng):
    """Up to place 100,000 vectors are turned by the right angle, and scores depend on the distance alone."""
    q, k = rng.normal(2, T, 8), rng.normal(2, T, 8)
    scores = turned(q) @ turned(k).transpose(1, 2)
    # At 1,000 and 100,000, float32 angles were seen to be off by 2e-5 and 2e-3, and scores by twice that.
    for far, atol in ((1_000, 1e-3), (100_000, 3e-2)):
        places = torch.arange(T) + far - T
        far_q = tensor(student.rope(q, positions=places), shape=(2, T, 8), what="the turned queries")
        agree(far_q, turned(q, places).float(), atol=atol, what=f"the queries just before place {far}")
        far_k = tensor(student.rope(k, positions=places), shape=(2, T, 8), what="the turned keys")
        moved = (far_q @ far_k.transpose(1, 2)).double()
        agree(moved, scores, atol=2 * atol, what=f"the scores just before place {far}")
    places = torch.tensor([100_000, 3, 99_999, 0, 50_000])
    agree(student.rope(q, positions=places), turned(q, places).float(), atol=3e-2, what="queries here and far away")


@check(points=2, exercise="rope", hint="Must an angle have the dtype of what it turns?")
def test_rope_follows_dtype_and_device(student, rng):
    """The result has the dtype and the device of x, and the angles more precision than bfloat16 has."""
    # x up to 4, with sine and cosine perhaps rounded to the dtype, then three operations: 1e-2 and 5e-2 were seen.
    for dtype, atol in ((torch.float16, 2e-2), (torch.bfloat16, 1e-1), (DOUBLE, 2e-3)):
        x = rng.normal(2, N_HEADS, T, 8, dtype=dtype)
        agree(student.rope(x), turned(x).to(dtype), atol=atol, what=f"x in {dtype}, turned")
        for far in (301, 1_999, 5_003):
            places = torch.arange(T) + far
            got = student.rope(x, positions=places)
            agree(got, turned(x, places).to(dtype), atol=atol, what=f"x in {dtype}, turned at places from {far} on")
    nowhere = torch.empty(2, T, 8, device="meta")  # a device that has shapes and no numbers
    agree(student.rope(nowhere), nowhere, atol=0.0, what="x on another device, turned")


@check(points=1, exercise="rope", hint="Does every step from x to the result stay inside the graph?")
def test_rope_turns_gradients_back(student, rng):
    """The gradient of x is the upstream one, turned the other way."""
    x, upstream = rng.normal(BATCH, T, 8, dtype=DOUBLE), rng.normal(BATCH, T, 8, dtype=DOUBLE)
    places = torch.tensor([4, 9, 0, 1, 6])
    got = student.rope.gradients(x, positions=places, upstream=upstream).inputs[0]
    # Angles below 10 may be computed in float32, and are then off by 1e-6.
    agree(got, turned(upstream, -places), atol=5e-5, what="the gradient of x")


@check(points=1, exercise="rope", hint="What would turn with the last column?")
def test_rope_needs_an_even_width(student, rng):
    """An odd width is refused, and the message says which."""
    tensor(student.rope(rng.normal(2, T, 6)), shape=(2, T, 6), what="vectors of even width")  # those are welcome
    for d in (7, 1):
        raises_value_error(student.rope, rng.normal(2, T, d), mentions=[str(d)], because=f"its width {d} is odd")


@check(points=2, exercise="alibi_slopes", hint="Which of the slopes of the power above do you have already?")
def test_alibi_slopes_for_any_number_of_heads(student, rng):
    """From one head to twenty, each in its place."""
    for n_heads in EXPONENTS:
        # A recipe in float32 that multiplies ratios is off by a few 1e-7 of each slope.
        got = student.alibi_slopes(n_heads)
        agree(got, slopes_of(n_heads).float(), atol=0.0, rtol=1e-5, what=f"the slopes of {n_heads} heads")


@check(points=1, exercise="alibi_bias", hint="How far is key i behind query t?")
def test_alibi_bias_is_exact(student, rng):
    """Slope times distance, for six and twelve heads, for one position and for three hundred."""
    for n_heads, length in ((6, 5), (12, 9), (1, 1), (3, 300)):
        bias = tensor(student.alibi_bias(n_heads, length), shape=(n_heads, length, length), what="the bias")
        steps = torch.arange(length, dtype=DOUBLE)[:, None] - torch.arange(length, dtype=DOUBLE)
        seen = steps >= 0
        expected = -slopes_of(n_heads)[:, None] * steps[seen]
        # Only what is never masked; a few float32 roundings of each number.
        what = f"the bias of {n_heads} heads up to the diagonal, T = {length}"
        agree(bias[:, seen], expected.float(), atol=0.0, rtol=1e-5, what=what)


@check(
    points=3,
    exercise="CausalSelfAttention",
    hint="Which columns belong to which head, on the way in and on the way out?",
)
def test_attention_is_exact(student, rng):
    """One, four and six heads, with biases and without, at any length: the formula in float64."""
    for n_heads, bias in ((N_HEADS, True), (6, False), (1, True)):
        options = {"n_heads": n_heads, "qkv_bias": bias, "positions": "none"}
        module = student.CausalSelfAttention(d_model=D_MODEL, **options)
        equal(module.shapes, shapes(bias), what=f"the parameters for {n_heads} heads, qkv_bias={bias}")
        module, weights = build(student, rng, 0.7, **options)
        for batch, length in ((BATCH, T), (1, 50), (2, 1), (BATCH, 7)):
            x = rng.normal(batch, length, D_MODEL, dtype=DOUBLE)
            expected, maps = oracle(x, weights, n_heads)
            # float64; scores of about 12 and outputs of about 10, whose rounding stays below 1e-13.
            what = f"of {n_heads} heads for B = {batch}, T = {length}"
            agree(module.attention_weights(x), maps, atol=1e-10, what=f"the weights {what}")
            agree(module(x), expected, atol=1e-10, what=f"the output {what}")


@check(points=2, exercise="CausalSelfAttention", hint="What is turned, within which columns, and along which axis?")
def test_attention_with_rope_is_exact(student, rng):
    """Queries and keys are turned within each head's own columns, values are not."""
    for n_heads, bias in ((N_HEADS, True), (6, False), (1, True)):
        module, weights = build(student, rng, 0.2, n_heads=n_heads, qkv_bias=bias, positions="rope")
        for batch, length in ((BATCH, T), (1, 12), (2, 1)):
            x = rng.normal(batch, length, D_MODEL, dtype=DOUBLE)
            expected, maps = oracle(x, weights, n_heads, "rope")
            # Angles below 12 may be computed in float32, off by 1e-6 then; weights and outputs were off by 2e-6.
            what = f"of {n_heads} heads with rope for B = {batch}, T = {length}"
            agree(module.attention_weights(x), maps, atol=2e-5, what=f"the weights {what}")
            agree(module(x), expected, atol=5e-5, what=f"the output {what}")


@check(points=2, exercise="CausalSelfAttention", hint="To what is the bias added, and is each head's its own?")
def test_attention_with_alibi_is_exact(student, rng):
    """Six, four and three heads: the weights are those of scores minus slope times distance."""
    for n_heads, bias in ((6, True), (N_HEADS, False), (3, True)):
        module, weights = build(student, rng, 0.2, n_heads=n_heads, qkv_bias=bias, positions="alibi")
        for batch, length in ((BATCH, T), (1, 70), (2, 1)):
            x = rng.normal(batch, length, D_MODEL, dtype=DOUBLE)
            expected, maps = oracle(x, weights, n_heads, "alibi")
            # These slopes are exact in float32; one that is off by its last digit moves a weight by 1e-6 at 70 steps.
            what = f"of {n_heads} heads with alibi for B = {batch}, T = {length}"
            agree(module.attention_weights(x), maps, atol=5e-6, what=f"the weights {what}")
            agree(module(x), expected, atol=2e-5, what=f"the output {what}")


@check(points=2, exercise="CausalSelfAttention", hint="Which tokens may position t read, and does it read them all?")
def test_attention_reads_the_past_and_only_the_past(student, rng):
    """For every t: what comes after changes nothing, what comes before gets a gradient, and sequences stay apart."""
    for positions in SCHEMES:
        module, _ = build(student, rng, 0.2, n_heads=N_HEADS, positions=positions)
        x = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
        before = tensor(module(x), shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the output")
        for t in range(1, T):
            changed = torch.cat([x[:, :t], rng.normal(BATCH, T - t, D_MODEL, dtype=DOUBLE)], dim=1)
            after = tensor(module(changed), shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the output")
            # The same sums over the same tokens: float64 rounding.
            what = f'with "{positions}", what stands before position {t} when {t} on changes'
            agree(after[:, :t], before[:, :t], atol=1e-10, what=what)
        for row in range(BATCH):
            # Another batch size may be summed in another order: float64 rounding.
            alone = module(x[row : row + 1])
            agree(alone, before[row : row + 1], atol=1e-10, what=f'sequence {row} alone, with "{positions}"')
        for t in range(T):
            upstream = torch.zeros(BATCH, T, D_MODEL, dtype=DOUBLE)
            upstream[:, t] = rng.normal(BATCH, D_MODEL, dtype=DOUBLE)
            got = module.gradients(x, upstream=upstream).inputs[0]
            got = tensor(got, shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the gradient of x")
            # Right gradients are around 0.1 here; 1e-5 is far below them and far above any rounding.
            read = got.abs().amax(dim=-1)[:, : t + 1].min()
            expect(read > 1e-5, f'With "{positions}", position {t} must read every one up to {t}.', evidence=got)


@check(points=2, exercise="CausalSelfAttention", hint="What is set to zero, when, and what becomes of the others?")
def test_dropout_falls_on_the_weights(student, rng):
    """In training each weight is gone or divided by 1 - p, independently; in evaluation, none is."""
    p, copies, length, d_head = 0.25, 200, 5, D_MODEL // N_HEADS
    module, weights = build(student, rng, 0.2, n_heads=N_HEADS, dropout=p)
    one = rng.normal(1, length, D_MODEL, dtype=DOUBLE)
    expected, maps = oracle(one, weights, N_HEADS)
    module.train()
    agree(module.attention_weights(one), maps, atol=1e-10, what="attention_weights in training")  # before dropout
    many = one.repeat(copies, 1, 1)
    output = tensor(module(many), shape=(copies, length, D_MODEL), dtype=DOUBLE, what="the output in training")
    # A head has six columns and five values, so the weights that it used can be worked out from what came out.
    read = torch.linalg.solve(weights["proj.weight"], (output - weights["proj.bias"]).mT).mT
    values = F.linear(one[0], weights["v.weight"], weights["v.bias"]).view(length, N_HEADS, d_head).transpose(0, 1)
    used = read.view(copies, length, N_HEADS, d_head).transpose(1, 2) @ torch.linalg.pinv(values)
    kept = used > 0.5 * maps / (1 - p)
    # float64, through two inverses of small matrices.
    due = torch.where(kept, maps / (1 - p), 0.0)
    agree(used, due, atol=1e-7, what="the weights used in training, each 0 or what it was divided by 1 - p")
    seen = torch.ones(length, length, dtype=torch.bool).tril()
    gone = ~kept[..., seen]
    share = gone.double().mean().item()
    # 12,000 draws have a standard deviation of 0.004: a right program misses this once in 10^12 seeds.
    expect(abs(share - p) < 0.03, f"With dropout={p}, {share:.3f} of the weights were dropped.", evidence=share)
    for axis, name in ((0, "sequences"), (1, "heads"), (2, "pairs")):
        differ = bool((gone != gone.narrow(axis, 0, 1)).any())
        expect(differ, f"All {name} lost the same weights: each weight has its own chance.", evidence=share)
    module.eval()
    calm = module(one)
    agree(calm, expected, atol=1e-10, what="the output in evaluation")  # float64 rounding
    equal(module(one), calm, what="a second evaluation of the same x")


@check(points=2, exercise="CausalSelfAttention", hint="Is every parameter used, and does the graph hold throughout?")
def test_every_parameter_gets_its_gradient(student, rng):
    """The gradients of x and of every weight and bias are those of the formula."""
    # float64, and gradients of up to 30; with rope, float32 angles are allowed, off by 1e-6.
    for positions, atol in (("alibi", 1e-8), ("rope", 1e-3)):
        module, weights = build(student, rng, 0.2, n_heads=N_HEADS, positions=positions)
        x, upstream = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE), rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
        got = module.gradients(x, upstream=upstream)
        leaves = {"x": x.clone()} | {name: weight.clone() for name, weight in weights.items()}
        for leaf in leaves.values():
            leaf.requires_grad_()
        output, _ = oracle(leaves["x"], leaves, N_HEADS, positions)
        expected = dict(zip(leaves, torch.autograd.grad(output, list(leaves.values()), upstream), strict=True))
        agree(got.inputs[0], expected.pop("x"), atol=atol, what=f'the gradient of x, with "{positions}"')
        for name, right in expected.items():
            what = f'the gradient of {name}, with "{positions}"'
            agree(got.parameters.get(name), right, atol=atol, what=what)


@check(
    points=1, exercise="CausalSelfAttention", hint="Which tensors do you make yourself, and of what dtype, and where?"
)
def test_attention_follows_dtype_and_device(student, rng):
    """In half precision and on another device, the module gives its input's dtype and device back."""
    for positions in SCHEMES:
        # One rounding is 5e-4 of a number in float16 and 4e-3 in bfloat16; outputs reach 4, several are added.
        for dtype, atol in ((torch.float16, 3e-2), (torch.bfloat16, 2e-1)):
            module = student.CausalSelfAttention(d_model=D_MODEL, n_heads=N_HEADS, positions=positions)
            weights = module.load(rng.like(shapes(), std=0.2))
            module.to(dtype)
            x = rng.normal(2, T, D_MODEL, dtype=dtype)
            rounded = {name: weight.to(dtype).to(DOUBLE) for name, weight in weights.items()}
            expected, maps = oracle(x.to(DOUBLE), rounded, N_HEADS, positions)
            what = f'in {dtype}, with "{positions}"'
            agree(module.attention_weights(x), maps.to(dtype), atol=atol, what=f"the weights {what}")
            agree(module(x), expected.to(dtype), atol=atol, what=f"the output {what}")
        module = student.CausalSelfAttention(d_model=D_MODEL, n_heads=N_HEADS, positions=positions)
        module.to("meta")  # a device that has shapes and no numbers
        nowhere = torch.empty(2, T, D_MODEL, device="meta")
        reply = module.ask((nowhere,), {})
        if reply.error is not None and "device" not in reply.error.message:
            continue  # a test of values, such as "does any row of the mask allow nothing?", has nothing to test there
        output = module(nowhere) if reply.error else reply.value
        agree(output, nowhere, atol=0.0, what=f'the output on another device, with "{positions}"')


@check(points=1, exercise="CausalSelfAttention", hint="Which three arguments can be wrong before a token has come?")
def test_attention_refuses_what_it_cannot_do(student, rng):
    """Unknown positions, heads that do not divide the width and an odd width for pairs are refused by name."""
    heads = ("n_heads", "d_model", "heads", "width")
    refused(student, {"d_model": 26, "n_heads": 7}, [heads, ("7", "26")], "7 does not divide 26")
    refused(student, {"d_model": 24, "n_heads": 48}, [heads, ("48", "24")], "48 heads would have no column each")
    for word in ("learned", "RoPE", ""):
        options = {"d_model": 24, "n_heads": 4, "positions": word}
        refused(student, options, [("position",), word], f'"{word}" is not one of the three')
    options = {"d_model": 12, "n_heads": 4, "positions": "rope"}
    refused(student, options, [("3", "12")], "a head of 3 columns cannot be cut into pairs")
    for positions in ("none", "alibi"):
        module = student.CausalSelfAttention(d_model=12, n_heads=4, positions=positions)
        tensor(module(rng.normal(2, T, 12)), shape=(2, T, 12), what=f'the output of heads of 3 with "{positions}"')
