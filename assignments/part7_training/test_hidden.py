"""The hidden suite of part 7: perplexity token by token, the loop against AdamW step by step, and what it trains."""

import math

import numpy as np
import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, number, tensor, tuple_of
from autograder.corpora import Copy, SkipInduction

BATCH, T, VOCAB, WIDTH = 3, 5, 11, 6
SIGMAS = 5  # what chance may do: one in two million for each number that is compared
DOUBLE, LONG = torch.float64, torch.long

# Models of the suite's own.
MODELS = """
import torch
from torch import nn


class Generator(torch.Generator):
    # Not quite a generator of torch's: so it stays in the worker, and can be used for several calls.
    pass


class Placed(nn.Module):
    # Scores depend on the mean of what was read in the window, and on the place: every cut of the text shows.

    def __init__(self, table, places):
        super().__init__()
        self.table, self.places = nn.Parameter(table.clone()), nn.Parameter(places.clone())
        self.dropout = nn.Dropout(0.5)
        self.modes, self.rows = [], []

    def forward(self, idx):
        length = idx.shape[1]
        if length > len(self.places):
            raise ValueError(f"a window of {length} tokens, where block_size is {len(self.places)}")
        self.modes.append(self.training)
        self.rows.append(idx.shape[0])
        past = self.table[idx].cumsum(1) / torch.arange(1, length + 1)[:, None]
        return self.dropout(past + self.places[:length])


class Layer(nn.Module):
    # A table of vectors, a linear layer with a bias, and large scores, so that gradients are longer than 1.

    def __init__(self, table, weight, bias):
        super().__init__()
        self.table, self.weight, self.bias = (nn.Parameter(each.clone()) for each in (table, weight, bias))
        self.modes, self.read = [], []

    def forward(self, idx):
        self.modes.append(self.training)
        self.read.append(idx.clone())
        return 8 * (self.table[idx] @ self.weight + self.bias)


class Notes:
    # To be handed in as on_step: keeps what it is told, and how model and weights are at that moment.

    def __init__(self, model):
        self.model, self.steps, self.losses, self.weights = model, [], [], []

    def __call__(self, step, loss):
        self.steps.append(int(step))
        self.losses.append(float(loss))
        self.weights.append([p.detach().clone() for p in self.model.parameters()])


def generator(seed):
    made = Generator()
    made.manual_seed(seed)
    return made


def set_global(seed):
    torch.manual_seed(seed)


def global_state():
    return torch.get_rng_state()
"""


GPT_OF = """
from part6_gpt import GPT, GPTConfig


def build(**plan):
    return GPT(GPTConfig(**plan))
"""


def batch_of(student, tokens, batch_size, block_size, **more):
    """Ask for a batch and require its two shapes."""
    found = tuple_of(student.get_batch(tokens, batch_size, block_size, **more), 2, what="what get_batch returns")
    shape = (batch_size, block_size)
    return [tensor(half, shape=shape, dtype=LONG, what=name) for half, name in zip(found, "xy", strict=True)]


def starts_of(x, y, tokens, block_size):
    """Read from a batch of a text of all different tokens where its windows start, and require that they are whole."""
    place_of = {int(token): place for place, token in enumerate(tokens)}
    first = [place_of.get(int(token), -1) for token in x[:, 0]]
    inside = all(0 <= place < len(tokens) - block_size for place in first)
    expect(inside, "A window must start where it and the token after it fit into the text.", evidence=x)
    starts = torch.tensor(first)
    places = starts[:, None] + torch.arange(block_size)
    equal(x, tokens[places], what="x, from where its rows start")
    equal(y, tokens[places + 1], what="y, from where the rows of x start")
    return starts


def floats(got, length, what):
    """Require a list of that many finite Python floats and return it as a tensor."""
    right = isinstance(got, list) and len(got) == length and all(type(each) is float for each in got)
    expect(right, f"{what} must be a list of {length} Python floats.", evidence=got)
    return torch.tensor(got, dtype=DOUBLE)


def layer_weights(rng):
    """Draw the weights of a ``Layer``, none near 0, so that decay shows."""
    shapes = {"table": (VOCAB, WIDTH), "weight": (WIDTH, VOCAB), "bias": (VOCAB,)}
    drawn = rng.like(shapes, std=0.5, dtype=DOUBLE)
    return [drawn[name] + 0.5 * drawn[name].sign() for name in shapes]


def reference(weights, tokens, rates):
    """Train a ``Layer`` on the one window that a text has; give losses, and the weights after each step."""
    table, weight, bias = parameters = [each.clone().requires_grad_() for each in weights]
    optimizer = torch.optim.AdamW(parameters, lr=rates[0])
    losses, after = [], []
    for rate in rates:
        optimizer.param_groups[0]["lr"] = rate
        loss = F.cross_entropy(8 * (table[tokens[:-1]] @ weight + bias), tokens[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        after.append([p.detach().clone() for p in parameters])
    return torch.tensor(losses, dtype=DOUBLE), after


def nats_of(window, following, table, places):
    """Work out what a ``Placed`` gives the tokens that follow."""
    past = torch.stack([table[window[: t + 1]].mean(dim=0) for t in range(len(window))])
    scores = past + places[: len(window)]
    return -scores.log_softmax(dim=-1)[torch.arange(len(window)), following]


def right_perplexity(tokens, table, places):
    """Work out the perplexity of a ``Placed`` from the definition: windows of ``len(places)`` after each other."""
    nats = []
    for begin in range(0, len(tokens) - 1, len(places)):
        end = min(begin + len(places), len(tokens) - 1)
        nats.append(nats_of(tokens[begin:end], tokens[begin + 1 : end + 1], table, places))
    return math.exp(torch.cat(nats).mean().item())


@check(points=2, exercise="get_batch", hint="Where may a window start, and how likely is each place?")
def test_windows_start_anywhere_with_equal_chances(student, rng):
    """Long windows, short ones and single tokens: every start that fits, each as often as the others."""
    for n_tokens, block_size in ((12, 5), (9, 1), (30, 26), (7, 6)):
        tokens = 1000 + 7 * rng.permutation(n_tokens)
        n_starts, n_rows = n_tokens - block_size, 3000
        x, y = batch_of(student, tokens, n_rows, block_size)
        counted = starts_of(x, y, tokens, block_size).bincount(minlength=n_starts)
        share = 1 / n_starts
        # A share of n draws scatters by sqrt(p (1 - p) / n).
        atol = SIGMAS * math.sqrt(share * (1 - share) / n_rows) + 1e-9
        right = torch.full((n_starts,), share, dtype=DOUBLE)
        agree(counted.double() / n_rows, right, atol=atol, what="the share of each start")


@check(points=1, exercise="get_batch", hint="Does one row know where the row above it starts?")
def test_rows_are_drawn_independently(student, rng):
    """Where a row starts says nothing about the next row, in one batch or from one batch to the next."""
    tokens, block_size, n_starts = rng.permutation(44), 4, 40
    rows = [starts_of(*batch_of(student, tokens, 1000, block_size), tokens, block_size) for _ in range(2)]
    last = starts_of(*batch_of(student, tokens, 1, block_size), tokens, block_size)
    expect(last.numel() == 1, "A batch of one row is a batch.", evidence=last)
    steps = torch.cat([(each[1:] - each[:-1]) % n_starts for each in rows])
    steps = torch.cat([steps, (rows[1] - rows[0]) % n_starts])
    # Of independent starts every difference is equally likely: at most 1 in 40, with what 3,000 draws scatter by.
    most = (steps.bincount(minlength=n_starts).max() / len(steps)).item()
    allowed = 1 / n_starts + (SIGMAS + 1) * math.sqrt(1 / n_starts / len(steps))
    expect(most < allowed, "Some distance between the starts of two rows is too common to be chance.", evidence=most)


@check(points=2, exercise="get_batch", hint="Where does every single random number come from?")
def test_batches_come_from_the_generator_alone(student, rng):
    """The same generator gives the same batch and moves on; without one, batches differ from call to call."""
    tokens = rng.permutation(500)
    seeds = [int(seed) for seed in rng.integers(0, 2**31, 3)]
    drawn = []
    for number_of in (1, 2):
        student.probe(MODELS, "set_global", seeds[number_of])
        before = student.probe(MODELS, "global_state")
        drawn.append(batch_of(student, tokens, 6, T, generator=torch.Generator().manual_seed(seeds[0]))[0])
        after = student.probe(MODELS, "global_state")
        equal(after, before, what="the state of torch's global generator, after a batch from another one")
    equal(drawn[1], drawn[0], what="x from a second generator with the same seed")
    kept = student.probe(MODELS, "generator", seeds[0])
    equal(batch_of(student, tokens, 6, T, generator=kept)[0], drawn[0], what="x from a third one with the same seed")
    again, _ = batch_of(student, tokens, 6, T, generator=kept)
    # Six starts among 495 twice: never the same.
    expect(not torch.equal(again, drawn[0]), "A generator must move on with each batch.", evidence=again)
    first, second = (batch_of(student, tokens, 6, T)[0] for _ in range(2))
    expect(not torch.equal(first, second), "Without a generator two batches must differ.", evidence=second)


@check(
    points=4, exercise="perplexity", hint="Which windows does a text of 13 tokens have, if the model reads 5 at most?"
)
def test_every_token_but_the_first_is_predicted_once(student, rng):
    """Windows one after the other, the last one shorter: the exponential of one mean over all tokens."""
    table, places = rng.normal(VOCAB, VOCAB, std=2.0, dtype=DOUBLE), rng.normal(T, VOCAB, std=2.0, dtype=DOUBLE)
    model = student.probe(MODELS, "Placed", table, places)
    # A last window of 3, of 1, none shorter; less than a window; a single prediction; many windows.
    for n_tokens in (14, 12, 11, 4, 2, T + 1, 350):
        tokens = rng.integers(0, VOCAB, n_tokens)
        what = f"the perplexity of {n_tokens} tokens in windows of {T}"
        got = number(student.perplexity(model, tokens, T), what=what)
        # float64, or float32 somewhere on the way: 1e-6. The nearest mistakes are off by a percent.
        agree(got, right_perplexity(tokens, table, places), atol=0.0, rtol=1e-5, what=what)


@check(points=2, exercise="perplexity", hint="What changes when two windows are run together, and what must not?")
def test_batch_size_changes_nothing(student, rng):
    """One window at a time, or two, or all: the same perplexity, and never more windows at once than were allowed."""
    table, places = rng.normal(VOCAB, VOCAB, std=2.0, dtype=DOUBLE), rng.normal(T, VOCAB, std=2.0, dtype=DOUBLE)
    tokens = rng.integers(0, VOCAB, 8 * T + 4)
    right = right_perplexity(tokens, table, places)
    for batch_size in (1, 2, 3, 8, 9, 64):
        model = student.probe(MODELS, "Placed", table, places)
        what = f"the perplexity of eight windows and a shorter one, with batch_size={batch_size}"
        got = number(student.perplexity(model, tokens, T, batch_size=batch_size), what=what)
        agree(got, right, atol=0.0, rtol=1e-5, what=what)  # as above
        rows = model.get("rows")
        most = max(rows) if isinstance(rows, list) and rows else 0
        expect(0 < most <= batch_size, f"At most {batch_size} windows may be run at one time.", evidence=rows)


@check(points=2, exercise="perplexity", hint="What did the model look like before you came?")
def test_perplexity_leaves_no_trace(student, rng):
    """Eval mode for every window, so dropout is off; then the old mode, the same weights and no gradients."""
    table, places = rng.normal(VOCAB, VOCAB, dtype=DOUBLE), rng.normal(T, VOCAB, dtype=DOUBLE)
    tokens = rng.integers(0, VOCAB, 33)
    for training in (False, True):
        model = student.probe(MODELS, "Placed", table, places)
        model.train(training)
        for time in ("first", "second"):
            what = f"the {time} perplexity of a model with training={training}"
            got = number(student.perplexity(model, tokens, T, batch_size=2), what=what)
            agree(got, right_perplexity(tokens, table, places), atol=0.0, rtol=1e-5, what=what)  # as above
            equal(model.get("training"), training, what=f"training, after the {time} perplexity")
            equal(model.get("dropout.training"), training, what=f"training of a layer, after the {time} perplexity")
        modes = model.get("modes")
        judged = isinstance(modes, list) and bool(modes) and True not in modes
        expect(judged, "The model must be in eval mode whenever it is asked.", evidence=modes)
        equal(model.get("table"), table, what="a weight, after two perplexities")
        expect(
            model.get("table.grad") is None, "A perplexity needs no backward pass.", evidence=model.get("table.grad")
        )


@check(points=2, exercise="perplexity", hint="Do parts 4 to 6 pass their checks? If so: in which windows is it read?")
def test_perplexity_of_your_gpt(student, rng):
    """Of an untrained GPT it is near V, and of any GPT what its own logits say."""
    model = student.probe(GPT_OF, "build", vocab_size=VOCAB, block_size=T, n_layers=1, n_heads=2, d_model=WIDTH)
    tokens = rng.integers(0, VOCAB, 3 * T + 3)
    near = number(student.perplexity(model, tokens, T), what="the perplexity of an untrained GPT")
    # Scores that spread by 0.05 move the mean surprise by no more than that.
    agree(near, float(VOCAB), atol=0.0, rtol=0.1, what="the perplexity of an untrained GPT (V is due)")
    shapes = {"tok_emb.weight": (VOCAB, WIDTH)}
    model.load(rng.like(shapes, std=1.0))
    nats = []
    for begin in range(0, len(tokens) - 1, T):
        end = min(begin + T, len(tokens) - 1)
        logits = model(tokens[None, begin:end])
        logits = tensor(logits, shape=(1, end - begin, VOCAB), what="your GPT's logits")
        nats.append(F.cross_entropy(logits[0].double(), tokens[begin + 1 : end + 1], reduction="none"))
    right = math.exp(torch.cat(nats).mean().item())
    got = number(student.perplexity(model, tokens, T), what="the perplexity of your GPT")
    agree(got, right, atol=0.0, rtol=1e-4, what="the perplexity of your GPT")  # float32 in another batch size


@check(points=2, exercise="warmup_lr", hint="Follow the line: what is it worth at the last step of the warm-up?")
def test_rate_of_any_step(student, rng):
    """Any rate, any length of warm-up: the share (step + 1) / warmup_steps, and never more than the whole."""
    for _ in range(12):
        warmup_steps = int(rng.integers(1, 200, 1))
        max_lr = float(rng.uniform(1, low=1e-4, high=1.0, dtype=DOUBLE))
        for step in (0, warmup_steps // 2, max(0, warmup_steps - 2), warmup_steps - 1, warmup_steps, 10**6):
            share = min(1.0, (step + 1) / warmup_steps)
            what = f"warmup_lr({step}, {max_lr:.4f}, {warmup_steps})"
            agree(student.warmup_lr(step, max_lr, warmup_steps), max_lr * share, atol=0.0, rtol=1e-9, what=what)
        agree(student.warmup_lr(0, max_lr, 0), max_lr, atol=0.0, rtol=1e-9, what="the first rate without warm-up")


def follow(student, rng, steps, lr, warmup_steps):
    """Train a ``Layer`` on a text with a single window, and compare every loss and every weight with AdamW's."""
    weights, tokens = layer_weights(rng), rng.integers(0, VOCAB, 8)
    rates = [lr * min(1.0, (step + 1) / max(1, warmup_steps)) for step in range(steps)]
    losses, after = reference(weights, tokens, rates)
    model = student.probe(MODELS, "Layer", *weights)
    notes = student.probe(MODELS, "Notes", model)
    more = {"warmup_steps": warmup_steps} if warmup_steps else {}
    got = student.train(model, tokens, steps, BATCH, len(tokens) - 1, lr, **more, on_step=notes)
    shown = f"with warmup_steps={warmup_steps}"
    # float64: what is left of rounding after some steps is below 1e-9; mistakes move the second loss by 1e-4 and more.
    agree(floats(got, steps, "what train returns"), losses, atol=1e-7, what=f"the losses of {steps} steps {shown}")
    for name, number_of in (("table", 0), ("weight", 1), ("bias", 2)):
        end = model.get(name)
        agree(end, after[-1][number_of], atol=1e-7, what=f"{name} after {steps} steps {shown}")
    return notes, losses, after


@check(points=4, exercise="train", hint="Do get_batch and warmup_lr pass? If so: is it AdamW, once, with its defaults?")
def test_every_step_is_adamw_s(student, rng):
    """On a text with a single window: each loss and the weights at the end are those of AdamW, to seven digits."""
    for lr in (0.05, 0.4):
        follow(student, rng, 7, lr, 0)


@check(points=3, exercise="train", hint="For which update is the rate of step 0, and which rate does it have?")
def test_rate_of_each_step_is_the_warm_up_s(student, rng):
    """The same with a warm-up that ends in the middle of the run, after it, and with its first step."""
    for warmup_steps in (4, 20, 1):
        follow(student, rng, 7, 0.2, warmup_steps)


@check(points=3, exercise="train", hint="What must be finished before on_step is told about a step?")
def test_on_step_is_told_after_each_update(student, rng):
    """on_step gets 0, 1, 2, ... with the loss of that step, and the weights are already the new ones."""
    notes, losses, after = follow(student, rng, 5, 0.1, 3)
    equal(notes.get("steps"), [0, 1, 2, 3, 4], what="the steps that on_step was told")
    told = floats(notes.get("losses"), 5, "what on_step was told")
    agree(told, losses, atol=1e-7, what="the losses that on_step was told")  # as in the losses returned
    for step in range(5):
        for place, right in enumerate(after[step]):
            got = notes.get(f"weights.{step}.{place}")
            agree(got, right, atol=1e-7, what=f"weight {place} when on_step is told of step {step}")


@check(points=2, exercise="train", hint="How often is a batch drawn, and from what?")
def test_every_step_has_a_batch_of_its_own(student, rng):
    """Each step reads other windows of the text, drawn from the generator alone."""
    tokens = rng.integers(0, VOCAB, 300)
    weights, seeds = layer_weights(rng), [int(seed) for seed in rng.integers(0, 2**31, 3)]
    runs = []
    for number_of in (1, 2):
        student.probe(MODELS, "set_global", seeds[number_of])
        model = student.probe(MODELS, "Layer", *weights)
        draws = torch.Generator().manual_seed(seeds[0])
        got = student.train(model, tokens, 6, 4, T, 0.01, generator=draws)
        runs.append(floats(got, 6, "what train returns"))
        read = model.get("read")
        is_read = isinstance(read, list) and bool(read) and all(isinstance(each, torch.Tensor) for each in read)
        expect(is_read, "The model must be asked at every step.", evidence=read)
        windows = {tuple(row) for each in read for row in each.reshape(-1, each.shape[-1]).tolist()}
        # 24 windows among 295 starts: some may come twice, but never more than half of them.
        expect(len(windows) > 12, "Every step must draw windows of its own.", evidence=len(windows))
    agree(runs[1], runs[0], atol=1e-9, what="the losses with a second generator of the same seed")  # the same sums
    free = []
    for _ in range(2):
        model = student.probe(MODELS, "Layer", *weights)
        free.append(floats(student.train(model, tokens, 2, 4, T, 0.01), 2, "what train returns"))
    expect(not torch.equal(free[0], free[1]), "Without a generator two runs must differ.", evidence=free[1])


@check(points=2, exercise="train", hint="Whose mode is it afterwards, and what is a training of no steps?")
def test_training_keeps_the_model_and_its_mode(student, rng):
    """The model itself is trained, in train mode; it gets back the mode it came with, after no step too."""
    weights, tokens = layer_weights(rng), rng.integers(0, VOCAB, 40)
    for training in (False, True):
        for steps in (0, 3):
            model = student.probe(MODELS, "Layer", *weights)
            model.train(training)
            floats(student.train(model, tokens, steps, BATCH, T, 0.1), steps, f"what train returns for {steps} steps")
            modes = model.get("modes")
            learned = isinstance(modes, list) and len(modes) >= steps and False not in modes
            expect(learned, "The model must be in train mode at every step.", evidence=modes)
            equal(model.get("training"), training, what=f"training after {steps} steps, which was {training} before")
            moved = not torch.equal(tensor(model.get("bias"), shape=(VOCAB,), dtype=DOUBLE, what="bias"), weights[2])
            word = "the same as before" if steps else "not the same"
            expect(moved == (steps > 0), f"After {steps} steps the weights are {word}.", evidence=model.get("bias"))


# -- what is trained -------------------------------------------------------------------------------------------------

# Rungs of the ladder, each from the student's own pieces; every import stands where it is used, so that a missing part
# costs what needs it and no more.
RUNGS = """
import torch
from torch import nn


class Mean(nn.Module):
    # Part 1's mean of everything that was read.

    def __init__(self, vocab_size, width, block_size, residual):
        super().__init__()
        from part1_average import MeanLM

        self.model = MeanLM(vocab_size, width, block_size, residual=residual)

    def forward(self, idx):
        return self.model(idx)


class Mixing(nn.Module):
    # Token and place, something that mixes them, the token itself where residual, scores.

    def __init__(self, vocab_size, width, block_size, mix, residual=True, placed=True):
        super().__init__()
        from part5_positions import LearnedPositions

        self.tok_emb, self.mix, self.residual = nn.Embedding(vocab_size, width), mix, residual
        self.places = LearnedPositions(block_size, width) if placed else nn.Identity()
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, idx):
        x = self.places(self.tok_emb(idx))
        return self.lm_head(x + self.mix(x) if self.residual else self.mix(x))


class Looking(nn.Module):
    # One head from the pieces of parts 1 to 3, with or without the division, with or without the mask.

    def __init__(self, width, d_head, divided=True, masked=True):
        super().__init__()
        self.q, self.k = nn.Linear(width, d_head, bias=False), nn.Linear(width, d_head, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.divided, self.masked = divided, masked

    def forward(self, x):
        from part1_average import causal_mask, masked_softmax
        from part2_scores import dot_product_scores
        from part3_attention import attention

        q, k, v = self.q(x), self.k(x), self.v(x)
        mask = causal_mask(x.shape[-2]) if self.masked else None
        if self.divided:
            return attention(q, k, v, mask)[0]
        return masked_softmax(dot_product_scores(q, k), mask) @ v


class Stack(nn.Module):
    # Token and place, part 4's blocks around part 5's attention, part 4's LayerNorm, scores.

    def __init__(self, vocab_size, width, block_size, n_blocks):
        super().__init__()
        from part4_block import MLP, Block, LayerNorm
        from part5_positions import CausalSelfAttention, LearnedPositions

        self.tok_emb, self.places = nn.Embedding(vocab_size, width), LearnedPositions(block_size, width)
        made = [Block(width, CausalSelfAttention(width, 4), MLP(width)) for _ in range(n_blocks)]
        self.blocks, self.norm, self.lm_head = nn.ModuleList(made), LayerNorm(width), nn.Linear(width, vocab_size)

    def forward(self, idx):
        x = self.places(self.tok_emb(idx))
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.norm(x))


def mean(residual):
    return Mean(32, 64, 32, residual)


def head(residual):
    from part3_attention import Head

    return Mixing(32, 64, 32, Head(64, 64, 32), residual)


def wide_head(divided):
    return Mixing(32, 64, 32, Looking(64, 256, divided))


def open_head():
    return Mixing(32, 64, 32, Looking(64, 64, masked=False))


def placed(kind):
    from part5_positions import CausalSelfAttention

    added = kind == "learned"
    attention = CausalSelfAttention(64, 4, positions="none" if added else kind)
    return Mixing(32, 64, 64, attention, placed=added)


def blocks(n):
    return Stack(32, 64, 32, n)


def gpt():
    from part6_gpt import GPT, GPTConfig

    return GPT(GPTConfig(vocab_size=32, block_size=32, n_layers=1, n_heads=4, d_model=64))
"""
V, WINDOW = 32, 32


def own_draws(rng):
    """Make the numpy generator that a language and its documents are drawn from."""
    return np.random.default_rng(int(rng.integers(0, 2**31)))


def first_weights(shapes, draw):
    """Draw the weights that a rung begins with, as torch would: what a student's layers begin with is no matter."""
    found = {}
    for name, shape in shapes.items():
        if len(shape) <= 1:  # biases, and what a LayerNorm multiplies by
            found[name] = torch.zeros(shape) if name.endswith("bias") else torch.ones(shape)
        else:
            is_table = name.endswith("emb.weight")
            values = draw.normal(size=shape) if is_table else draw.uniform(-1, 1, size=shape) / math.sqrt(shape[1])
            found[name] = torch.from_numpy(values).float()
    return found


def trained(student, name, argument, text, draw, *, steps=300, batch_size=32, lr=3e-3):
    """Have the student's ``train`` train a rung, and put the weights that it found into a second rung of the same kind.

    What ``train`` returns is not read, and what else it may have done to its model is left behind: weights count.
    """
    model, fresh = (student.probe(RUNGS, name, *argument) for _ in range(2))
    shapes = model.shapes
    if name != "gpt":  # whose first weights are part 6's
        model.load(first_weights(shapes, draw))
    student.train(model, text, steps, batch_size, WINDOW, lr, warmup_steps=20)
    fresh.load({each: tensor(model.get(each), shape=shape, what=each) for each, shape in shapes.items()})
    return fresh


def from_prefixes(model, docs, what):
    """Ask for the scores of what follows each prefix, from that prefix alone: nothing later has been sent before.

    Returns:
        Log-probabilities, float64 (n, length - 1, V).
    """
    n, length = docs.shape
    rows = []
    for seen in range(1, length):
        logits = tensor(model(torch.from_numpy(docs[:, :seen])), shape=(n, seen, V), what=f"the logits of {what}")
        expect(
            bool(torch.isfinite(logits).all()), f"The logits of {what} are not finite: it diverged.", evidence=logits
        )
        rows.append(logits[:, -1].double().log_softmax(dim=-1))
    return torch.stack(rows, dim=1)


def exp(nats):
    """Undo the logarithm; beyond what a float holds, the largest number will do."""
    return math.exp(min(float(nats), 700.0))


def times_best(log_q, language, docs):
    """Say how many times the best possible perplexity these predictions have: exp of the mean divergence.

    Against the language's exact probabilities, and not the one token that came: on average the same, and steadier.
    """
    p = torch.from_numpy(language.conditional(docs))
    return exp((p * (p.log() - log_q)).sum(dim=-1).mean())


def must_not_see(model, log_q, language, docs, what):
    """Require that the scores for a whole window are those that its prefixes gave: else the model reads the answer."""
    logits = tensor(model(torch.from_numpy(docs[:, :-1])), shape=log_q.shape, what=f"the logits of {what}")
    whole = logits.double().log_softmax(dim=-1)
    seen, alone = (
        float(F.nll_loss(each.flatten(0, 1), torch.from_numpy(docs[:, 1:]).flatten()).exp()) for each in (whole, log_q)
    )
    message = (
        f"{what}: given whole windows it has a perplexity of {seen:.2f}, given what came before each token, and "
        f"nothing else, of {alone:.2f}. This language cannot be predicted better than {language.floor(docs):.2f}: your "
        "model sees the answer. Which part lets a position read what comes after it?"
    )
    # float32 in batches of another shape rounds scores of some tens at 1e-4. A leak moves some score by 1 and more.
    expect(bool((whole - log_q).abs().max() < 0.05), message, evidence=logits)


TOO_GOOD = "No right model is as good as that: does it see what it is to predict?"
TOO_BAD = "It has not learned what it could."


def within(bands, name, value, told, too_low=TOO_GOOD, too_high=TOO_BAD):
    """Require a measured value to lie where right models have it; both sides count."""
    low, high = bands[name]
    shown = f"{told}: {value:.3g}, where right models have {low:g} to {high:g}."
    expect(value >= low, f"{shown} {too_low}", evidence=value)
    expect(value <= high, f"{shown} {too_high}", evidence=value)


def climb(student, bands, language, draw, band, name, argument, told, **how):
    """Train one rung, let it predict documents that nobody has seen, and require its band."""
    text = torch.from_numpy(language.documents(3_000, WINDOW + 1, draw)).flatten()
    docs = language.documents(64, WINDOW + 1, draw)
    model = trained(student, name, argument, text, draw, **how)
    log_q = from_prefixes(model, docs, told)
    must_not_see(model, log_q, language, docs, told)
    within(
        bands, band, times_best(log_q, language, docs), f"{told}: its perplexity, as a multiple of the best possible"
    )


@check(
    points=2,
    exercise="train",
    hint="Does part 1 pass its checks? What has the mean of 32 tokens forgotten about the last one?",
    trains=True,
    timeout_s=60,
)
def test_mean_forgets_the_token_and_the_residual_brings_it_back(student, rng, bands):
    """On a language invented for you: the mean alone is far off, the mean and the token are where counted pairs are."""
    draw = own_draws(rng)
    language = SkipInduction(draw)
    climb(student, bands, language, draw, "mean", "mean", (False,), "the mean")
    climb(student, bands, language, draw, "mean_residual", "mean", (True,), "the mean and the token")


@check(
    points=3,
    exercise="train",
    hint="Does part 3 pass its checks? What can a head find that a mean cannot, and what does it lose?",
    trains=True,
    timeout_s=60,
)
def test_head_finds_what_counts_and_needs_the_token_beside_it(student, rng, bands):
    """A head in place of the token is better than the mean; added to the token it is much better again."""
    draw = own_draws(rng)
    language = SkipInduction(draw)
    climb(student, bands, language, draw, "head", "head", (False,), "a head in place of the token")
    climb(student, bands, language, draw, "head_residual", "head", (True,), "a head and the token")


@check(
    points=4,
    exercise="train",
    hint="Do parts 4 to 6 pass their checks? If so: does the rate reach the optimizer, and do gradients start anew?",
    trains=True,
    timeout_s=60,
)
def test_block_learns_the_language(student, rng, bands):
    """Your GPT with one block, trained by you: as good as right ones are, and not better than is possible."""
    draw = own_draws(rng)
    climb(student, bands, SkipInduction(draw), draw, "block", "gpt", (), "your GPT")


@check(
    points=3,
    exercise="train",
    hint="Do parts 2 and 3 pass? What becomes of a softmax whose scores spread by 16, and of its gradient?",
    trains=True,
    timeout_s=60,
)
def test_wide_head_collapses_without_the_division(student, rng, bands):
    """A head of 256 whose scores are divided learns; the same head without the division stays with counted pairs."""
    draw = own_draws(rng)
    language = SkipInduction(draw)
    for band, divided, told in (("wide", True, "a head of 256"), ("wide_undivided", False, "the same, not divided")):
        climb(student, bands, language, draw, band, "wide_head", (divided,), told, batch_size=16, lr=1e-2)


@check(
    points=2,
    exercise="train",
    hint="Whose perplexity is it, if the answer stands in the window that the model reads?",
    trains=True,
    timeout_s=60,
)
def test_model_without_a_mask_fools_every_loss(student, rng, bands):
    """Attention without a mask falls below what is possible, your own perplexity too; from prefixes it is useless."""
    draw = own_draws(rng)
    language = SkipInduction(draw)
    text = torch.from_numpy(language.documents(3_000, WINDOW + 1, draw)).flatten()
    docs = language.documents(64, WINDOW + 1, draw)
    model = trained(student, "open_head", (), text, draw, steps=150, lr=1e-2)
    log_q = from_prefixes(model, docs, "a model without a mask")
    told = "a model without a mask, from prefixes alone: its perplexity, as a multiple of the best possible"
    within(
        bands, "open_honest", times_best(log_q, language, docs), told, "It should have learned to rely on the answer."
    )
    stream = torch.from_numpy(docs).flatten()
    seen = number(student.perplexity(model, stream, WINDOW), what="the perplexity of a model without a mask")
    nats = []
    for begin in range(0, len(stream) - 1, WINDOW):
        end = min(begin + WINDOW, len(stream) - 1)
        logits = tensor(model(stream[None, begin:end]), shape=(1, end - begin, V), what="the logits without a mask")
        nats.append(F.cross_entropy(logits[0].double(), stream[begin + 1 : end + 1], reduction="none"))
    right = exp(torch.cat(nats).mean())
    agree(seen, right, atol=0.0, rtol=1e-3, what="your perplexity of a model without a mask")  # float32, other batches
    told = "a model without a mask, given whole windows: its perplexity, as a multiple of the best possible"
    within(
        bands, "open_seen", right / language.floor(docs), told, too_high="It has not found the answer in the window."
    )


@check(
    points=4,
    exercise="train",
    hint="Do parts 4 and 5 pass? What must the first layer write down so that the second can look for it?",
    trains=True,
    timeout_s=60,
)
def test_two_blocks_copy_and_one_cannot(student, rng, bands):
    """A segment of unknown length, over and over: two blocks say how it goes on, one block does not."""
    draw = own_draws(rng)
    language = Copy(V)
    text = torch.from_numpy(language.documents(800, 4 * WINDOW + 1, draw)[0]).flatten()
    docs, scored = language.documents(100, WINDOW + 1, draw)
    too_low = "It has not learned to copy."
    too_high = "One block should not be able to: is there more in it than one look back?"
    for n, band, told in ((2, "copy_two", "two blocks"), (1, "copy_one", "one block")):
        model = trained(student, "blocks", (n,), text, draw, steps=250, batch_size=16, lr=5e-3)
        said = from_prefixes(model, docs, told).argmax(dim=-1).numpy()
        share = float((said == docs[:, 1:])[scored[:, 1:]].mean())
        within(bands, band, share, f"{told}: the share of determined tokens that come out right", too_low, too_high)


@check(
    points=4,
    exercise="train",
    hint="Does part 5 pass? Which of the three kinds of positions has never met place 40?",
    trains=True,
    timeout_s=60,
)
def test_positions_beyond_the_trained_length(student, rng, bands):
    """Trained on 32 tokens, read 64: a learned table falls apart, rope gets worse, alibi holds."""
    draw = own_draws(rng)
    language = SkipInduction(draw)
    text = torch.from_numpy(language.documents(1_500, 2 * WINDOW + 1, draw)).flatten()
    docs = language.documents(40, 2 * WINDOW + 1, draw)
    for kind in ("learned", "rope", "alibi"):
        model = trained(student, "placed", (kind,), text, draw, steps=200)
        log_q = from_prefixes(model, docs, f"attention with positions={kind!r}")
        must_not_see(model, log_q, language, docs, f"attention with positions={kind!r}")
        short = times_best(log_q[:, :WINDOW], language, docs[:, : WINDOW + 1])
        within(bands, f"{kind}_short", short, f"positions={kind!r} at the trained length, over the best possible")
        surprise = -(torch.from_numpy(language.conditional(docs)) * log_q).sum(dim=-1)  # expected, at every place
        ratio = exp(surprise.mean() - surprise[:, :WINDOW].mean())
        told = f"positions={kind!r}: the perplexity of 64 tokens over that of 32"
        within(bands, f"{kind}_ratio", ratio, told, "It should suffer more.", "It should hold better.")
