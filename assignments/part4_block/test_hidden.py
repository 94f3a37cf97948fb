"""The hidden suite of part 4: the same contract at its edges, in other dtypes and through the gradients."""

import math

import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, tensor, tuple_of

BATCH, T, D_MODEL, WIDE = 3, 5, 24, 40
DOUBLE = torch.float64
VARIANTS = [(norm, residual) for norm in ("pre", "post", "none") for residual in (True, False)]

PROBES = '''
import torch
from torch import nn


class Mixes(nn.Module):
    """Mixes positions by a fixed table, then features by a learned matrix."""

    def __init__(self, table, d_model):
        super().__init__()
        self.register_buffer("table", table)
        self.map = nn.Linear(d_model, d_model)

    def forward(self, x):
        return self.table @ self.map(x)


class Bends(nn.Module):
    """Works on each position alone."""

    def __init__(self, d_model, wide):
        super().__init__()
        self.first = nn.Linear(d_model, wide)
        self.second = nn.Linear(wide, d_model)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


class Says(nn.Module):
    """Always says the same number; and another one, loudly, where it is handed an exact 0."""

    def __init__(self, word, loud):
        super().__init__()
        self.word = word
        self.loud = loud

    def forward(self, x):
        return torch.full_like(x, self.word) + self.loud * (x == 0)


class Four(nn.Module):
    """As many parameters as an attention with all of its biases."""

    def __init__(self, d_model):
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        for each in self.maps:
            x = each(x)
        return x


class Piece(nn.Module):
    """Holds parameters with given gradients, some of them in a module inside."""

    def __init__(self, gradients, inner=None):
        super().__init__()
        for index, gradient in enumerate(gradients):
            parameter = nn.Parameter(torch.full((2, 3), 50.0) if gradient is None else torch.ones_like(gradient))
            parameter.grad = gradient
            self.register_parameter(f"p{index}", parameter)
        if inner is not None:
            self.inner = Piece(*inner)


def pieces(lists):
    return [Piece(*given) for given in lists]
'''


def norm_shapes():
    """Name the parameters of both norms of a block, with their shapes."""
    return {f"{ln}.{name}": (D_MODEL,) for ln in ("ln1", "ln2") for name in ("weight", "bias")}


def sublayer_shapes():
    """Name the parameters of the two sublayers that the suite gives, with their shapes."""
    return {
        "attention.map.weight": (D_MODEL, D_MODEL),
        "attention.map.bias": (D_MODEL,),
        "mlp.first.weight": (WIDE, D_MODEL),
        "mlp.first.bias": (WIDE,),
        "mlp.second.weight": (D_MODEL, WIDE),
        "mlp.second.bias": (D_MODEL,),
    }


def block_shapes(norm):
    """Name all parameters of a block, with their shapes."""
    return sublayer_shapes() if norm == "none" else sublayer_shapes() | norm_shapes()


def build(student, table, **settings):
    """Build the student's block around the suite's sublayers."""
    attention = student.probe(PROBES, "Mixes", table, D_MODEL)
    return student.Block(D_MODEL, attention, student.probe(PROBES, "Bends", D_MODEL, WIDE), **settings)


def block_oracle(x, weights, table, norm, residual):
    """Do what a block must do, with torch's own layer norm."""

    def attend(h):
        return table @ F.linear(h, weights["attention.map.weight"], weights["attention.map.bias"])

    def think(h):
        hidden = torch.tanh(F.linear(h, weights["mlp.first.weight"], weights["mlp.first.bias"]))
        return F.linear(hidden, weights["mlp.second.weight"], weights["mlp.second.bias"])

    def normal(h, ln):
        return F.layer_norm(h, (D_MODEL,), weights[f"{ln}.weight"], weights[f"{ln}.bias"])

    for ln, sublayer in (("ln1", attend), ("ln2", think)):
        update = sublayer(normal(x, ln) if norm == "pre" else x)
        x = x + update if residual else update
        x = normal(x, ln) if norm == "post" else x
    return x


def block_in_half_precision(student, rng, norm):
    """Compare a block in float16 and bfloat16."""
    for dtype, atol in ((torch.float16, 4e-2), (torch.bfloat16, 3e-1)):
        table = some_table(rng, dtype=dtype)
        block = build(student, table, norm=norm)
        weights = block.load(rng.like(block_shapes(norm), std=0.2))
        block.to(dtype)
        wide = {name: weight.to(dtype).double() for name, weight in weights.items()}
        x = rng.normal(BATCH, T, D_MODEL, dtype=dtype)
        expected = block_oracle(x.double(), wide, table.double(), norm, True).to(dtype)
        # Some ten roundings, of 5e-4 in float16 and 4e-3 in bfloat16, of numbers that reach 6.
        agree(block(x), expected, atol=atol, what=f"a block with norm={norm!r} in {dtype}")


def some_table(rng, length=T, dtype=DOUBLE):
    """Draw a table that mixes positions, causally."""
    return rng.normal(length, length, std=0.7, dtype=dtype).tril()


def exact_gelu(x):
    """Multiply x by the share of a standard normal below it."""
    return x * 0.5 * torch.erfc(-x / math.sqrt(2))


@check(points=2, exercise="LayerNorm", hint="Over which axis do you average, counted from the end, and is it kept?")
def test_layernorm_works_for_any_leading_axes(student, rng):
    """None, one, two or three leading axes, also as many positions as features: each token by itself."""
    for shape in ((2, 24, 24), (D_MODEL,), (7, D_MODEL), (BATCH, T, D_MODEL), (2, 3, 4, D_MODEL), (1, 1, D_MODEL)):
        norm = student.LayerNorm(D_MODEL)
        norm.to(DOUBLE)
        weights = norm.load(rng.like({"weight": (D_MODEL,), "bias": (D_MODEL,)}, dtype=DOUBLE))
        x = rng.normal(*shape, std=2.0, dtype=DOUBLE) + 0.5
        expected = F.layer_norm(x, (D_MODEL,), weights["weight"], weights["bias"])
        agree(norm(x), expected, atol=1e-10, what=f"LayerNorm of an x of shape {shape}")  # float64 rounds at 1e-15


@check(points=2, exercise="LayerNorm", hint="What is the variance of a token of size 0.001, and what is eps beside it?")
def test_layernorm_puts_eps_under_the_root(student, rng):
    """Tiny tokens, eps = 0.1, and tokens whose features are all equal: eps has its place and its size."""
    for given, std in (({}, 1e-3), ({"eps": 0.1}, 1.0), ({"eps": 1e-12}, 1e-3)):
        norm = student.LayerNorm(D_MODEL, **given)
        norm.to(DOUBLE)
        x = rng.normal(BATCH, T, D_MODEL, std=std, dtype=DOUBLE)
        expected = F.layer_norm(x, (D_MODEL,), eps=given.get("eps", 1e-5))
        agree(norm(x), expected, atol=1e-9, what=f"LayerNorm of tokens of size {std:g}, {given or 'eps left out'}")
    norm = student.LayerNorm(D_MODEL)
    norm.to(DOUBLE)
    weights = norm.load(rng.like({"weight": (D_MODEL,), "bias": (D_MODEL,)}, dtype=DOUBLE))
    x = rng.integers(-9, 10, BATCH, T, 1).to(DOUBLE).expand(BATCH, T, D_MODEL).contiguous()
    # Whole numbers, whose mean is exact or 1e-15 off; divided by sqrt(1e-5) that is still below 1e-11.
    expected = weights["bias"].expand(BATCH, T, D_MODEL)
    agree(norm(x), expected, atol=1e-9, what="LayerNorm of tokens whose features are all equal")


@check(points=1, exercise="LayerNorm", hint="If all features of a token rise by 100, what has the token said?")
def test_layernorm_takes_away_offset_and_size(student, rng):
    """100 more in every feature changes nothing, and neither does seven times the size."""
    norm = student.LayerNorm(D_MODEL, eps=1e-12)
    norm.to(DOUBLE)
    weights = norm.load(rng.like({"weight": (D_MODEL,), "bias": (D_MODEL,)}, dtype=DOUBLE))
    x = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
    expected = F.layer_norm(x, (D_MODEL,), weights["weight"], weights["bias"], eps=1e-12)
    # Squares of 10,000 are exact to 1e-12 in float64, whichever way the variance is computed.
    agree(norm(x + 100), expected, atol=1e-8, what="LayerNorm of x + 100")
    agree(norm(7 * x), expected, atol=1e-8, what="LayerNorm of 7x")  # eps is too small to be seen


@check(
    points=2, exercise="LayerNorm", hint="Are the mean and the variance still made of x when the gradient comes back?"
)
def test_layernorm_sends_the_right_gradients_back(student, rng):
    """The gradients of x, weight and bias are those of torch's layer norm, also for equal features."""
    norm = student.LayerNorm(D_MODEL)
    norm.to(DOUBLE)
    weights = norm.load(rng.like({"weight": (D_MODEL,), "bias": (D_MODEL,)}, dtype=DOUBLE))
    x, upstream = (rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE) for _ in range(2))
    leaves = [each.clone().requires_grad_() for each in (x, weights["weight"], weights["bias"])]
    expected = torch.autograd.grad(F.layer_norm(leaves[0], (D_MODEL,), *leaves[1:]), leaves, upstream)
    got = norm.gradients(x, upstream=upstream)
    # Float64: gradients of about 1, and sums of 15 of them.
    agree(got.inputs[0], expected[0], atol=1e-10, what="the gradient of x")
    agree(got.parameters.get("weight"), expected[1], atol=1e-10, what="the gradient of weight")
    agree(got.parameters.get("bias"), expected[2], atol=1e-10, what="the gradient of bias")
    flat = norm.gradients(torch.full((2, D_MODEL), 3.0, dtype=DOUBLE), upstream=upstream[0, :2]).inputs[0]
    flat = tensor(flat, shape=(2, D_MODEL), dtype=DOUBLE, what="the gradient of tokens whose features are all equal")
    expect(torch.isfinite(flat).all(), "A token whose features are all equal must get finite gradients.", evidence=flat)


@check(
    points=1, exercise="LayerNorm", hint="In which dtype does a float16 token come back, once the layer is converted?"
)
def test_layernorm_keeps_the_dtype(student, rng):
    """In float16 and bfloat16 tokens come back as they went in, and near the truth."""
    # One rounding is 5e-4 of a number in float16, 4e-3 in bfloat16; outputs reach 4, and there are four or five steps.
    for dtype, atol in ((torch.float16, 2e-2), (torch.bfloat16, 1.5e-1)):
        norm = student.LayerNorm(D_MODEL)
        weights = norm.load(rng.like({"weight": (D_MODEL,), "bias": (D_MODEL,)}))
        norm.to(dtype)
        x = rng.normal(BATCH, T, D_MODEL, dtype=dtype)
        wide = {name: weight.to(dtype).double() for name, weight in weights.items()}
        expected = F.layer_norm(x.double(), (D_MODEL,), wide["weight"], wide["bias"])
        agree(norm(x), expected.to(dtype), atol=atol, what=f"LayerNorm in {dtype}")


@check(points=2, exercise="MLP", hint="Which layer is applied to what, and is the width that you were asked for used?")
def test_mlp_equals_the_formula(student, rng):
    """Any expansion, any leading axes, random biases, in float64 and half precision: up, exact GELU, down."""
    for expansion, shape in ((4, (BATCH, T)), (2, (7,)), (1, ()), (3, (2, 3, 2))):
        wide = expansion * D_MODEL
        mlp = student.MLP(D_MODEL, expansion)
        mlp.to(DOUBLE)
        shapes = {
            "up.weight": (wide, D_MODEL),
            "up.bias": (wide,),
            "down.weight": (D_MODEL, wide),
            "down.bias": (D_MODEL,),
        }
        weights = mlp.load(rng.like(shapes, std=0.3, dtype=DOUBLE))
        x = rng.normal(*shape, D_MODEL, dtype=DOUBLE)
        hidden = exact_gelu(F.linear(x, weights["up.weight"], weights["up.bias"]))
        expected = F.linear(hidden, weights["down.weight"], weights["down.bias"])
        agree(mlp(x), expected, atol=1e-10, what=f"the MLP with expansion {expansion}")  # float64, numbers of 5
        # 96 products of size 0.3 are added: one rounding is 5e-4 or 4e-3 of a number of about 4, plus their sum's.
        for dtype, atol in ((torch.float16, 3e-2), (torch.bfloat16, 2.5e-1)):
            mlp.to(dtype)
            agree(mlp(x.to(dtype)), expected.to(dtype), atol=atol, what=f"the MLP in {dtype}")


@check(points=2, exercise="MLP", hint="There are two formulas for GELU. Which of them is x times a probability?")
def test_mlp_is_exact_everywhere(student, rng):
    """From -6 to 6 the bend is GELU within 1e-6 in float32 and 1e-12 in float64; its gradient too."""
    # 6 is rounded to 5e-7 in float32; the tanh form is 1e-4 to 5e-4 off between 1 and 4.
    for dtype, atol in ((torch.float32, 1e-6), (DOUBLE, 1e-12)):
        mlp = student.MLP(1, expansion=1)
        mlp.to(dtype)
        ones, zeros = torch.ones(1, 1, dtype=dtype), torch.zeros(1, dtype=dtype)
        mlp.load({"up.weight": ones, "up.bias": zeros, "down.weight": ones, "down.bias": zeros})
        x = torch.linspace(-6, 6, 97, dtype=dtype).unsqueeze(1)
        agree(mlp(x), exact_gelu(x.double()).to(dtype), atol=atol, what=f"GELU from -6 to 6 in {dtype}")
        if dtype == DOUBLE:
            leaf, upstream = x.clone().requires_grad_(), rng.normal(97, 1, dtype=DOUBLE)
            expected = torch.autograd.grad(exact_gelu(leaf), leaf, upstream)[0]
            agree(mlp.gradients(x, upstream=upstream).inputs[0], expected, atol=1e-12, what="the gradient of GELU")


@check(points=3, exercise="Block", hint="What is each sublayer handed, and to what is its output added?")
def test_pre_norm_block_equals_the_table(student, rng):
    """Pre-norm with random weights in both norms and sublayers that mix: exact in float64, for any B and T."""
    for batch, length in ((BATCH, T), (1, 1), (2, 8)):
        table = some_table(rng, length)
        block = build(student, table)
        block.to(DOUBLE)
        weights = block.load(rng.like(block_shapes("pre"), std=0.5, dtype=DOUBLE))
        x = rng.normal(batch, length, D_MODEL, std=2.0, dtype=DOUBLE)
        expected = block_oracle(x, weights, table, "pre", True)
        # Float64: numbers of about 10, whose rounding stays below 1e-12.
        agree(block(x), expected, atol=1e-10, what=f"a pre-norm block for B = {batch}, T = {length}")
    block_in_half_precision(student, rng, "pre")


@check(points=3, exercise="Block", hint="With norm='post', does the second sublayer read a sum or its norm?")
def test_post_norm_block_equals_the_table(student, rng):
    """Post-norm with random weights in both norms and sublayers that mix: exact in float64, for any B and T."""
    for batch, length in ((BATCH, T), (1, 1), (2, 8)):
        table = some_table(rng, length)
        block = build(student, table, norm="post")
        block.to(DOUBLE)
        weights = block.load(rng.like(block_shapes("post"), std=0.5, dtype=DOUBLE))
        x = rng.normal(batch, length, D_MODEL, std=2.0, dtype=DOUBLE)
        expected = block_oracle(x, weights, table, "post", True)
        # Float64, as for pre-norm; a norm may divide by a small size, which makes 1e-14 of 1e-15.
        agree(block(x), expected, atol=1e-10, what=f"a post-norm block for B = {batch}, T = {length}")
    block_in_half_precision(student, rng, "post")


@check(points=2, exercise="Block", hint="What is left of each line of the table without 'ln', and without 'x +'?")
def test_the_other_variants_equal_the_table(student, rng):
    """norm="none", and residual=False with each of the three norms."""
    table = some_table(rng)
    for norm, residual in (("none", True), ("none", False), ("pre", False), ("post", False)):
        block = build(student, table, norm=norm, residual=residual)
        block.to(DOUBLE)
        weights = block.load(rng.like(block_shapes(norm), std=0.5, dtype=DOUBLE))
        x = rng.normal(BATCH, T, D_MODEL, std=2.0, dtype=DOUBLE)
        expected = block_oracle(x, weights, table, norm, residual)
        agree(block(x), expected, atol=1e-10, what=f"norm={norm!r}, residual={residual}")  # float64, as above


@check(points=1, exercise="Block", hint="Which modules does a block own, and what does each of them hold?")
def test_block_owns_its_parameters(student, rng):
    """Two norms (none under "none") and the sublayers that were given: 12d² + 13d in all, two thirds in the MLP."""
    for norm in ("pre", "post", "none"):
        block = build(student, some_table(rng), norm=norm)
        equal(block.shapes, block_shapes(norm), what=f"the parameters of a block with norm={norm!r}")
    shapes = student.Block(128, student.probe(PROBES, "Four", 128), student.MLP(128)).shapes
    equal(sum(math.prod(shape) for shape in shapes.values()), 198_272, what="the parameters of a block at d = 128")
    mlp = sum(math.prod(shape) for name, shape in shapes.items() if name.startswith("mlp."))
    equal(mlp, 131_712, what="the parameters of its MLP")


@check(points=2, exercise="Block", hint="What does dropout do in evaluation, and who tells it that it is evaluation?")
def test_dropout_is_silent_in_evaluation(student, rng):
    """In evaluation a block with dropout is a block without, twice the same; and p = 0 changes nothing in training."""
    table = some_table(rng)
    for norm, residual in VARIANTS:
        block = build(student, table, norm=norm, residual=residual, dropout=0.4)
        block.to(DOUBLE)
        weights = block.load(rng.like(block_shapes(norm), std=0.5, dtype=DOUBLE))
        x = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
        expected = block_oracle(x, weights, table, norm, residual)
        what = f"norm={norm!r}, residual={residual}, dropout=0.4"
        block.eval()
        agree(block(x), expected, atol=1e-10, what=f"{what} in evaluation")  # float64, as above
        agree(block(x), expected, atol=1e-10, what=f"{what} in evaluation, once more")
    without = build(student, table, dropout=0.0)
    without.to(DOUBLE)
    weights = without.load(rng.like(block_shapes("pre"), std=0.5, dtype=DOUBLE))
    x = rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE)
    expected = block_oracle(x, weights, table, "pre", True)
    without.train()
    agree(without(x), expected, atol=1e-10, what="dropout=0.0 in training")


@check(points=3, exercise="Block", hint="What exactly is dropped: the update, the sum, or what the sublayer is handed?")
def test_dropout_falls_on_the_updates(student, rng):
    """With p = 0.2 a fifth of each sublayer's output is missing before it is added, the rest is 1.25 times as large."""
    # The stream is 3 everywhere, attention says 1 and the MLP says 10: what is dropped can be read off each number.
    # Nothing here depends on which numbers the student's generator draws. There are 40 * 16 * 32 = 20,480 of them, so
    # that a share of 0.2 has a standard deviation of 0.0028: 0.02 is seven of these.
    p, keep = 0.2, 1.25
    loud = 1000.0  # said where an exact 0 is handed in: it gives away a dropout before the sublayer or on the stream
    for norm, residual, alarm in (("none", True, loud), ("pre", True, 0.0), ("none", False, 0.0)):
        says = [student.probe(PROBES, "Says", word, alarm) for word in (1.0, 10.0)]
        block = student.Block(32, *says, norm=norm, residual=residual, dropout=p)
        block.train()
        x = torch.full((40, 16, 32), 3.0)
        output = tensor(block(x), shape=(40, 16, 32), what="the output in training")
        what = f"with norm={norm!r}, residual={residual} and p = 0.2"
        base = 3.0 if residual else 0.0
        firsts = (0.0, keep) if residual else (0.0,)  # without the residual the MLP's output takes its place
        allowed = torch.tensor([base + first + second for first in firsts for second in (0.0, 10 * keep)])
        values = (output * 1000).round().unique() / 1000  # these numbers are exact; the rounding is for a norm's
        near = (values.unsqueeze(1) - allowed).abs() < 2e-3
        expect(
            values.numel() == allowed.numel() and near.any(dim=1).all(),
            f"In training {what}, x = 3 and updates of 1 and 10, the outputs should be {allowed.tolist()}; "
            f"{values.numel()} different values came out, such as {values[:8].tolist()}.",
            evidence=values,
        )
        second = output > base + 5
        shares = {"the MLP's": (~second).double().mean().item()}
        if residual:
            first = (output - base - 10 * keep * second) > 0.5
            shares["the attention's"] = (~first).double().mean().item()
            both = (first & second).double().mean().item()
            agree(both, 0.64, atol=0.025, what=f"the share where neither update is dropped, {what}")  # seven deviations
        for whose, share in shares.items():
            agree(share, p, atol=0.02, what=f"the share of {whose} output that is dropped, {what}")
        alike = (second[0] == second[1]).double().mean().item()
        # Two sequences that are dropped independently agree on 0.68 of 512 places, give or take 0.02.
        expect(alike < 0.9, "Each sequence of a batch has its own numbers dropped.", evidence=second)
    # Post-norm: where the attention says 1 and the MLP nothing, a dropped number is the one below its token's mean.
    says = [student.probe(PROBES, "Says", word, 0.0) for word in (1.0, 0.0)]
    block = student.Block(32, *says, norm="post", dropout=p)
    block.train()
    output = tensor(block(torch.full((40, 16, 32), 3.0)), shape=(40, 16, 32), what="the output in training")
    below = (output < -1e-3).double().mean().item()
    agree(below, p, atol=0.02, what="the share of the attention's output that is dropped, with norm='post'")


@check(
    points=2, exercise="Block", hint="On which ways does a gradient come back from the output to x? Is one of them cut?"
)
def test_block_sends_the_right_gradients_back(student, rng):
    """In all six variants the gradients of x and of every parameter are those of the table."""
    table = some_table(rng)
    for norm, residual in VARIANTS:
        block = build(student, table, norm=norm, residual=residual)
        block.to(DOUBLE)
        weights = block.load(rng.like(block_shapes(norm), std=0.5, dtype=DOUBLE))
        x, upstream = (rng.normal(BATCH, T, D_MODEL, dtype=DOUBLE) for _ in range(2))
        leaves = {"x": x.clone()} | {name: weight.clone() for name, weight in weights.items()}
        for leaf in leaves.values():
            leaf.requires_grad_()
        output = block_oracle(leaves["x"], leaves, table, norm, residual)
        found = torch.autograd.grad(output, list(leaves.values()), upstream)
        expected = dict(zip(leaves, found, strict=True))
        got = block.gradients(x, upstream=upstream)
        mine = {"x": got.inputs[0]} | got.parameters
        for name, right in expected.items():
            # Float64; gradients of up to 100, whose rounding stays below 1e-11.
            agree(mine.get(name), right, atol=1e-9, what=f"the gradient of {name}, norm={norm!r}, residual={residual}")


@check(
    points=2,
    exercise="block_gradient_norms",
    hint="Which parameters does a block have, at any depth, and what adds up?",
)
def test_gradient_norms_equal_the_formula(student, rng):
    """Parameters of any shape at any depth, in four dtypes, some without a gradient: the length of all together."""
    # Half precision rounds each piece's length by up to 4e-3; sums of squares of size 1 stay far from its limits.
    for dtype, rtol in ((torch.float32, 1e-5), (DOUBLE, 1e-5), (torch.float16, 5e-3), (torch.bfloat16, 2e-2)):
        lists, expected = [], []
        for scale in (0.5, 2.0, 1.0, 0.01 if dtype in (torch.float32, DOUBLE) else 0.3):
            outer = [rng.normal(4, 6, std=scale, dtype=dtype), None, rng.normal(5, std=scale, dtype=dtype)]
            inner = [rng.normal(3, std=scale, dtype=dtype), rng.normal(2, 2, 2, std=scale, dtype=dtype)]
            deepest = [rng.normal(7, 1, std=scale, dtype=dtype), None]
            lists.append((outer, (inner, (deepest,))))
            flat = [each.double().flatten() for each in (*outer, *inner, *deepest) if each is not None]
            expected.append(torch.cat(flat).norm().item())
        norms = tuple_of(student.block_gradient_norms(student.probe(PROBES, "pieces", lists)), 4)
        for index, (norm, right) in enumerate(zip(norms, expected, strict=True)):
            agree(norm, right, atol=0.0, rtol=rtol, what=f"the norm of block {index} in {dtype}")


@check(points=1, exercise="block_gradient_norms", hint="You were asked to look. What is different after you looked?")
def test_gradient_norms_change_nothing(student, rng):
    """Afterwards every gradient is what it was, large ones too; no blocks give an empty list."""
    equal(student.block_gradient_norms([]), [], what="the norms of no blocks")
    given = [rng.normal(4, 6, std=30.0), rng.normal(5, std=30.0)]
    blocks = tuple_of(student.probe(PROBES, "pieces", [([given[0], None, given[1]],), ([None],)]), 2)
    before = torch.cat([each.double().flatten() for each in given]).norm().item()
    for turn in ("the first", "the second"):
        norms = tuple_of(student.block_gradient_norms(list(blocks)), 2)
        agree(norms[0], before, atol=0.0, rtol=1e-5, what=f"the norm at {turn} look")  # float32: 29 squares
        agree(norms[1], 0.0, atol=0.0, what=f"the norm of a block without gradients at {turn} look")  # nothing to round
        for name, right in (("p0.grad", given[0]), ("p2.grad", given[1])):
            agree(blocks[0].get(name), right, atol=0.0, what=f"a gradient after {turn} look")  # it is the same tensor
        for block, name in ((blocks[0], "p1.grad"), (blocks[1], "p0.grad")):
            equal(block.get(name), None, what=f"the gradient that is not there, after {turn} look")
