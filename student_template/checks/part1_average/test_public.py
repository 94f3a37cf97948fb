"""What you can test yourself in part 1: small cases whose answer you can work out by hand."""

import math

import torch

from autograder.checks import agree, check, equal, expect, raises_value_error, tensor

ROUNDING = 1e-5  # float32 holds about seven digits, and the numbers averaged here go up to 90


@check(points=2, exercise="prefix_mean_loop", hint="Row t averages t + 1 rows: is its own row among them?")
def test_prefix_mean_loop_averages_each_prefix(student, rng):
    """Row t of prefix_mean_loop is the mean of rows 0 to t."""
    x = torch.tensor([[2.0, 10.0], [4.0, 30.0], [0.0, -10.0], [6.0, 30.0]])
    expected = torch.tensor([[2.0, 10.0], [3.0, 20.0], [2.0, 10.0], [3.0, 15.0]])
    agree(student.prefix_mean_loop(x), expected, atol=ROUNDING, what="the means of the prefixes of one sequence")
    batch = torch.stack([x, -2 * x, x + 1])  # three sequences of four rows
    expected = torch.stack([expected, -2 * expected, expected + 1])
    agree(student.prefix_mean_loop(batch), expected, atol=ROUNDING, what="the means of the prefixes of three sequences")


@check(points=1, exercise="averaging_matrix", hint="Who spends the unit, the row or the column?")
def test_averaging_matrix_gives_each_reader_one_unit(student, rng):
    """Row t of averaging_matrix divides one unit evenly among columns 0 to t."""
    expected = torch.tensor(
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.5, 0.5, 0.0, 0.0],
            [0.3333333, 0.3333333, 0.3333333, 0.0],
            [0.25, 0.25, 0.25, 0.25],
        ]
    )
    # a third is written above with seven digits
    agree(student.averaging_matrix(4), expected, atol=1e-6, what="the table for T = 4", picture=True)


@check(points=2, exercise="prefix_mean_matmul", hint="Which axis is summed over when the table stands on the left?")
def test_prefix_mean_matmul_averages_each_sequence_alone(student, rng):
    """prefix_mean_matmul averages over time, within each sequence of a batch."""
    first = torch.tensor([[2.0, 10.0], [4.0, 30.0], [0.0, -10.0]])
    means = torch.tensor([[2.0, 10.0], [3.0, 20.0], [2.0, 10.0]])
    x = torch.stack([first, -2 * first, first + 1, 3 * first])  # (4, 3, 2)
    expected = torch.stack([means, -2 * means, means + 1, 3 * means])
    agree(student.prefix_mean_matmul(x), expected, atol=ROUNDING, what="the means of the prefixes")


@check(points=1, exercise="causal_mask", hint="Row = who reads, column = what is read, True = may.")
def test_causal_mask_hides_the_future(student, rng):
    """causal_mask lets each position read itself and what came before."""
    yes, no = True, False
    expected = torch.tensor([[yes, no, no, no], [yes, yes, no, no], [yes, yes, yes, no], [yes, yes, yes, yes]])
    equal(student.causal_mask(4), expected, what="the mask for T = 4", picture=True)


@check(points=2, exercise="masked_softmax", hint="Whose budget is it: which axis sums to 1, and over which entries?")
def test_masked_softmax_shares_one_unit_among_the_allowed(student, rng):
    """masked_softmax divides one unit among the allowed entries in the ratio of their exponentials."""
    # logarithms, so that the exponentials are 1, 3, 2 in the first row, 2, 1, 1 in the second
    scores = torch.tensor([[0.0, math.log(3.0), math.log(2.0)], [math.log(2.0), 0.0, 0.0]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    expected = torch.tensor([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25]])
    # weights are at most 1, where float32 is good to 6e-8
    agree(student.masked_softmax(scores, mask), expected, atol=1e-6, what="the weights", picture=True)


@check(points=2, exercise="masked_softmax", hint="After exp of the large score, what is left of the others?")
def test_masked_softmax_gives_the_forbidden_exactly_nothing(student, rng):
    """A forbidden score that is 10,000 above the others gets exactly 0 and takes nothing from them."""
    scores = torch.tensor([[1.0, 10_000.0, 1.0, -5.0], [10_000.0, 2.0, 10_000.0, 10_000.0]])
    mask = torch.tensor([[True, False, True, False], [False, True, False, False]])
    expected = torch.tensor([[0.5, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]])
    weights = tensor(student.masked_softmax(scores, mask), shape=(2, 4), dtype=torch.float32)
    # weights are at most 1, where float32 is good to 6e-8
    agree(weights, expected, atol=1e-6, what="the weights", picture=True)
    expect(bool((weights[~mask] == 0).all()), "a forbidden weight is small, but it is not 0", evidence=weights)


@check(points=2, exercise="prefix_mean_softmax", hint="With which scores does softmax prefer nobody?")
def test_prefix_mean_softmax_averages_each_prefix(student, rng):
    """prefix_mean_softmax gives the mean of each prefix, alone or in a batch."""
    x = torch.tensor([[2.0, 10.0], [4.0, 30.0], [0.0, -10.0], [6.0, 30.0]])
    expected = torch.tensor([[2.0, 10.0], [3.0, 20.0], [2.0, 10.0], [3.0, 15.0]])
    agree(student.prefix_mean_softmax(x), expected, atol=ROUNDING, what="the means of one sequence")
    batch, means = torch.stack([x, -x, x + 1]), torch.stack([expected, -expected, expected + 1])
    agree(student.prefix_mean_softmax(batch), means, atol=ROUNDING, what="the means of three sequences")


@check(points=3, exercise="MeanLM", hint="What is the mean of vectors that are each 1 in one place and 0 elsewhere?")
def test_mean_lm_counts_the_tokens_so_far(student, rng):
    """With identity matrices for tables, the logits are the share of each token so far, plus the bias."""
    model = student.MeanLM(5, 5, 7)  # five tokens, five numbers each, at most seven positions
    bias = torch.tensor([0.0, 0.0, 0.0, 0.0, 100.0])
    model.load({"tok_emb.weight": torch.eye(5), "lm_head.weight": torch.eye(5), "lm_head.bias": bias})
    idx = torch.tensor([[0, 1, 1, 2], [3, 3, 3, 0]])
    expected = torch.tensor(
        [
            [[1, 0, 0, 0, 100], [1 / 2, 1 / 2, 0, 0, 100], [1 / 3, 2 / 3, 0, 0, 100], [1 / 4, 1 / 2, 1 / 4, 0, 100]],
            [[0, 0, 0, 1, 100], [0, 0, 0, 1, 100], [0, 0, 0, 1, 100], [1 / 4, 0, 0, 3 / 4, 100]],
        ]
    )
    # the logit of size 100 has about five digits after the point in float32
    agree(model(idx), expected, atol=2e-5, what="the logits")


@check(points=1, exercise="MeanLM", hint="Ask for the length before anything is looked up, with or without positions.")
def test_mean_lm_refuses_more_tokens_than_its_block(student, rng):
    """MeanLM raises ValueError when idx is longer than block_size, and tells how long it was."""
    idx = rng.integers(0, 11, 3, 9)
    for positions in (True, False):
        model = student.MeanLM(11, 24, 8, positions=positions)
        raises_value_error(
            model,
            idx,
            mentions=("9", ("idx", "block_size", "block size", "context", "sequence", "length", "tokens")),
            because=f"idx has 9 tokens and block_size is 8 (positions={positions})",
        )
