"""Hidden checks of Part 2: every leading axis, every dtype, the edges, and the measurements that must come out."""

import math

import torch

from autograder.checks import agree, check, expect, number, tensor

# Each a pair of leading axes and (T, S, d): all sizes distinct, then the edges.
SHAPES = (
    ((), (5, 7, 6)),
    ((3,), (5, 7, 6)),
    ((2, 3), (4, 8, 6)),
    ((3,), (1, 1, 1)),
    ((), (1, 9, 2)),
    ((1, 1), (6, 1, 5)),
)
# What one rounding of a sum of a few products of size 1 may cost in each dtype, several times over.
ROUNDING = {torch.float16: 2e-2, torch.bfloat16: 1.5e-1, torch.float64: 1e-6}


@check(points=2, exercise="dot_product_scores", hint="Does it still hold without a batch axis, and with two of them?")
def test_scores_for_any_leading_axes(student, rng):
    """Each batch entry has its own table, whatever stands in front, and for a single query, key or coordinate."""
    for leading, (T, S, d) in SHAPES:
        q, k = rng.normal(*leading, T, d, std=2.0), rng.normal(*leading, S, d, std=2.0)
        expected = torch.einsum("...td,...sd->...ts", q.double(), k.double()).float()
        # float32: up to 8 products, each up to some 50
        agree(student.dot_product_scores(q, k), expected, atol=1e-4, what=f"the scores of q {tuple(q.shape)}")


@check(
    points=1,
    exercise="dot_product_scores",
    hint="With equal sizes a wrong axis raises nothing: which two change?",
)
def test_scores_keep_their_axes_when_all_sizes_are_equal(student, rng):
    """With four equal sizes nothing can raise, and only the right axes give the right table."""
    for leading in ((), (4,), (4, 4)):
        q, k = rng.normal(*leading, 4, 4), rng.normal(*leading, 4, 4)
        expected = torch.einsum("...td,...sd->...ts", q.double(), k.double()).float()
        # float32: four products of size 1
        agree(student.dot_product_scores(q, k), expected, atol=1e-5, what=f"the scores of q {tuple(q.shape)}")


@check(
    points=1,
    exercise="dot_product_scores",
    hint="What does your code build itself: in which dtype, on which device?",
)
def test_scores_keep_dtype_and_device(student, rng):
    """float16 stays float16, bfloat16 bfloat16, float64 float64, and nothing moves to another device."""
    for dtype, atol in ROUNDING.items():
        q, k = rng.normal(2, 3, 6, dtype=dtype), rng.normal(2, 4, 6, dtype=dtype)
        expected = torch.einsum("btd,bsd->bts", q.double(), k.double()).to(dtype)
        agree(student.dot_product_scores(q, k), expected, atol=atol, what=f"the scores in {dtype}")
    elsewhere = student.dot_product_scores(torch.empty(2, 3, 6, device="meta"), torch.empty(2, 4, 6, device="meta"))
    agree(elsewhere, torch.empty(2, 3, 4, device="meta"), atol=0.0, what="the scores on another device")


@check(points=2, exercise="scaled_scores", hint="Which axis is summed away? Only its length is in the divisor.")
def test_scores_are_divided_by_the_root_of_the_width(student, rng):
    """The divisor is the square root of d, at widths that have no whole root, for any leading axes."""
    for leading, (T, S, d) in (((2, 3), (5, 7, 24)), ((3,), (6, 4, 40)), ((), (5, 7, 11)), ((2,), (3, 4, 1))):
        q, k = rng.normal(*leading, T, d), rng.normal(*leading, S, d)
        expected = torch.einsum("...td,...sd->...ts", q.double(), k.double() / math.sqrt(d)).float()
        # float32: scores of size 1 from up to 40 products
        agree(student.scaled_scores(q, k), expected, atol=1e-5, what=f"the scaled scores of q {tuple(q.shape)}")


@check(points=1, exercise="scaled_scores", hint="Is the root a plain number, or a tensor with a dtype of its own?")
def test_scaled_scores_keep_dtype_and_device(student, rng):
    """The division changes neither dtype nor device."""
    for dtype, atol in ROUNDING.items():
        q, k = rng.normal(2, 3, 12, dtype=dtype), rng.normal(2, 4, 12, dtype=dtype)
        expected = torch.einsum("btd,bsd->bts", q.double(), k.double() / math.sqrt(12)).to(dtype)
        agree(student.scaled_scores(q, k), expected, atol=atol, what=f"the scaled scores in {dtype}")
    elsewhere = student.scaled_scores(torch.empty(2, 3, 6, device="meta"), torch.empty(2, 4, 6, device="meta"))
    agree(elsewhere, torch.empty(2, 3, 4, device="meta"), atol=0.0, what="the scaled scores on another device")


@check(points=2, exercise="scaled_scores", hint="What becomes of a softmax whose scores grow with the width?")
def test_scaling_keeps_every_row_awake(student, rng):
    """No row of 64 scores is frozen at any width, and the mean trace of the Jacobian stays at 0.96."""
    for d in (16, 64, 256, 1024):
        q, k = rng.normal(100, d), rng.normal(64, d)
        scores = tensor(student.scaled_scores(q, k), shape=(100, 64), what=f"the scaled scores at d = {d}")
        weights = torch.softmax(scores.double(), dim=-1)
        frozen = (weights.amax(dim=-1) > 0.99).double().mean().item()
        expect(frozen == 0.0, f"At d = {d}, {frozen:.0%} of the rows are frozen; none should be.", evidence=scores)
        trace = (1.0 - weights.square().sum(dim=-1)).mean().item()
        # 0.960 to 0.962 over 2,000 rows; 64 keys scatter by 0.004. Equal weights would give 0.984, plain scores 0.55.
        expect(
            0.94 < trace < 0.976,
            f"At d = {d} the mean trace of the Jacobian is {trace:.3f}; it should stay at 0.96.",
            evidence=scores,
        )


@check(points=2, exercise="dot_product_variance", hint="Where do both draws come from? Which generator is left alone?")
def test_variance_comes_from_the_generator(student, rng):
    """The same seed gives the same number, another seed another one, and the global generator stays as it was."""
    one, other = rng.generator(), rng.generator()

    def measure(generator=None):
        return number(student.dot_product_variance(16, 500, generator=generator), what="the variance")

    first, again, different = measure(one), measure(one), measure(other)
    expect(first == again, f"The same seed gave {first:.6g} and then {again:.6g}.", evidence=[first, again])
    expect(
        first != different,
        f"Two seeds gave the same number, {first:.6g}: is anything measured, from the generator that was passed?",
        evidence=first,
    )
    # After a seeded call the global generator must go on where it was: two calls that follow the same seed differ,
    # unless calls without a generator always give the same number.
    free = [measure(), measure()]
    measure(one)
    after_one = measure()
    measure(one)
    after_two = measure()
    expect(
        free[0] == free[1] or after_one != after_two,
        "A call with a generator set the seed of torch's global generator too, and with it everybody else's draws.",
        evidence=[after_one, after_two],
    )


@check(points=1, exercise="dot_product_variance", hint="Is n_pairs used, and is each draw standard normal?")
def test_fewer_pairs_give_a_rougher_variance(student, rng):
    """At d = 1 the answer of 200 pairs is typically off by 20 %; that of 50,000 pairs at d = 2 by 1 %."""
    n_pairs, repeats = 200, 100
    offs = []
    for _ in range(repeats):
        measured = number(
            student.dot_product_variance(1, n_pairs, generator=rng.generator()), what="the variance of 200 pairs"
        )
        offs.append(measured - 1.0)
    typical = math.sqrt(sum(off * off for off in offs) / repeats)
    # sqrt((2 + 6/d) / 200) = 0.20; 2,000 sets of a hundred such answers gave 0.154 to 0.273. Uniform draws of
    # variance 1 have a smaller fourth moment and stay below 0.127, 20,000 pairs give 0.02.
    expect(
        0.14 < typical < 0.32,
        f"Answers of 200 pairs at d = 1 were typically off by {typical:.1%}, where 20 % is due: the number of pairs "
        "and the shape of the distribution that is drawn from both decide that.",
        evidence=torch.tensor(offs),
    )
    many = number(student.dot_product_variance(2, 50_000, generator=rng.generator()), what="the variance")
    agree(many, 2.0, atol=0.0, rtol=0.06, what="the variance of 50,000 pairs at d = 2")  # typical error 1 %


@check(points=2, exercise="effective_tokens", hint="Over which axis is the sum, and what undoes the logarithm?")
def test_effective_tokens_are_the_exponential_of_the_entropy(student, rng):
    """Every row of every leading axis has its own number: the exponential of its entropy in nats."""
    for shape, std in (((9,), 1.0), ((5, 8), 3.0), ((2, 3, 4, 7), 1.5), ((6, 6), 2.0), ((3, 1), 1.0)):
        weights = torch.softmax(rng.normal(*shape, std=std, dtype=torch.float64), dim=-1)
        expected = torch.special.entr(weights).sum(dim=-1).exp()
        # float32 weights, at most 9 tokens; leaves room for a constant of 1e-9 at the zeros
        agree(
            student.effective_tokens(weights.float()),
            expected.float(),
            atol=1e-4,
            what=f"the tokens of {shape}",
        )


@check(points=2, exercise="effective_tokens", hint="What does your logarithm see where the weight is exactly 0?")
def test_zero_weights_add_nothing_in_any_dtype(student, rng):
    """A wide row that reads one or two tokens gives 1 or 2, in every dtype: never NaN, never a little more."""
    rows = torch.zeros(4, 1024, dtype=torch.float64)
    places = rng.permutation(1024)
    rows[0, places[0]] = 1.0
    rows[1, places[1:3]] = 0.5
    rows[2, places[3:7]] = 0.25
    rows[3, places[7]], rows[3, places[8:10]] = 0.5, 0.25
    expected = torch.tensor([1.0, 2.0, 4.0, 2.0 * math.sqrt(2.0)], dtype=torch.float64)
    # Half precision carries 11 bits and bfloat16 8, and each step of sum and exponential may round.
    for dtype, rtol in ((torch.float32, 1e-4), (torch.float64, 1e-4), (torch.float16, 2e-2), (torch.bfloat16, 1e-1)):
        got = student.effective_tokens(rows.to(dtype))
        agree(got, expected.to(dtype), atol=0.0, rtol=rtol, what=f"the tokens in {dtype}")
    tiny = torch.tensor([1.0, 1e-30, 1e-40, 0.0])  # the third is below the smallest normal float32
    agree(student.effective_tokens(tiny), torch.tensor(1.0), atol=1e-4, what="the tokens of a row with a tiny weight")


@check(points=2, exercise="softmax_jacobian", hint="Is it right for one row alone? Then does a second row disturb it?")
def test_jacobian_equals_autograd(student, rng):
    """Each matrix is the one that automatic differentiation of the softmax gives for that row alone."""
    for leading, n in (((), 5), ((3,), 6), ((2, 3), 4), ((4,), 4), ((2,), 1)):
        scores = rng.normal(*leading, n, std=1.5, dtype=torch.float64)
        rows = [
            torch.autograd.functional.jacobian(lambda row: torch.softmax(row, dim=-1), row)
            for row in scores.reshape(-1, n)
        ]
        expected = torch.stack(rows).reshape(*leading, n, n)
        got = student.softmax_jacobian(torch.softmax(scores, dim=-1))
        agree(got, expected, atol=1e-10, what=f"the Jacobian of {(*leading, n)} weights", picture=True)  # float64


@check(points=1, exercise="softmax_jacobian", hint="What can still move where one weight is 1?")
def test_frozen_row_has_no_gradient_left(student, rng):
    """A one-hot row gives a matrix of zeros; dtype and device are kept."""
    for dtype, atol in ((torch.float32, 1e-6), (torch.float64, 1e-10), (torch.float16, 1e-3), (torch.bfloat16, 8e-3)):
        weights = torch.zeros(3, 8, dtype=dtype)
        weights[0, 5], weights[1, 2:4], weights[2] = 1.0, 0.5, 0.125
        expected = torch.zeros(3, 8, 8, dtype=dtype)  # powers of two: exact in every dtype
        expected[1, 2:4, 2:4] = torch.tensor([[0.25, -0.25], [-0.25, 0.25]], dtype=dtype)
        expected[2] = -1.0 / 64.0
        expected[2].diagonal().fill_(7.0 / 64.0)
        agree(student.softmax_jacobian(weights), expected, atol=atol, what=f"the Jacobian in {dtype}")
    elsewhere = student.softmax_jacobian(torch.empty(2, 6, device="meta"))
    agree(elsewhere, torch.empty(2, 6, 6, device="meta"), atol=0.0, what="the Jacobian on another device")


@check(points=2, exercise="frozen_fraction", hint="Which axis is the row, and what are all the others?")
def test_rows_of_all_leading_axes_are_counted(student, rng):
    """Every row counts once whatever stands in front, a single row gives 0 or 1, and dtype does not matter."""
    weights = torch.softmax(rng.normal(2, 3, 40, 4, std=4.0, dtype=torch.float64), dim=-1).float()
    for threshold in (0.99, 0.9, 0.6):
        expected = (weights.amax(dim=-1) > threshold).double().mean().item()
        got = number(student.frozen_fraction(weights, threshold), what="the share")
        agree(got, expected, atol=1e-6, what=f"the share above {threshold}")  # a mean of 240 in float32
    for row, expected in (([0.0, 0.0, 1.0], 1.0), ([0.5, 0.25, 0.25], 0.0)):
        got = number(student.frozen_fraction(torch.tensor(row)), what="the share of a single row")
        agree(got, expected, atol=1e-6, what="the share of a single row")
    eight = torch.full((8, 4), 0.25)
    eight[:3] = torch.tensor([0.0, 1.0, 0.0, 0.0])
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        got = number(student.frozen_fraction(eight.to(dtype)), what=f"the share in {dtype}")
        agree(got, 0.375, atol=1e-6, what=f"the share in {dtype}")  # three of eight: exact in every dtype


@check(points=1, exercise="frozen_fraction", hint="Of 2,000 rows, how many have a largest weight above 0.99?")
def test_seven_rows_in_ten_are_frozen_at_1024(student, rng):
    """Of 2,000 rows of 64 scores with standard deviation 32 seven in ten are frozen; with 1, none."""
    scores = rng.normal(2_000, 64, dtype=torch.float64)
    for std, low, high in ((32.0, 0.65, 0.76), (1.0, 0.0, 0.0)):
        weights = torch.softmax(scores * std, dim=-1)
        exact = (weights.amax(dim=-1) > 0.99).double().mean().item()
        if not low <= exact <= high:  # six standard errors of a share of 2,000 rows
            raise ValueError(f"the draws of this check are not what it says: {exact:.1%} of the rows are frozen")
        got = number(student.frozen_fraction(weights.float()), what="the share of frozen rows")
        agree(got, exact, atol=1e-6, what=f"the share of frozen rows at a standard deviation of {std:.0f}")
