# %% [markdown]
# # Part 5: four ways to say where
#
# In part 3 you proved something uncomfortable about your own attention: permute the tokens, and the outputs are
# permuted, nothing else. It reads a bag. In this part you give it order, and you do it four times, because each way is
# the repair of what went wrong with the one before: a table that is learned, waves that are computed, a rotation of
# queries and keys, and at last a single number subtracted from the score. At the end you rewrite attention itself,
# all heads in one product, with a switch for the position scheme. Part 6 puts that class into GPT as it is.
#
# | exercise | what you write | minutes | difficulty |
# |---|---|---|---|
# | `LearnedPositions` | one learned row for each place, added to the token | 10 | 1 of 3 |
# | `sinusoidal_positions` | rows that are computed, for any place | 15 | 2 of 3 |
# | `rope` | queries and keys that are turned by where they stand | 25 | 3 of 3 |
# | `alibi_slopes`, `alibi_bias` | how fast each head forgets, and the score that says it | 15 | 2 of 3 |
# | `CausalSelfAttention` | all heads at once, with any of the above | 30 | 3 of 3 |
#
# Twenty-five more minutes go into reading. `gpt-hw test part5` as you go; `gpt-hw hint part5` asks you a question
# before it tells you anything. You may import what you wrote in parts 1 to 3, and you need none of it: everything in
# here is short. Ready-made attention is the judge once more, so it is forbidden; `nn.Linear`, `nn.Embedding`, `softmax`
# and `F.dropout` are yours.
#
# Letters: `B` sequences, `T` positions, `d` the width of a vector, `h` heads of width `d_head = d_model / h`. Below,
# `t` is always the position that asks and `i` the one that is asked, so `t - i` is how far back it lies.

# %%
"""Part 5: say where a token stands, by a table, by waves, by rotation and by distance; all heads in one product."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# %% [markdown]
# ## 1. The problem: a bag of words
#
# A score is `q · k`. Each of the two was made from one token's vector, and nobody told the vector its seat. So all
# that attention can know of "the dog bites the man" is that there is a man, a dog, a bite and two times `the`.
#
# "But our attention is causal", you may say, "and a mask is about order". A little. The mask says *which* tokens a
# position sees, and not *in which order they stood*. Take the last position: it sees everything, so its output is an
# average of the whole prefix, and an average has no order. The next cell (which uses your part 3) runs all 24 orders
# of four tokens in front of a fifth, and prints how far the last output moves.
#
# Part 1 met the same fact as a mean whose last row does not change when the prefix is shuffled. Scores made the
# weights depend on *what* is read. They still do not depend on *where* it stands.

# %%
if __name__ == "__main__":
    from itertools import permutations

    from part3_attention import MultiHeadAttention

    torch.manual_seed(0)
    blind = MultiHeadAttention(d_model=24, n_heads=4, block_size=5)
    tokens = torch.randn(1, 5, 24)
    lasts = [blind(tokens[:, [*order, 4]])[0, -1] for order in permutations(range(4))]
    moved = (torch.stack(lasts) - lasts[0]).abs().max()
    print(f"24 orders of the prefix: the last output moves by {moved:.1e}")

# %% [markdown]
# ## 2. The cheapest idea: learn it
#
# We have a cure for "the model should know a number that depends on a symbol": an embedding. Words have one. Give
# places one too: a table with a row for place 0, a row for place 1, and so on, learned like everything else. Then hand
# each token its place:
#
#     x_t  becomes  x_t + p_t
#
# **Why add? Does that not destroy both?** The natural wish is to lay them side by side. But look at what comes next:
# a matrix. `W [x; p]` is `W_x x + W_p p`, a sum anyway; and `W (x + p) = W x + W p` is the same sum with one matrix in
# both places. What is given up is the freedom to treat x and p by different matrices. In d = 768 dimensions, a few
# dozen directions are plenty for places, and training can keep the words out of them. Adding costs no width. GPT-2
# does exactly this, and so does your model of part 1.
#
# **What a score makes of it.** Multiply out what a head computes from `x_t + p_t` and `x_i + p_i`, with M = W_q' W_k:
#
#     x_t' M x_i  +  x_t' M p_i  +  p_t' M x_i  +  p_t' M p_i
#
# Words with words, as before; two mixed terms; and at the end a number that depends on the two places alone. That is
# what we wanted. Position 7 can now ask for position 6 whatever stands there.
#
# **How it fails.** Twice.
#
# 1. The table ends. A model that was built for 64 places has no row 64. You can allocate 4,096 rows and train on texts
#    of 64 tokens; then rows 64 to 4,095 never got a gradient, and hold the noise that they were born with. In our own
#    runs one block, trained on windows of 32 tokens, had a perplexity of 6.3 there; on windows of 64 it had 13.0, and
#    of 128, 20.8. Nothing about the language had changed, only the seat numbers.
# 2. It learns each place by itself. "Look at the word before" is one idea, and the term `p_t' M p_i` must learn it for
#    (1, 0), for (2, 1), ..., for (63, 62): the rows have nothing to do with each other until training makes them.
#
# And do not be tempted to be polite about the first. A table that answers place 70 with its last row (clamping) or with
# row 6 (wrapping around) gives numbers, and they are lies: two different places look the same. Refuse.

# %% [markdown]
# ## Exercise: `LearnedPositions`
#
# 10 minutes, difficulty 1 of 3.
#
# - `__init__`: one attribute, `pos_emb`, an `nn.Embedding` with a row of width `d_model` for each of `block_size`
#   places.
# - `forward(x)`: `(..., T, d)` in and out, the row of place t added to the token at place t. How many axes stand in
#   front is none of your business: count from the end. T may be shorter than `block_size`; longer is a `ValueError`
#   that says how long.
#
# Ids are looked up, so they must exist where the table is: on which device will `x` be, and will the ids be there?
#
# **A pass looks like this:** zeros go in and the first T rows of the table come out; `x` itself is untouched; only the
# first T rows get a gradient.


# %%
class LearnedPositions(nn.Module):
    """Add to each token a learned vector that belongs to its place.

    Attributes:
        pos_emb: ``nn.Embedding(block_size, d_model)``, row t for place t.

    Source: Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training", section 3.1 (W_p).
    """

    def __init__(self, block_size: int, d_model: int) -> None:
        """Make the table.

        Args:
            block_size: Number of places that have a row.
            d_model: Width of a token's vector.
        """
        super().__init__()
        self.pos_emb = nn.Embedding(block_size, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Add the first T rows of the table.

        Args:
            x: Float (..., T, d_model), T at most ``block_size``.

        Returns:
            Float (..., T, d_model), dtype and device of ``x``.

        Raises:
            ValueError: T is larger than ``block_size``; the message names T.
        """
        T, block_size = x.shape[-2], self.pos_emb.num_embeddings
        if block_size < T:
            raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
        return x + self.pos_emb(torch.arange(T, device=x.device))  # (T, d) broadcasts to (..., T, d)


# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    table = LearnedPositions(block_size=64, d_model=24)
    with torch.no_grad():
        lasts = [blind(table(tokens[:, [*order, 4]]))[0, -1] for order in permutations(range(4))]
    print(f"with learned positions, the last output moves by {(torch.stack(lasts) - lasts[0]).abs().max():.2f}")

# %% [markdown]
# ## 3. Rows that are computed
#
# To have a row for every place there ever will be, compute it. What should the recipe be? Try the cheap ones.
#
# - **p_t = t.** Place 5,000 gets the number 5,000, added to word features of size 1: it drowns them.
# - **p_t = t / T.** Bounded now. But the step from one word to the next is 1/10 in a short text and 1/1000 in a long
#   one, so "the word before" is a different distance each time; and while a text is being written, T changes, and with
#   it the places of all the words that are already there.
# - **Binary digits of t.** Bounded, different for every place, the same for every T. The last digit flips at each step,
#   the one before at every second, and so on. But the row *jumps*: from 7 (0111) to 8 (1000) everything flips.
#
# The last one has the right shape: several clocks, each slower than the one before. Only the hands should move
# smoothly. A smooth thing that goes up and down is a wave, sin(ω t). So: one wave for each speed ω?
#
# ### Why each wave needs a partner
#
# One wave cannot even say where its hand is: sin is 0.5 on the way up and 0.5 on the way down. There is a deeper
# reason, and it decides the rest of this part. We would like a model to express "the word k places back" *once*, for
# all t. So there should be one matrix that takes the row of any place t to the row of place t + k, the same matrix
# for every t. With one wave there is none. The addition theorem says what sin(a + b) needs:
#
#     sin(a + b) = sin(a) cos(b) + cos(a) sin(b)
#     cos(a + b) = cos(a) cos(b) - sin(a) sin(b)
#
# It needs cos(a). So keep it: put cos(ωt) into the next column. With a = ωt and b = ωk the two lines are a matrix
#
#     [ sin(ω(t+k)) ]   [  cos ωk   sin ωk ] [ sin ωt ]
#     [ cos(ω(t+k)) ] = [ -sin ωk   cos ωk ] [ cos ωt ]
#
# that knows k and does not know t. **A shift has become a rotation.** A pair of columns is the hand of a clock, and
# moving k places on turns it by the same angle ωk wherever it stood.
#
# ### Why many speeds
#
# A fast hand (ω = 1) tells neighbours apart and is back where it was after 6.28 places. A slow one never comes round
# and can hardly tell 5 from 6. As with hours, minutes and seconds, one wants several, and it is *ratios* that should
# be equal, so that a doubling of the distance always has a hand that is made for it. So pair number i out of d/2 (in
# ω_i and 2i the letter counts pairs, from 0) gets
#
#     ω_i = base^(-2i/d),   base = 10,000
#
# which begins with 1 for i = 0 and ends just above 1/base. Column 2i holds sin(ω_i t), column 2i + 1 holds
# cos(ω_i t): the same ω for both of a pair. Here is the place for the commonest slip: `2i` is a *column*, `i` is a
# pair, and whoever counts columns in steps of two and doubles once more skips every second speed and ends near base^-2.
#
# ### What the product of two rows is
#
#     p_t · p_s = sum over pairs of  sin ωt sin ωs + cos ωt cos ωs  =  sum over pairs of  cos(ω(t - s))
#
# Only the distance is left. Have your own function say so in the cell after the exercise.

# %% [markdown]
# ## Exercise: `sinusoidal_positions`
#
# 15 minutes, difficulty 2 of 3. `T, d_model, base -> (T, d_model)`, float32.
#
# Two shapes are all there is to find: angles are places times speeds, so `(T, 1)` against `(d/2,)`; and the sines and
# cosines must end up in alternating columns, not in two halves. A width that is odd leaves one column without a
# partner: `ValueError`, with the number.
#
# **A pass looks like this:** row 0 is 0, 1, 0, 1, ... before you compute anything (why?). For `T = 3`, `d_model = 4`
# and `base = 100` the speeds are 1 and 0.1, and row 2 is sin 2, cos 2, sin 0.2, cos 0.2. In every row, each pair has
# length 1. The suite goes out to place 2,000, where an angle in float32 is good to about 1e-4; it asks for less there.


# %%
def sinusoidal_positions(T: int, d_model: int, base: float = 10_000.0) -> Tensor:
    """Compute a row for each place: the hands of d_model / 2 clocks, each slower than the one before.

    Args:
        T: Number of places.
        d_model: Width of a row, even.
        base: The slowest clock is almost this many times slower than the first.

    Returns:
        Float32 (T, d_model): column 2i is the sine, column 2i + 1 the cosine of t * base^(-2i / d_model).

    Raises:
        ValueError: ``d_model`` is odd; the message names it.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
    """
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd, and each wave needs two columns")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    angles = torch.arange(T, dtype=torch.float64)[:, None] * base ** (-2 * pairs / d_model)  # (T, d/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()  # (T, d/2, 2) -> (T, d)


# %%
if __name__ == "__main__":
    rows = sinusoidal_positions(200, 64)
    for distance in (0, 1, 2, 8, 64):
        products = [(rows[t] @ rows[t + distance]).item() for t in (0, 10, 100)]
        print(f"distance {distance:2}: p_t . p_s at three places:", "  ".join(f"{p:8.4f}" for p in products))

# %% [markdown]
# ### How it fails
#
# The table has no end now, and still the same experiment gave 6.6 at the trained length, 12.4 at twice and 20.1 at
# four times that: as bad as the learned one. Look again at the four terms of the score in section 2. The last one,
# `p_t' M p_i`, could be a function of the distance, if M happened to let it. The two in the middle, a word with a
# place, cannot: `x_t' M p_i` depends on i itself, on the absolute seat. The model uses them, since they are there, and
# at place 100 it meets vectors x + p of a kind that it has never seen. We *added* positions to words and then hoped
# that training would separate them again.
#
# ## 4. Say it by turning
#
# So do not add. Where does order have to appear? In the score and nowhere else. Let us ask for exactly what we want,
# and see what is left. We are looking for a way to treat the query by its place t and the key by its place i, by
# matrices R_t and R_i, such that
#
#     (R_t q) · (R_i k)  depends on q, k and the distance t - i, and on nothing else.
#
# Written out, q' R_t' R_i k must be q' N k with an N that only knows t - i. Now put in what we can.
#
# - t = i: R_t' R_t is the same for every t. Take R_0 = 1 (what stands at place 0 stays as it is), and it is 1. A
#   matrix with R'R = 1 keeps lengths: **R_t is a rotation.** (Or a mirror, but two steps of a mirror lead back to the
#   start, so it could not tell place 2 from place 0.)
# - shift both by one: R_{t+1}' R_{i+1} = R_t' R_i for all t and i. With i = 0: R_{t+1}' R_1 = R_t', that is,
#   R_{t+1} = R_1 R_t. So **R_t is R_1 applied t times.** One rotation is all there is to choose.
# - every rotation of d dimensions (d even), seen from the right axes, is d/2 rotations of one plane each, every plane
#   by an angle of its own. And the right axes cost nothing: W_q and W_k are learned, so they can bring them along.
#
# No other matrices do it. So cut the vector into pairs, and turn pair number i at place t by the angle t ω_i:
#
#     (x, y)  becomes  (x cos a - y sin a,  x sin a + y cos a),    a = t ω_i
#
# The speeds ω_i are free, and for the reasons of section 3 we take the same ones, base^(-2i/d), where d is now the
# width of what is being turned: of *one head's* query. This is **RoPE**, rotary position embedding.
#
# If you like complex numbers, see the pair as z = x + jy with j² = -1, and all of it is one line: z becomes z e^{ja}.
# The dot product of two pairs is the real part of one times the conjugate of the other, where the exponents subtract.
#
# ### What to get right
#
# - **Which two make a pair.** Ours are (0, 1), (2, 3), ... Other programs pair column j with column j + d/2. Both are
#   fine for a model that is trained from nothing, and each is garbage for weights that were trained with the other. It
#   has cost many people a day: nothing looks wrong. Lengths are kept, place 0 is the identity, distances are all that
#   counts, in both.
# - **Which way round.** Turning by -a also makes a score of the distance alone. Agree on one direction: the formula.
# - **Only queries and keys.** They are compared; values are not. A turned value would arrive in the output at an angle
#   that says where it *was*, absolutely, and no key would be there to turn it back.
# - **Precision.** bfloat16 has 8 significant bits: it holds 256 and 258 and not 257. Compute an angle in it, and from
#   place 257 on neighbours sit on one chair. So angles are computed in float32 or better *whatever the dtype of x*, and
#   the result is given back in the dtype of x. float32 has its limits too: at place 100,000 the step between two floats
#   is 0.008, so the angle of a slower hand is good to about 1e-3.
# - **Which places.** By default 0 to T - 1. But a caller may know better: the 501st token of a text that is being
#   written comes alone, T = 1, and stands at place 500. So places can be given, in any order.

# %%
if __name__ == "__main__":
    places = torch.arange(1001, 1007)
    print("places:             ", places.tolist())
    print("the same in bfloat16:", places.to(torch.bfloat16).long().tolist())

# %% [markdown]
# ## Exercise: `rope`
#
# 25 minutes, difficulty 3 of 3. `x (..., T, d) -> (..., T, d)`, with `positions (T,)` or None.
#
# The axis before the last is time, whatever stands in front (a batch, heads, nothing). Angles have the shape
# `(T, d/2)`. Every second column, beginning with the first, holds the x of a pair, and the others the y; compute both
# new ones from the *old* ones, then put them back in turn. An odd d is a `ValueError` that says how wide x is.
#
# **A pass looks like this:** place 0 changes nothing. With `base = 100`, the vector 1, 0, 1, 0 at place 1 becomes
# cos 1, sin 1, cos 0.1, sin 0.1. Every pair keeps its length. Move all places on by the same number, 3 or 100,000, and
# no score between two of them changes by more than the precision of the angles allows. In bfloat16 the result is as
# good as bfloat16 is, at place 2,000 as well as at place 2.


# %%
def rope(x: Tensor, positions: Tensor | None = None, base: float = 10_000.0) -> Tensor:
    """Turn each pair of columns by an angle that is proportional to the place.

    Args:
        x: Queries or keys of one or many heads, float (..., T, d), d even.
        positions: Long (T,), the place of each of the T vectors; None means 0 to T - 1.
        base: Pair i turns by base^(-2i / d) for each place.

    Returns:
        Float (..., T, d), dtype and device of ``x``: pair (2i, 2i + 1), seen as a point in the plane, is turned
        counter-clockwise by position * base^(-2i / d). Angles are computed in float32 or wider.

    Raises:
        ValueError: d is odd; the message names it.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", section 3.2.2.
    """
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: its width d = {d} is odd, and columns are turned in pairs")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)  # (d/2,)
    angles = positions.to(x.device, wide)[:, None] * speeds  # (T, d/2)
    cos, sin = angles.cos(), angles.sin()
    first, second = x[..., 0::2], x[..., 1::2]  # (..., T, d/2) each
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)  # (..., T, d/2, 2) -> (..., T, d)


# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    query, key = torch.randn(8, 16), torch.randn(8, 16)
    here = rope(query) @ rope(key).T
    for far in (3, 1_000, 100_000):
        there = torch.arange(8) + far
        moved = (rope(query, there) @ rope(key, there).T - here).abs().max()
        print(f"all places moved on by {far:7,}: scores change by {moved:.1e}")
    lopsided = rope(query, torch.arange(8) + 3) @ rope(key).T
    print(f"queries alone moved on by     3: scores change by {(lopsided - here).abs().max():.1f}")

# %% [markdown]
# ### How it fails
#
# Much more gently: 6.1 at the trained length of 32, about 8.2 at twice, between 12.7 and 14.9 at four times that.
# Every distance that occurred in training now works at every place. What is new in a longer text are the *distances*
# themselves. A slow hand that turned by at most half a circle in training is suddenly three quarters round, and the
# head reads an angle that it never learned to read.
#
# ## 5. Say it in the score
#
# Perhaps we are asking for too much. What does one need to know about a far word? That it is far, and counts less.
# So say that, and only that, where it is decided. Take the finished score and subtract something for the distance:
#
#     score(t, i) = q_t · k_i / sqrt(d_head)  -  m (t - i)
#
# No table, no waves, nothing to learn, and no distance at which it is not defined. What comes out of the softmax? An
# addition to a score is a factor on the weight: each step further back multiplies the weight by e^{-m}. With m = 1/2
# the weight halves every 1.4 tokens; with m = 1/256 every 177 tokens. This is **ALiBi**, attention with linear biases.
#
# **One slope cannot serve all.** A head that looks for the word before needs a steep one, a head that asks what the
# text is about needs a flat one. We have several heads, so let each have its own, and let the *ratios* be equal again:
# for 8 heads 1/2, 1/4, ..., 1/256. In general, for h heads with h a power of two, head number i = 1 ... h has the slope
#
#     m_i = 2^(-8 i / h)
#
# so that the last is 1/256 always and the others divide the way to it into equal ratios. For any other h there is a
# rule of the authors, which we follow to the letter, since a model trained with other slopes is another model: take the
# slopes for the power of two below h, all of them; then fill up from the slopes of the power of two *above* it, taking
# every other one from its first. For 6 heads: 4 slopes 1/4, 1/16, 1/64, 1/256, and then from the eight slopes the first
# and the third, 1/2 and 1/8. Not sorted: the order says which head has which.
#
# **After the division.** m is measured in the unit that the softmax sees. Subtract before dividing by sqrt(d_head), and
# the slopes of a head with 64 columns are 8 times as flat as they say.
#
# **A small proof that saves memory.** m(t - i) = m t - m i, and m t is the same for the whole row t. A softmax does not
# see what is added to a whole row. So under the causal mask, adding `m i` alone, a bias by *key*, gives the same
# weights. You may use that inside attention; `alibi_bias` itself should return the table as it is written.
#
# How does it fail? Not at the end of the table: 7.6 at the trained length, 7.7 at twice, 8.8 at four times. But compare
# the first number with the others' 6.1 to 6.6. A head that wants the word exactly two back can only say "near". You pay
# for robustness with sharpness; which to buy depends on whether your texts will be longer than those that you train on.
# In part 7 you will measure that trade with your own model.

# %% [markdown]
# ## Exercise: `alibi_slopes` and `alibi_bias`
#
# 15 minutes, difficulty 2 of 3.
#
# - `alibi_slopes(n_heads)`: `(n_heads,)`, all positive. Write the power of two first and get it right; then the rest
#   can be put together from two calls of it.
# - `alibi_bias(n_heads, T)`: `(n_heads, T, T)`; row t and column i of head j hold -slope_j (t - i). Above the diagonal
#   you may leave what you like: the mask will cover it, and nobody will look.
#
# **A pass looks like this:** 4 heads have slopes 0.25, 0.0625, 0.015625, 0.00390625. The diagonal of the bias is 0, and
# everything left of it is negative. If you find the largest number at the far end of a row, your head reads
# everything but its surroundings.


# %%
def alibi_slopes(n_heads: int) -> Tensor:
    """Say how much each head takes off a score for one more token of distance.

    Args:
        n_heads: Number of heads, any.

    Returns:
        Float32 (n_heads,): 2^(-8i / n_heads) for i = 1 to n_heads where that is a power of two; else the slopes of the
        power of two below, then every other slope of the power of two above, from its first.

    Source: Press et al. 2022, "Train Short, Test Long: Attention with Linear Biases Enables Input Length
    Extrapolation", section 3 and its published code (other numbers of heads).
    """
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * i / below) for i in range(1, below + 1)]
    above = [2 ** (-8 * i / (2 * below)) for i in range(1, 2 * below + 1)]
    return torch.tensor(slopes + above[0::2][: n_heads - below])


def alibi_bias(n_heads: int, T: int) -> Tensor:
    """Build what ALiBi adds to the scores of each head.

    Args:
        n_heads: Number of heads, any.
        T: Number of positions.

    Returns:
        Float32 (n_heads, T, T): entry (j, t, i) is -slope_j * (t - i) where i <= t; what stands above the diagonal
        is never read.

    Source: Press et al. 2022, section 3.
    """
    places = torch.arange(T)
    distance = places[:, None] - places  # (T, T): how far key i lies behind query t
    return -alibi_slopes(n_heads)[:, None, None] * distance  # (h, T, T)


# %%
if __name__ == "__main__":
    for n_heads in (4, 6, 8):
        halved = ", ".join(f"{math.log(2) / slope:.1f}" for slope in alibi_slopes(n_heads).tolist())
        print(f"{n_heads} heads: the weight halves every {halved} tokens")

# %% [markdown]
# ## 6. All heads in one product
#
# Your part 3 ran its heads one after the other. Each is a small product, and a processor would rather do one large
# one. Nothing in the mathematics stands in the way. The queries of head j are `x W_j`, with a W_j of d_head columns;
# lay the W_j side by side, and one product with a (d, d) matrix gives the queries of all heads, **head j in columns
# j d_head to (j + 1) d_head.** The same for keys and values. From there it is a matter of axes:
#
#     (B, T, d)  ->  (B, T, h, d_head)  ->  (B, h, T, d_head)
#
# The first arrow *names* what is there: the last axis of length d already is h groups of d_head, one after the other in
# memory, and a `view` says so. The second arrow *swaps* two axes, so that heads stand beside the batch and (T, d_head)
# are the last two, where matrix products work. After that, all that you wrote in part 3 runs for all B h heads at once.
#
# The trap is to do both in one step: a `view` from (B, T, d) straight to (B, h, T, d_head) has the right number of
# elements and the right shape. But a view only recounts, it moves nothing. With T = 5, h = 4 and d = 24, "head 0" would
# be the first 30 numbers of the sequence, all of token 0 and a quarter of token 1, and the last head the last 30: a
# quarter of token 3 and all of token 4. What it calls its position 0 is token 3. Written back to position 0, that is
# *the future*, under a mask that is perfectly triangular. The shapes fit, and training goes suspiciously well. On
# the way back the same trap waits a second time.
#
# ### Where dropout goes
#
# Training a large model on a small text, one would like no head to rely on a single token. So during training each
# weight is set to zero with probability p, *after* the softmax, and the ones that stay are divided by 1 - p, so that a
# row still adds up to 1 on average and nothing has to be changed when dropout is off. Why not before the softmax? A
# score of 0 is a share like any other, not an absence; and a score of -inf hands its share to the others, and if all
# of a row are hit, there is 0/0 again. In evaluation mode nothing is dropped (a module knows its mode; `F.dropout` must
# be told, `nn.Dropout` looks by itself). And `attention_weights` is for looking: it returns what the softmax gave,
# *before* dropout, in either mode.
#
# ### What is new besides
#
# - No `block_size`. A mask for T positions is one small comparison, so it is made when T is known, on the device of x.
#   Only learned positions have an end, and they are outside, on x, before this module sees it.
# - `qkv_bias` is True here: GPT-2 has these biases. `proj` has its bias in any case.
# - With "rope", q and k of each head are turned after the split: pairs within a head's own d_head columns, so d_head
#   must be even. With "alibi" the bias is added to the divided scores. With "none" nothing happens, and then you
#   must get part 3's numbers from part 3's weights.
# - The bias table is float32 on the CPU. Scores may be float16 and elsewhere; add the two as they are, and the result
#   is float32, or an error.
#
# ## Exercise: `CausalSelfAttention`
#
# 30 minutes, difficulty 3 of 3. One method at a time:
#
# - `__init__`: `q`, `k`, `v`, `proj`, each `nn.Linear(d_model, d_model)`. Refuse, with the value in the message, an
#   unknown `positions`, a number of heads that does not divide, and an odd d_head for "rope".
# - `split_heads(x)`: `(B, T, d_model) -> (B, h, T, d_head)`, and nothing is computed, only re-arranged. (It is there
#   for your convenience; the suite does not call it.)
# - `attention_weights(x)`: `(B, h, T, T)`, rows that add up to 1, nothing above the diagonal.
# - `forward(x)`: `(B, T, d_model)`: drop, mix, merge, project.
#
# **A pass looks like this:** with weights copied you equal `nn.MultiheadAttention` within 1e-6 in float32 and the
# formula within 1e-10 in float64, for 1, 4 and 6 heads, at any T, one after the other. Nothing before t moves when
# everything from t on is replaced, in all three modes. Shuffle the tokens before the last: its output stays with "none"
# and moves with the other two. With queries of zero, "alibi" gives each step back e^{-m} times the weight of the step
# before. With p = 0.25, about a quarter of the weights are gone in training, the others are 4/3 of what they were, and
# two evaluations are equal to the last bit.


# %%
class CausalSelfAttention(nn.Module):
    """Let each position read itself and what came before, by several heads computed together.

    Attributes:
        q: ``nn.Linear(d_model, d_model)``, the queries of all heads; columns j * d_head to (j + 1) * d_head are
            head j's.
        k: The keys, likewise.
        v: The values, likewise.
        proj: ``nn.Linear(d_model, d_model)`` with bias; takes the heads' outputs side by side, head 0 first.

    Source: Vaswani et al. 2017, section 3.2.2; Su et al. 2021, section 3.2.2 ("rope"); Press et al. 2022,
    section 3 ("alibi"); Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" (biases).
    """

    def __init__(
        self, d_model: int, n_heads: int, qkv_bias: bool = True, positions: str = "none", dropout: float = 0.0
    ) -> None:
        """Make the four projections.

        Args:
            d_model: Width of a token's vector, a multiple of ``n_heads``.
            n_heads: Number of heads.
            qkv_bias: Whether ``q``, ``k`` and ``v`` have a bias.
            positions: How heads learn about places: "none", "rope" or "alibi".
            dropout: Probability that a weight is set to zero during training.

        Raises:
            ValueError: ``n_heads`` does not divide ``d_model``, or ``positions`` is none of the three, or it is "rope"
                and the width of a head is odd; the message names the value.
        """
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
        if positions not in ("none", "rope", "alibi"):
            raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
        if positions == "rope" and d_model // n_heads % 2 != 0:
            raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
        self.n_heads = n_heads
        self.positions = positions
        self.dropout = dropout
        self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
        self.proj = nn.Linear(d_model, d_model)

    def split_heads(self, x: Tensor) -> Tensor:
        """Give each head its own columns.

        Args:
            x: Queries, keys or values of all heads, float (B, T, d_model).

        Returns:
            Float (B, n_heads, T, d_head): the same numbers, head j from columns j * d_head to (j + 1) * d_head.
        """
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, T, h, d_head) -> (B, h, T, d_head)

    def attention_weights(self, x: Tensor) -> Tensor:
        """Return which positions each position reads, head by head, before any dropout.

        Args:
            x: Float (B, T, d_model), any T.

        Returns:
            Float (B, n_heads, T, T), dtype and device of ``x``: entry (b, j, t, i) is the weight of head j at
            position t on position i, zero for i > t.
        """
        T = x.shape[1]
        q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))  # (B, h, T, d_head) each
        if self.positions == "rope":
            q, k = rope(q), rope(k)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, h, T, T)
        if self.positions == "alibi":
            scores = scores + alibi_bias(self.n_heads, T).to(scores)
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        return scores.masked_fill(future, float("-inf")).softmax(dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        """Read, with dropout on the weights in training, and project what was read.

        Args:
            x: Float (B, T, d_model), any T.

        Returns:
            Float (B, T, d_model), dtype and device of ``x``.
        """
        weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
        read = weights @ self.split_heads(self.v(x))  # (B, h, T, d_head)
        return self.proj(read.transpose(1, 2).flatten(-2))  # (B, T, h, d_head) -> (B, T, d_model)


# %% [markdown]
# Two questions for your own code. Does it give what part 3 gave, with the same weights? And which of the four schemes
# can tell the 24 orders apart? Predict the second one before you run the cell.

# %%
if __name__ == "__main__":
    together = CausalSelfAttention(d_model=24, n_heads=4, qkv_bias=False)
    with torch.no_grad():
        for name in ("q", "k", "v"):
            getattr(together, name).weight.copy_(torch.cat([getattr(head, name).weight for head in blind.heads]))
        together.proj.load_state_dict(blind.proj.state_dict())
        print(f"all heads at once against part 3: {(together(tokens) - blind(tokens)).abs().max():.1e}")
        for scheme in ("none", "rope", "alibi"):
            module = CausalSelfAttention(d_model=24, n_heads=4, positions=scheme)
            lasts = torch.stack([module(tokens[:, [*order, 4]])[0, -1] for order in permutations(range(4))])
            print(f"{scheme:>5}: the last output moves by {(lasts - lasts[0]).abs().max():.1e}")

# %% [markdown]
# ## What you can now say
#
# - Attention reads a bag, and a causal mask only says how large the bag is. Order has to be put in.
# - A learned table is simple and good where it was trained. It ends, and it learns each place by itself.
# - A wave needs its partner: with sine and cosine, a shift is a rotation, the same one everywhere. Different speeds are
#   for different distances.
# - Ask that the score depend on the distance alone, and rotations of pairs are all that is left: RoPE. Queries and keys
#   are turned, values never, and the angles need more precision than the model.
# - If near should count more than far, and no more is needed, say so in the score: ALiBi. Each head has its own slope.
# - All heads fit into one product. A view renames axes, a transpose moves them, and to confuse the two lets a model
#   read its own answers.
#
# | trained on 32 tokens, perplexity at | 32 | 64 | 128 |
# |---|---|---|---|
# | learned | 6.3 | 13.0 | 20.8 |
# | sinusoidal | 6.6 | 12.4 | 20.1 |
# | RoPE | 6.1 | 7.8 to 8.7 | 12.7 to 14.9 |
# | ALiBi | 7.6 | 7.7 | 8.8 |
#
# (One block of width 64, 300 steps, three seeds, on an artificial language; part 7 has you measure it.)
#
# Two questions to carry into part 6. Attention makes a T by T matrix for each head: what does that cost at 16,384
# tokens? And of the four schemes, which add parameters, and how many, to GPT-2 small?
#
# Sources: Vaswani et al. 2017, "Attention Is All You Need", sections 3.2 and 3.5; Su et al. 2021, "RoFormer: Enhanced
# Transformer with Rotary Position Embedding", section 3; Press et al. 2022, "Train Short, Test Long", section 3;
# Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", section 4.
