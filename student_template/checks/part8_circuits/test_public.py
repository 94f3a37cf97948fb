"""The public suite of part 8: what a student runs while writing."""

import torch

from autograder.checks import agree, check, equal, expect, no_gradient, tensor

# Sizes that differ from each other, so that mixing up two of them cannot go unnoticed.
BATCH, T, VOCAB, BLOCK_SIZE, N_HEADS, D_MODEL = 3, 5, 11, 8, 4, 24
SIZES = {"vocab_size": VOCAB, "block_size": BLOCK_SIZE, "n_heads": N_HEADS, "d_model": D_MODEL}
DOUBLE = torch.float64

# The student's own GPT of part 6, with drawn weights and with attentions that remember what they received last; and a
# model whose answers are known.
MODELS = """
import torch
from part6_gpt import GPT, GPTConfig
from torch import nn


class Remembers:
    # Comes before the student's own class of attention, and changes nothing else of it.

    def forward(self, x, *args, **kwargs):
        self.received = x.detach().clone()
        return super().forward(x, *args, **kwargs)


def gpt(seed, **plan):
    model = GPT(GPTConfig(**plan)).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            drawn = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            if parameter.dim() == 2:
                parameter.copy_(drawn * parameter.shape[1] ** -0.5)
            else:
                parameter.add_(0.3 * drawn)
    for block in model.blocks:
        own = type(block.attention)
        block.attention.__class__ = type(own.__name__, (Remembers, own), {})
    return model


class Answers(nn.Module):
    # Gives each of the sentences that it was made with the scores that it was made with.

    def __init__(self, idx, scores):
        super().__init__()
        self.idx, self.scores = idx, nn.Parameter(scores)

    def forward(self, idx):
        known = (self.idx[:, : idx.shape[1]] == idx[:, None]).all(dim=-1)
        return self.scores[known.long().argmax(dim=1), : idx.shape[1]] + 0.0
"""


def received(model, idx, n_layers):
    """Run the model in eval mode and return what each block's attention received."""
    model.eval()
    model(idx)
    shape = (*idx.shape, D_MODEL)
    paths = [f"blocks.{index}.attention.received" for index in range(n_layers)]
    return [tensor(model.get(path), shape=shape, dtype=DOUBLE, what=path) for path in paths]


def listed(maps, n_layers):
    """Require a list with an entry for each block."""
    expect(
        isinstance(maps, list) and len(maps) == n_layers,
        f"attention_maps must return a list with {n_layers} entries, one for each block.",
        evidence=maps,
    )
    return maps


@check(
    points=4, exercise="attention_maps", hint="What does this block's attention receive, and through what did it go?"
)
def test_maps_are_of_what_attention_receives(student, rng):
    """For each block, the weights of its heads on what comes to its attention's door."""
    for norm, n_layers in (("pre", 3), ("post", 2), ("none", 2)):
        model = student.probe(MODELS, "gpt", seed=int(rng.integers(0, 2**31)), n_layers=n_layers, norm=norm, **SIZES)
        idx = rng.integers(0, VOCAB, BATCH, T)
        inputs = received(model, idx, n_layers)
        maps = listed(student.attention_maps(model, idx), n_layers)
        for index in range(n_layers):
            # Your own attention, so that a fault of part 5 costs nothing here.
            right = model.get(f"blocks.{index}.attention").attention_weights(inputs[index])
            what = f"block {index}'s map (norm={norm!r})"
            right = tensor(right, shape=(BATCH, N_HEADS, T, T), dtype=DOUBLE, what=f"attention_weights for {what}")
            agree(maps[index], right, atol=1e-9, what=what)  # float64: the same operations, rounded to 1e-15


@check(points=3, exercise="attention_maps", hint="In which mode did the model run, and in which mode is it now?")
def test_model_is_looked_at_in_eval_mode(student, rng):
    """The model is in train mode and has dropout: the maps are those of eval mode, and then the mode is as before."""
    model = student.probe(
        MODELS, "gpt", seed=int(rng.integers(0, 2**31)), n_layers=2, positions="rope", dropout=0.4, **SIZES
    )
    idx = rng.integers(0, VOCAB, BATCH, T)
    inputs = received(model, idx, 2)
    for training in (True, False):
        model.train(training)
        maps = listed(student.attention_maps(model, idx), 2)
        for index in range(2):
            right = model.get(f"blocks.{index}.attention").attention_weights(inputs[index])
            right = tensor(right, shape=(BATCH, N_HEADS, T, T), dtype=DOUBLE, what="attention_weights")
            mode = "train" if training else "eval"
            agree(maps[index], right, atol=1e-9, what=f"block {index}'s map ({mode} mode before)")  # as above
            no_gradient(maps[index], what=f"block {index}'s map")
        equal(model.get("training"), training, what="training, after attention_maps")


@check(points=2, exercise="attention_maps", hint="Which of the fifteen scores does the adjective take part in?")
def test_first_block_differs_through_one_column_only(student, rng):
    """Sentences that differ in one word: without that column the first block's last rows are one, the second's not."""
    sizes = {"vocab_size": 20, "block_size": 15, "n_heads": N_HEADS, "d_model": D_MODEL}
    model = student.probe(MODELS, "gpt", seed=int(rng.integers(0, 2**31)), n_layers=2, **sizes)
    model.eval()
    column = 11
    first = rng.integers(0, 20, 1, 15)
    second = first.clone()
    second[0, column] = (first[0, column] + 7) % 20
    rows = []
    for sentence in (first, second):  # each alone: a batch may be added up in another order
        maps = listed(student.attention_maps(model, sentence), 2)
        for index in range(2):
            shape = (1, N_HEADS, 15, 15)
            row = tensor(maps[index], shape=shape, dtype=DOUBLE, what=f"block {index}'s map")[0, :, -1]
            rest = torch.cat([row[:, :column], row[:, column + 1 :]], dim=-1)
            rows.append((row, rest / rest.sum(dim=-1, keepdim=True)))
    (before, rest_before), (_, second_before), (after, rest_after), (_, second_after) = rows
    # float64: the same numbers, divided by sums that differ.
    agree(rest_after, rest_before, atol=1e-9, what="the first block's last rows, without the column that differs")
    moved = (after - before).abs().max() > 1e-4
    expect(moved, "With that column the first block's rows differ: a different key is read.", evidence=after)
    moved = (second_after - second_before).abs().max() > 1e-5
    expect(moved, "The second block's rows differ in every column: it receives other vectors.", evidence=second_after)


@check(
    points=3,
    exercise="referent_accuracy",
    hint="Which of the model's scores are about the next word, and who competes?",
)
def test_accuracy_is_of_the_next_word_among_all(student, rng):
    """Five sentences, of which three go on with the right word: 0.6."""
    answers = torch.tensor([4, 7, 2, 7, 4])
    scores = rng.uniform(5, 6, 9)  # all below 1
    earlier = torch.tensor([[4, 2, 7, 4, 8], [7, 7, 4, 8, 2], [2, 2, 0, 2, 4], [7, 0, 7, 4, 7], [2, 4, 8, 4, 2]])
    for row in range(5):
        for column in range(5):
            scores[row, column, earlier[row, column]] = 2.0  # what it would say at earlier positions
    # After the last column: right, right, another word although the answer beats its rival, the rival, right.
    for row, (word, second) in enumerate([(4, 7), (7, 2), (0, 2), (4, 8), (4, 2)]):
        scores[row, 5, word], scores[row, 5, second] = 9.0 if row in (0, 4) else 3.0, 2.5
    scores[3, 5, 7] = -1.0  # here nothing is less likely than the answer
    words = [(4, 7, 5), (7, 2, 5), (2, 4, 5), (4, 7, 6), (2, 4, 6)]
    idx = torch.tensor([[1, noun, 3, other, adjective, 1] for noun, other, adjective in words])
    model = student.probe(MODELS, "Answers", idx, scores)
    # 3 / 5, which float32 holds to 3e-8.
    agree(student.referent_accuracy(model, idx, answers), 0.6, atol=1e-6, what="the accuracy")
    for training in (True, False):
        model.train(training)
        agree(student.referent_accuracy(model, idx, answers), 0.6, atol=1e-6, what="the accuracy")
        equal(model.get("training"), training, what="training, after referent_accuracy")


@check(
    points=2,
    exercise="previous_token_score",
    hint="In row t, where is the token before, and how many rows have one?",
)
def test_previous_token_score_of_known_maps(student, rng):
    """A head that reads the token before, a uniform one, one that reads itself, and one drawn by hand."""
    before = torch.diag(torch.ones(3), diagonal=-1)
    before[0, 0] = 1.0
    uniform = torch.tensor([[1, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [1 / 4, 1 / 4, 1 / 4, 1 / 4]])
    drawn = torch.tensor([[1.0, 0, 0, 0], [0.3, 0.7, 0, 0], [0.15, 0.6, 0.25, 0], [0.1, 0.2, 0.3, 0.4]])
    maps = torch.stack([before, uniform, torch.eye(4), drawn])
    right = torch.tensor([1.0, (1 / 2 + 1 / 3 + 1 / 4) / 3, 0.0, (0.3 + 0.6 + 0.3) / 3])
    got = student.previous_token_score(maps)
    agree(got, right, atol=1e-6, what="the scores of four maps")  # float32: a mean of three numbers
    agree(student.previous_token_score(drawn), right[3], atol=1e-6, what="the score of one map alone")


@check(
    points=3,
    exercise="induction_score",
    hint="In A B C D A B C D, at the second B: where is what comes next?",
)
def test_induction_score_of_known_maps(student, rng):
    """A head that reads what followed the last time, one that reads the same token, a uniform one, and one drawn."""
    length, period = 8, 4
    follows, same = torch.zeros(length, length), torch.zeros(length, length)
    for t in range(length):
        follows[t, t - 3 if t >= period else 0] = 1.0
        same[t, t - 4 if t >= period else 0] = 1.0
    uniform = torch.ones(length, length).tril()
    uniform = uniform / uniform.sum(dim=-1, keepdim=True)
    drawn = torch.zeros(length, length)
    for t, weight in ((3, 0.9), (4, 0.1), (5, 0.2), (6, 0.4), (7, 0.8)):
        drawn[t, t - 3], drawn[t, t] = weight, 1 - weight
    maps = torch.stack([follows, same, uniform, drawn])
    right = torch.tensor([1.0, 0.0, (1 / 5 + 1 / 6 + 1 / 7 + 1 / 8) / 4, (0.1 + 0.2 + 0.4 + 0.8) / 4])
    agree(student.induction_score(maps, period), right, atol=1e-6, what="the scores of four maps, period 4")  # float32
    # With 6 rows and a period of 5 there is one row to look at, row 5, and what followed is in column 1.
    right = torch.tensor([0.0, 1.0])
    agree(student.induction_score(maps[:2, :6, :6], 5), right, atol=1e-6, what="the scores of two maps, period 5")
