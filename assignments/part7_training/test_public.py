"""The public suite of part 7: what a student runs while writing."""

import math

import numpy as np
import torch

from autograder.checks import agree, check, equal, expect, number, tensor, tuple_of
from autograder.corpora import SkipInduction, bigram_perplexity, perplexity_of

# Sizes that differ from each other, so that mixing up two of them cannot go unnoticed.
BATCH, T, VOCAB, N_TOKENS = 3, 5, 11, 20
DOUBLE, LONG = torch.float64, torch.long

# Models of the suite's own, and something that can be told about each step.
MODELS = """
import torch
from torch import nn


class Table(nn.Module):
    # Row i holds the scores of what follows token i; notes how it was called.

    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(table.clone())
        self.modes, self.read = [], []

    def forward(self, idx):
        self.modes.append(self.training)
        self.read.append(idx.clone())
        return self.table[idx]


class Embedded(nn.Module):
    # A token's vector, and its scores: it knows the token that was just read, and nothing else.

    def __init__(self, vocab_size, width):
        super().__init__()
        self.tok_emb, self.lm_head = nn.Embedding(vocab_size, width), nn.Linear(width, vocab_size)

    def forward(self, idx):
        return self.lm_head(self.tok_emb(idx))


class Notes:
    # To be handed in as on_step: keeps what it is told, and how the weights are at that moment.

    def __init__(self, model):
        self.model, self.steps, self.losses, self.weights = model, [], [], []

    def __call__(self, step, loss):
        self.steps.append(int(step))
        self.losses.append(float(loss))
        self.weights.append([p.detach().clone() for p in self.model.parameters()])
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


def floats(got, length, what):
    """Require a list of that many finite Python floats and return it as a tensor."""
    right = isinstance(got, list) and len(got) == length and all(type(each) is float for each in got)
    expect(right, f"{what} must be a list of {length} Python floats.", evidence=got)
    return torch.tensor(got, dtype=DOUBLE)


def with_its_weights(fresh, model):
    """Put what was learned into a fresh model of the same kind: weights count, and nothing else that was changed."""
    fresh.load({name: tensor(model.get(name), shape=shape, what=name) for name, shape in model.shapes.items()})
    return fresh


@check(points=3, exercise="get_batch", hint="Which token follows the last one of a window?")
def test_y_is_x_one_token_later(student, rng):
    """Each row of x is a piece of the text, and y is the same piece one token later."""
    tokens = 100 + 3 * rng.permutation(N_TOKENS)  # all different, so that a token tells its place
    place_of = {int(token): place for place, token in enumerate(tokens)}
    x, y = batch_of(student, tokens, BATCH, T)
    for row in range(BATCH):
        expect(int(x[row, 0]) in place_of, "Every token of x must be one of the text.", evidence=x)
        start = place_of[int(x[row, 0])]
        equal(x[row], tokens[start : start + T], what=f"row {row} of x, which starts at token {start} of the text")
        equal(y[row], tokens[start + 1 : start + T + 1], what=f"row {row} of y, whose x starts at token {start}")


@check(points=2, exercise="get_batch", hint="How many windows of T + 1 tokens does a text of N tokens have?")
def test_every_start_that_fits_occurs(student, rng):
    """A text of 9 tokens has five windows of 4: all of them come up, and rows differ from each other."""
    tokens = torch.arange(9) + 20
    x, _ = batch_of(student, tokens, 400, 4)
    # Each start is missing from 400 rows with a chance of 0.8 ** 400, which is nothing.
    equal(sorted({int(first) - 20 for first in x[:, 0]}), [0, 1, 2, 3, 4], what="the places where windows start")
    # A text of T + 1 tokens has a single window.
    x, y = batch_of(student, tokens, BATCH, 8)
    equal(x, tokens[:8].expand(BATCH, 8), what="x, for a text with a single window")
    equal(y, tokens[1:].expand(BATCH, 8), what="y, for a text with a single window")


@check(points=2, exercise="perplexity", hint="What is -ln(1/V), and which function takes the logarithm away again?")
def test_model_without_an_opinion_has_a_perplexity_of_v(student, rng):
    """If every token is as likely as any other, the perplexity is V: 11, for a text of any length."""
    model = student.probe(MODELS, "Table", torch.zeros(VOCAB, VOCAB))
    for n_tokens in (2, 4, T + 1, 23):
        tokens = rng.integers(0, VOCAB, n_tokens)
        # Sums of a few float32 logarithms: rounded by less than 1e-6 of their size.
        what = f"the perplexity of {n_tokens} tokens in windows of {T}"
        agree(number(student.perplexity(model, tokens, T), what=what), 11.0, atol=1e-4, what=what)


@check(points=4, exercise="perplexity", hint="Over what do you average, and how often do you divide?")
def test_perplexity_is_worked_out_over_all_tokens(student, rng):
    """Chances of 1/2 and 1/8, in windows of unequal surprise: 2 to the power of the mean exponent."""
    # Token 0 is followed by itself with 1/2, token 1 by itself with 1/8; the others share what is left.
    table = torch.full((9, 9), 1 / 16)
    table[0, 0], table[1, 1] = 1 / 2, 1 / 8
    table[1, [0, 2, 3, 4, 5, 6, 7, 8]] = 7 / 64
    table[2:] = 1 / 9
    model = student.probe(MODELS, "Table", table.log())
    calm, rough = torch.zeros(6, dtype=LONG), torch.ones(4, dtype=LONG)
    # 0 0 0 0 0 0: five halves. 0 -> 1 has 1/16 = 2 ** -4. 1 1 1 1: three eighths.
    exponents = 5 * 1 + 4 + 3 * 3
    for batch_size in (1, 2, 64):
        what = f"the perplexity with batch_size={batch_size}"
        got = number(student.perplexity(model, torch.cat([calm, rough]), 4, batch_size=batch_size), what=what)
        agree(got, 2 ** (exponents / 9), atol=1e-4, what=what)  # float32 rounding, as above


@check(points=2, exercise="perplexity", hint="Which mode did the model have before you came?")
def test_perplexity_judges_in_eval_mode_and_gives_the_mode_back(student, rng):
    """The model is in eval mode for every window, and afterwards as it was, whichever that is."""
    for training in (True, False):
        model = student.probe(MODELS, "Table", rng.normal(VOCAB, VOCAB))
        model.train(training)
        number(student.perplexity(model, rng.integers(0, VOCAB, 18), T, batch_size=2), what="the perplexity")
        modes = model.get("modes")
        judged = isinstance(modes, list) and bool(modes) and True not in modes
        expect(judged, "The model must be in eval mode whenever it is asked.", evidence=modes)
        equal(model.get("training"), training, what=f"training, which was {training} before")


@check(points=2, exercise="warmup_lr", hint="How large is the very first step, and which step is the first whole one?")
def test_rate_grows_in_a_straight_line(student, rng):
    """Ten steps of warm-up to 0.1: 0.01, 0.02, ..., 0.1, and 0.1 from then on; without warm-up 0.1 at once."""
    for step, right in ((0, 0.01), (1, 0.02), (4, 0.05), (8, 0.09), (9, 0.1), (10, 0.1), (500, 0.1)):
        # A product and a quotient of Python floats: rounded at 1e-17.
        agree(student.warmup_lr(step, 0.1, 10), right, atol=1e-12, what=f"the rate of step {step}")
    for step in (0, 3):
        agree(student.warmup_lr(step, 0.1, 0), 0.1, atol=1e-12, what=f"the rate of step {step} without warm-up")


@check(points=3, exercise="train", hint="Which loss belongs to a step: the one before its update, or after?")
def test_losses_are_floats_from_before_each_update(student, rng):
    """A list of one float for each step; the first is ln V, since before the first update the model knows nothing."""
    model = student.probe(MODELS, "Table", torch.zeros(VOCAB, VOCAB))
    # 0 1 2 ... 10 0 1 2 ...: what follows is always the same, so every step must help.
    tokens = torch.arange(60) % VOCAB
    losses = floats(student.train(model, tokens, 6, 4, T, 0.1), 6, "what train returns")
    # The logarithm of a sum of eleven float32 numbers.
    agree(losses[0], torch.tensor(math.log(11), dtype=DOUBLE), atol=1e-5, what="the first loss (ln 11)")
    falling = bool((losses[1:] < losses[:-1]).all())
    expect(falling, "On a text that a table can learn, each step must have a smaller loss.", evidence=losses)


@check(points=4, exercise="train", hint="When is the rate of a step needed, and when must on_step be told?")
def test_first_step_moves_every_weight_by_its_rate(student, rng):
    """AdamW's first update moves each weight that has a gradient by the rate of step 0, and on_step sees it done."""
    tokens = rng.permutation(VOCAB).repeat(3)  # every token is read, so every weight has a gradient
    for warmup_steps, rate in ((0, 0.1), (4, 0.025)):
        model = student.probe(MODELS, "Table", torch.zeros(VOCAB, VOCAB, dtype=DOUBLE))
        notes = student.probe(MODELS, "Notes", model)
        block_size = len(tokens) - 1  # a single window
        student.train(model, tokens, 2, 2, block_size, 0.1, warmup_steps=warmup_steps, on_step=notes)
        equal(notes.get("steps"), [0, 1], what="the steps that on_step was told")
        moved = tensor(notes.get("weights.0.0"), shape=(VOCAB, VOCAB), dtype=DOUBLE, what="the weights after step 0")
        # From weights of 0 nothing decays; AdamW's epsilon of 1e-8 takes less than 1e-6 of the step here.
        right = torch.full((VOCAB, VOCAB), rate, dtype=DOUBLE)
        agree(moved.abs(), right, atol=1e-6, what=f"how far step 0 moved each weight, with warmup_steps={warmup_steps}")


@check(points=2, exercise="train", hint="In which mode does a model learn, and whose mode is it afterwards?")
def test_model_learns_in_train_mode_and_gets_its_mode_back(student, rng):
    """Train mode at every step, even if the model came in eval mode; afterwards it is as it came."""
    for training in (True, False):
        model = student.probe(MODELS, "Table", rng.normal(VOCAB, VOCAB))
        model.train(training)
        floats(student.train(model, rng.integers(0, VOCAB, 30), 3, 2, T, 0.01), 3, "what train returns")
        modes = model.get("modes")
        learned = isinstance(modes, list) and bool(modes) and False not in modes
        expect(learned, "The model must be in train mode at every step.", evidence=modes)
        equal(model.get("training"), training, what=f"training, which was {training} before")


@check(
    points=4,
    exercise="train",
    hint="Do the public checks of get_batch pass? What would make the rare answers more likely?",
    trains=True,
    timeout_s=60,
)
def test_table_learns_what_counting_knows(student, rng):
    """Trained by you, a model that sees one token comes as close to the language as counted pairs do."""
    draw = np.random.default_rng(int(rng.integers(0, 2**31)))
    language = SkipInduction(draw)
    read, held_out = language.documents(2_000, 33, draw), language.documents(300, 33, draw)
    model, fresh = (student.probe(MODELS, "Embedded", vocab_size=32, width=64) for _ in range(2))
    student.train(model, torch.from_numpy(read).flatten(), 300, 32, 32, 3e-3, warmup_steps=20)
    model = with_its_weights(fresh, model)
    logits = tensor(model(torch.from_numpy(held_out[:, :-1])), shape=(300, 32, 32), what="the logits")
    reached = perplexity_of(logits.numpy(), held_out[:, 1:])
    # Pairs counted in the very text that is judged, and not smoothed, are better than any table can be on it.
    best = bigram_perplexity(held_out, held_out, 32, smoothing=1e-9)
    counted = language.bigram_perplexity(read, held_out)
    shown = f"Your training reached a perplexity of {reached:.2f}; pairs counted in the text give {counted:.2f}."
    expect(reached > best - 1e-3, f"{shown} No model of one token can do better than {best:.2f}.", evidence=reached)
    expect(reached < 1.1 * counted, f"{shown} A tenth above that is allowed.", evidence=reached)


@check(
    points=4,
    exercise="train",
    hint="Do parts 4 to 6 pass their own checks? What do x and y look like, side by side?",
    trains=True,
    timeout_s=60,
)
def test_your_gpt_learns_to_look_back(student, rng):
    """One block of your GPT, trained by you, does better than counted pairs, and not better than is possible."""
    draw = np.random.default_rng(int(rng.integers(0, 2**31)))
    language = SkipInduction(draw)
    read, held_out = language.documents(2_000, 33, draw), language.documents(300, 33, draw)
    plan = {"vocab_size": 32, "block_size": 32, "n_layers": 1, "n_heads": 4, "d_model": 64}
    model, fresh = (student.probe(GPT_OF, "build", **plan) for _ in range(2))
    student.train(model, torch.from_numpy(read).flatten(), 200, 32, 32, 3e-3, warmup_steps=20)
    model = with_its_weights(fresh, model)
    logits = tensor(model(torch.from_numpy(held_out[:, :-1])), shape=(300, 32, 32), what="the logits")
    reached = perplexity_of(logits.numpy(), held_out[:, 1:])
    counted, floor = language.bigram_perplexity(read, held_out), language.floor(held_out)
    shown = f"Your GPT reached a perplexity of {reached:.2f}; counted pairs give {counted:.2f}."
    leak = f"{shown} This language cannot be predicted better than {floor:.2f}: your model sees the answer."
    expect(reached > floor, leak, evidence=reached)
    expect(reached < 0.8 * counted, f"{shown} With one look back it must be well below that.", evidence=reached)
