# %% [markdown]
# # Part 1 · An average is attention
#
# You are going to build a GPT, and you are not going to be handed attention as a formula. You will start from the
# plainest thing that could possibly work, watch it fail, and mend only what failed. At the end of this part you
# have a language model, and a function, `masked_softmax`, that goes into the final GPT without a single change.
#
# **What you need:** Python, tensors and their axes, what a matrix product is. **About 90 minutes.**
#
# | exercise | minutes | difficulty |
# |---|---|---|
# | `prefix_mean_loop` | 5 | easy |
# | `averaging_matrix`, `prefix_mean_matmul` | 15 | easy |
# | `causal_mask` | 5 | easy |
# | `masked_softmax` | 20 | the heart of this part |
# | `prefix_mean_softmax` | 5 | easy, if you have seen why |
# | `MeanLM` | 20 | medium |
#
# Letters used everywhere in the course: `B` sequences in a batch, `T` positions in a sequence, `S` positions that
# can be read, `d` numbers per position, `V` tokens in the vocabulary; `...` is any number of leading axes, also none.
#
# Some cells below begin with `if __name__ == "__main__":`. They are for looking: run them in the notebook, or run
# the file as a script. Nothing there is graded. A cell that uses your functions works once you have written them.
#
# ## 0. The problem: a past that keeps growing
#
# A language model reads `the animal did not cross the` and says what comes next. At position 0 it has one token to
# go by, at position 5 it has six, at position 1,000 it has a thousand and one. But the layer that finally speaks is
# a matrix: it wants a vector of exactly `d` numbers, the same `d` at every position. So somewhere each position must
# squeeze *everything so far* into *one vector of fixed size*. Three things are not negotiable:
#
# 1. one rule for every length, since we cannot learn a separate machine for each `t`;
# 2. nothing from the future: position `t` must not touch rows after `t`. In training the future is in the same
#    tensor, and it is the answer; a model that peeks learns to copy and is worthless when there is nothing to copy;
# 3. all positions at once, or training takes `T` times as long.
#
# **The cheapest idea** is to forget the past: use row `t` alone. It meets all three and it is a respectable model (a
# bigram: what follows this token?). But `the` is followed by thousands of words, and which one it is was decided by
# `animal` and `cross`, which this model threw away.
#
# **The next cheapest** is to add up the rows. Nothing is thrown away, but look at what happens when the same thing
# is said again and again. Before you run the cell: what will the last number be, and what should it be?

# %%
"""Part 1: compress a growing prefix into one vector, first by a mean, then by a softmax that gives the same mean."""

import time

import torch
from torch import Tensor, nn

# %%
if __name__ == "__main__":
    said_128_times = torch.ones(128, 4)  # one token's vector, 128 times
    print("sum after 1, 2, 128 rows: ", [said_128_times[:n].sum(dim=0)[0].item() for n in (1, 2, 128)])

# %% [markdown]
# The sum says *how much* was said, 1, 2, 128; the layer behind it, trained on short prefixes, meets numbers it has
# never seen at long ones. What was *said* never changed. So divide by the number of rows and it stays 1. That is the
# repair, and it is less arbitrary than it looks. Suppose one vector $m$ has to stand for rows $x_0, \dots, x_t$ and
# we ask that it be as close to all of them as it can, $\sum_{i \le t} \lVert x_i - m \rVert^2$ least. The derivative
# $-2\sum_i (x_i - m)$ is zero at exactly one place: $m = \frac{1}{t+1}\sum_i x_i$. **If you know nothing about which
# row matters, the mean is the best you can do.**
#
# Read the mean as a division of one unit of attention: every row of the past gets $1/(t+1)$ of it. The weights are
# not negative and they sum to 1, so they are a *budget*: to give more to one row is to take it from another. All
# that later parts do is to spend this budget better. Keep one weakness in mind, you will measure it in section 6:
# rows that have nothing to do with each other cancel in a mean, and what is left of any one of them is $1/(t+1)$.
#
# ## 1. Say it as a loop
#
# **Exercise `prefix_mean_loop`** · 5 minutes · easy · `(..., T, d) -> (..., T, d)`. Row `t` of the result is the mean
# of rows `0..t` of `x`. Write a loop over `t`, as slow and as obvious as you like: this is the version that you
# believe, and the two after it are checked against it.
#
# Two questions before you type. Is row `t` itself part of its own past? (Position 0 must have something to read.)
# And which axis is time, when `x` may have a batch axis, or two, or none? Count from the end.
#
# *A pass looks like this:* for `x` of shape `(4, 1)` with rows 2, 4, 0, 6 you get rows 2, 3, 2, 3; the first row is
# always the first row of `x`; changing row `t` of `x` changes no row before `t`.


# %%
def prefix_mean_loop(x: Tensor) -> Tensor:
    """Average each position with everything before it, one position at a time.

    Args:
        x: One vector per position, float (..., T, d).

    Returns:
        Float (..., T, d), dtype and device of ``x``: row t is the mean of rows 0 to t.

    Source: Iyyer et al. 2015, section 3 (a text as the unordered average of its word vectors).
    """
    raise NotImplementedError("part1: prefix_mean_loop is not written yet")


# %%
if __name__ == "__main__":
    print(prefix_mean_loop(torch.tensor([[2.0], [4.0], [0.0], [6.0]])).flatten())  # 2, 3, 2, 3

# %% [markdown]
# ## 2. Say it as a matrix
#
# The loop breaks demand 3: `T` small steps, one after the other. A running sum would cure that and would even be the
# cheapest way of all, `T·d` additions. We will not take it, and the reason decides the rest of the course: a running
# sum takes up each row once, before it knows who is going to read it, and can never change its mind about it. We want,
# later, that each position chooses for itself how much to take from each earlier one. That is one number for each pair
# (reader `t`, read `i`): a table of `T` by `T`. So we pay `T²` on purpose, for `T²` knobs, and for now set them alike.
#
# Call the table $A$. Row $t$ of the result is $\sum_i A_{ti}\, x_i$, and a sum over the inner index is what a matrix
# product *is*: the result is $A x$. Everything we demanded of the mean can now be read off $A$:
#
# - no future: $A_{ti} = 0$ for $i > t$, so everything above the diagonal is zero;
# - a budget: each row sums to 1. Rows, not columns: a row belongs to a reader, and it is the reader who has one unit
#   to spend. How much a token *receives* in all is not limited, and the first token receives most;
# - equal shares: row $t$ is $t+1$ times the number $1/(t+1)$.
#
# For `T = 4`:
#
# | | reads 0 | reads 1 | reads 2 | reads 3 |
# |---|---|---|---|---|
# | position 0 | 1 | 0 | 0 | 0 |
# | position 1 | 1/2 | 1/2 | 0 | 0 |
# | position 2 | 1/3 | 1/3 | 1/3 | 0 |
# | position 3 | 1/4 | 1/4 | 1/4 | 1/4 |
#
# **Exercise `averaging_matrix`** · 10 minutes · easy · `T -> (T, T)`. Build this table for any `T`, in the dtype and
# on the device that you are asked for. Can you do it without a loop? Which shape must the row counts have, so that
# dividing goes along the rows and not along the columns?
#
# *A pass looks like this:* the table above for `T = 4`, `[[1.]]` for `T = 1`, and in float64 a third that is right
# to sixteen digits (a third that was rounded to float32 on its way stays rounded).
#
# **Exercise `prefix_mean_matmul`** · 5 minutes · easy · `(..., T, d) -> (..., T, d)`. The same mean, as one matrix
# product. It must work for float64 and float16 inputs too: a product wants both factors in one dtype. Does the
# table go to the left of `x` or to its right? One of the two mixes positions, the other mixes features.
#
# *A pass looks like this:* equal to the loop within `1e-6` in float32, for any leading axes, with `x` untouched.


# %%
def averaging_matrix(T: int, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None) -> Tensor:
    """Build the table of weights whose product with a sequence is the mean of each prefix.

    Args:
        T: Number of positions, at least 1.
        dtype: Floating dtype of the table.
        device: Where to build it; None is the default device.

    Returns:
        ``dtype`` (T, T): row t holds 1 / (t + 1) in columns 0 to t and zero after them, so each row sums to 1.

    Source: Vaswani et al. 2017, section 3.2 (an output is a weighted sum of values), with equal weights.
    """
    raise NotImplementedError("part1: averaging_matrix is not written yet")


def prefix_mean_matmul(x: Tensor) -> Tensor:
    """Average each position with everything before it, all positions in one matrix product.

    Args:
        x: One vector per position, float (..., T, d).

    Returns:
        Float (..., T, d), dtype and device of ``x``: row t is the mean of rows 0 to t.

    Source: Vaswani et al. 2017, section 3.2 (an output is a weighted sum of values), with equal weights.
    """
    raise NotImplementedError("part1: prefix_mean_matmul is not written yet")


# %% [markdown]
# Look at what you made. The cell prints your table as shades of grey, then the time of both versions. On one CPU core
# we saw the product about twice as fast; expect far more of a GPU, where each of the loop's `T` steps is a separate
# errand. But speed is not the point. The point is that *the weights are now an object*, which you can print and change.

# %%
if __name__ == "__main__":
    SHADES = " .:-=+*#%@"
    for row in averaging_matrix(10):
        print("".join(SHADES[round(weight.item() * 9)] * 2 for weight in row))
    sample = torch.randn(8, 512, 64)
    for mean_of in (prefix_mean_loop, prefix_mean_matmul):
        started = time.perf_counter()
        mean_of(sample)
        print(f"{mean_of.__name__}: {1000 * (time.perf_counter() - started):.1f} ms")

# %% [markdown]
# ## 3. Who may read, and how much: two different questions
#
# Your table answers two questions with one number. A zero above the diagonal says *you may not read this*. The 1/4
# below it says *you read it this much*. As long as all weights are equal that does no harm. As soon as they are
# learned, the two come apart: "how much" will change at every training step, "may you" must never change. And a
# weight that is learned could become zero too, which is an opinion, not a rule. So take the rule out of the numbers
# and keep it as a table of its own, which holds permissions and therefore booleans: the **causal mask**.
#
# Which way round? **True = may attend.** Write that on your wall. It is the convention of PyTorch's fused attention;
# other libraries, and other layers of PyTorch itself, mean the opposite by True. Getting it backwards gives a
# tensor of the right shape and a model whose training loss is wonderful, since it reads the future, answers included.
#
# **Exercise `causal_mask`** · 5 minutes · easy · `T -> bool (T, T)`, True on and below the diagonal. Row = the reader,
# column = what is read. Why is the diagonal in? Think of the first row without it.
#
# *A pass looks like this:* for `T = 3` the rows are `T F F`, `T T F`, `T T T`, with dtype `torch.bool`.


# %%
def causal_mask(T: int, device: torch.device | str | None = None) -> Tensor:
    """Say which positions each position may read: itself and everything before it.

    Args:
        T: Number of positions, at least 1.
        device: Where to build it; None is the default device.

    Returns:
        Bool (T, T), True = may attend: entry (t, i) is True where i <= t.

    Source: Vaswani et al. 2017, section 3.2.3 (no information flows leftward in the decoder).
    """
    raise NotImplementedError("part1: causal_mask is not written yet")


# %% [markdown]
# ## 4. From any numbers to weights: why softmax, why a mask inside it, why minus infinity
#
# ### 4a. Why softmax
#
# Now the "how much". One day a function will look at reader `t` and row `i` and return a number $s_{ti}$, a *score*:
# high if `t` should read `i`. A function that is learned returns any real number, 3.7, 0, -250. The budget wants
# weights that are not negative and sum to 1. Something must turn one into the other. Try the cheap ways first:
#
# - **Divide by the sum.** Scores 2, -1, -0.9 give weights 20, -10, -9. They sum to 1 and they are nonsense, and if
#   the sum is 0 there is nothing to divide by.
# - **Cut off the negative ones, then divide.** Scores -1, -2, -3 become 0/0. And a score that was cut off gets no
#   gradient: the model can never learn that it was wrong to ignore that row.
# - **Square, then divide.** Never negative, but a score of -3 now beats a score of 1.
#
# So we want an $f$ that is positive everywhere and rising, with weights $w_i = f(s_i) / \sum_j f(s_j)$. One more wish
# settles it. Raise *all* scores of a reader by the same $c$: nobody has been preferred, so no weight should move. Then
# $f(a + c)/f(b + c) = f(a)/f(b)$ for all $a, b, c$. Put $b = 0$: $f(a + c) = f(a) \cdot f(c)/f(0)$. A function that
# turns sums into products, and rises, is an exponential; there is no other. (Its base only sets the unit in which
# scores are measured; we take $e$. That the unit must be chosen with care is a story for Part 2.) This is **softmax**:
#
# $$w_i = \frac{e^{s_i}}{\sum_j e^{s_j}}, \qquad \frac{w_i}{w_j} = e^{\,s_i - s_j}.$$
#
# Only *differences* of scores mean anything. This is also what saves the arithmetic: $e^{89}$ is already infinite in
# float32, $e^{12}$ in float16, but since a common shift changes nothing we may subtract the largest score first; then
# the largest exponential is $e^0 = 1$ and nothing overflows. A softmax written as "exp, then divide" is the same
# function on paper and returns `nan` for a score of 89.
#
# ### 4b. Why the mask has to come before
#
# Where does the mask go? **Cheapest idea: softmax first, then put zeros where reading is forbidden.** Take three scores
# 2, 1, 3, the third one in the future. Softmax gives 0.24, 0.09, 0.67. Zero the third: 0.24 and 0.09 remain, a budget
# of 0.33. Worse, let the *future* score change from 3 to 4: the weights of the *past* fall to 0.11 and 0.04. The
# forbidden number still sits in the denominator. What you may not read is changing what you see: that is a leak,
# with a zero painted over it.
#
# **Repair: divide again by what is left.** On paper that is right: $e^{s_i}/\sum_{\text{all}}$ divided by
# $\sum_{\text{allowed}}/\sum_{\text{all}}$ leaves $e^{s_i}/\sum_{\text{allowed}}$. Now run the cell: here the future
# score is large, and the future has used up all the digits before you get to divide.

# %%
if __name__ == "__main__":
    print("zeroing the third afterwards leaves:", torch.tensor([2.0, 1.0, 10_000.0]).softmax(dim=-1)[:2])
    print("a number that is only rather low:   ", torch.tensor([-20.0, -21.0, -10.0]).softmax(dim=-1))

# %% [markdown]
# Zero and zero; divided by their sum, `nan`. So a forbidden score must be gone *before* the exponential is taken.
#
# ### 4c. Why minus infinity, and not just a very low number
#
# Gone, but a tensor has no holes. We must write some number into the forbidden places. Which? Weights see differences
# only, so "low" must mean *lower than anything that may be allowed*:
#
# | written into the third place | allowed scores 0, 0 | allowed -20, -21 | allowed -100,000, -100,001 | float16 |
# |---|---|---|---|---|
# | 0 | gets 0.33 | gets all | gets all | works, wrongly |
# | -10 | gets 0.00002 | gets 0.9999 | gets all | works, wrongly |
# | -10,000 | exactly 0 | exactly 0 | gets all | works, until scores fall below it |
# | -1,000,000,000 | exactly 0 | exactly 0 | exactly 0 | error: beyond 65,504, the largest number there is |
# | $-\infty$ | exactly 0 | exactly 0 | exactly 0 | exactly 0 |
#
# The first line is the usual slip: a score of 0 is not a weight of 0, it is the score of "no opinion". The second looks
# harmless in every test with small scores, and a model trained with it reads the future as soon as its scores grow. The
# last line is the only number that *means* "not there": it is below every number, float16 has it as well as float64,
# and $e^{-\infty}$ is 0, not nearly 0.
#
# Does "exactly" matter? A weight of $10^{-5}$ carries a hundred-thousandth of the future row forward, and training
# sends its gradient back along the same wire. It will find that shouting helps: nothing bounds the size of a row, and
# a row a hundred thousand times as loud is heard in full. A weight of exactly 0 passes nothing either way. The scores
# are cut off too: for a softmax $\partial w_i / \partial s_j = w_i(\delta_{ij} - w_j)$, which is 0 for every $i$ when
# $w_j = 0$. The future is then not merely quiet; it is not connected.
#
# **The price.** A row in which *nothing* is allowed holds only $-\infty$, and $-\infty - (-\infty)$ is `nan`, which
# surfaces as a `nan` loss hundreds of lines away. (With -1e9 such a row quietly becomes an even average over everything
# that is forbidden, which is worse.) There is no right answer to "spend your budget on nothing", so do not give one:
# raise a `ValueError` at the place where it happens, and say what the mask was.
#
# **Exercise `masked_softmax`** · 20 minutes · the heart of this part · scores `(..., T, S)`, mask bool and broadcasting
# to it, weights `(..., T, S)`. `S` need not be `T`: someone else's text can be read too.
#
# Questions to answer before you type: whose budget is it, so which axis sums to 1? Your mask says who *may*; which
# entries are to be overwritten? Are the scores yours to overwrite, or does somebody still need them? A trap:
# $0 \cdot \infty$ is `nan`, so what would *adding* a mask times minus infinity do to the allowed entries? (And a check
# of values cannot run on the `meta` device, where tensors have shapes and no numbers: it may be skipped there.)
#
# *A pass looks like this:* rows sum to 1; a forbidden weight is exactly 0 even where its score is 10,000 above the
# others; adding -100,000 to all scores changes nothing; float16 and bfloat16 come back as they went in; `scores` is
# unchanged; the gradient of a forbidden score is exactly 0; a mask with an empty row is a `ValueError` that tells its
# shape.


# %%
def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Turn scores into weights that sum to 1 over what each reader may read.

    Args:
        scores: Any real numbers, float (..., T, S); row t holds reader t's scores of the S rows it could read.
        mask: Bool, broadcasts to the shape of ``scores``; True = may attend.

    Returns:
        Float (..., T, S), dtype and device of ``scores``: softmax over the last axis, with the forbidden scores taken
        as minus infinity, so that forbidden weights are exactly 0.

    Raises:
        ValueError: ``mask`` has a row in which nothing is allowed.

    Source: Vaswani et al. 2017, section 3.2.3 (illegal connections are set to minus infinity before the softmax).
    """
    raise NotImplementedError("part1: masked_softmax is not written yet")


# %%
if __name__ == "__main__":
    logits_of_two_readers = torch.tensor([[0.0, 10_000.0, 5.0], [0.0, 0.0, 5.0]])
    print(masked_softmax(logits_of_two_readers, torch.tensor([[True, False, False], [True, True, False]])))
    # one reader with one thing to read, one with two equal ones: rows 1 0 0 and 0.5 0.5 0

# %% [markdown]
# ## 5. The mean was a softmax all along
#
# Now close the circle. Which scores give back the plain mean? Equal weights mean equal exponentials, so *equal* scores,
# any equal scores, and we may as well take the ones that say "no opinion": zeros. Each of the $t + 1$ allowed rows gets
# $e^0 / ((t + 1)\, e^0) = 1/(t+1)$. **The mean is attention without an opinion.**
#
# **Exercise `prefix_mean_softmax`** · 5 minutes · easy · `(..., T, d) -> (..., T, d)`. Zero scores, your mask, your
# softmax, one product. What shape do the scores have, and does that depend on `d`? On which device, in which dtype?
#
# *A pass looks like this:* the same numbers as the loop, within `1e-6` in float32. Not bit for bit: the three add up
# the same terms in different orders, and float addition depends on the order. At `T = 6` we saw a largest difference
# of 5.96e-08, which is $2^{-24}$, half of the last digit that float32 can hold just below 1.


# %%
def prefix_mean_softmax(x: Tensor) -> Tensor:
    """Average each position with everything before it, as attention whose scores are all zero.

    Args:
        x: One vector per position, float (..., T, d).

    Returns:
        Float (..., T, d), dtype and device of ``x``: row t is the mean of rows 0 to t.

    Source: Vaswani et al. 2017, section 3.2.1, with every score zero.
    """
    raise NotImplementedError("part1: prefix_mean_softmax is not written yet")


# %%
if __name__ == "__main__":
    sample = torch.randn(6, 16)
    believed = prefix_mean_loop(sample)
    for mean_of in (prefix_mean_matmul, prefix_mean_softmax):
        print(f"{mean_of.__name__}: at most {(mean_of(sample) - believed).abs().max().item():.3g} from the loop")

# %% [markdown]
# Four pieces are in your hands: a table of scores, a mask, a softmax, a product. Score, mask, normalise, mix. Attention
# is these four, and three of them are finished. Only the zeros will be replaced.
#
# ## 6. A language model from an average, and what it cannot know
#
# Put a table of vectors in front (each token gets a row that is learned: `nn.Embedding`) and a linear layer to the
# vocabulary behind, and the mean is a language model: `idx (B, T) -> logits (B, T, V)`, one guess of the next token at
# *every* position, all trained at once because no position sees its own answer.
#
# How good can it be? Do not train it; derive it. Let $E$ hold the embeddings and let $c$ count how often each token
# occurred in the prefix. Then the mean is $\frac{1}{t+1} E^{\top} c$: the model sees nothing but **counts**. Two
# prefixes with the same counts get the same logits, whatever was trained: *the dog bit the man* and *the man bit the
# dog* are one sentence to it. It cannot even tell which token came last, and that is the one the bigram lived on. The
# last token is one voice among $t + 1$, and the cell below shows how its voice fades: like $1/\sqrt{t+1}$.

# %%
if __name__ == "__main__":
    sample = torch.randn(200, 128, 64)  # 200 texts of 128 unrelated tokens
    kept = torch.cosine_similarity(prefix_mean_matmul(sample), sample, dim=-1).mean(dim=0)
    for t in (0, 3, 15, 63, 127):
        print(f"t = {t:3d}: the mean still looks {kept[t].item():.2f} like the current token")  # 1.00 ... 0.09

# %% [markdown]
# **First repair: `residual`.** Hand the current row on beside the mean: $x_t + \text{mean}_t$. The budget decides what
# you read from *others*; what you are yourself need not compete for it. It costs no parameter. (Why add, and not write
# the two side by side? Side by side doubles the width at every layer; added, the width stays, and a model of many
# layers can be stacked. Part 4 shows what else the plus sign does.)
#
# **Second repair: `positions`.** If order is lost, write the order into the rows: a second table, one learned vector
# for each position, added to the token's vector before the mean. Surely the model now knows who bit whom? Work it out
# before reading on: what is the mean of $e_i + p_i$?
#
# $$\frac{1}{t+1}\sum_{i \le t} (e_i + p_i) = \frac{1}{t+1}\sum_{i \le t} e_i \;+\; \frac{1}{t+1}\sum_{i \le t} p_i$$
#
# The mean takes them apart again. The second term is the same for *every* text: it tells how long the prefix is, never
# which token stood where. With positions, dog and man can still be swapped unnoticed, as long as they stand before the
# last place. Nothing that is linear and weighs all rows alike can tie a token to its place. This is no accident of
# training; it is a proof, and it tells us which piece is missing: **the weights must depend on what is read.**
#
# The same models, trained (validation perplexity: lower is better; read it as "among how many tokens is it unsure").
# First column: tiny Shakespeare in a vocabulary of 1,024 tokens, width 128, 3,000 steps of 64 windows of 128. Second:
# the same text in characters, width 64, 500 steps, median of five runs; you train such a ladder yourself in Part 7.
#
# | model | 1,024 tokens | characters |
# |---|---|---|
# | the current token alone | 59.71 | 12.31 |
# | the mean | about 248 | 25.01 |
# | the mean with positions | about 2 better than the mean | no better (24.49 for 24.44 after 800 steps) |
# | the mean and the current token (`residual`) | 60.45 | 12.58 |
#
# Reading the whole past evenly is four times *worse* than forgetting it. Positions gain two points of the 188, as the
# formula says they must. The residual mends the damage, and what the mean adds beyond it is nothing at all. An even
# reading of everything is no better than reading nothing: that is why Part 2 has to exist.
#
# **Exercise `MeanLM`** · 20 minutes · medium. Embedding, plus positions if asked; causal mean; plus the input itself if
# asked; linear to the vocabulary. Layers: `tok_emb` (`nn.Embedding`, `V` by `d`), `pos_emb` (`nn.Embedding`,
# `block_size` by `d`, or `None` without positions), `lm_head` (`nn.Linear`, `d` to `V`, with bias). The table of
# positions ends at `block_size`, so a longer `idx` is a `ValueError` that tells its length, with or without positions.
#
# Questions: what is "the input itself" once positions have been added? A text may be *shorter* than `block_size`: which
# rows of the table of positions does it use? After `model.to("cuda")`, where do the tensors live that you create in
# `forward`? And does the last layer return probabilities, or the scores that a later loss will turn into them?
#
# *A pass looks like this:* the logits of a shuffled prefix agree to 1e-6 at the last position, in all four variants as
# long as the last token stays; changing a later token changes no earlier logits; a model of width `V` whose `tok_emb`
# and `lm_head` are set to the identity counts tokens: for `idx = 0 1 1 2` the last logits are 1/4, 2/4, 1/4.


# %%
class MeanLM(nn.Module):
    """Predict the next token from the mean of everything so far.

    Args:
        vocab_size: Number of tokens V.
        d_model: Width d of the embeddings.
        block_size: The most tokens that ``forward`` accepts.
        positions: Add a learned vector for each position to the token's embedding.
        residual: Add each position's own input to its mean.

    Attributes:
        tok_emb: ``nn.Embedding`` (V, d).
        pos_emb: ``nn.Embedding`` (block_size, d), or None without ``positions``.
        lm_head: ``nn.Linear`` from d to V, with bias.

    Source: Mikolov et al. 2013, section 3.1 (averaged word vectors predict a word); Iyyer et al. 2015, section 3.
    """

    def __init__(
        self, vocab_size: int, d_model: int, block_size: int, positions: bool = False, residual: bool = False
    ) -> None:
        """Create the layers."""
        raise NotImplementedError("part1: MeanLM.__init__ is not written yet")

    def forward(self, idx: Tensor) -> Tensor:
        """Score every token of the vocabulary as the next one, at every position.

        Args:
            idx: Token ids, long (B, T).

        Returns:
            Logits, float (B, T, V), in the dtype of the parameters.

        Raises:
            ValueError: T exceeds ``block_size``.

        Source: Mikolov et al. 2013, section 3.1.
        """
        raise NotImplementedError("part1: MeanLM.forward is not written yet")


# %%
if __name__ == "__main__":
    the, dog, bit, man = range(4)
    texts = torch.tensor([[the, dog, bit, the, man, bit], [the, man, bit, the, dog, bit]])
    for positions in (False, True):
        told, twisted = MeanLM(vocab_size=4, d_model=24, block_size=8, positions=positions, residual=True)(texts)
        print(
            f"positions={positions}: dog and man swapped, the logits differ by up to "
            f"{(told - twisted).abs().max().item():.3f} on the way, "
            f"by {(told[-1] - twisted[-1]).abs().max().item():.1e} at the end"
        )

# %% [markdown]
# ## What you have, and what is missing
#
# You have a machine with four parts: scores say *how much*, the mask says *whether*, softmax makes a budget of it, a
# matrix product spends it. It meets all demands of section 0. It is useless, and you know exactly why: its scores are
# zeros, so every row of the past weighs the same, and no training changes that: *in the weights, nothing is learned*.
#
# The next question is therefore forced: where do the scores come from? Before you open Part 2, think of a machine
# that should find, from `it`, the noun that `it` stands for. What would the reader have to say about itself, what
# would each row have to say about itself, and what is the cheapest number that tells whether the two fit?
