"""The hidden suite of part 8: every variant of the maps in float64, drawn answers and maps, two small trainings."""

import math

import numpy as np
import torch

from autograder.checks import agree, check, equal, expect, no_gradient, tensor
from autograder.corpora import Referent

BATCH, T, VOCAB, BLOCK_SIZE, N_HEADS, D_MODEL = 3, 5, 11, 8, 4, 24
SIZES = {"vocab_size": VOCAB, "block_size": BLOCK_SIZE, "n_heads": N_HEADS, "d_model": D_MODEL}
POSITIONS, NORMS = ("learned", "none", "sinusoidal", "rope", "alibi"), ("pre", "post", "none")
DOUBLE = torch.float64
ADJECTIVE, ASKED = Referent.adjective_at, Referent.asked_at

# The student's own GPT of part 6, with drawn weights and with attentions that remember what they received last; a model
# whose answers are known; and two trainings, of which nothing but the model is used.
MODELS = """
import torch
from part6_gpt import GPT, GPTConfig
from torch import nn


class Remembers:
    # Comes before the student's own class of attention, and changes nothing else of it.

    def forward(self, x, *args, **kwargs):
        self.received = x.detach().clone()
        return super().forward(x, *args, **kwargs)


def remembering(model):
    for block in model.blocks:
        own = type(block.attention)
        block.attention.__class__ = type(own.__name__, (Remembers, own), {})
    return model


def drawn(model, seed, vectors=0.3):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            numbers = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            if parameter.dim() == 2:
                parameter.copy_(numbers * parameter.shape[1] ** -0.5)
            else:
                parameter.add_(vectors * numbers)
    return model


def gpt(seed, **plan):
    return remembering(drawn(GPT(GPTConfig(**plan)).double(), seed))


def belongings(model):
    # All that hangs on the model beside what the attentions remember.
    hooks = sum(len(each._forward_pre_hooks) + len(each._forward_hooks) for each in model.modules())
    gradients = sum(parameter.grad is not None for parameter in model.parameters())
    frozen = sum(not parameter.requires_grad for parameter in model.parameters())
    return [hooks, gradients, frozen]


class Answers(nn.Module):
    # Gives each of the sentences that it was made with the scores that it was made with.

    def __init__(self, idx, scores):
        super().__init__()
        self.idx, self.scores = idx, nn.Parameter(scores)

    def forward(self, idx):
        known = (self.idx[:, : idx.shape[1]] == idx[:, None]).all(dim=-1)
        return self.scores[known.long().argmax(dim=1), : idx.shape[1]] + 0.0


def train(model, idx, answers, steps, lr, seed, enough=0.0):
    # AdamW with a short warm-up, on what follows the last column. When the answer is found depends on the seed: once
    # the loss has been below `enough` for some steps, a hundred small ones end the training; else `steps` do.
    torch.manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    recent, rate, end = 10.0, lr, steps
    step = 0
    while step < end:
        optimizer.param_groups[0]["lr"] = rate * min(1, (step + 1) / 30)
        rows = torch.randint(len(idx), (32,))
        loss = nn.functional.cross_entropy(model(idx[rows])[:, -1], answers[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent += 0.1 * (loss.item() - recent)
        step += 1
        if recent < enough and rate == lr:
            rate, end = lr / 10, min(step + 100, steps)
    model.eval()
    return model


def trained_gpt(idx, answers, seed, **plan):
    model = drawn(GPT(GPTConfig(**plan, tie_weights=False)), seed, vectors=0.0)
    return train(model, idx, answers, 900, 1e-2, seed, enough=0.02)


def trained_mean(idx, answers, seed, vocab_size):
    from part1_average import MeanLM

    return train(MeanLM(vocab_size, 32, idx.shape[1], residual=True), idx, answers, 1500, 2e-2, seed)
"""


def received(model, idx, n_layers, d_model=D_MODEL, dtype=DOUBLE):
    """Run the model in eval mode and return what each block's attention received."""
    model.eval()
    model(idx)
    shape = (*idx.shape, d_model)
    paths = [f"blocks.{index}.attention.received" for index in range(n_layers)]
    return [tensor(model.get(path), shape=shape, dtype=dtype, what=path) for path in paths]


def listed(maps, n_layers):
    """Require a list with an entry for each block."""
    expect(
        isinstance(maps, list) and len(maps) == n_layers,
        f"attention_maps must return a list with {n_layers} entries, one for each block.",
        evidence=maps,
    )
    return maps


def rotate(x):
    """Turn neighbouring columns by the angle of their place, as products of complex numbers."""
    speeds = 10_000.0 ** (-torch.arange(0, x.shape[-1], 2, dtype=DOUBLE) / x.shape[-1])
    turns = torch.arange(x.shape[-2], dtype=DOUBLE)[:, None] * speeds
    turns = torch.polar(torch.ones((), dtype=DOUBLE), turns)
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * turns).flatten(-2)


def scores_of(model, index, x, n_heads, positions="none"):
    """Compute the scores of one attention in float64 from its q and k and from what it received."""
    name, d = f"blocks.{index}.attention", x.shape[-1]
    sides = []
    for side in ("q", "k"):
        weight, bias = model.get(f"{name}.{side}.weight"), model.get(f"{name}.{side}.bias")
        weight = tensor(weight, shape=(d, d), dtype=x.dtype, what=f"{name}.{side}.weight").double()
        bias = tensor(bias, shape=(d,), dtype=x.dtype, what=f"{name}.{side}.bias").double()
        sides.append((x.double() @ weight.T + bias).unflatten(-1, (n_heads, -1)).transpose(1, 2))
    q, k = (rotate(side) for side in sides) if positions == "rope" else sides
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if positions == "alibi":  # the suites use powers of two
        steps = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])
        slopes = 2.0 ** (-8.0 * torch.arange(1, n_heads + 1, dtype=DOUBLE) / n_heads)
        scores = scores - slopes[:, None, None] * steps
    return scores


def causal(scores):
    """Turn scores into the weights of a head that reads backwards."""
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(diagonal=1)
    return scores.masked_fill(future, -math.inf).softmax(dim=-1)


def numpy_rng(rng):
    """Make the generator that languages are drawn from."""
    return np.random.default_rng(int(rng.integers(0, 2**31)))


def questions_of(sentences):
    """Turn the corpus's sentences into tensors: questions and answers."""
    return torch.from_numpy(sentences.questions).contiguous(), torch.from_numpy(sentences.answers)


def asked(student, model, sentences, vocab_size):
    """Ask a trained model, by its logits and by the student's function; return the shares of the two nouns."""
    (questions, answers), others = questions_of(sentences), torch.from_numpy(sentences.others)
    logits = tensor(model(questions), shape=(*questions.shape, vocab_size), what="the model's logits")
    chosen = logits[:, -1].argmax(dim=-1)
    right, wrong = ((chosen == nouns).double().mean().item() for nouns in (answers, others))
    # A share of some hundred sentences, which float32 holds to 6e-8.
    agree(student.referent_accuracy(model, questions, answers), right, atol=1e-6, what="referent_accuracy")
    return right, wrong


def is_written(student):
    """Call referent_accuracy once: where it is not written yet, nothing is trained."""
    idx = torch.tensor([[0, 1, 2]])
    student.referent_accuracy(student.probe(MODELS, "Answers", idx, torch.eye(3)[None]), idx, torch.tensor([2]))


def within(value, band, what):
    """Require that a training came out as it does for right work."""
    low, high = band
    expect(low <= value <= high, f"{what}: {value:.3f}, where {low:.3f} to {high:.3f} is due.", evidence=value)


@check(
    points=3, exercise="attention_maps", hint="Which of your lines depends on the norm, or on the kind of positions?"
)
def test_maps_are_exact_for_every_variant(student, rng):
    """Three norms, five kinds of positions: the softmax of q and k of what was received, in float64."""
    for number, positions in enumerate(POSITIONS):
        norm, n_layers = NORMS[number % 3], 2 + number % 2
        seed = int(rng.integers(0, 2**31))
        plan = SIZES | {"n_layers": n_layers, "norm": norm, "positions": positions}
        model = student.probe(MODELS, "gpt", seed=seed, **plan)
        idx = rng.integers(0, VOCAB, BATCH, T)
        inputs = received(model, idx, n_layers)
        maps = listed(student.attention_maps(model, idx), n_layers)
        # The angles of rope may be float32, good to 1e-6; everything else is float64, good to 1e-14.
        atol = 1e-5 if positions == "rope" else 1e-9
        for index in range(n_layers):
            right = causal(scores_of(model, index, inputs[index], N_HEADS, positions))
            what = f"block {index}'s map (norm={norm!r}, positions={positions!r})"
            agree(maps[index], right, atol=atol, what=what)


@check(points=2, exercise="attention_maps", hint="For which sizes does your function assume something?")
def test_maps_of_every_size(student, rng):
    """One token, one head, one block, five blocks, a full context and more than that: every list and shape is right."""
    cases = [
        ({"n_layers": 1, "n_heads": 1}, 1, 1),
        ({"n_layers": 5, "n_heads": 6}, 2, BLOCK_SIZE),
        ({"n_layers": 2, "n_heads": 2, "positions": "alibi", "norm": "post"}, 4, 13),
        ({"n_layers": 3, "n_heads": 3, "positions": "none", "norm": "none"}, 1, 9),
    ]
    for changes, batch, length in cases:
        plan = SIZES | {"positions": "learned"} | changes
        n_layers, n_heads = plan["n_layers"], plan["n_heads"]
        model = student.probe(MODELS, "gpt", seed=int(rng.integers(0, 2**31)), **plan)
        idx = rng.integers(0, VOCAB, batch, length)
        inputs = received(model, idx, n_layers)
        maps = listed(student.attention_maps(model, idx), n_layers)
        for index in range(n_layers):
            right = causal(scores_of(model, index, inputs[index], n_heads, plan["positions"]))
            shown = ", ".join(f"{name}={value!r}" for name, value in changes.items())
            what = f"block {index}'s map for B = {batch}, T = {length} ({shown})"
            agree(maps[index], right, atol=1e-9, what=what)  # float64, good to 1e-14


@check(
    points=2, exercise="attention_maps", hint="What did you hang onto the model, and what was its mode before you came?"
)
def test_model_is_left_as_it_was(student, rng):
    """Maps come without gradients, are the same twice, and nothing of the model has changed or hangs on it."""
    plan = SIZES | {"n_layers": 2, "dropout": 0.3}
    model = student.probe(MODELS, "gpt", seed=int(rng.integers(0, 2**31)), **plan)
    idx, other = rng.integers(0, VOCAB, BATCH, T), rng.integers(0, VOCAB, 2, BLOCK_SIZE)
    model.eval()
    before = tensor(model(idx), shape=(BATCH, T, VOCAB), dtype=DOUBLE, what="the logits")
    weights = {name: model.get(name) for name in model.shapes}
    hung = student.probe(MODELS, "belongings", model)
    for training in (True, False, True):
        model.train(training)
        first = listed(student.attention_maps(model, idx), 2)
        equal(model.get("training"), training, what="training, after attention_maps")
        equal(model.get("blocks.0.training"), training, what="training of the first block, after attention_maps")
        for index in range(2):
            no_gradient(first[index], what=f"block {index}'s map")
        listed(student.attention_maps(model, other), 2)
        again = listed(student.attention_maps(model, idx), 2)
        for index in range(2):
            equal(again[index], first[index], what=f"block {index}'s map, asked for a second time")
    after = student.probe(MODELS, "belongings", model)
    equal(after, hung, what="the hooks, gradients and frozen parameters of the model")
    for name, weight in weights.items():
        equal(model.get(name), weight, what=f"{name}, after attention_maps")
    model.eval()
    agree(model(idx), before, atol=1e-12, what="the logits, after attention_maps")  # the same operations, in float64


@check(
    points=1,
    exercise="attention_maps",
    hint="Which tensors of your own do you make, of which type and on which device?",
)
def test_maps_have_the_models_type_and_device(student, rng):
    """In half precision the maps are near the truth and of that type; on another device they stay there."""
    model = student.probe(MODELS, "gpt", seed=int(rng.integers(0, 2**31)), n_layers=2, **SIZES)
    idx = rng.integers(0, VOCAB, 2, T)
    inputs = received(model, idx, 2)
    exact = [causal(scores_of(model, index, inputs[index], N_HEADS)) for index in range(2)]
    for dtype, atol in ((torch.float32, 1e-4), (torch.bfloat16, 0.3)):
        model.to(dtype)
        maps = listed(student.attention_maps(model, idx), 2)
        for index in range(2):
            # Scores are about 3; float32 keeps 1e-7 of them, bfloat16 4e-3, and two blocks add up their roundings.
            agree(maps[index], exact[index].to(dtype), atol=atol, what=f"block {index}'s map in {dtype}")
    model.to("meta")  # a device that has shapes and no numbers
    nowhere = torch.zeros(2, T, dtype=torch.long, device="meta")
    if model.ask((nowhere,), {}).error is None:  # something in the model looks at numbers: then this says nothing
        maps = listed(student.attention_maps(model, nowhere), 2)
        expected = torch.empty(2, N_HEADS, T, T, dtype=torch.bfloat16, device="meta")
        for index in range(2):
            agree(maps[index], expected, atol=0.0, what=f"block {index}'s map on another device")


@check(
    points=3,
    exercise="attention_maps",
    hint="Which vectors does the first block's attention see, and which the second's?",
)
def test_twin_sentences_have_the_same_first_scores(student, rng):
    """One word apart: the first block's scores at the last position agree in all other columns, the second's do not."""
    language = Referent(rng=numpy_rng(rng))
    pairs = language.split(numpy_rng(rng))[1][:3]
    twins = language.twins(pairs, numpy_rng(rng))
    plan = SIZES | {"vocab_size": language.vocab_size, "block_size": language.length, "n_layers": 2}
    model = student.probe(MODELS, "gpt", seed=int(rng.integers(0, 2**31)), **plan)
    others = [column for column in range(ASKED + 1) if column != ADJECTIVE]
    for number in range(len(pairs)):
        rows = []
        for each in twins:  # each alone: a batch may be added up in another order
            idx = questions_of(each)[0][number : number + 1]
            inputs = received(model, idx, 2)
            maps = listed(student.attention_maps(model, idx), 2)
            scores = [scores_of(model, index, inputs[index], N_HEADS)[0, :, -1] for index in range(2)]
            for index in range(2):
                shape = (1, N_HEADS, ASKED + 1, ASKED + 1)
                got = tensor(maps[index], shape=shape, dtype=DOUBLE, what=f"block {index}'s map")[0, :, -1]
                # float64: the softmax of the last position's scores, which sees every column.
                agree(got, scores[index].softmax(dim=-1), atol=1e-9, what=f"block {index}'s last row")
            rows.append(scores)
        (tired, wet), what = rows, "scores at the last position, in every column but the adjective's"
        agree(wet[0][:, others], tired[0][:, others], atol=1e-6, what=f"the first block's {what}")  # as promised
        moved = (wet[1] - tired[1])[:, others].abs().amax(dim=0).min() > 1e-6
        expect(moved, f"The second block's {what}, must differ.", evidence=wet[1])


@check(points=3, exercise="referent_accuracy", hint="Does your answer change with words that are not in the sentence?")
def test_accuracy_of_drawn_answers(student, rng):
    """Numbers of sentences and of words, any share of right answers: k right ones of N are k / N."""
    for n, length, vocab_size, k in (
        (500, 15, 5, 290),
        (97, 15, 40, 61),
        (1, 1, 6, 1),
        (64, 6, 30, 0),
        (33, 9, 21, 33),
    ):
        scores = rng.normal(n, length, vocab_size, std=2.0) - 5.0
        idx, answers = rng.integers(0, vocab_size, n, length), rng.integers(0, vocab_size, n)
        wrong = (answers + rng.integers(1, vocab_size, n)) % vocab_size
        order = torch.argsort(rng.uniform(n))
        chosen = torch.where(order < k, answers, wrong)
        rows = torch.arange(n)
        scores[rows, -1, answers] = scores[:, -1].amax(dim=-1) + 0.5  # second where another word wins
        scores[rows, -1, chosen] = scores[:, -1].amax(dim=-1) + 0.5
        model = student.probe(MODELS, "Answers", idx, scores)
        # k / N, which float32 holds to 6e-8.
        what = f"the accuracy with {k} of {n} right, V = {vocab_size}"
        agree(student.referent_accuracy(model, idx, answers), k / n, atol=1e-6, what=what)


@check(
    points=2, exercise="referent_accuracy", hint="What was the model's mode before, and what do its scores have to be?"
)
def test_accuracy_leaves_the_model_alone(student, rng):
    """Both modes come back as they were; scores below 0, large ones, and in half precision, are scores all the same."""
    n, vocab_size = 12, 17
    answers = rng.integers(0, vocab_size, n)
    scores = rng.normal(n, 3, vocab_size)
    winners = torch.where(torch.arange(n) % 4 == 1, answers, (answers + 5) % vocab_size)
    scores[torch.arange(n), -1, winners] = 9.0
    idx = torch.stack([torch.arange(n), *rng.integers(0, vocab_size, 2, n)], dim=1)
    for dtype, shift in ((torch.float32, -1000.0), (DOUBLE, 500.0), (torch.bfloat16, 0.0)):
        model = student.probe(MODELS, "Answers", idx, (scores + shift).to(dtype))
        for training in (True, False):
            model.train(training)
            got = student.referent_accuracy(model, idx, answers)
            # A quarter is exact in every type.
            agree(got, 0.25, atol=1e-6, what=f"the accuracy with scores in {dtype}, shifted by {shift}")
            equal(model.get("training"), training, what="training, after referent_accuracy")


@check(
    points=2, exercise="previous_token_score", hint="Which axes are the map's, and which row has no token before it?"
)
def test_previous_token_score_of_drawn_maps(student, rng):
    """Any leading axes and any T, causal or not: the mean over t from 1 of the weight on t - 1."""
    for shape in ((7, 7), (BATCH, N_HEADS, 5, 5), (N_HEADS, 9, 9), (2, 3, 4, 6, 6), (2, 2, 2)):
        weights = rng.uniform(*shape, dtype=DOUBLE)
        n = shape[-1]
        right = sum(weights[..., t, t - 1] for t in range(1, n)) / (n - 1)
        agree(student.previous_token_score(weights), right, atol=1e-12, what=f"the score of maps {shape}")  # float64
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        # A mean of numbers below 1 in that type: one rounding of each number, and some of the sum.
        got = student.previous_token_score(weights.to(dtype))
        agree(got, right.to(dtype), atol=0.02 if dtype.itemsize == 2 else 1e-6, what=f"the score in {dtype}")
    nowhere = torch.empty(2, 3, 5, 5, device="meta")
    agree(student.previous_token_score(nowhere), torch.empty(2, 3, device="meta"), atol=0.0, what="on another device")


@check(points=3, exercise="induction_score", hint="Which is the first row that has a last occurrence?")
def test_induction_score_of_drawn_maps(student, rng):
    """Every period from 1 to T - 1, any leading axes: the mean over t from period of the weight on t - period + 1."""
    for shape in ((7, 7), (BATCH, N_HEADS, 5, 5), (N_HEADS, 9, 9), (2, 3, 4, 6, 6)):
        weights = rng.uniform(*shape, dtype=DOUBLE)
        n = shape[-1]
        for period in range(1, n):
            right = sum(weights[..., t, t - period + 1] for t in range(period, n)) / (n - period)
            what = f"the score of maps {shape} with period {period}"
            agree(student.induction_score(weights, period), right, atol=1e-12, what=what)  # float64
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        # A mean of numbers below 1 in that type: one rounding of each number, and some of the sum.
        got = student.induction_score(weights.to(dtype), n - 1)
        agree(got, right.to(dtype), atol=0.02 if dtype.itemsize == 2 else 1e-6, what=f"the score in {dtype}")
    nowhere = torch.empty(2, 3, 5, 5, device="meta")
    agree(student.induction_score(nowhere, 2), torch.empty(2, 3, device="meta"), atol=0.0, what="on another device")


@check(
    points=4,
    exercise="referent_accuracy",
    hint="Two blocks can do this. Do parts 3 to 6 pass their own checks? Is the share that you report the true one?",
    timeout_s=60,
    trains=True,
)
def test_two_blocks_find_the_referent(student, rng, bands):
    """A GPT of two blocks, trained on the fair language, is right on pairs that it never saw."""
    is_written(student)
    language = Referent(rng=numpy_rng(rng))  # the words' numbers are drawn, so that nobody can know them
    trained, held_out = language.split(numpy_rng(rng))
    plan = {
        "vocab_size": language.vocab_size,
        "block_size": language.length,
        "n_layers": 2,
        "n_heads": 4,
        "d_model": 32,
    }
    seed = int(rng.integers(0, 2**31))
    model = student.probe(MODELS, "trained_gpt", *questions_of(language.sentences(trained)), seed=seed, **plan)
    sentences = language.sentences(held_out)
    whole = torch.from_numpy(sentences.idx)
    changed = whole.clone()
    changed[:, ASKED + 1 :] = rng.integers(0, language.vocab_size, *changed[:, ASKED + 1 :].shape)
    shape = (*whole.shape, language.vocab_size)
    one, two = (
        tensor(model(each), shape=shape, what="the model's logits")[:, : ASKED + 1] for each in (whole, changed)
    )
    # float32 logits of about 10, the same sums: what comes after the question must not be read.
    agree(two, one, atol=1e-4, what="the logits up to the question, when what comes after it changes")
    right, _ = asked(student, model, sentences, language.vocab_size)
    within(right, bands["referent_two_blocks"], "the share of held-out sentences on which two blocks are right")


@check(
    points=2,
    exercise="referent_accuracy",
    hint="The mean cannot tell two orders apart. If it seems to be good at this: who counted, and what was compared?",
    timeout_s=60,
    trains=True,
)
def test_mean_passes_the_leaky_test_only(student, rng, bands):
    """The mean of part 1 finds animals among places, and names the wrong noun where any noun may stand anywhere."""
    is_written(student)
    for leaky, band in ((True, bands["mean_leaky"]), (False, bands["mean_fair"])):
        language = Referent(leaky=leaky, rng=numpy_rng(rng))
        trained, held_out = language.split(numpy_rng(rng))
        seed, examples = int(rng.integers(0, 2**31)), questions_of(language.sentences(trained))
        model = student.probe(MODELS, "trained_mean", *examples, seed=seed, vocab_size=language.vocab_size)
        right, wrong = asked(student, model, language.sentences(held_out), language.vocab_size)
        name = "leaky" if leaky else "fair"
        within(right, band, f"the share of held-out sentences of the {name} language on which the mean is right")
        if not leaky:
            within(wrong, bands["mean_fair_wrong"], "the share on which the mean names the wrong noun of the pair")
