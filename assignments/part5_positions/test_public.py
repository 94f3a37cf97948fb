"""The public suite of part 5: what a student runs while writing."""

import torch
from torch import nn

from autograder.checks import agree, check, expect, raises_value_error, tensor

# Sizes that differ from each other, so that mixing up two of them cannot go unnoticed.
BATCH, T, D_MODEL, N_HEADS = 3, 5, 24, 4


def shapes(bias=True):
    """Name the parameters of CausalSelfAttention, with their shapes."""
    names = ["q", "k", "v", "proj"] if bias else ["proj"]
    weights = {f"{name}.weight": (D_MODEL, D_MODEL) for name in ("q", "k", "v", "proj")}
    return weights | {f"{name}.bias": (D_MODEL,) for name in names}


@check(points=2, exercise="LearnedPositions", hint="Which rows of the table belong to T tokens, and what is done to x?")
def test_learned_positions_are_added(student, rng):
    """The token at place t gets row t of the table added to it, in every sequence."""
    module = student.LearnedPositions(block_size=4, d_model=2)
    module.load({"pos_emb.weight": torch.tensor([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0], [1000.0, 2000.0]])})
    rows = torch.tensor([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
    # Whole numbers of this size are exact in float32.
    agree(module(torch.zeros(3, 2)), rows, atol=0.0, what="what is made of three tokens of zeros")
    x = torch.tensor([[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [[4.0, 5.0], [5.0, 6.0], [7.0, 8.0]]])
    expected = torch.tensor([[[2.0, 3.0], [12.0, 22.0], [103.0, 203.0]], [[5.0, 7.0], [15.0, 26.0], [107.0, 208.0]]])
    agree(module(x), expected, atol=0.0, what="what is made of two sequences of three tokens")  # exact, as above


@check(points=1, exercise="LearnedPositions", hint="Which row would place 4 get from a table of four rows?")
def test_learned_positions_end_with_the_table(student, rng):
    """As many tokens as the table has rows are taken, and one more is refused with the number."""
    module = student.LearnedPositions(block_size=11, d_model=6)
    tensor(module(rng.normal(2, 11, 6)), shape=(2, 11, 6), what="the output for exactly block_size tokens")
    for x in (rng.normal(2, 12, 6), rng.normal(12, 6)):
        raises_value_error(module, x, mentions=[("12", "11")], because="12 tokens, where block_size is 11")


@check(
    points=2,
    exercise="sinusoidal_positions",
    hint="Which speed has pair number i, and which two columns are pair number i?",
)
def test_sinusoids_are_hands_of_clocks(student, rng):
    """Columns alternate between sine and cosine, and both of a pair turn at the same speed."""
    expected = torch.tensor(
        [
            [0.0, 1.0, 0.0, 1.0],  # sin 0, cos 0, twice
            [0.84147098, 0.54030231, 0.09983342, 0.99500417],  # sin 1, cos 1, sin 0.1, cos 0.1
            [0.90929743, -0.41614684, 0.19866933, 0.98006658],  # sin 2, cos 2, sin 0.2, cos 0.2
        ]
    )
    # Angles up to 2 in float32 are good to 2e-7.
    agree(
        student.sinusoidal_positions(3, 4, base=100.0), expected, atol=1e-5, what="the rows at base 100", picture=True
    )
    expected = torch.tensor([[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]])
    agree(student.sinusoidal_positions(1, 6), expected, atol=1e-6, what="row 0")  # sin 0 and cos 0 are exact
    rows = tensor(student.sinusoidal_positions(9, 6), shape=(9, 6), what="nine rows")
    lengths = rows[:, 0::2].square() + rows[:, 1::2].square()
    # Any angle has sin² + cos² = 1, so this is rounding alone.
    agree(lengths, torch.ones(9, 3), atol=1e-5, what="sin² + cos² of each pair")


@check(points=2, exercise="rope", hint="For (1, 0) and for (0, 1), at a small angle: in which direction do they move?")
def test_rope_turns_neighbouring_columns(student, rng):
    """Columns 0 and 1 turn together, then 2 and 3, counter-clockwise, each pair at its own speed."""
    x = torch.tensor([[[1.0, 0.0, 1.0, 0.0]] * 3, [[0.0, 1.0, 0.0, 1.0]] * 3])  # two sequences of three places
    expected = torch.tensor(
        [
            [
                [1.0, 0.0, 1.0, 0.0],
                [0.54030231, 0.84147098, 0.99500417, 0.09983342],  # angles 1 and 0.1
                [-0.41614684, 0.90929743, 0.98006658, 0.19866933],  # angles 2 and 0.2
            ],
            [
                [0.0, 1.0, 0.0, 1.0],
                [-0.84147098, 0.54030231, -0.09983342, 0.99500417],
                [-0.90929743, -0.41614684, -0.19866933, 0.98006658],
            ],
        ]
    )
    # Angles up to 2 in float32 are good to 2e-7.
    agree(student.rope(x, base=100.0), expected, atol=1e-5, what="the turned vectors at base 100")
    places = torch.tensor([2, 0, 1])
    turned = student.rope(x, positions=places, base=100.0)
    agree(turned, expected[:, [2, 0, 1]], atol=1e-5, what="the turned vectors at places 2, 0 and 1")  # as above


@check(points=1, exercise="rope", hint="What are sine and cosine of the angle at place 0?")
def test_rope_keeps_lengths_and_place_zero(student, rng):
    """A rotation changes no length, and by an angle of zero it changes nothing."""
    x = rng.normal(BATCH, N_HEADS, T, 6)
    turned = tensor(student.rope(x), shape=(BATCH, N_HEADS, T, 6), what="the turned vectors")
    agree(turned[:, :, 0], x[:, :, 0], atol=1e-6, what="the vectors at place 0")  # times 1, plus 0
    # A few float32 roundings of a length of about 2.
    agree(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-5, what="the lengths of the turned vectors")
    moved = (turned - x)[:, :, 1:].abs().amax() > 1e-3  # by a whole radian in the first pair
    expect(moved, "No vector is turned: at places after 0 the angles are not zero.", evidence=turned)


@check(points=2, exercise="rope", hint="By how much does the angle between query and key change if both move on?")
def test_rope_makes_scores_depend_on_the_distance_alone(student, rng):
    """Move all places on by the same number, and no score changes; move the queries alone, and they do."""
    q, k = rng.normal(BATCH, T, 16), rng.normal(BATCH, T, 16)
    turned_k = tensor(student.rope(k), shape=(BATCH, T, 16), what="the turned keys")
    turned_q = tensor(student.rope(q), shape=(BATCH, T, 16), what="the turned queries")
    scores = turned_q @ turned_k.transpose(1, 2)
    for far, atol in (
        (3, 1e-4),
        (1_000, 2e-3),
    ):  # an angle of 1,000 in float32 is good to about 1e-4; scores are near 4
        places = far + torch.arange(T)
        far_q = tensor(student.rope(q, positions=places), shape=(BATCH, T, 16), what="the turned queries")
        far_k = tensor(student.rope(k, positions=places), shape=(BATCH, T, 16), what="the turned keys")
        moved = far_q @ far_k.transpose(1, 2)
        agree(moved, scores, atol=atol, what=f"the scores when everything moves on by {far} places")
        lopsided = far_q @ turned_k.transpose(1, 2)
        change = (lopsided - scores).abs().max().item()
        expect(change > 0.1, f"Queries that move on by {far} places alone must change the scores.", evidence=lopsided)


@check(points=2, exercise="alibi_slopes", hint="What is the last slope for a power of two, and what is left for six?")
def test_alibi_slopes_fall_by_equal_ratios(student, rng):
    """Two, four and eight heads divide the way to 1/256 evenly; six take four of their own and two from eight."""
    expected = {
        2: [0.0625, 0.00390625],
        4: [0.25, 0.0625, 0.015625, 0.00390625],
        8: [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625],
        6: [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125],
    }
    for n_heads, slopes in expected.items():
        # Powers of two: a float32 recipe is off by a few units of its last digit at most.
        agree(
            student.alibi_slopes(n_heads), torch.tensor(slopes), atol=0.0, rtol=1e-5, what=f"slopes of {n_heads} heads"
        )


@check(points=1, exercise="alibi_bias", hint="Which key is penalised most: the nearest or the farthest?")
def test_alibi_bias_grows_with_the_distance(student, rng):
    """Each step back takes one slope more off the score, and a position takes nothing off itself."""
    bias = tensor(student.alibi_bias(2, 4), shape=(2, 4, 4), what="the bias for two heads and four positions")
    steps = torch.tensor([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], [3.0, 2.0, 1.0, 0.0]])
    for head, slope in enumerate((0.0625, 0.00390625)):
        visible = bias[head].tril()  # above the diagonal anything may stand
        # Powers of two times whole numbers: exact, but for a slope that is off by its last digit.
        agree(visible, -slope * steps, atol=1e-6, what=f"the bias of head {head} up to the diagonal", picture=True)


@check(
    points=3,
    exercise="CausalSelfAttention",
    hint="Which columns belong to which head, and which number stands under the root?",
)
def test_attention_equals_the_library(student, rng):
    """Without positions and with weights copied, four heads give what nn.MultiheadAttention gives."""
    module = student.CausalSelfAttention(d_model=D_MODEL, n_heads=N_HEADS)
    # 0.2 makes projections with a standard deviation of about 1, where float32 still agrees to 1e-6.
    weights = module.load(rng.like(shapes(), std=0.2))
    twin = nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True).eval()
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([weights[f"{name}.weight"] for name in "qkv"]))
        twin.in_proj_bias.copy_(torch.cat([weights[f"{name}.bias"] for name in "qkv"]))
        twin.out_proj.weight.copy_(weights["proj.weight"])
        twin.out_proj.bias.copy_(weights["proj.bias"])
        x = rng.normal(BATCH, T, D_MODEL)
        forbidden = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)  # here True means "may not"
        expected, maps = twin(x, x, x, attn_mask=forbidden, average_attn_weights=False)
    agree(module.attention_weights(x), maps, atol=1e-6, what="the weights", picture=True)  # 1e-6: float32 rounding
    agree(module(x), expected, atol=2e-6, what="the output")  # outputs are a few times as large as weights


@check(points=2, exercise="CausalSelfAttention", hint="What in a score knows where the key stood?")
def test_order_counts_with_positions_only(student, rng):
    """Shuffle the tokens before the last: its output stays with "none", and moves with "rope" and "alibi"."""
    x = rng.normal(BATCH, 7, D_MODEL)
    order = torch.cat([rng.permutation(6), torch.tensor([6])])
    for positions in ("none", "rope", "alibi"):
        module = student.CausalSelfAttention(d_model=D_MODEL, n_heads=N_HEADS, positions=positions)
        module.load(rng.like(shapes(), std=0.2))
        last = tensor(module(x), shape=(BATCH, 7, D_MODEL), what="the output")[:, -1]
        shuffled = tensor(module(x[:, order]), shape=(BATCH, 7, D_MODEL), what="the output for shuffled tokens")[:, -1]
        if positions == "none":
            # The same seven products are added in another order: float32 rounding of outputs near 1.
            agree(shuffled, last, atol=5e-6, what='the last output for another order, with positions="none"')
        else:
            moved = (shuffled - last).abs().max().item()
            expect(moved > 1e-3, f'With positions="{positions}", order must count; it does not.', evidence=shuffled)


@check(
    points=2,
    exercise="CausalSelfAttention",
    hint="In which unit is a slope: that of the scores before they are divided, or after?",
)
def test_alibi_makes_heads_forget_at_their_own_speed(student, rng):
    """Where all queries are zero, each step back multiplies the weight by e to the power of minus the slope."""
    module = student.CausalSelfAttention(d_model=D_MODEL, n_heads=N_HEADS, positions="alibi")
    weights = rng.like(shapes(), std=0.2)
    module.load(weights | {"q.weight": torch.zeros(D_MODEL, D_MODEL), "q.bias": torch.zeros(D_MODEL)})
    got = module.attention_weights(rng.normal(BATCH, 6, D_MODEL))
    last = tensor(got, shape=(BATCH, N_HEADS, 6, 6), what="the weights")[:, :, -1]
    # Weights are at most 1, and six of them are added.
    agree(last.sum(dim=-1), torch.ones(BATCH, N_HEADS), atol=1e-5, what="the sum of the last row")
    ratios = last[:, :, :-1] / last[:, :, 1:]
    expected = torch.tensor([0.77880078, 0.93941306, 0.98449644, 0.99610137])  # slopes 1/4, 1/16, 1/64, 1/256
    expected = expected[:, None].expand(BATCH, N_HEADS, 5)
    # Two weights of about 1/6, each good to 1e-7.
    agree(ratios, expected, atol=1e-5, what="each weight, divided by that of the next token")
