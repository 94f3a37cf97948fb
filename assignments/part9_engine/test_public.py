"""The public suite of part 9: what a student runs while writing."""

import math

import numpy as np
import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, number, raises_value_error, tuple_of

DOUBLE = torch.float64

# Runs beside the student's code: it evaluates expressions of their tensors, and does no more with the results than to
# weigh them with numbers that the suite drew.
GRAPH = '''
import numpy as np
from part9_engine import Tensor


class Graph:
    """Expressions of tensors, such as "x.add(b).gelu()"."""

    def made_of(self, arrays):
        """Make tensors of floats; ids stay arrays."""
        return {name: Tensor(array.copy()) if array.dtype.kind == "f" else array for name, array in arrays.items()}

    def send_back(self, expression, upstream, **arrays):
        """Evaluate, weigh the result with upstream, add up, go back; return the result and every gradient."""
        names = self.made_of(arrays)
        with np.errstate(invalid="ignore"):
            result = eval(expression, dict(names))
            result.mul(Tensor(upstream)).sum().backward_all()
        return result.data, {name: made.grad for name, made in names.items() if isinstance(made, Tensor)}

    def losses(self, expression, upstream, name, moved, **arrays):
        """Weigh and add up the results for several values of one of the arrays, with numpy."""
        values = [eval(expression, self.made_of({**arrays, name: each})).data for each in moved]
        return np.array([(value * upstream).sum() for value in values])
'''

# Sets weights in place, so that no check depends on how the student draws them.
MODELS = '''
import numpy as np


class Models:
    """Models with the suite's weights."""

    def window_mlp(self, weights, **sizes):
        from part9_engine import WindowMLP  # here: a notebook may have come to one of the two alone

        model = WindowMLP(**sizes)
        for name, weight in weights.items():
            model.params[name][...] = weight
        return model

    def mlp_losses(self, weights, name, moved, x, y, **sizes):
        model = self.window_mlp(weights, **sizes)
        losses = []
        for each in moved:
            model.params[name][...] = each
            losses.append(model.loss_and_grads(x, y)[0])
        return np.array(losses)

    def transformer(self, weights, **sizes):
        from part9_engine import TransformerLM

        model = TransformerLM(**sizes)
        parameters = model.parameters()
        for name, weight in weights.items():
            parameters[name].data[...] = weight
        return model

    def forward_and_back(self, model, idx, targets):
        loss = model.loss(idx, targets)
        loss.backward_all()
        return loss.data, {name: p.grad for name, p in model.parameters().items()}

    def shapes_of(self, model):
        return {name: p.data.shape for name, p in model.parameters().items()}
'''

H = 1e-5  # of the central differences; their own error is then some 1e-10 of a third derivative


def drawn(rng, *shape, std=1.0):
    """Draw a float64 array."""
    return rng.normal(*shape, std=std, dtype=DOUBLE).numpy()


def moved(array):
    """Move each number of an array up and down: (2 * size, *shape)."""
    steps = H * np.eye(array.size).reshape(array.size, *array.shape)
    return np.concatenate([array + steps, array - steps])


def slopes(losses, shape):
    """Make of the losses at the moved arrays the measured gradient."""
    above, below = losses[: len(losses) // 2], losses[len(losses) // 2 :]
    return ((above - below) / (2 * H)).reshape(shape)


def close(got, expected, atol, what):
    """Compare with an array; a scalar may come as a number."""
    if np.ndim(expected) == 0 and type(got) is float:
        agree(got, float(expected), atol=atol, what=what)
    else:
        agree(got, np.asarray(expected), atol=atol, what=what)


def plain(got, shape, what):
    """Require a float64 array of this shape, and return it."""
    if not isinstance(got, np.ndarray) or got.shape != shape or got.dtype != np.float64:
        agree(got, np.zeros(shape), atol=0.0, what=what)  # says what is expected and what came
    return got


def measure(student, expression, upstream, expected=None, **arrays):
    """Compare every gradient of an expression with the central difference, at every number."""
    graph = student.probe(GRAPH, "Graph")
    result, found = tuple_of(graph.send_back(expression, upstream, **arrays), 2)
    if expected is not None:
        # The forward pass, in float64: right programs differ by 1e-14.
        close(result, expected, 1e-10, f"{expression}")
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            continue
        losses = graph.losses(expression, upstream, name, moved(array), **arrays)
        losses = np.asarray(losses, dtype=np.float64).reshape(2 * array.size)
        # The measured gradient is good to about 1e-9 for these sums of at most a hundred terms.
        close(found.get(name), slopes(losses, array.shape), 1e-6, f"the gradient of {name} in {expression}")


@check(points=2, exercise="bigram_counts", hint="How often is a place visited that occurs three times in an index?")
def test_bigram_counts_counts_every_pair(student, rng):
    """Row = this token, column = the next; a pair that occurs often is counted often."""
    ids = np.array([2, 0, 1, 0, 1, 0, 1, 1, 3])
    expected = np.array([[0, 3, 0, 0, 0], [2, 1, 0, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    got = student.bigram_counts(ids, 5)
    whole = isinstance(got, np.ndarray) and got.dtype.kind in "iuf"  # counts of any kind of number
    # Counts are whole numbers: nothing is rounded.
    agree(got.astype(np.float64) if whole else got, expected.astype(np.float64), atol=0.0, what="the counts")


@check(points=2, exercise="bigram_nll", hint="What must the probabilities of one row add up to after smoothing?")
def test_bigram_nll_is_the_mean_in_nats(student, rng):
    """Literal numbers for two tokens, and exactly ln V where nothing was counted."""
    counts = np.array([[0.0, 2.0], [1.0, 0.0]])
    expected = -(2 * math.log(3 / 4) + math.log(2 / 3)) / 3
    got = student.bigram_nll(counts, np.array([0, 1, 0, 1]))
    agree(number(got), expected, atol=1e-12, what="the loss of 0 1 0 1")  # three float64 logarithms
    got = student.bigram_nll(np.zeros((7, 7)), np.array([3, 6, 0, 0, 5]), smoothing=0.3)
    agree(number(got), math.log(7), atol=1e-12, what="the loss of counts of zero for 7 tokens")  # as above


@check(points=3, exercise="WindowMLP", hint="Which line's gradient differs, and in how many places did that array act?")
def test_window_mlp_gradients_are_what_moving_each_weight_gives(student, rng):
    """Each gradient by hand equals the central difference, at every number of every parameter."""
    sizes = {"vocab_size": 5, "window": 3, "d_embed": 2, "d_hidden": 4}
    shapes = {"E": (5, 2), "W1": (6, 4), "b1": (4,), "W2": (4, 5), "b2": (5,)}
    weights = {name: array.numpy() for name, array in rng.like(shapes, dtype=DOUBLE).items()}
    x, y = rng.integers(0, 4, 7, 3).numpy(), rng.integers(0, 5, 7).numpy()  # seven windows of four ids: ids repeat
    models = student.probe(MODELS, "Models")
    loss, found = tuple_of(models.window_mlp(weights, **sizes).loss_and_grads(x, y), 2)
    number(loss, what="the loss")
    expect(isinstance(found, dict), "loss_and_grads returns the loss and a dict of gradients.", evidence=found)
    for name in shapes:
        losses = models.mlp_losses(weights, name, moved(weights[name]), x, y, **sizes)
        losses = np.asarray(losses, dtype=np.float64).reshape(2 * weights[name].size)
        # The measured gradient of a loss around 2 is good to 1e-10.
        close(found.get(name), slopes(losses, shapes[name]), 1e-6, f"the gradient of {name}")


@check(points=1, exercise="Tensor", hint="Is there a little more than the integer 3?")
def test_tensor_keeps_floats_and_refuses_integers(student, rng):
    """The numbers come back in their dtype, the gradient begins as zeros, integers are refused."""
    for dtype in (DOUBLE, torch.float32):
        array = rng.normal(2, 3, dtype=dtype).numpy()
        tensor = student.Tensor(array)
        equal(tensor.get("data"), array, what="the data")
        equal(tensor.get("grad"), np.zeros_like(array), what="the gradient of a new Tensor")
    words = ("data", "float", "int")
    raises_value_error(student.Tensor, np.arange(6).reshape(2, 3), mentions=[words], because="data of integers")


@check(points=2, exercise="Tensor", hint="How many arrows lead from the result to x?")
def test_a_node_that_is_used_twice_collects_both(student, rng):
    """In x + x, x · x, and a sum that is used twice, the gradients that arrive are added."""
    x = drawn(rng, 3)
    graph = student.probe(GRAPH, "Graph")
    upstream = drawn(rng, 3)
    cases = {"x.add(x)": 2.0, "x.mul(x)": 2 * x, "(lambda b: b.add(b).mul(b))(x.mul(3.0))": 36 * x}
    for expression, slope in cases.items():
        _, found = tuple_of(graph.send_back(expression, upstream, x=x), 2)
        close(found.get("x"), upstream * slope, 1e-12, f"the gradient of x in {expression}")  # a few float64 products


@check(points=2, exercise="Tensor", hint="Which gradient does a node send on: this pass's, or all that it ever got?")
def test_backward_all_adds_and_starts_at_a_scalar(student, rng):
    """A second call adds the same gradient again, to every node; what is no scalar is refused with its shape."""
    x = student.Tensor(np.array(3.0))
    square = x.mul(x)
    result = square.mul(2.0).add(x)
    for calls in (1, 2, 3):
        result.backward_all()
        # Whole numbers: nothing is rounded.
        close(x.get("grad"), 13.0 * calls, 1e-12, f"the gradient of x after {calls} calls")
        close(square.get("grad"), 2.0 * calls, 1e-12, f"the square's gradient after {calls} calls")
        close(result.get("grad"), 1.0 * calls, 1e-12, f"the result's gradient after {calls} calls")
    matrix = student.Tensor(drawn(rng, 2, 3))
    raises_value_error(matrix.backward_all, mentions=[("2, 3", "2,3", "2 x 3", "2x3")], because="it is no scalar")


@check(points=3, exercise="Tensor.add", hint="Along which axes was the smaller array repeated?")
def test_broadcasting_forward_is_summing_backward(student, rng):
    """With a bias (C,), a column (T, 1), a scalar, a number: each gradient of add and mul has its operand's shape."""
    x, upstream = drawn(rng, 2, 3, 4), drawn(rng, 2, 3, 4)
    for shape in ((4,), (3, 1), (), (2, 3, 4)):
        other = drawn(rng, *shape)
        measure(student, "x.add(other)", upstream, x + other, x=x, other=other)
        measure(student, "other.mul(x)", upstream, x * other, x=x, other=other)
    measure(student, "x.mul(0.5).add(3)", upstream, 0.5 * x + 3, x=x)


@check(points=2, exercise="Tensor.matmul", hint="Which product has the shape of the left factor, which of the right?")
def test_matmul_sends_two_products_back(student, rng):
    """Matrices, batches of them, and a weight for the whole batch; what does not fit is refused with both shapes."""
    for left, right in (((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5))):
        a, b, upstream = drawn(rng, *left), drawn(rng, *right), drawn(rng, *left[:-1], 5)
        measure(student, "a.matmul(b)", upstream, a @ b, a=a, b=b)
    a, b = student.Tensor(drawn(rng, 3, 4)), student.Tensor(drawn(rng, 5, 6))
    raises_value_error(
        a.matmul, b, mentions=[("3, 4", "3,4", "3x4"), ("5, 6", "5,6", "5x6")], because="(3, 4) and (5, 6) do not fit"
    )


@check(points=2, exercise="Tensor.rows", hint="Which of these change a number, and which only move or copy it?")
def test_moving_and_copying_go_back_the_same_way(student, rng):
    """sum, reshape, transpose, and rows with ids that repeat."""
    x, table = drawn(rng, 2, 3, 4), drawn(rng, 5, 3)
    measure(student, "x.sum()", drawn(rng), x.sum(), x=x)
    measure(student, "x.reshape(4, 6)", drawn(rng, 4, 6), x.reshape(4, 6), x=x)
    measure(student, "x.transpose(0, 2)", drawn(rng, 4, 3, 2), x.transpose(2, 1, 0), x=x)
    ids = np.array([[1, 4, 1], [1, 0, 4]])
    measure(student, "table.rows(ids)", drawn(rng, 2, 3, 3), table[ids], table=table, ids=ids)


@check(points=3, exercise="Tensor.layer_norm", hint="In how many ways does one number of a row act on the others?")
def test_gelu_tanh_and_layer_norm_go_back_exactly(student, rng):
    """Each gives torch's values, and the gradient that moving every number gives, behind another layer."""
    x, scale, upstream = drawn(rng, 2, 3, 4), drawn(rng, 4), drawn(rng, 2, 3, 4)
    scaled = torch.from_numpy(x * scale)
    measure(student, "x.mul(scale).tanh()", upstream, scaled.tanh().numpy(), x=x, scale=scale)
    right = F.gelu(scaled, approximate="tanh").numpy()
    measure(student, "x.mul(scale).gelu()", upstream, right, x=x, scale=scale)
    weight, bias = drawn(rng, 4), drawn(rng, 4)
    right = F.layer_norm(torch.from_numpy(x), (4,), torch.from_numpy(weight), torch.from_numpy(bias)).numpy()
    measure(student, "x.layer_norm(weight, bias)", upstream, right, x=x, weight=weight, bias=bias)


@check(points=3, exercise="Tensor.softmax_rows", hint="What does a softmax send back when all its upstream is equal?")
def test_mask_softmax_and_cross_entropy_go_back_exactly(student, rng):
    """The end of a language model: values are torch's, gradients are what moving every number gives."""
    x, upstream = drawn(rng, 2, 4, 4), drawn(rng, 2, 4, 4)
    measure(student, "x.softmax_rows()", upstream, torch.from_numpy(x).softmax(dim=-1).numpy(), x=x)
    # Where the values are the identity matrix, the fused kernel gives the weights themselves (4 = 2 * 2: a root of 2).
    q = torch.eye(4, dtype=DOUBLE).expand(2, 4, 4)
    k = 2 * torch.from_numpy(x).transpose(-1, -2)
    right = F.scaled_dot_product_attention(q, k, q, is_causal=True).numpy()
    measure(student, "x.causal_mask().softmax_rows()", upstream, right, x=x)
    targets = rng.integers(0, 4, 2, 4)
    right = F.cross_entropy(torch.from_numpy(x).flatten(0, 1), targets.flatten()).numpy()
    measure(student, "x.cross_entropy(targets)", drawn(rng), right, x=x, targets=targets.numpy())


@check(points=3, exercise="TransformerLM", hint="Do the operations pass alone? Then look at shapes, masks and norms.")
def test_transformer_gradient_is_right_in_a_random_direction(student, rng):
    """All parameters have their names and shapes; later tokens change nothing; and the gradient keeps its promise."""
    sizes = {"vocab_size": 11, "block_size": 8, "n_blocks": 2, "n_heads": 4, "d_embed": 24}
    shapes = {"tok_emb": (11, 24), "pos_emb": (8, 24), "ln_f.weight": (24,), "ln_f.bias": (24,)}
    for i in range(2):
        shapes |= {f"blocks.{i}.{name}": (24, 24) for name in ("q", "k", "v", "proj")}
        shapes |= {f"blocks.{i}.{ln}.{name}": (24,) for ln in ("ln1", "ln2") for name in ("weight", "bias")}
        shapes |= {f"blocks.{i}.up": (24, 96), f"blocks.{i}.up_bias": (96,)}
        shapes |= {f"blocks.{i}.down": (96, 24), f"blocks.{i}.down_bias": (24,)}
    weights = {name: array.numpy() for name, array in rng.like(shapes, std=0.3, dtype=DOUBLE).items()}
    models = student.probe(MODELS, "Models")
    equal(models.shapes_of(student.TransformerLM(**sizes)), shapes, what="the parameters")
    idx, targets = rng.integers(0, 11, 3, 5).numpy(), rng.integers(0, 11, 3, 5).numpy()
    model = models.transformer(weights, **sizes)
    _, found = tuple_of(models.forward_and_back(model, idx, targets), 2)
    direction = {name: array.numpy() for name, array in rng.like(shapes, std=1.0, dtype=DOUBLE).items()}
    step, losses = 1e-6, []
    for sign in (1, -1):
        there = models.transformer({n: w + sign * step * direction[n] for n, w in weights.items()}, **sizes)
        loss, _ = tuple_of(models.forward_and_back(there, idx, targets), 2)
        losses.append(float(loss) if isinstance(loss, np.ndarray) and loss.shape == () else number(loss))
    before = plain(model.logits(idx).get("data"), (3, 5, 11), "the logits")
    changed = np.concatenate([idx[:, :2], (idx[:, 2:] + 1) % 11], axis=1)
    after = plain(model.logits(changed).get("data"), (3, 5, 11), "the logits")
    # float64: a difference of 1e-6 in what stands before the change was read from the future.
    agree(after[:, :2], before[:, :2], atol=1e-6, what="the logits before the change")
    found = {name: plain(found.get(name), shape, f"the gradient of {name}") for name, shape in shapes.items()}
    promised = float(sum((found[name] * direction[name]).sum() for name in shapes))
    measured = (losses[0] - losses[1]) / (2 * step)
    # A loss of some 10 in float64, divided by 2e-6, is good to 1e-8; curvature adds 1e-7. Promises are around 10.
    agree(promised, measured, atol=1e-4, what="the change of the loss in a random direction")
