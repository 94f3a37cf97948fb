"""Public checks of Part 2: the scores, their size, and what a softmax makes of them."""

import math

import torch
import torch.nn.functional as F

from autograder.checks import agree, check, expect, number, tensor

WIDTHS = (4, 16, 64, 256, 1024)


@check(points=1, exercise="dot_product_scores", hint="Row t, column s: which query, which key?")
def test_scores_by_hand(student, rng):
    """Two queries and three keys give the table that you can check with a pencil."""
    q = torch.tensor([[1.0, 2.0], [0.0, 3.0]])
    k = torch.tensor([[4.0, 5.0], [6.0, -1.0], [0.0, 2.0]])
    by_hand = torch.tensor([[14.0, 4.0, 4.0], [15.0, -3.0, 6.0]])
    agree(student.dot_product_scores(q, k), by_hand, atol=0.0, what="the scores", picture=True)  # small whole numbers


@check(points=2, exercise="dot_product_scores", hint="Which two axes of k change places, with two axes in front?")
def test_scores_measure_distances(student, rng):
    """The squared distance of q and k is |q|² + |k|² minus twice their score, for a batch with heads."""
    q, k = rng.normal(3, 4, 5, 6, dtype=torch.float64), rng.normal(3, 4, 7, 6, dtype=torch.float64)
    distances = torch.cdist(q, k, compute_mode="donot_use_mm_for_euclid_dist").square()
    lengths = q.norm(dim=-1).square().unsqueeze(3) + k.norm(dim=-1).square().unsqueeze(2)
    scores = tensor(student.dot_product_scores(q, k), shape=(3, 4, 5, 7), dtype=torch.float64, what="the scores")
    agree(lengths - 2 * scores, distances, atol=1e-9, what="|q|² + |k|² - 2 score")  # float64, values up to 50


@check(points=1, exercise="scaled_scores", hint="How does the variance of a score grow with d, and what undoes it?")
def test_spread_does_not_depend_on_the_width(student, rng):
    """The standard deviation of the scaled scores is near 1 from d = 16 to d = 1024."""
    for d in WIDTHS[1:]:
        q, k = rng.normal(24, d), rng.normal(36, d)
        scores = tensor(student.scaled_scores(q, k), shape=(24, 36), what=f"the scaled scores at d = {d}")
        spread = scores.std().item()
        # 24 x 36 scores estimate it with an error of 5 % at d = 16, less above; the nearest wrong power is off by 2.
        expect(
            0.75 < spread < 1.25,
            f"At d = {d} the scaled scores have a standard deviation of {spread:.3g}; it should be near 1.",
            evidence=scores,
        )


@check(points=2, exercise="scaled_scores", hint="Which number does the divisor contain, and under which root?")
def test_softmax_of_scaled_scores_is_the_fused_attention(student, rng):
    """A softmax over the scaled scores gives the weights of torch's fused attention."""
    q, k = rng.normal(2, 3, 5, 24, dtype=torch.float64), rng.normal(2, 3, 7, 24, dtype=torch.float64)
    one_hot_values = torch.eye(7, dtype=torch.float64).expand(2, 3, 7, 7)  # the output then is the weights
    expected = F.scaled_dot_product_attention(q, k, one_hot_values)
    scores = tensor(student.scaled_scores(q, k), shape=(2, 3, 5, 7), dtype=torch.float64, what="the scaled scores")
    # float64, but the root of d may have been taken in float32: 1e-7 of a score
    agree(torch.softmax(scores, dim=-1), expected, atol=1e-6, what="the softmax of the scaled scores", picture=True)


@check(
    points=2, exercise="dot_product_variance", hint="How many numbers have that variance: n_pairs, or n_pairs times d?"
)
def test_variance_is_the_width(student, rng):
    """Over 20,000 pairs the variance of q·k is d within 6 %, at d = 4, 16, 64, 256 and 1024."""
    found = []
    for d in WIDTHS:
        what = f"the variance at d = {d}"
        if d < 1024:
            measured = number(student.dot_product_variance(d, generator=rng.generator()), what=what)
        else:  # four times 5,000 pairs: all at once are 240 MB, and take twice as long
            four = [student.dot_product_variance(d, 5_000, generator=rng.generator()) for _ in range(4)]
            measured = sum(number(one, what=what) for one in four) / 4
        found.append(measured)
        # The typical error is sqrt((2 + 6/d) / 20,000): 1.3 % at d = 4, 1.0 % at d = 1024.
        agree(measured, float(d), atol=0.0, rtol=0.06, what=what)
    exact = all(measured == d for measured, d in zip(found, WIDTHS, strict=True))
    expect(not exact, "The variance is to be measured on random pairs, which never give exactly d.", evidence=found)


@check(points=1, exercise="effective_tokens", hint="Which weights should count as 1 token, and which as 8?")
def test_effective_tokens_by_hand(student, rng):
    """One token counts 1, eight equal ones 8, a half and two quarters 2^1.5; zeros add nothing."""
    rows = torch.tensor(
        [
            [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.125] * 8,
            [0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0],
            [0.25, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.5],
        ]
    )
    by_hand = torch.tensor([1.0, 8.0, 2.0, 2.0 * math.sqrt(2.0)])
    agree(
        student.effective_tokens(rows), by_hand, atol=1e-4, what="the effective tokens"
    )  # float32, and 1e-9 for zeros


@check(points=1, exercise="effective_tokens", hint="Which logarithm, and does your exponential undo that one?")
def test_independent_choices_multiply(student, rng):
    """A row made of two independent choices reads as many tokens as the two numbers multiplied."""
    first, second = torch.softmax(rng.normal(3, 5), dim=-1), torch.softmax(rng.normal(3, 6, std=2.0), dim=-1)
    joint = torch.stack([torch.kron(a, b) for a, b in zip(first, second, strict=True)])  # (3, 30)
    counts = [
        tensor(student.effective_tokens(rows), shape=(3,), what="the effective tokens")
        for rows in (first, second, joint)
    ]
    agree(counts[2], counts[0] * counts[1], atol=1e-4, what="the effective tokens of the pair")  # float32, below 30
    expect(
        bool((counts[0] > 1.0).all() and (counts[0] < 5.0).all()),
        "Five unequal weights read more than 1 and fewer than 5 tokens.",
        evidence=counts[0],
    )


@check(points=2, exercise="softmax_jacobian", hint="A weight gains from its own score and loses by every other one.")
def test_jacobian_predicts_a_small_change(student, rng):
    """The matrix says what a small change of the scores does to the weights, row by row of a batch."""
    scores, change = rng.normal(4, 6, dtype=torch.float64), rng.normal(4, 6, dtype=torch.float64)
    step = 1e-4  # a central difference is then off by some 1e-9
    after, before = torch.softmax(scores + step * change, dim=-1), torch.softmax(scores - step * change, dim=-1)
    weights = torch.softmax(scores, dim=-1)
    matrices = tensor(student.softmax_jacobian(weights), shape=(4, 6, 6), dtype=torch.float64, what="the matrices")
    predicted = (matrices * change.unsqueeze(1)).sum(dim=-1)
    agree(predicted, (after - before) / (2 * step), atol=1e-6, what="the predicted change of the weights")


@check(points=2, exercise="frozen_fraction", hint="Do you count rows or entries, and against which threshold?")
def test_frozen_rows_by_hand(student, rng):
    """Of five rows one is above 0.99, two are above 0.9, four above 0.5."""
    rows = torch.tensor(
        [
            [0.0, 1.0, 0.0],
            [0.04, 0.01, 0.95],
            [0.6, 0.3, 0.1],
            [0.1, 0.1, 0.8],
            [0.4, 0.3, 0.3],
        ]
    )
    # A share of five rows: 1e-6 leaves room for a mean that was taken in float32.
    agree(number(student.frozen_fraction(rows), what="the share"), 0.2, atol=1e-6, what="the share above 0.99")
    for threshold, share in ((0.9, 0.4), (0.5, 0.8)):
        got = number(student.frozen_fraction(rows, threshold), what="the share")
        agree(got, share, atol=1e-6, what=f"the share above {threshold}")
