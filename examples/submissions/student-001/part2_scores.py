# %% [markdown]
# # Part 2 · Where the weights come from
#
# About 90 minutes: 30 to read and run, 60 for six short functions. You need Part 1's ideas (an average is a matrix
# product, and a softmax makes its rows), but nothing of Part 1's code is imported here.
#
# Shapes: `T` rows that ask (queries), `S` rows that are asked (keys), `d` numbers in each. `...` stands for any leading
# axes, none included: the same function must serve one sentence, a batch of them, and a batch with heads.

# %%
"""Part 2: where the weights come from."""

import math

import torch
from torch import Tensor

# %% [markdown]
# ## 1. The weights must come from the data
#
# Part 1 ended with an honest failure. A uniform average of the prefix, put in the token's place, is four times worse
# than the token alone (perplexity about 248 against 59.71), and an average *added* to the token gives 60.45: it buys
# nothing. The machinery was right (a row of weights that sums to 1, times a matrix). The weights were wrong.
#
# What should they be? Take two sentences that differ in one word:
#
# > the animal did not cross the street because it was too **tired** , so the ...
# >
# > the animal did not cross the street because it was too **wet** , so the ...
#
# The next word is "animal" in the first and "street" in the second. Counting from 0, the last row is 14, the animal
# stands in column 1 and the street in column 6. Now try the cheap ideas first.
#
# **Idea 1: one learned matrix of weights, T by T**, every entry a parameter. It has a gradient, it trains. But the two
# sentences have their words at the same places: whatever numbers stand at (14, 1) and (14, 6), *both* sentences use
# them. A table of positions can say "look two words back"; it cannot say "look at the one that can be tired". So the
# weights cannot be parameters. They have to be **computed from the tokens**.
#
# **Idea 2: each token gets a score of its own**, a learned "how interesting am I". Now the data decide. But a score
# that depends on the column alone gives every row the same ranking: if "animal" wins, it wins for "it", for "street"
# and for "because" alike. What matters depends on who is asking.
#
# So the score must be a function of **two** tokens, the one that reads and the one that is read. That is all we know so
# far, and it already fixes the shape: a table of T rows and S columns, and Part 1's softmax turns each row of it into
# weights.
#
# ## 2. Why a dot product
#
# We need a function that takes two vectors and returns a number, T·S times for every sentence. Ask three things of it:
# learning must be able to move it (a gradient), it must be cheap for all pairs at once, and "these two fit" must be
# something that it can express.
#
# * *Are they equal?* Has no gradient. Out.
# * *A small network on the two vectors side by side.* Works, and was used first, but it runs T·S times, with an
#   activation for each pair to be kept for the backward pass.
# * *The sum of the products of their coordinates.* One multiplication for each coordinate, positive where both point
#   the same way. All T·S of them together are **one matrix product**, which is what hardware does best. And the
#   gradient reads like a sentence: the derivative of q·k with respect to q is k. If row t should have read column s,
#   the query of t is pulled towards the key of s, and the key of s towards the query of t.
#
# *And distance?* It is the same thing in disguise. Expand the square:
#
# $$\lVert q - k \rVert^2 = \lVert q \rVert^2 + \lVert k \rVert^2 - 2\, q \cdot k$$
#
# The first term is the same in the whole row, and Part 1 showed that a constant added to a row of scores changes no
# weight. So for keys of equal length, a softmax over dot products *is* a softmax over minus half the squared distances.
#
# ## 3. Why three maps and not one
#
# Could a token's own vector x be all that is needed, with the score x_t · x_s? Predict what happens with 64 random
# tokens in 64 dimensions: whom does each one prefer? (The cell below Exercise 2.1 measures it with your function.)
#
# **No map.** x_t · x_t is a squared length: a sum of d squares, about d. Against any other token the products have both
# signs and nearly cancel. Among vectors of equal length nothing can beat the vector itself. So every token reads
# itself, and that is the token alone again, at a higher price.
#
# **One map, W for both sides.** The score is (x_t W) · (x_s W): again a vector with itself on the diagonal, so the
# squared length is back. And swapping t and s changes nothing: "it" looks at "animal" exactly as hard as "animal" looks
# at "it". But wanting is not mutual. A pronoun needs its noun; the noun needs nothing from the pronoun. Training W
# cannot repair that, because it follows from the *form*: W Wᵀ is symmetric and gives no token a negative score with
# itself, whatever W is.
#
# **Two maps.** With a **query** q_t = x_t W_q (what do I look for?) and a **key** k_s = x_s W_k (what can I be found
# by?) the score is x_t (W_q W_kᵀ) x_sᵀ, and W_q W_kᵀ can be any matrix of rank at most d: asymmetric, and negative for
# a token with itself if that helps.
#
# **A third one.** The key says how a token is *found*; what is then *handed over* is another matter. A library's
# catalogue card is not the book. If the key were also what is mixed, a head could only pass on what it searches by:
# search by "is a noun" and all you receive is "noun". So a token has a **value** v_s = x_s W_v as well. Values enter in
# Part 3; Part 2 asks for the scores alone.
#
# ### Exercise 2.1 · `dot_product_scores` (10 minutes, easy)
#
# All T·S dot products as one product of matrices. `q (..., T, d)`, `k (..., S, d)` -> `(..., T, S)`.
#
# *Before you write:* in the table, which of the two letters, T or S, counts rows? Which two axes of `k` must change
# places for that, and does your way of writing it still mean the same two axes when a batch axis stands in front? And
# when there is none?
#
# *You pass* when row t, column s is q_t · k_s for S different from T, for every batch entry on its own, and the result
# has the dtype of the input. By hand: (1, 2) with (4, 5) gives 14.


# %%
def dot_product_scores(q: Tensor, k: Tensor) -> Tensor:
    """Score every query against every key by their dot product.

    Args:
        q: Queries, float (..., T, d).
        k: Keys, float (..., S, d), with the leading axes of ``q``; S may differ from T.

    Returns:
        Float (..., T, S), dtype and device of ``q``: entry (t, s) is the dot product of query t and key s.

    Raises:
        RuntimeError: By torch itself, where ``q`` and ``k`` disagree in d.

    Source: "Attention Is All You Need" (2017), section 3.2.1.
    """
    # The last two axes, counted from the end: the leading ones are none, one or many.
    return q @ k.transpose(-2, -1)  # (..., T, d) @ (..., d, S) -> (..., T, S)


# %% [markdown]
# Solved? Then check the prediction of section 3.

# %%
if __name__ == "__main__":
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randn(64, 64, generator=generator)
    first, second = torch.randn(2, 64, 64, generator=generator) / math.sqrt(64)
    pairs = {
        "no map": (tokens, tokens),
        "one map": (tokens @ first, tokens @ first),
        "two maps": (tokens @ first, tokens @ second),
    }
    for name, (asks, offers) in pairs.items():
        table = dot_product_scores(asks, offers)
        own = (table.argmax(dim=1) == torch.arange(64)).float().mean().item()
        lopsided = (table - table.mT).abs().max().item()
        print(f"{name:>8}: {own:6.1%} of tokens prefer themselves, largest |score(t, s) - score(s, t)| {lopsided:.1f}")

# %% [markdown]
# You should see 100 %, 100 % and then about chance (3.1 %, two tokens of 64); and an asymmetry of 0, 0, and something
# large.
#
# ## 4. How big is a score?
#
# Nothing so far says how *large* q·k is, and a softmax cares about nothing else than differences in size. So predict
# it. Let the coordinates of q and k be independent, with mean 0 and variance 1: a fair picture of a freshly initialised
# layer behind a normalisation. Then, step by step:
#
# 1. q·k is a sum of d products, q_1 k_1 + ... + q_d k_d.
# 2. One product has mean E[q_i] E[k_i] = 0. Which assumption did that use? *Independence of q and k.*
# 3. Its variance is therefore E[q_i² k_i²] = E[q_i²] E[k_i²] = 1 · 1 = 1.
# 4. Different coordinates are independent, so their products are uncorrelated, and **variances of uncorrelated terms
#    add**:
#
# $$\operatorname{Var}(q \cdot k) = \sum_{i=1}^{d} \operatorname{Var}(q_i k_i) = d
#   \qquad\text{so the standard deviation is } \sqrt d .$$
#
# No softmax in it, no T, no S, no batch: the sum runs over d, so d is the only size that can appear. Keep that in mind
# for section 7, where several other sizes will look tempting.
#
# *A question to test the derivation:* what becomes of it when q and k are the same vector? (Step 2 breaks: the mean is
# d now, and the variance 2d. A bug that draws once instead of twice shows itself as a factor of two.)
#
# A derivation is a claim about the world, so measure it. How exact can a measurement be? The fourth moment of q·k is
# 3d² + 6d (given k, q·k is normal with variance |k|², and E|k|⁴ = d² + 2d), so the square of q·k scatters with variance
# 3d² + 6d - d² = 2d² + 6d, and the mean of n squares is off, relative to d, by typically
#
# $$\sqrt{\frac{2 + 6/d}{n}}\qquad\text{which for } n = 20{,}000 \text{ is } 1.3\,\% \text{ at } d = 4
#   \text{ and } 1.0\,\% \text{ at } d = 1024.$$
#
# The checks allow 6 %, four and a half to six times that: luck does not fail you, a wrong formula does.
#
# | d | predicted | measured, 20,000 pairs | standard deviation |
# |---|---|---|---|
# | 4 | 4 | 3.975 | 1.994 |
# | 16 | 16 | 16.071 | 4.009 |
# | 64 | 64 | 64.249 | 8.016 |
# | 256 | 256 | 253.065 | 15.908 |
# | 1024 | 1024 | 1015.562 | 31.868 |
#
# ### Exercise 2.2 · `dot_product_variance` (10 minutes, easy)
#
# Draw `n_pairs` independent pairs of standard normal vectors in R^d from the generator that you are given, take the dot
# product of each *pair* (not of every q with every k), and return their variance as a Python float.
#
# *Before you write:* how many numbers does the variance run over, n_pairs or n_pairs·d? What should happen to the
# random numbers of the rest of the program when somebody calls your function with a generator?
#
# *You pass* when the result is within 6 % of d at d = 4, 16, 64, 256, 1024; when fewer pairs give an answer that is
# rougher by as much as the root above says (which holds for normal draws, not for any draws of variance 1); and when
# the generator alone decides: the same seed, the same number. Dividing by n, by n - 1, or taking the mean of the
# squares (the true mean is 0) agree far within that bound: all are accepted.


# %%
def dot_product_variance(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """Measure the variance of q·k for independent standard normal q and k in R^d.

    Args:
        d: Width of the vectors.
        n_pairs: How many independent pairs are drawn.
        generator: Where the draws come from; torch's global generator where None. With a generator, the
            global one is left as it was.

    Returns:
        The measured variance, a Python float, in squared units of a score; near ``d``.

    Source: "Attention Is All You Need" (2017), footnote 4.
    """
    device = generator.device if generator is not None else torch.device("cpu")
    q = torch.randn(n_pairs, d, generator=generator, device=device)
    k = torch.randn(n_pairs, d, generator=generator, device=device)
    return (q * k).sum(dim=-1).square().mean().item()  # the mean of q·k is known to be 0: no need to estimate it


# %%
if __name__ == "__main__":
    for width in (4, 16, 64, 256, 1024):
        measured = dot_product_variance(width, generator=torch.Generator().manual_seed(0))
        print(f"d = {width:4d}: predicted {width:4d}, measured {measured:8.3f}, off by {measured / width - 1:+.1%}")

# %% [markdown]
# ## 5. How many tokens does a row read?
#
# Scores with a standard deviation of 32 go into a softmax. What comes out? "Peaked" is not a number. We want one that
# says, for a row of weights, *how many tokens it really reads*.
#
# * *Count the weights that are not zero.* On paper a softmax gives no finite score an exact 0: the answer is always n.
#   (In float32 a score that is about 104 behind does get one, which only makes the count an accident of rounding.)
# * *One over the largest weight.* Right for uniform rows, but blind to all the rest: (0.5, 0.5) and (0.5, 0.1, 0.1,
#   0.1, 0.1, 0.1) would both read 2.
#
# So state what the number must do. Uniform over m tokens must give **m**. And if a row is made of two independent
# choices (a weight on column pairs that is a product), the numbers must **multiply**, as m·n pairs do. A quantity whose
# logarithm adds over independent choices, weighted as they occur, is the entropy. That is the measure:
#
# $$N(w) = \exp\Big(-\sum_i w_i \ln w_i\Big)$$
#
# Check it: for m weights of 1/m the sum is m · (1/m) · ln m = ln m, so N = m. Halves, quarters: (1/2, 1/4, 1/4) has
# entropy 1.5 ln 2 and reads 2^1.5 = 2.83 tokens. Note what the exponential has to undo: natural logarithms need exp,
# base 2 needs a power of 2, and a mixture of both is a number that looks plausible and is wrong. (1 over the sum of
# squares also gives m for a uniform row, and multiplies: it is a cousin that counts large weights more. For (1/2, 1/4,
# 1/4) it says 2.67. A definition has to be stated, then kept.)
#
# One trap: 0 · ln 0. The limit of x ln x at 0 is 0, and a token that is not read must not count. A computer multiplies
# 0 by minus infinity and gets NaN, and a single NaN eats the row. Every masked row of Part 1 is full of exact zeros.
#
# ### Exercise 2.3 · `effective_tokens` (15 minutes, medium)
#
# `weights (..., n)` -> `(...)`, computed over the last axis.
#
# *Before you write:* adding a small constant before the logarithm makes the NaN go away. What does it do to a row with
# a thousand zeros? And in float16, what is left of a constant such as 1e-9? Which value could you hand to the logarithm
# *in place of* the zeros so that nothing at all is added?
#
# *You pass* when one token gives 1, n equal ones give n, zeros add nothing in every dtype, and independent choices
# multiply.


# %%
def effective_tokens(weights: Tensor) -> Tensor:
    """Count how many tokens each row of weights reads: the exponential of its entropy in nats.

    Args:
        weights: Float (..., n), rows that are not negative and sum to 1; exact zeros are welcome.

    Returns:
        Float (...), dtype and device of ``weights``, in tokens: 1 where one token has all the weight, n where
        all are equal. A weight of 0 adds nothing and never gives NaN.

    Source: "Diversity and Evenness: A Unifying Notation and Its Consequences" (1973), the number of order 1.
    """
    # ln 1 = 0: where the weight is 0 the logarithm sees a 1, so that neither value nor gradient meets infinity.
    logs = weights.masked_fill(weights == 0, 1.0).log()
    return (-(weights * logs).sum(dim=-1)).exp()  # (..., n) -> (...)


# %% [markdown]
# Now look at the trouble with your own eyes. One query, 64 keys, and the row of weights as a bar for each key, at
# growing width. Nothing else changes.

# %%
if __name__ == "__main__":
    for width in (4, 16, 64, 256, 1024):
        generator = torch.Generator().manual_seed(2)
        query = torch.randn(1, width, generator=generator)
        keys = torch.randn(64, width, generator=generator)
        weights = torch.softmax(dot_product_scores(query, keys), dim=-1)[0]
        bars = "".join(" ▁▂▃▄▅▆▇█"[math.ceil(8 * weight)] if weight > 0.01 else "·" for weight in weights.tolist())
        print(f"d = {width:4d} |{bars}| reads {effective_tokens(weights).item():5.2f} of 64")

# %% [markdown]
# On average over 2,000 rows of 64 scores: 4.97 tokens at d = 16, 2.06 at 64, 1.41 at 256, 1.17 at 1024. The wider the
# head, the fewer tokens it reads, and nobody asked it to. The winner is whoever drew the largest random number.
#
# *Where is the border?* Treat the scores of a row as n normal numbers with variance $\sigma^2$. While all terms of the
# softmax's denominator matter, the law of large numbers applies: N is about $n\,e^{-\sigma^2/2}$. That is a fair
# estimate for small $\sigma$ and nonsense once it falls below 1; from about $\sigma^2 = 2 \ln n$ on (8.3 for n = 64)
# the largest terms alone make up the denominator. With $\sigma^2 = d$ every usual head is far beyond that border.
#
# ## 6. Why a frozen softmax does not thaw
#
# A head that starts with a random favourite could *learn* better, one might hope. Learning goes through the derivative
# of the weights with respect to the scores, so derive it. With w_i = exp(s_i) / Z and Z the sum of all exp(s_j):
#
# * a score acts on its own numerator: the derivative of exp(s_i) with respect to s_i is exp(s_i), which gives w_i;
# * every score acts on the shared denominator: the derivative of 1/Z with respect to s_j is -exp(s_j)/Z², which gives
#   -w_i w_j.
#
# $$\frac{\partial w_i}{\partial s_j} = w_i\,(\delta_{ij} - w_j)
#   \qquad\text{as a matrix:}\qquad J = \operatorname{diag}(w) - w\,w^\top$$
#
# Read the matrix. Each row sums to w_i - w_i · 1 = 0: lifting *all* scores together changes nothing (Part 1 again). It
# is symmetric. Off the diagonal it is negative: what one token wins, the others lose. And for any direction u, u·Ju is
# the sum of w_i u_i² minus the square of the sum of w_i u_i: the **variance of u under the weights**. A row that always
# reads the same token has no variance in any direction, so nothing can move it.
#
# How much passes in total? The trace is the sum of w_i - w_i², that is
#
# $$\operatorname{tr} J = 1 - \sum_i w_i^2 ,$$
#
# and since no eigenvalue is negative, none is larger than it. One-hot: exactly 0. Uniform: 1 - 1/n. With one weight of
# 0.99 the trace is at most 1 - 0.9801 = 0.0199, so less than two per cent of what the loss says reaches the scores, and
# through them W_q and W_k. Call a row **frozen** when its largest weight is above 0.99.
#
# Averages over 2,000 rows of 64 scores, without and with the division that comes in section 7:
#
# | d | mean trace, plain | mean trace, divided | frozen, plain | frozen, divided |
# |---|---|---|---|---|
# | 16 | 0.553 | 0.960 | 2.2 % | 0 % |
# | 64 | 0.294 | 0.961 | 19.1 % | 0 % |
# | 256 | 0.151 | 0.961 | 46.8 % | 0 % |
# | 1024 | 0.073 | 0.961 | 70.5 % | 0 % |
#
# Seven rows in ten at d = 1024 start with a closed mind. (State the definition with such a number: "trace below 0.01"
# counts 66.3 % on the same rows.) *Why seven in ten and not all?* A weight of 0.99 needs a lead of about ln 99 = 4.6
# over the rest. Among 64 normal numbers the first leads the second by about $0.38\,\sigma$ on average, and such a lead
# is nearly exponentially distributed, so the share that leads by 4.6 is about $\exp(-4.6 / (0.38\,\sigma))$. With
# $\sigma = \sqrt d$ that is 69 % at d = 1024, 47 % at 256 and 22 % at 64: the column of the table, from a line of
# arithmetic.
#
# Does it matter in training? Measured with one head and no normalisation before the projections: at d = 32 the missing
# division costs nothing (training can still shrink the scores); at d = 256 it costs 18 points of perplexity. And it
# feeds on itself: the scores' standard deviation went from 21 to 5147, the entropy to 0, and 99.9 % of the rows ended
# above 0.99. With the division the scores ended at 3.44.
#
# ### Exercise 2.4 · `softmax_jacobian` (15 minutes, medium)
#
# `weights (..., n)` -> `(..., n, n)`: the matrix J of each row, from the weights alone (the softmax has been taken
# already).
#
# *Before you write:* w wᵀ needs w once as a column and once as a row. For a batch, which new axis makes the column and
# which the row, so that no row of the batch meets another?
#
# *You pass* when J predicts what a small change of the scores does to the weights, and each matrix belongs to its own
# row. By hand: weights (1/4, 3/4) give 3/16 on the diagonal and -3/16 off it.


# %%
def softmax_jacobian(weights: Tensor) -> Tensor:
    """Give the derivative of each row of softmax weights with respect to its scores.

    Args:
        weights: Float (..., n), what the softmax returned: rows that sum to 1.

    Returns:
        Float (..., n, n), dtype and device of ``weights``: entry (i, j) is the derivative of weight i with
        respect to score j, diag(w) - w wᵀ.

    Source: derived in section 6 of this text.
    """
    outer = weights.unsqueeze(-1) * weights.unsqueeze(-2)  # (..., n, 1) * (..., 1, n) -> (..., n, n)
    return torch.diag_embed(weights) - outer


# %% [markdown]
# ### Exercise 2.5 · `frozen_fraction` (5 minutes, easy)
#
# `weights (..., n)` -> Python float: the share of *rows* whose largest weight is above the threshold. All leading axes
# are counted together; with none there is a single row, and the answer is 0.0 or 1.0.
#
# *Before you write:* a frozen row of 64 has one large entry and 63 small ones. What would the share of large *entries*
# be?
#
# *You pass* when rows are counted, along the right axis, against the threshold that was passed in.


# %%
def frozen_fraction(weights: Tensor, threshold: float = 0.99) -> float:
    """Measure the share of rows that put nearly all their weight on one token.

    Args:
        weights: Float (..., n), rows that sum to 1.
        threshold: A row is frozen where its largest weight strictly exceeds this.

    Returns:
        A Python float between 0 and 1, over all rows of all leading axes.

    Source: the definition in section 6 of this text.
    """
    frozen = weights.amax(dim=-1) > threshold  # (..., n) -> (...)
    # Counted in float64 whatever the input: 2,000 rows would not fit the 8 significant bits of a bfloat16.
    return frozen.double().mean().item()


# %% [markdown]
# ## 7. By what to divide
#
# We want the spread of the scores to be the same at every width. Section 4 says how it grows: the variance is d.
# Dividing by a constant c divides a variance by c², so 1 = d / c² leaves one choice, **c = √d**. The usual other
# candidates, and why each is not it:
#
# * **d.** It divides the variance by d², so the scores now *shrink* with the width: standard deviation 1/√d, 1/32 at
#   d = 1024, and the row reads 63.97 of 64 tokens. That is Part 1's uniform average again. The trace of J looks fine
#   there (0.984), and that is the trap: the gradient is lost one step further on. The derivative of the score with
#   respect to q is k/c, whose length is √d/c: 1 for c = √d, but 1/√d for c = d. The spread of the scores and the length
#   of that gradient are *both* √d/c. One exponent keeps both at 1, and it is one half.
# * **√T or √S.** The sum in q·k runs over d. Neither length is in it; the same head would weigh differently in a longer
#   sentence.
# * **d twice over, by dividing q by √d, k by √d.** Their product is d. If you prefer to scale the factors, each gets
#   the fourth root.
# * **The measured standard deviation of the row.** Then every row has the same sharpness for ever. But sharpness is
#   something to be *learned*: one head may want to read a single token, another all of them, and longer q and k is how
#   it says so. √d fixes where training starts, not where it ends.
#
# And now 0.96 explains itself. With $\sigma = 1$ the law of large numbers holds, and for n normal scores the sum of w²
# is about e/n: the trace is about 1 - 2.718/64 = 0.958 and N about 64/√e = 38.8, **with no d in either**. Measured:
# 0.96 and about 40 at every width.
#
# ### Exercise 2.6 · `scaled_scores` (5 minutes, easy)
#
# The scores of 2.1 divided by the square root of the length of the last axis. Same shapes, same dtype.
#
# *Before you write:* which axis is summed away in q·k? Take its length from the tensors. And what does Python make of
# `x / d ** 1 / 2`?
#
# *You pass* when the scores' standard deviation stays near 1 from d = 4 to d = 1024, and a softmax over them gives the
# weights of torch's own fused attention (which is not allowed here: it is what you are building).


# %%
def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """Score every query against every key, with a spread that does not depend on the width.

    Args:
        q: Queries, float (..., T, d).
        k: Keys, float (..., S, d), with the leading axes of ``q``; S may differ from T.

    Returns:
        Float (..., T, S), dtype and device of ``q``: the dot products divided by the square root of d.

    Raises:
        RuntimeError: By torch itself, where ``q`` and ``k`` disagree in d.

    Source: "Attention Is All You Need" (2017), equation 1.
    """
    return dot_product_scores(q, k) / math.sqrt(q.size(-1))


# %% [markdown]
# ## 8. The whole story in one table
#
# With all six written, this makes the table of section 6 with your own functions. Before you run it, say what each
# column will do as d grows, and by what law.

# %%
if __name__ == "__main__":
    for width in (16, 64, 256, 1024):
        generator = torch.Generator().manual_seed(0)
        queries = torch.randn(2_000, width, generator=generator)
        keys = torch.randn(64, width, generator=generator)
        for name, score in (("plain", dot_product_scores), ("divided", scaled_scores)):
            scores = score(queries, keys)
            weights = torch.softmax(scores, dim=-1)
            trace = softmax_jacobian(weights).diagonal(dim1=-2, dim2=-1).sum(dim=-1).mean().item()
            print(
                f"d = {width:4d} {name:>7}: spread {scores.std().item():6.2f}, "
                f"reads {effective_tokens(weights).mean().item():5.2f} tokens, trace {trace:.3f}, "
                f"frozen {frozen_fraction(weights):6.1%}"
            )

# %% [markdown]
# What you have: scores from the data, for every pair, at a size that a softmax can work with and learning can still
# move. What is missing: a value to hand over, a mask, and one function that does all four steps. That is Part 3.
#
# *To think about:* the derivation assumed that q and k are independent. A trained head makes them dependent on purpose.
# What can √d still promise after the first thousand steps, and what not? (It promised a fair start. The divided head
# above ended at a spread of 3.44: sharper than it began, by its own choice, and not frozen.)
