"""The hidden suite of part 9: every gradient against torch's, the engine at its edges, and what it trains."""

import math
from itertools import pairwise

import numpy as np
import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, number, raises_value_error, tuple_of
from autograder.corpora import available, characters
from autograder.corpora import shakespeare as whole_shakespeare

DOUBLE, SINGLE = torch.float64, torch.float32

# Runs beside the student's code. It does with their tensors what the contract lets a caller do.
GRAPH = '''
import numpy as np
from part9_engine import Tensor


class Graph:
    """Expressions of tensors, such as "x.add(b).gelu()"."""

    def made_of(self, arrays):
        """Make tensors of floats; ids stay arrays."""
        return {name: Tensor(array.copy()) if array.dtype.kind == "f" else array for name, array in arrays.items()}

    def send_back(self, expression, upstream, **arrays):
        """Evaluate, weigh the result with upstream, add up, go back; return the result, gradients, and the data."""
        names = self.made_of(arrays)
        with np.errstate(invalid="ignore"):
            result = eval(expression, dict(names))
            kept = result.data.copy()
            result.mul(Tensor(upstream)).sum().backward_all()
        tensors = {name: made for name, made in names.items() if isinstance(made, Tensor)}
        unchanged = bool(np.array_equal(kept, result.data, equal_nan=True))
        unchanged = unchanged and all(np.array_equal(made.data, arrays[name]) for name, made in tensors.items())
        return kept, {name: made.grad for name, made in tensors.items()}, unchanged

    def data_and_grads(self, statements, names, **arrays):
        """Run statements, go back from what they call loss, and return data and gradient of what is named."""
        space = self.made_of(arrays)
        exec(statements, space)
        space["loss"].backward_all()
        return {name: (space[name].data, space[name].grad) for name in names}

    def chain(self, length, x, factor):
        """Make x longer and longer: a graph of that depth."""
        x = node = Tensor(x)
        for step in range(length):
            node = node.add(x) if step % 2 else node.mul(factor)
        node.sum().backward_all()
        return x.grad

    def doublings(self, count, most_lines, x):
        """Double count times and go back; lines of code that run are counted, not seconds."""
        import sys

        x = node = Tensor(x)
        for _ in range(count):
            node = node.add(node)
        loss, lines, before = node.sum(), 0, sys.gettrace()

        def trace(frame, event, argument):
            nonlocal lines
            lines += 1
            if lines > most_lines:
                raise RuntimeError(f"backward_all ran more than {most_lines} lines for {count} doublings")
            return trace

        sys.settrace(trace)
        try:
            loss.backward_all()
        finally:
            sys.settrace(before)
        return x.grad

    def reassigned(self, first, second, third):
        """Assign and overwrite data between passes, and forget gradients in between."""
        x = Tensor(first.copy())
        found = []
        x.mul(x).sum().backward_all()
        found.append(x.grad.copy())
        x.zero_grad()
        found.append(x.grad.copy())
        x.data = second.copy()
        x.zero_grad()
        x.mul(x).sum().backward_all()
        found.append(x.grad.copy())
        x.zero_grad()
        x.data[...] = third
        x.mul(x).sum().backward_all()
        found.append(x.grad.copy())
        return found


class Models:
    """Models with the suite's weights, set in place."""

    def window_mlp(self, weights, **sizes):
        from part9_engine import WindowMLP

        model = WindowMLP(**sizes)
        for name, weight in weights.items():
            model.params[name][...] = weight
        return model

    def transformer(self, weights, **sizes):
        from part9_engine import TransformerLM

        model = TransformerLM(**sizes)
        parameters = model.parameters()
        for name, weight in weights.items():
            if parameters[name].data.dtype == weight.dtype:
                parameters[name].data[...] = weight
            else:
                parameters[name].data = weight.copy()
            parameters[name].zero_grad()
        return model

    def forward_and_back(self, model, idx, targets):
        for p in model.parameters().values():
            p.zero_grad()
        loss = model.loss(idx, targets)
        loss.backward_all()
        return loss.data, {name: p.grad for name, p in model.parameters().items()}

    def adam(self, arrays, gradients_of, lr, steps):
        """Train with Adam on whatever gradients come, with a rate that falls to 0 in a straight line."""
        mean = {name: np.zeros_like(array) for name, array in arrays.items()}
        square = {name: np.zeros_like(array) for name, array in arrays.items()}
        for step in range(1, steps + 1):
            for name, gradient in gradients_of(step - 1).items():
                mean[name] = 0.9 * mean[name] + 0.1 * gradient
                square[name] = 0.99 * square[name] + 0.01 * gradient * gradient
                corrected = np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8
                rate = lr * (1 - (step - 1) / steps)
                arrays[name] -= rate * mean[name] / (1 - 0.9**step) / corrected
        return arrays

    def train_window_mlp(self, model, text, starts, window, lr):
        def gradients_of(step):
            first = starts[step]
            return model.loss_and_grads(text[first[:, None] + np.arange(window)], text[first + window])[1]

        return self.adam(model.params, gradients_of, lr, len(starts))

    def train_transformer(self, model, text, starts, length, lr):
        parameters = model.parameters()

        def gradients_of(step):
            chunk = text[starts[step][:, None] + np.arange(length + 1)]
            return self.forward_and_back(model, chunk[:, :-1], chunk[:, 1:])[1]

        return self.adam({name: p.data for name, p in parameters.items()}, gradients_of, lr, len(starts))
'''


def drawn(rng, *shape, std=1.0, dtype=DOUBLE):
    """Draw an array of floats."""
    return rng.normal(*shape, std=std, dtype=dtype).numpy()


def written(*shapes):
    """List ways to write each shape in a message: one group of alternatives for each."""
    return [tuple(comma.join(map(str, shape)) for comma in (", ", ",", " x ", "x")) for shape in shapes]


def close(got, expected, atol, what, rtol=0.0):
    """Compare with an array; a float64 scalar may come as a number."""
    expected = np.asarray(expected)
    if expected.ndim == 0 and type(got) is float:
        agree(got, float(expected), atol=atol, rtol=rtol, what=what)
    else:
        agree(got, expected, atol=atol, rtol=rtol, what=what)


def match(student, rng, expression, function, atol=1e-10, **arrays):
    """Compare an expression's values and all its gradients with torch's, for a random upstream.

    float64: right programs were seen to differ from torch by 2e-14 at these sizes.
    """
    leaves = {name: torch.from_numpy(array).requires_grad_(array.dtype.kind == "f") for name, array in arrays.items()}
    right = function(**leaves)
    upstream = rng.normal(*right.shape, dtype=right.dtype)
    floats = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    slopes = torch.autograd.grad(right, list(floats.values()), upstream)
    graph = student.probe(GRAPH, "Graph")
    result, found, unchanged = tuple_of(graph.send_back(expression, upstream.numpy(), **arrays), 3)
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    close(result, right.detach().numpy(), atol, f"{expression} for {shapes}")
    for name, slope in zip(floats, slopes, strict=True):
        close(found.get(name), slope.numpy(), atol, f"the gradient of {name} in {expression} for {shapes}")
    expect(unchanged, f"{expression}: what the tensors hold changed on the way, forward or back.", evidence=unchanged)


# Oracles, in torch


def mean_nats(x, t):
    """Judge logits x, with any number of axes, by targets t."""
    return F.cross_entropy(x.reshape(-1, x.shape[-1]), t.reshape(-1))


def mlp_scores(x, E, W1, b1, W2, b2):
    """Run the window MLP."""
    return (E[x].flatten(1) @ W1 + b1).tanh() @ W2 + b2


def transformer_logits(idx, p, n_blocks, n_heads):
    """Run the transformer on parameters by name."""
    E = p["tok_emb"].shape[1]
    x = F.embedding(idx, p["tok_emb"]) + p["pos_emb"][: idx.shape[1]]
    for i in range(n_blocks):
        own = {name.removeprefix(f"blocks.{i}."): value for name, value in p.items()}
        normed = F.layer_norm(x, (E,), own["ln1.weight"], own["ln1.bias"])
        q, k, v = ((normed @ own[n]).unflatten(-1, (n_heads, -1)).transpose(1, 2) for n in "qkv")
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + mixed @ own["proj"]
        normed = F.layer_norm(x, (E,), own["ln2.weight"], own["ln2.bias"])
        x = x + F.gelu(normed @ own["up"] + own["up_bias"], approximate="tanh") @ own["down"] + own["down_bias"]
    return F.layer_norm(x, (E,), p["ln_f.weight"], p["ln_f.bias"]) @ p["tok_emb"].T


def transformer_shapes(vocab_size, block_size, n_blocks, d_embed):
    """Name the parameters with their shapes."""
    V, E = vocab_size, d_embed
    shapes = {"tok_emb": (V, E), "pos_emb": (block_size, E)}
    for i in range(n_blocks):
        shapes |= {f"blocks.{i}.{name}": (E, E) for name in ("q", "k", "v", "proj")}
        shapes |= {f"blocks.{i}.{ln}.{name}": (E,) for ln in ("ln1", "ln2") for name in ("weight", "bias")}
        shapes |= {f"blocks.{i}.up": (E, 4 * E), f"blocks.{i}.up_bias": (4 * E,)}
        shapes |= {f"blocks.{i}.down": (4 * E, E), f"blocks.{i}.down_bias": (E,)}
    return shapes | {"ln_f.weight": (E,), "ln_f.bias": (E,)}


def arrays_like(rng, shapes, std, dtype=DOUBLE):
    """Draw weights as arrays."""
    return {name: array.numpy() for name, array in rng.like(shapes, std=std, dtype=dtype).items()}


def with_gradients(weights):
    """Make torch leaves of arrays."""
    return {name: torch.from_numpy(weight.copy()).requires_grad_() for name, weight in weights.items()}


def judge_transformer(student, rng, sizes, batch, length, std=0.3):
    """Compare a transformer's loss and gradients with torch's, on the same weights."""
    n_blocks, n_heads = sizes["n_blocks"], sizes["n_heads"]
    shapes = transformer_shapes(sizes["vocab_size"], sizes["block_size"], n_blocks, sizes["d_embed"])
    weights = arrays_like(rng, shapes, std)
    idx, targets = (rng.integers(0, sizes["vocab_size"], batch, length) for _ in range(2))
    models = student.probe(GRAPH, "Models")
    model = models.transformer(weights, **sizes)
    loss, found = tuple_of(models.forward_and_back(model, idx.numpy(), targets.numpy()), 2)
    leaves = with_gradients(weights)
    logits = transformer_logits(idx, leaves, n_blocks, n_heads)
    right = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    slopes = dict(zip(leaves, torch.autograd.grad(right, list(leaves.values())), strict=True))
    what = f"for {n_blocks} blocks, {n_heads} heads, B = {batch}, T = {length}"
    # float64: programs that add in different orders differ by 1e-13 at these sizes.
    close(model.logits(idx.numpy()).get("data"), logits.detach().numpy(), 1e-9, f"the logits {what}")
    close(loss, right.item(), 1e-9, f"the loss {what}")
    for name, slope in slopes.items():
        close(found.get(name), slope.numpy(), 1e-9, f"the gradient of {name} {what}")


# What is trained on


class Text:
    """A text to learn from, and another to be judged by."""

    def __init__(self, name, size, train, val):
        """Keep the two, as ids below size."""
        self.name, self.size, self.train, self.val = name, size, train, val

    def counts(self):
        """Judge the second by counts of pairs in the first: what level 1 knows."""
        table = np.ones((self.size, self.size))
        np.add.at(table, (self.train[:-1], self.train[1:]), 1)
        table /= table.sum(axis=1, keepdims=True)
        return -np.log(table[self.val[:-1], self.val[1:]]).mean()


class Language(Text):
    """Ten tokens: the next one listens to the last (30 %), to the one before it (60 %), or to nobody."""

    def __init__(self, rng):
        """Draw the language, a training text and a validation text."""
        self.after_last, self.after_second = rng.permutation(10).numpy(), rng.permutation(10).numpy()
        super().__init__("a language invented for you", 10, self.text(rng, 12_000), self.text(rng, 4_000))

    def text(self, rng, length):
        """Write a text."""
        voices, nobody = rng.uniform(length, dtype=DOUBLE).tolist(), rng.integers(0, 10, length).tolist()
        ids = nobody[:2]
        for voice, token in zip(voices[2:], nobody[2:], strict=True):
            heard = self.after_last[ids[-1]] if voice < 0.3 else self.after_second[ids[-2]]
            ids.append(int(heard) if voice < 0.9 else token)
        return np.array(ids)

    def floor(self):
        """Judge the validation text by the law that wrote it: no model is better, but for luck."""
        last, second, came = self.val[1:-1], self.val[:-2], self.val[2:]
        chances = 0.1 / self.size + 0.3 * (self.after_last[last] == came) + 0.6 * (self.after_second[second] == came)
        return -np.log(chances).mean()


def shakespeare_where_it_is(rng):
    """Cut a stretch for training and one for validation from tiny Shakespeare; None where it is not at hand.

    It is looked for in GPT_HW_DATA and in the cache, and never fetched: a grading neither waits for a network nor fails
    for the lack of one.
    """
    places = rng.uniform(2, dtype=DOUBLE).tolist()
    try:
        if not available():
            return None
    except ImportError:  # without pooch, which the labs bring, there is no cache
        return None
    ids, vocabulary = characters(whole_shakespeare())
    held_out, n_train, n_val = len(ids) * 9 // 10, 300_000, 20_000
    train = int(places[0] * (held_out - n_train))
    val = held_out + int(places[1] * (len(ids) - held_out - n_val))
    return Text("tiny Shakespeare", len(vocabulary), ids[train : train + n_train], ids[val : val + n_val])


@check(points=1, exercise="bigram_counts", hint="What does a text of one token teach about pairs?")
def test_counts_of_long_and_of_very_short_texts(student, rng):
    """Random texts with tokens that never occur; one token makes no pair; a text of one kind makes one."""
    for ids, size in (
        (rng.integers(0, 9, 3000).numpy(), 12),
        (np.array([3]), 5),
        (np.full(40, 2), 4),
    ):
        table = np.zeros((size, size))
        for this, following in pairwise(ids):
            table[this, following] += 1
        got = student.bigram_counts(ids, size)
        whole = isinstance(got, np.ndarray) and got.dtype.kind in "iuf"
        agree(got.astype(np.float64) if whole else got, table, atol=0.0, what="the counts")  # whole numbers


@check(
    points=2, exercise="bigram_nll", hint="What is added to each place, and what to a row's sum? How many are judged?"
)
def test_nll_for_any_smoothing(student, rng):
    """Random counts, smoothing of a tenth, one and five: the mean over the n - 1 predictions, in nats."""
    counts, ids = rng.integers(0, 6, 7, 7).numpy().astype(np.float64), rng.integers(0, 7, 50).numpy()
    for smoothing in (0.1, 1.0, 5.0):
        shares = (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + 7 * smoothing)
        right = -np.log(shares[ids[:-1], ids[1:]]).mean()
        got = number(student.bigram_nll(counts, ids, smoothing=smoothing), what="the loss")
        agree(got, float(right), atol=1e-12, what=f"the loss with smoothing {smoothing}")  # a float64 mean
    default = number(student.bigram_nll(counts, ids), what="the loss")
    shares = (counts + 1) / (counts.sum(axis=1, keepdims=True) + 7)
    agree(default, float(-np.log(shares[ids[:-1], ids[1:]]).mean()), atol=1e-12, what="the loss by default")  # as above


@check(points=3, exercise="WindowMLP", hint="Is the loss a mean, is the oldest token first, do repeated ids add up?")
def test_window_mlp_has_the_loss_and_gradients_of_torch(student, rng):
    """One window, many windows, windows of one token, large scores: loss and gradients equal torch's."""
    models = student.probe(GRAPH, "Models")
    default = student.WindowMLP(13).get("params")
    expect(isinstance(default, dict), "params is a dict of arrays.", evidence=default)
    shapes = {name: np.shape(array) for name, array in default.items()}
    expected = {"E": (13, 16), "W1": (128, 128), "b1": (128,), "W2": (128, 13), "b2": (13,)}
    equal(shapes, expected, what="the parameters by default: window 8, d_embed 16, d_hidden 128")
    dtypes = {name: str(getattr(array, "dtype", "none")) for name, array in default.items()}
    equal(dtypes, dict.fromkeys(expected, "float64"), what="the dtypes of the parameters")
    for n, window, d, h, std in ((9, 4, 3, 6, 0.7), (1, 3, 2, 5, 0.7), (6, 1, 4, 3, 0.7), (5, 3, 2, 4, 12.0)):
        shapes = {"E": (7, d), "W1": (window * d, h), "b1": (h,), "W2": (h, 7), "b2": (7,)}
        weights = arrays_like(rng, shapes, std)
        if std > 1:  # scores in the hundreds, and all of them beyond what exp can hold
            weights["W2"] *= 50.0
            weights["b2"] += 1000.0
        x, y = rng.integers(0, 6, n, window), rng.integers(0, 7, n)
        model = models.window_mlp(weights, vocab_size=7, window=window, d_embed=d, d_hidden=h)
        leaves = with_gradients(weights)
        right = F.cross_entropy(mlp_scores(x, **leaves), y)
        slopes = dict(zip(leaves, torch.autograd.grad(right, list(leaves.values())), strict=True))
        for calls in (1, 2):  # nothing may be left over from the first
            loss, found = tuple_of(model.loss_and_grads(x.numpy(), y.numpy()), 2)
            what = f"for N = {n}, window = {window}, call {calls}"
            # float64; where scores are in the hundreds, the gradients reach some thousand, and so does their rounding.
            atol = 1e-10 if std < 1 else 1e-7
            agree(number(loss, what="the loss"), right.item(), atol=atol, what=f"the loss {what}")
            expect(isinstance(found, dict), "loss_and_grads returns the loss and a dict of gradients.", evidence=found)
            for name, slope in slopes.items():
                close(found.get(name), slope.numpy(), atol, f"the gradient of {name} {what}")
        kept = model.get("params")
        equal(kept, weights, what="the parameters after two calls, which only read them")


def mlp_nats(student, rng, text, d, h, batch, steps):
    """Have a window MLP trained on the student's gradients, and judge its weights on the other text."""
    V, window = text.size, 4
    shapes = {"E": (V, d), "W1": (window * d, h), "b1": (h,), "W2": (h, V), "b2": (V,)}
    spread = {"E": 1.0, "W1": (window * d) ** -0.5, "b1": 0.0, "W2": 0.02, "b2": 0.0}
    weights = {name: drawn(rng, *shape, std=spread[name]) for name, shape in shapes.items()}
    starts = rng.integers(0, len(text.train) - window, steps, batch).numpy()
    models = student.probe(GRAPH, "Models")
    model = models.window_mlp(weights, vocab_size=V, window=window, d_embed=d, d_hidden=h)
    # With a wrong first gradient there is nothing to train: the run's seconds are for the right ones.
    leaves = with_gradients(weights)
    x, y = torch.from_numpy(text.train[starts[0][:, None] + np.arange(window)]), text.train[starts[0] + window]
    right = F.cross_entropy(mlp_scores(x, **leaves), torch.from_numpy(y))
    slopes = dict(zip(leaves, torch.autograd.grad(right, list(leaves.values())), strict=True))
    _, found = tuple_of(model.loss_and_grads(x.numpy(), y), 2)
    expect(isinstance(found, dict), "loss_and_grads returns the loss and a dict of gradients.", evidence=found)
    for name, slope in slopes.items():
        close(found.get(name), slope.numpy(), 1e-9, f"the gradient of {name} before training")  # float64
    trained = models.train_window_mlp(model, text.train, starts, window, 1e-2)
    expect(isinstance(trained, dict) and set(trained) == set(shapes), "params keeps its names.", evidence=trained)
    for name, shape in shapes.items():
        equal(np.shape(trained[name]), shape, what=f"the shape of {name} after training")
    first = np.arange(len(text.val) - window)
    x = torch.from_numpy(text.val[first[:, None] + np.arange(window)])
    trained = {name: torch.from_numpy(np.asarray(array, dtype=np.float64)) for name, array in trained.items()}
    return F.cross_entropy(mlp_scores(x, **trained), torch.from_numpy(text.val[first + window])).item()


@check(
    points=2,
    exercise="WindowMLP",
    hint="Do gradients, embeddings and order pass? Then: is anything left over from the step before?",
    trains=True,
    timeout_s=60,
)
def test_window_mlp_trained_on_its_gradients_beats_the_counts(student, rng, bands):
    """Level 2, trained, beats the counts on an invented language, and on tiny Shakespeare where that is at hand."""
    language = Language(rng)
    judge_language(bands, "mlp", mlp_nats(student, rng, language, 8, 48, 64, 300), language)
    text = shakespeare_where_it_is(rng)
    if text is not None:
        judge_text(bands, "mlp_shakespeare", mlp_nats(student, rng, text, 12, 64, 128, 800), text)


@check(points=2, exercise="Tensor", hint="Does a number of numpy's get in anywhere? They carry a dtype of their own.")
def test_float32_stays_float32(student, rng):
    """Every operation keeps float32, in its values and in its gradients, and so does a whole transformer."""
    x, square, weight, bias = drawn(rng, 2, 3, 4), drawn(rng, 2, 4, 4), drawn(rng, 4), drawn(rng, 4)
    arrays = {"x": x, "square": square, "weight": weight, "bias": bias}
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    ids, targets = np.array([1, 1, 0]), rng.integers(0, 4, 2, 3).numpy()
    graph = student.probe(GRAPH, "Graph")
    for expression, shape in (
        ("x.add(bias).mul(weight)", (2, 3, 4)),
        ("x.add(1.5)", (2, 3, 4)),
        ("x.mul(0.3)", (2, 3, 4)),
        ("x.matmul(square)", (2, 3, 4)),
        ("x.sum()", ()),
        ("x.reshape(6, 4).transpose(0, 1)", (4, 6)),
        ("x.rows(ids)", (3, 3, 4)),
        ("x.tanh()", (2, 3, 4)),
        ("x.gelu()", (2, 3, 4)),
        ("x.layer_norm(weight, bias)", (2, 3, 4)),
        ("square.causal_mask().softmax_rows()", (2, 4, 4)),
        ("x.cross_entropy(targets)", ()),
    ):
        upstream = drawn(rng, *shape, dtype=SINGLE)
        result, found, _ = tuple_of(graph.send_back(expression, upstream, **arrays, ids=ids, targets=targets), 3)
        equal([np.shape(result), str(getattr(result, "dtype", "a number"))], [shape, "float32"], what=expression)
        for name in arrays:
            what = f"the gradient of {name} in {expression}"
            equal(str(getattr(found.get(name), "dtype", "a number")), "float32", what=what)
    sizes = {"vocab_size": 7, "block_size": 6, "n_blocks": 1, "n_heads": 2, "d_embed": 8}
    shapes = transformer_shapes(7, 6, 1, 8)
    models = student.probe(GRAPH, "Models")
    model = models.transformer(arrays_like(rng, shapes, 0.3, SINGLE), **sizes)
    idx = rng.integers(0, 7, 2, 5).numpy()
    loss, found = tuple_of(models.forward_and_back(model, idx, idx), 2)
    equal(str(getattr(loss, "dtype", "a number")), "float32", what="the dtype of a float32 transformer's loss")
    for name in shapes:
        equal(str(getattr(found.get(name), "dtype", "none")), "float32", what=f"the dtype of the gradient of {name}")


@check(points=3, exercise="Tensor.add", hint="Which axes were stretched: those in front, those of length 1, or both?")
def test_add_and_mul_equal_torch_for_every_broadcast(student, rng):
    """Biases, columns, single numbers, axes of length 1 in the middle, both operands stretched, plain numbers."""
    cases = [((3, 4), (3, 4)), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 1)), ((2, 3, 4), (2, 1, 4)), ((3, 4), ())]
    cases += [((3, 1), (1, 4)), ((5, 1, 4), (3, 1)), ((1, 4), (2, 3, 4)), ((1, 1), (3, 4)), ((), ())]
    for left, right in cases:
        a, b = drawn(rng, *left), drawn(rng, *right)
        match(student, rng, "a.add(b)", lambda a, b: a + b, a=a, b=b)
        match(student, rng, "a.mul(b)", lambda a, b: a * b, a=a, b=b)
    a = drawn(rng, 3, 4)
    match(student, rng, "a.mul(-2).add(0.75).mul(0.5)", lambda a: (a * -2 + 0.75) * 0.5, a=a)
    b, c = drawn(rng, 4), drawn(rng, 3, 1)
    match(student, rng, "a.mul(c).add(a.mul(b))", lambda a, b, c: a * c + a * b, a=a, b=b, c=c)


@check(points=3, exercise="Tensor.matmul", hint="Which two axes are swapped, and which leading axes were stretched?")
def test_matmul_equals_torch_for_every_batch(student, rng):
    """Distinct sizes, two leading axes, a weight for all, one batch for all heads, and a layer in front."""
    cases = [((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 6, 3, 4), (2, 6, 4, 5)), ((2, 6, 3, 4), (4, 5))]
    cases += [((2, 1, 3, 4), (6, 4, 5)), ((3, 4), (2, 4, 5)), ((1, 3, 4), (6, 4, 5)), ((2, 1, 4), (2, 4, 1))]
    cases += [((4, 4), (4, 4))]
    for left, right in cases:
        a, b, scale = drawn(rng, *left), drawn(rng, *right), drawn(rng, 4)
        match(student, rng, "a.mul(s).matmul(b.tanh())", lambda a, b, s: (a * s) @ b.tanh(), a=a, b=b, s=scale)
    a = drawn(rng, 2, 3, 3)
    match(student, rng, "a.matmul(a)", lambda a: a @ a, a=a)
    match(student, rng, "a.matmul(a.transpose(-1, -2))", lambda a: a @ a.mT, a=a)


@check(points=3, exercise="Tensor.rows", hint="Where does each number go, and which numbers are used more than once?")
def test_moves_and_look_ups_equal_torch(student, rng):
    """sum, reshape, transposes with axes from both ends, and rows for ids of any shape that repeat."""
    x = drawn(rng, 2, 3, 4, 5)
    match(student, rng, "x.tanh().sum()", lambda x: x.tanh().sum(), x=x)
    match(student, rng, "x.tanh().reshape(6, -1, 2)", lambda x: x.tanh().reshape(6, -1, 2), x=x)
    for first, second in ((1, 2), (0, 3), (-1, -2), (0, -2), (2, 2)):
        expression = f"x.tanh().transpose({first}, {second})"
        match(student, rng, expression, lambda x, i=first, j=second: x.tanh().transpose(i, j), x=x)
    expression = "x.transpose(1, 2).reshape(8, 15).transpose(0, 1)"
    match(student, rng, expression, lambda x: x.transpose(1, 2).reshape(8, 15).T, x=x)
    table = drawn(rng, 7, 3)
    drawn_ids = [rng.integers(0, 5, 6, 9).numpy(), rng.integers(0, 7, 2, 3, 2).numpy()]
    for ids in (np.array([4, 4, 0, 4]), *drawn_ids, np.array(6)):
        match(student, rng, "t.tanh().rows(ids)", lambda t, ids: t.tanh()[ids], t=table, ids=ids)
    match(student, rng, "t.rows(ids)", lambda t, ids: t[ids], t=drawn(rng, 4, 2, 3), ids=np.array([[1, 1], [3, 1]]))


@check(points=2, exercise="Tensor.gelu", hint="At 0 the slope is a half, far right it is 1: what is it in between?")
def test_gelu_and_tanh_equal_torch_near_and_far(student, rng):
    """Small and large numbers of any shape, behind a layer: values and gradients are torch's tanh form."""
    for shape, std in (((2, 3, 4), 1.0), ((50,), 3.0), ((), 1.0), ((4, 2), 40.0)):
        x, s = drawn(rng, *shape, std=std), drawn(rng, *shape)
        match(student, rng, "x.mul(s).gelu()", lambda x, s: F.gelu(x * s, approximate="tanh"), x=x, s=s)
        match(student, rng, "x.mul(s).tanh()", lambda x, s: (x * s).tanh(), x=x, s=s)


@check(
    points=3,
    exercise="Tensor.layer_norm",
    hint="Which two parts leave the gradient of x? Over which axes are the others summed?",
)
def test_layer_norm_equals_torch(student, rng):
    """Two to four axes, random weights, another eps, rows that hardly vary: values and the three gradients."""
    cases = [((3, 6), 1.0, 1e-5), ((2, 3, 5), 2.0, 1e-5), ((2, 3, 2, 4), 1.0, 0.3), ((3, 6), 3e-3, 1e-5)]
    for shape, std, eps in cases:
        x, w, b = drawn(rng, *shape, std=std) + 0.7, drawn(rng, shape[-1]), drawn(rng, shape[-1])
        # Rows with a spread of 3e-3 have slopes of up to 300.
        match(
            student,
            rng,
            f"x.add(s).layer_norm(w, b, {eps})" if eps != 1e-5 else "x.add(s).layer_norm(w, b)",
            lambda x, s, w, b, eps=eps: F.layer_norm(x + s, (x.shape[-1],), w, b, eps),
            atol=1e-9,
            x=x,
            s=drawn(rng, shape[-2], 1),
            w=w,
            b=b,
        )


@check(points=2, exercise="Tensor.causal_mask", hint="Does what was overwritten have any influence?")
def test_mask_alone_lets_nothing_through(student, rng):
    """The mask without a softmax: -inf above the diagonal, and a gradient of exactly 0 there, whatever arrives."""
    for shape in ((5, 5), (2, 3, 4, 4), (1, 1)):
        x = drawn(rng, *shape)
        upstream, above = drawn(rng, *shape), np.triu(np.ones(shape[-2:], dtype=bool), k=1)
        graph = student.probe(GRAPH, "Graph")
        result, found, unchanged = tuple_of(graph.send_back("x.causal_mask()", upstream, x=x), 3)
        # Numbers are kept or replaced: nothing is rounded.
        close(result, np.where(above, -np.inf, x), 0.0, f"the masked scores for {shape}")
        close(found.get("x"), np.where(above, 0.0, upstream), 0.0, f"the gradient of the scores for {shape}")
        expect(unchanged, "causal_mask must not write into the scores that it was given.", evidence=unchanged)


@check(points=3, exercise="Tensor.softmax_rows", hint="What is subtracted from the upstream of each share?")
def test_softmax_equals_torch(student, rng):
    """Any leading axes, a row of one, behind a mask, and scores in the hundreds: values and gradients."""
    for shape, std in (((3, 4), 1.0), ((2, 3, 5, 5), 1.0), ((6,), 2.0), ((3, 1), 1.0), ((3, 6), 300.0)):
        x = drawn(rng, *shape, std=std)
        x[:1] += 1000.0 if std == 300.0 else 0.0  # beyond what exp can hold, on every seed
        match(student, rng, "x.mul(2.0).softmax_rows()", lambda x: (x * 2.0).softmax(dim=-1), x=x)
    x = drawn(rng, 2, 3, 5, 5)
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
    expression = "x.causal_mask().softmax_rows()"
    match(student, rng, expression, lambda x: x.masked_fill(hidden, -math.inf).softmax(dim=-1), x=x)


@check(points=3, exercise="Tensor.cross_entropy", hint="Where do the upstream and the number of predictions enter?")
def test_cross_entropy_equals_torch_times_anything(student, rng):
    """Loss times 3, any leading axes, one prediction, scores in the hundreds; targets that do not fit are refused."""
    for shape, std in (((6, 5), 1.0), ((2, 3, 4), 1.0), ((2, 2, 3, 4), 1.0), ((1, 7), 1.0), ((4, 5), 300.0)):
        x, targets = drawn(rng, *shape, std=std), rng.integers(0, shape[-1], *shape[:-1]).numpy()
        x[:1] += 1000.0 if std == 300.0 else 0.0  # beyond what exp can hold, on every seed
        match(
            student, rng, "x.tanh().cross_entropy(t).mul(3.0)", lambda x, t: 3 * mean_nats(x.tanh(), t), x=x, t=targets
        )
        # Losses of several hundreds carry a float64 rounding of 1e-13.
        match(student, rng, "x.cross_entropy(t)", mean_nats, x=x, t=targets)
    logits = student.Tensor(drawn(rng, 2, 3, 4))
    for shape in ((3,), (3, 2), (2, 3, 4), (6,)):
        targets = rng.integers(0, 3, *shape).numpy()
        mentions = written((2, 3, 4), shape) if len(shape) > 1 else written((2, 3, 4))
        raises_value_error(logits.cross_entropy, targets, mentions=mentions, because="one target for each prediction")


PATHS = """
b = x.mul(2.0)
c = b.mul(y)
d = {d}
e = {e}
f = {f}
loss = f.mul(w).sum()
"""


@check(points=3, exercise="Tensor", hint="Is every gradient there before a node sends on, and is any array shared?")
def test_short_and_long_paths_meet_in_either_order(student, rng):
    """Residuals, forks of different lengths and shared sums, with operands in both orders: every node's gradient."""
    arrays = {name: drawn(rng, 3, 4) for name in ("x", "y", "w")}
    variants = [
        (d, e, f)
        for d in ("b.add(c)", "c.add(b)")
        for e in ("d.add(d.tanh())", "d.tanh().add(d)")
        for f in ("e.add(x)", "x.add(e)", "e.mul(b).add(x)", "x.add(b.mul(e))")
    ]
    operations = {"add": torch.add, "mul": torch.mul, "tanh": torch.tanh}
    graph = student.probe(GRAPH, "Graph")
    for d, e, f in variants:
        statements = PATHS.format(d=d, e=e, f=f)
        names = ["x", "y", "b", "c", "d", "e", "f"]
        found = graph.data_and_grads(statements, names, **arrays)
        t = {name: torch.from_numpy(array).requires_grad_() for name, array in arrays.items()}
        t["b"] = t["x"] * 2.0
        t["c"] = t["b"] * t["y"]
        for name, text in zip("def", (d, e, f), strict=True):
            t[name] = eval(text, {key: _Fluent(value, operations) for key, value in t.items()}).value
        right = (t["f"] * t["w"]).sum()
        slopes = torch.autograd.grad(right, [t[name] for name in names])
        for name, slope in zip(names, slopes, strict=True):
            value, gradient = tuple_of(found.get(name), 2)
            what = f"of {name}, where d = {d}, e = {e}, f = {f}"
            close(value, t[name].detach().numpy(), 1e-12, f"the data {what}")  # a few float64 operations
            close(gradient, slope.numpy(), 1e-12, f"the gradient {what}")  # as above


class _Fluent:
    """A torch tensor whose methods are written as the student's are."""

    def __init__(self, value, operations):
        self.value, self.operations = value, operations

    def __getattr__(self, name):
        operation = self.operations[name]
        return lambda *others: _Fluent(operation(self.value, *(o.value for o in others)), self.operations)


@check(points=2, exercise="Tensor", hint="How deep may Python functions call each other?")
def test_graph_of_ten_thousand_steps(student, rng):
    """A chain 10,000 deep goes back without reaching Python's limit of nested calls."""
    x, factor, length = drawn(rng, 2), 0.999, 10_000
    graph = student.probe(GRAPH, "Graph")
    slope = 1.0
    for step in range(length):
        slope = slope + 1 if step % 2 else slope * factor
    # The sum of ten thousand float64 products around 600: a relative rounding of 1e-13.
    close(graph.chain(length, x, factor), np.full(2, slope), 1e-7, "the gradient of x after 10,000 steps")


@check(points=2, exercise="Tensor", hint="How many paths lead through 18 doublings, and how many nodes?")
def test_each_node_has_one_turn(student, rng):
    """18 doublings have 19 nodes and 262,144 paths; the work follows the nodes."""
    graph = student.probe(GRAPH, "Graph")
    # A right engine runs some 30 lines a node; 60,000 lines are a thousand times as many nodes as there are.
    got = graph.doublings(18, 60_000, drawn(rng, 2))
    close(got, np.full(2, 2.0**18), 0.0, "the gradient of x after 18 doublings")  # powers of two: exact


@check(points=2, exercise="Tensor", hint="When are the values read that a backward pass needs, and who owns grad?")
def test_data_may_be_assigned_and_gradients_forgotten(student, rng):
    """zero_grad gives zeros of the data's shape and dtype; assigned and overwritten data count from then on."""
    first, second, third = drawn(rng, 3), drawn(rng, 2, 2), drawn(rng, 2, 2)
    graph = student.probe(GRAPH, "Graph")
    found = tuple_of(graph.reassigned(first, second, third), 4)
    expected = (2 * first, np.zeros(3), 2 * second, 2 * third)
    names = ("the first pass", "zero_grad", "data was assigned", "data was overwritten")
    for got, right, name in zip(found, expected, names, strict=True):
        close(got, right, 1e-12, f"the gradient after {name}")  # one float64 product
    x = student.Tensor(drawn(rng, 2, 3, dtype=SINGLE))
    x.sum().backward_all()
    x.zero_grad()
    equal(x.get("grad"), np.zeros((2, 3), dtype=np.float32), what="the gradient after zero_grad, in float32")


@check(points=2, exercise="Tensor", hint="Which shapes, and which kind of numbers, can have no gradient?")
def test_what_does_not_fit_is_refused_with_its_shapes(student, rng):
    """add, mul, matmul, backward_all: ValueError with the shapes; whole numbers and truth values are no data."""
    a = student.Tensor(drawn(rng, 3, 4))
    for shape in ((3, 5), (2, 4), (4, 3)):
        b = student.Tensor(drawn(rng, *shape))
        for method in (a.add, a.mul):
            raises_value_error(method, b, mentions=written((3, 4), shape), because="these do not broadcast")
    batch = student.Tensor(drawn(rng, 2, 3, 4))
    for left, shape, there in ((a, (3, 4), (3, 4)), (batch, (2, 5, 6), (2, 3, 4)), (batch, (5, 4, 6), (2, 3, 4))):
        b = student.Tensor(drawn(rng, *shape))
        raises_value_error(left.matmul, b, mentions=written(there, shape), because="these matrices do not fit")
    for shape in ((2, 3), (1,), (1, 1)):
        node = student.Tensor(drawn(rng, *shape))
        mentions = written(shape) if shape != (1,) else [("1",)]
        raises_value_error(node.backward_all, mentions=mentions, because="only a scalar, shape (), can begin")
    for array in (np.arange(3), np.array(2), np.array([True, False])):
        raises_value_error(student.Tensor, array, mentions=[("data", "float", "int", "bool")], because="no floats")


@check(points=4, exercise="TransformerLM", hint="Do the operations pass? Then compare the order of norms, heads, sums.")
def test_transformer_has_the_loss_and_gradients_of_torch(student, rng):
    """The same weights in torch: loss, logits and every gradient agree, for one block and for three."""
    for sizes, batch, length in (
        ({"vocab_size": 11, "block_size": 8, "n_blocks": 1, "n_heads": 4, "d_embed": 24}, 3, 5),
        ({"vocab_size": 7, "block_size": 6, "n_blocks": 3, "n_heads": 2, "d_embed": 12}, 2, 6),
        ({"vocab_size": 5, "block_size": 4, "n_blocks": 2, "n_heads": 1, "d_embed": 6}, 1, 1),
        ({"vocab_size": 9, "block_size": 7, "n_blocks": 1, "n_heads": 6, "d_embed": 12}, 1, 7),
    ):
        judge_transformer(student, rng, sizes, batch, length)
    judge_transformer(
        student, rng, {"vocab_size": 11, "block_size": 8, "n_blocks": 1, "n_heads": 4, "d_embed": 24}, 2, 8, std=0.7
    )
    model = student.TransformerLM(13, block_size=5, n_heads=2, d_embed=8)
    names = transformer_shapes(13, 5, 1, 8)
    equal(set(tuple_of(list(model.parameters()), len(names))), set(names), what="the names of the parameters")


def transformer_nats(student, rng, text, block_size, width, steps, std, lr):
    """Have a transformer trained on the student's gradients, and judge its weights on the other text."""
    T, sizes = block_size, {"vocab_size": text.size, "block_size": block_size, "n_blocks": 1, "n_heads": 4}
    shapes = transformer_shapes(text.size, T, 1, width)
    weights = arrays_like(rng, shapes, std)
    weights |= {name: np.ones(width) for name in shapes if name.endswith(".weight")}
    weights |= {name: np.zeros(shape) for name, shape in shapes.items() if name.endswith("bias")}
    starts = rng.integers(0, len(text.train) - T - 1, steps, 16).numpy()
    models = student.probe(GRAPH, "Models")
    model = models.transformer(weights, **sizes, d_embed=width)
    # With a wrong first gradient there is nothing to train: the run's seconds are for the right ones.
    chunk = torch.from_numpy(text.train[starts[0][:, None] + np.arange(T + 1)])
    leaves = with_gradients(weights)
    logits = transformer_logits(chunk[:, :-1], leaves, 1, 4)
    right = F.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    slopes = dict(zip(leaves, torch.autograd.grad(right, list(leaves.values())), strict=True))
    _, found = tuple_of(models.forward_and_back(model, chunk[:, :-1].numpy(), chunk[:, 1:].numpy()), 2)
    for name, slope in slopes.items():
        close(found.get(name), slope.numpy(), 1e-9, f"the gradient of {name} before training")  # float64
    trained = models.train_transformer(model, text.train, starts, T, lr)
    for name, shape in shapes.items():
        equal(np.shape(trained.get(name)), shape, what=f"the shape of {name} after training")
    trained = {name: torch.from_numpy(np.asarray(trained[name], dtype=np.float64)) for name in shapes}
    pieces = text.val[: len(text.val) // (T + 1) * (T + 1)].reshape(-1, T + 1)
    idx, targets = torch.from_numpy(pieces[:, :-1].copy()), torch.from_numpy(pieces[:, 1:].copy())
    # Each prediction is made from its own prefix by the grader's causal model: nothing can peek.
    scores = transformer_logits(idx, trained, 1, 4)
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten()).item()


@check(
    points=3,
    exercise="TransformerLM",
    hint="Do all gradients pass? Are the parameters always the same tensors, and does zero_grad forget?",
    trains=True,
    timeout_s=60,
)
def test_transformer_trained_on_its_gradients_beats_the_counts(student, rng, bands):
    """Level 3, trained, beats the counts on an invented language, and on tiny Shakespeare where that is at hand."""
    language = Language(rng)
    nats = transformer_nats(student, rng, language, 8, 32, 350, 0.1, 1e-2)
    judge_language(bands, "transformer", nats, language)
    text = shakespeare_where_it_is(rng)
    if text is not None:
        nats = transformer_nats(student, rng, text, 16, 48, 400, 0.05, 5e-3)
        judge_text(bands, "transformer_shakespeare", nats, text)


def judge_language(bands, band, nats, language):
    """Judge by the share of the way from the counts to the floor, which is 1 for the law itself."""
    counts, floor = language.counts(), language.floor()
    told = f"{language.name}: validation {nats:.3f} nats, counts {counts:.3f}, floor {floor:.3f}; share of that way"
    within(bands, band, (counts - nats) / (counts - floor), told)


def judge_text(bands, band, nats, text):
    """Judge by the nats that are gained over the counts: the floor of such a text is not known."""
    counts = text.counts()
    within(bands, band, counts - nats, f"{text.name}: validation {nats:.3f} nats, counts {counts:.3f}; gained nats")


def within(bands, name, value, told):
    """Require a measured value to lie where right models have it; both sides count."""
    low, high = bands[name]
    shown = f"{told}: {value:.3g}, where right models have {low:g} to {high:g}."
    expect(bool(value >= low), f"{shown} It has not learned what it could.", evidence=value)
    expect(bool(value <= high), f"{shown} No right model of this size comes as far in these steps.", evidence=value)
