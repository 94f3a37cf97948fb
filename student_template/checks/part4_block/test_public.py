"""The public suite of part 4: what a student runs while writing."""

import math

import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, raises_value_error, tuple_of

# Sizes that differ from each other, so that mixing up two of them cannot go unnoticed.
BATCH, T, D_MODEL = 3, 5, 24
NORMS = {f"{ln}.{name}": (D_MODEL,) for ln in ("ln1", "ln2") for name in ("weight", "bias")}

# Sublayers for the student's block, and blocks whose gradients are known.
PROBES = '''
import torch
from torch import nn


class Silent(nn.Module):
    """Has nothing to say."""

    def forward(self, x):
        return torch.zeros_like(x)


class Says(nn.Module):
    """Always says the same, and keeps what it was handed."""

    def __init__(self, words):
        super().__init__()
        self.words = words

    def forward(self, x):
        self.handed = x.detach().clone()
        return self.words.expand_as(x)


class Piece(nn.Module):
    """Holds parameters with the gradients that are given; None for a parameter that took no part."""

    def __init__(self, gradients, inner=None):
        super().__init__()
        for index, gradient in enumerate(gradients):
            parameter = nn.Parameter(torch.ones(2) if gradient is None else torch.ones_like(gradient))
            parameter.grad = gradient
            self.register_parameter(f"p{index}", parameter)
        self.inner = inner


def pieces(lists):
    return [Piece(gradients) for gradients in lists]
'''


@check(points=2, exercise="LayerNorm", hint="By how many numbers do you divide, and where does eps come in?")
def test_layernorm_by_hand(student, rng):
    """1, 0, 0, 0 with eps = 1/16 becomes 1.5, -0.5, -0.5, -0.5; and eps is 1e-5 unless told otherwise."""
    norm = student.LayerNorm(4, eps=1 / 16)
    x = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    # Mean 1/4, variance 3/16, plus 1/16 is 1/4, whose root is 1/2; a token of zeros stays one. Float32 may round once
    # or twice on the way.
    expected = torch.tensor([[1.5, -0.5, -0.5, -0.5], [0.0, 0.0, 0.0, 0.0]])
    agree(norm(x), expected, atol=1e-6, what="1, 0, 0, 0 and 0, 0, 0, 0 with eps = 1/16", picture=True)
    # Mean 0.001 and variance 3e-6, so that eps is most of what stands under the root: 0.003 / sqrt(13e-6).
    expected = torch.tensor([0.8320503, -0.2773501, -0.2773501, -0.2773501])
    got = student.LayerNorm(4)(torch.tensor([0.004, 0.0, 0.0, 0.0]))
    agree(got, expected, atol=1e-5, what="0.004, 0, 0, 0 with eps left out")  # seven digits, and a few roundings


@check(points=3, exercise="LayerNorm", hint="Whose numbers go into a token's mean, and what comes after the division?")
def test_layernorm_equals_the_library(student, rng):
    """With random weights, LayerNorm gives what torch's ready-made one gives."""
    norm = student.LayerNorm(D_MODEL)
    weights = norm.load(rng.like({"weight": (D_MODEL,), "bias": (D_MODEL,)}))
    for shape in ((BATCH, T, D_MODEL), (D_MODEL,)):
        x = rng.normal(*shape, std=2.0)
        expected = F.layer_norm(x, (D_MODEL,), weights["weight"], weights["bias"])
        # Numbers of about 2 and a sum of 24 of them: two float32 programs differ by up to 1e-6 here.
        agree(norm(x), expected, atol=1e-5, what=f"LayerNorm of an x of shape {shape}", picture=True)


@check(points=1, exercise="LayerNorm", hint="Which scale and which shift change nothing?")
def test_layernorm_begins_with_ones_and_zeros(student, rng):
    """A new LayerNorm holds d weights that are 1 and d biases that are 0, and nothing else that is learned."""
    norm = student.LayerNorm(D_MODEL)
    equal(norm.shapes, {"weight": (D_MODEL,), "bias": (D_MODEL,)}, what="the parameters of a LayerNorm")
    agree(norm.get("weight"), torch.ones(D_MODEL), atol=0.0, what="the first weight")  # nothing is computed yet: exact
    agree(norm.get("bias"), torch.zeros(D_MODEL), atol=0.0, what="the first bias")


@check(points=1, exercise="MLP", hint="How wide is the middle, and which of the two layers has a bias?")
def test_mlp_has_its_two_layers(student, rng):
    """An MLP is d to expansion times d and back, with both biases: 8d² + 5d parameters unless told otherwise."""
    for given, expansion in (({}, 4), ({"expansion": 3}, 3)):
        wide = expansion * D_MODEL
        expected = {
            "up.weight": (wide, D_MODEL),
            "up.bias": (wide,),
            "down.weight": (D_MODEL, wide),
            "down.bias": (D_MODEL,),
        }
        equal(student.MLP(D_MODEL, **given).shapes, expected, what=f"the parameters of an MLP, expansion {expansion}")
    total = sum(math.prod(shape) for shape in student.MLP(64).shapes.values())
    equal(total, 33_088, what="the number of parameters at d = 64")


@check(points=2, exercise="MLP", hint="Which bend is it, and between which two steps does it stand?")
def test_mlp_bends_with_the_exact_gelu(student, rng):
    """One feature and one hidden unit: 2x - 1, then GELU, then 0.5 - 3 times that."""
    mlp = student.MLP(1, expansion=1)
    numbers = {"up.weight": [[2.0]], "up.bias": [-1.0], "down.weight": [[-3.0]], "down.bias": [0.5]}
    mlp.load({name: torch.tensor(value) for name, value in numbers.items()})
    x = torch.tensor([[-0.5], [0.0], [0.5], [1.0], [1.5], [2.0]])
    # GELU of -2, -1, 0, 1, 2, 3, from a table of the normal distribution.
    gelu = torch.tensor([[-0.0455003], [-0.1586553], [0.0], [0.8413447], [1.9544997], [2.9959503]])
    # Float32 and a table of seven digits, times 3. The tanh form is 1e-4 to 4e-4 off, times 3.
    agree(mlp(x), 0.5 - 3 * gelu, atol=3e-6, what="the MLP of one hidden unit")


@check(points=2, exercise="Block", hint="What stands on the path from x to the output, if nobody adds anything?")
def test_silent_sublayers_leave_the_stream_alone(student, rng):
    """With sublayers that return 0, a block with norm="pre" (or "none") returns its input exactly."""
    x = rng.normal(BATCH, T, D_MODEL, std=3.0)
    for norm in ("pre", "none"):
        silent = [student.probe(PROBES, "Silent") for _ in range(2)]
        block = student.Block(D_MODEL, *silent, norm=norm)
        if norm == "pre":
            block.load(rng.like(NORMS))
        agree(block(x), x, atol=0.0, what=f"a silent block with norm={norm!r}")  # x + 0 is x to the last bit


@check(points=2, exercise="Block", hint="With norm='post', what is normalised, and how often?")
def test_silent_post_norm_block_normalises_twice(student, rng):
    """With sublayers that return 0, a block with norm="post" is ln2 of ln1 of its input."""
    silent = [student.probe(PROBES, "Silent") for _ in range(2)]
    block = student.Block(D_MODEL, *silent, norm="post")
    weights = block.load(rng.like(NORMS))
    x = rng.normal(BATCH, T, D_MODEL, std=3.0)
    once = F.layer_norm(x, (D_MODEL,), weights["ln1.weight"], weights["ln1.bias"])
    twice = F.layer_norm(once, (D_MODEL,), weights["ln2.weight"], weights["ln2.bias"])
    agree(block(x), twice, atol=1e-5, what="a silent block with norm='post'")  # float32: numbers of 2, normalised twice


@check(points=3, exercise="Block", hint="What has happened to x by the time that the second sublayer reads it?")
def test_each_sublayer_reads_the_normalised_stream(student, rng):
    """Pre-norm: attention is handed ln1 of x, the MLP ln2 of the sum, and both outputs are added to the stream."""
    x, said, thought = (rng.normal(BATCH, T, D_MODEL) for _ in range(3))
    block = student.Block(
        d_model=D_MODEL,
        attention=student.probe(PROBES, "Says", said),
        mlp=student.probe(PROBES, "Says", thought),
    )
    weights = block.load(rng.like(NORMS))
    output = block(x)
    handed = F.layer_norm(x, (D_MODEL,), weights["ln1.weight"], weights["ln1.bias"])
    # Float32: numbers of about 2, normalised once, as in the comparison with the library.
    agree(block.get("attention.handed"), handed, atol=1e-5, what="what the attention was handed")
    handed = F.layer_norm(x + said, (D_MODEL,), weights["ln2.weight"], weights["ln2.bias"])
    agree(block.get("mlp.handed"), handed, atol=1e-5, what="what the MLP was handed")  # as above
    agree(output, x + said + thought, atol=1e-6, what="the output")  # three numbers of size 1 are added


@check(
    points=1, exercise="Block", hint="Who notices first if a setting is misspelt: you, or the reader of the results?"
)
def test_unknown_norm_is_refused(student, rng):
    """A norm that is none of the three is refused at once, and the message says norm and what it was."""
    for word in ("batch", "prenorm"):
        silent = [student.probe(PROBES, "Silent") for _ in range(2)]
        because = f"'{word}' is not 'pre', 'post' or 'none'"
        raises_value_error(student.Block, D_MODEL, *silent, norm=word, mentions=["norm", word], because=because)


@check(
    points=2, exercise="block_gradient_norms", hint="Two pieces of lengths 5 and 12 at right angles: how long is it?"
)
def test_gradient_norms_by_hand(student, rng):
    """Gradients of lengths 3, 12 and 4 in one block are 13; a missing one counts 0, and its block stays in the list."""
    lists = [
        [torch.tensor([-3.0]), torch.tensor([8.0, -8.0, 4.0]), torch.tensor([4.0])],
        [torch.tensor([[2.0, 0.0], [-4.0, 4.0]]), None, torch.tensor([8.0])],  # lengths 6 and 8
        [None],
        [torch.tensor([-0.25])],
    ]
    norms = student.block_gradient_norms(student.probe(PROBES, "pieces", lists))
    for index, (norm, expected) in enumerate(zip(tuple_of(norms, 4), (13.0, 10.0, 0.0, 0.25), strict=True)):
        # Whole numbers, whose squares and roots are exact or nearly so in float32.
        agree(norm, expected, atol=1e-5, what=f"the norm of block {index}")
