# %% [markdown]
# # Part 4 · The block
#
# Part 3 left you with two questions. Your attention *replaces* a token by what it read: where does the token keep what
# it knew about itself? And once the weights are given, attention is a weighted sum: where would a model do anything
# that is not? A third one comes up as soon as you stack two layers, and you will meet it below. The block is the answer
# to all three, and GPT-2 is twelve copies of it. Nothing in it is decoration: you will take each piece out and see what
# breaks.
#
# | exercise | what you write | minutes | difficulty |
# |---|---|---|---|
# | `LayerNorm` | give every token the same size, without looking at any other | 20 | 2 of 3 |
# | `MLP` | the only place where a token is more than a sum | 10 | 1 of 3 |
# | `Block` | the two sublayers, their norms, and the path around them | 25 | 3 of 3 |
# | `block_gradient_norms` | the instrument that shows what the path is good for | 10 | 1 of 3 |
#
# Some 35 minutes more go into reading and looking. The ready-made layer norm of torch (and its kin: group norm, RMS
# norm, ...) is the judge in this part and may not be called; `nn.Linear`, `nn.Dropout` and `F.gelu` are yours to use.
#
# Letters: `B` sequences, `T` positions, `d` numbers for each token (`d_model`), `...` any leading axes, also none. The
# block is *given* its attention and its MLP, so nothing in this file depends on your earlier parts; two cells for
# looking use your Part 3, and cells of that kind begin with `if __name__ == "__main__":` as always.

# %%
"""Part 4: layer normalisation, the MLP, the block around them, and an instrument to look into a stack of blocks."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# %% [markdown]
# ## 1. Why a residual
#
# One layer of attention reads what the tokens say. To read what a *reading* says ("the noun that the pronoun stands
# for, is it tired?") you need a second layer behind it, so models are deep.
#
# **The cheapest idea** is to stack: x, then f(x), then g(f(x)), and so on. The next cell does it with twelve plain
# linear maps as torch makes them. Tokens of size 1 go in at the start, and gradients of size 1 go in at the end. Guess
# first: how large is what comes out at the other side?

# %%
if __name__ == "__main__":
    for path_around in (False, True):
        torch.manual_seed(0)
        maps = [nn.Linear(32, 32, bias=False) for _ in range(12)]
        x = start = torch.randn(100, 32, requires_grad=True)
        for each in maps:
            x = x + each(x) if path_around else each(x)
        x.backward(torch.randn(100, 32))
        size, gradient = (each.square().mean().sqrt().item() for each in (x, start.grad))
        looks = torch.cosine_similarity(x, start, dim=-1).mean().item()
        name = "x + f(x)" if path_around else "f(x)"
        print(
            f"{name:>8}: size at the end {size:.4f}, gradient at the start {gradient:.4f}, end like start {looks:.2f}"
        )

# %% [markdown]
# Each map multiplies the size by about 0.58 (its weights are uniform with variance 1/(3d), and 1/sqrt(3) is 0.577), so
# twelve leave 0.577 to the twelfth, a thousandth. The gradient passes the same twelve on its way back, and they do the
# same to it: the first map hears a thousandth of what it should have done. You could mend the factor with larger
# weights; but a product of twelve is 1 only if each factor is exactly 1, and training moves them. And one thing no
# factor mends: what comes out has nothing to do with the token that went in (last number). Every layer would have to
# spend itself on *copying* what later layers need, and would have to learn to copy first.
#
# **The repair** is so small that one can miss it: let each layer add to its input in place of replacing it, `x + f(x)`.
# Two things follow, one forwards and one backwards.
#
# - Forwards, the token is still there. After L layers it is $x + f_1 + f_2 + \dots + f_L$: a **residual stream** that
#   every layer reads from and writes to. A layer that has nothing to say says 0.
# - Backwards, the Jacobian of a step is $I + J$, not $J$. Multiply twelve of them out, and among all the products there
#   stands a lone $I$: one path on which the gradient of the last layer reaches the first, multiplied by nothing.
#
# It costs no parameter, and it asks for one thing: f must return the shape it was given. That is why
# `MultiHeadAttention` had to end in `d_model` columns.
#
# Look at the second line of the output again, though. The token is still to be seen in what comes out (1 would be the
# token itself), but the sizes are not 1 either. They have grown.
#
# ## 2. Why LayerNorm
#
# If f is linear and unrelated to x, then x + f(x) has the variance of x *plus* that of f(x). With torch's small
# initial weights each layer adds a third, which makes 4/3 to the sixth, 5.6 times the size, in twelve layers; with
# weights that keep the size (f(x) as large as x) each layer doubles the variance, and twelve make 64 times the size.
# Why care? Because the scores of attention are *products* of two vectors: tokens 8 times as large have scores 64 times
# as large, and you measured in Part 2 what the softmax makes of those. It freezes. The hundredth training step has
# other sizes than the first, too, so no learned weight can count on them.
#
# **The cheapest idea:** divide by a constant that you measured once. It is right for one layer, at one moment of
# training. **The next one:** measure at every call. A mean to subtract, a standard deviation to divide by: but over
# *what*? `x` is `(B, T, d)`, and there are three axes to choose from.
#
# - **Over the batch** (which is right for pictures, and called batch norm). Then what a sentence means depends on which
#   others happen to be in the batch. The same text gets two different answers, and when you generate with B = 1 there
#   is nobody to compare with: x minus its own mean is 0.
# - **Over the positions.** Then position 0 is divided by something that position 5 helped to make. That is a leak: all
#   the care of Part 1's mask is lost through the denominator. The next cell shows how much.
# - **Over the features of one token.** Uses nobody's numbers but its own. It is the same for B = 1 and B = 64, for
#   training and generating, for the first token and the last. It is the only one of the three that is left, and it is
#   **layer normalisation**.

# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    before = torch.randn(6, 16)
    after = before.clone()
    after[5] = 3 * torch.randn(16)  # only the last token changes
    for name, axis in (("over positions", 0), ("over features", 1)):
        moved = (F.normalize(after, dim=axis) - F.normalize(before, dim=axis)).abs().amax(dim=1)
        print(f"divided by the length {name}: rows move by", [f"{distance:.2f}" for distance in moved])

# %% [markdown]
# ### The details, one by one
#
# For one token $x$ with $d$ features, LayerNorm returns
#
# $$\mathrm{LN}(x)_i = w_i \, \frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b_i, \qquad
# \mu = \frac1d \sum_j x_j, \qquad \sigma^2 = \frac1d \sum_j (x_j - \mu)^2 .$$
#
# **Why divide by d and not by d - 1?** The d - 1 of statistics corrects an *estimate*: these numbers are a sample, and
# one wants the variance of the population that they came from. Here is no population. These d numbers are all there
# are, and we want *them* to have a mean square of exactly 1, so that each token is a vector of length sqrt(d). At
# d = 768 the two differ by 0.07 %, which no loose test would notice; at d = 4 by 15 %. `torch.var` and `torch.std`
# divide by d - 1 unless told otherwise: look for the argument.
#
# **Why subtract the mean?** If all features of a token carry a common offset of 100, then without subtracting it the
# division leaves 1, 1, 1, 1 and swallows the differences, which are what the token says. (Norms without this step
# exist, and work, and save a little time; this one has it.)
#
# **Why eps, and why inside of the root?** A token whose features are all equal has variance 0, and 0/0 is NaN. So
# something small must be added. Beside the root, `sqrt(var) + eps`, the *value* is mended, 0/eps = 0, and the gradient
# is not: the derivative of a square root at 0 is infinite, and infinity times the 0 behind it is NaN. Run the next
# cell. Inside of the root, `sqrt(var + eps)`, the root is never taken near 0, and its slope is at most
# 1/(2 sqrt(eps)). The default is 1e-5. It is invisible for tokens of size 1; for tokens of size 0.001 it is ten times
# their variance, and decides almost everything. The suite looks there.
#
# **Why a weight and a bias?** Normalising takes two things away from each token, its offset and its size, and forces
# all features to be equally loud on average. Perhaps feature 7 should be louder for the layer that reads this. So give
# it back as something learned, one number for each *feature*, the same for every token: `weight` starts at 1 and
# `bias` at 0, so that a new LayerNorm does nothing but normalise. They cost 2d parameters. Note what cannot come back:
# a *token's* own offset and size are gone for good.

# %%
if __name__ == "__main__":
    for name, root in (("inside", lambda v: (v + 1e-5).sqrt()), ("beside", lambda v: v.sqrt() + 1e-5)):
        variance = torch.zeros((), requires_grad=True)
        slope = torch.autograd.grad(root(variance), variance)[0]
        print(f"eps {name} the root: slope {slope:.1f} at a variance of 0, times the 0 behind it {slope * 0:.1f}")

# %% [markdown]
# ### Exercise `LayerNorm`
#
# 20 minutes, difficulty 2 of 3. `(..., d) -> (..., d)`: the statistics belong to one token, however many axes stand in
# front of it (a single vector has none).
#
# - `__init__`: parameters `weight` and `bias`, both `(d,)`, and whatever you need to remember.
# - `forward(x)`: the formula above. `x` is the residual stream and still needed by others: leave it as it is.
#
# Before you type: the mean of `(B, T, d)` over the last axis has the shape `(B, T)`. Which way does that broadcast
# against `(B, T, d)`? It fails, except where T = d, and there it quietly subtracts the wrong means. What keeps the
# axis?
#
# In float16 there is one more trap. A feature of 300 has a square that float16 cannot hold (it ends at 65,504). The
# library's version takes the squares in float32 and converts the result back; you may, but the suite's half-precision
# tokens are of size 1 and do not ask for it.
#
# **A pass looks like this:** with `eps=1/16` the token 1, 0, 0, 0 becomes exactly 1.5, -0.5, -0.5, -0.5 (mean 1/4,
# variance 3/16; do it by hand). With random weights you equal torch's own layer norm within 1e-5 in float32 and 1e-10
# in float64, for any leading axes; a float16 token comes back as float16; the gradients of `x`, `weight` and `bias`
# are torch's too. The last is worth a thought: mean and variance are made of x, so they must stay in the graph.


# %%
class LayerNorm(nn.Module):
    """Normalise each token over its own features, then scale and shift each feature by learned numbers.

    Attributes:
        weight: Parameter (d,), the scale of each feature, ones at first.
        bias: Parameter (d,), the shift of each feature, zeros at first.

    Source: Ba et al. 2016, "Layer Normalization", section 3.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        """Make the two parameters.

        Args:
            d_model: Number of features d of a token.
            eps: Added to the variance, under the root.
        """
        raise NotImplementedError("part4: LayerNorm.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Normalise over the last axis.

        Args:
            x: Tokens, float (..., d).

        Returns:
            Float (..., d), dtype and device of ``x``.

        Source: Ba et al. 2016, "Layer Normalization", section 3.
        """
        raise NotImplementedError("part4: LayerNorm.forward is not written yet")


# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    with torch.no_grad():
        print("1, 0, 0, 0 becomes", LayerNorm(4, eps=1 / 16)(torch.tensor([1.0, 0.0, 0.0, 0.0])).tolist())
        norm, plain, normed = LayerNorm(64), torch.randn(100, 64), torch.randn(100, 64)
        for _ in range(12):
            step = torch.randn(64, 64) / 8  # keeps the size of what it is given
            plain, normed = plain + plain @ step, normed + norm(normed) @ step
        for name, x in (("x + f(x)", plain), ("x + f(LN(x))", normed)):
            print(f"{name:>13}: size after twelve layers {x.square().mean().sqrt():.1f}")

# %% [markdown]
# The first grew as 2 to the 6th, the second like the square root of 1 + 12: each layer is handed tokens of size 1, so
# it adds an update of size 1, whatever came before it. The stream itself still grows, slowly. Remember that for
# section 4.
#
# ## 3. Why an MLP
#
# Take a head with its weights fixed. Its output is a weighted sum of values, and values are linear in the tokens. Put
# another head on top: a weighted sum of weighted sums is a weighted sum. All choosing happens in the softmax; what is
# *done* with the chosen is linear. Such a model can move facts from token to token; it can hardly work anything out.
# "It is a noun *and* it is an animal": a linear map can add the two, not ask for both.
#
# **The cheapest idea** is one more matrix for each token. But matrix after matrix is a matrix. **The next:** bend each
# feature by itself, `gelu(x)`. That is no longer linear, and it never brings two features together. **So both, in
# turn:** mix features, bend, mix again.
#
# $$\mathrm{MLP}(x) = W_{\text{down}}\; \mathrm{GELU}(W_{\text{up}}\, x + b_{\text{up}}) + b_{\text{down}}$$
#
# Read it from the inside. Each row of $W_{\text{up}}$ asks one question of the token ("how much noun and animal are
# you, minus 1.5?"), the bend says how far the answer is yes, and the column of $W_{\text{down}}$ that belongs to it is
# what gets written into the stream if so. The bias in front of the bend is the *minus 1.5*: without it every question
# has its threshold at 0. It works on each token alone, with the same weights for every position. Attention is where
# tokens talk, the MLP is where each of them thinks.
#
# **Why wider than d in the middle?** Every hidden unit is one question, and d questions about d features is not much.
# How many then? The number 4 is a habit: the first transformer had 512 features and 2048 hidden units, and nearly
# everybody kept the ratio. There is no theorem behind it. What one can say is what it costs: attention has four
# matrices of d by d (q, k, v, proj), the MLP has two of d by 4d, which is eight. So **two thirds of a block's
# parameters are the MLP**, at every size. You will count them below.
#
# **Why GELU, and not simply cutting off at 0?** ReLU, max(x, 0), is the cheapest bend. Below 0 its slope is exactly 0:
# a unit whose question is answered "no" for every token gets no gradient and can never change its mind. GELU is $x
# \cdot \Phi(x)$, where $\Phi(x)$ is the probability that a standard normal number is below x: the answer, times how
# sure one may be of it. For large x it is x, for very negative x it is 0, in between it is smooth, and it is a little
# below 0 where ReLU is flat (lowest at -0.17).
#
# **Why "exact"?** $\Phi$ was once slow to compute, so people used a formula with tanh that is close; GPT-2 was trained
# with it. The two differ by at most 0.00047. That is far below anything that training would notice, and far above
# rounding: whoever loads weights made with one into a model with the other gets different numbers from then on. This
# course uses the exact one; torch's functions have both under one name. The next cell draws the three.

# %%
if __name__ == "__main__":
    xs = torch.linspace(-6, 6, 4801, dtype=torch.float64)
    gap = (F.gelu(xs) - F.gelu(xs, approximate="tanh")).abs()
    print(f"exact and tanh GELU differ by at most {gap.max():.2e}, at |x| = {xs[gap.argmax()].abs():.2f}")
    for x in torch.arange(-3, 2.1, 0.5):
        marks = [" "] * 42
        for mark, value in (("r", x.relu()), ("g", F.gelu(x))):
            marks[round(10 + 15 * value.item())] = mark
        print(f"{x:5.1f} {''.join(marks)}")
    print("g: GELU, r: ReLU where it is somewhere else")

# %% [markdown]
# ### Exercise `MLP`
#
# 10 minutes, difficulty 1 of 3. `(..., d) -> (..., d)`. Two `nn.Linear` with biases, `up` from d to `expansion`·d and
# `down` back again, and one bend. Where exactly does it stand? A bend *after* the second matrix would keep the block
# from ever writing anything below -0.17 into the stream.
#
# **A pass looks like this:** 8d² + 5d parameters for the usual expansion; and where `up` and `down` are set by the
# suite to pass x through, you return GELU(x) within 1e-6: 0.8413447 for 1, -0.1586553 for -1.


# %%
class MLP(nn.Module):
    """Let each token work on its own: widen, bend, and come back to the width of the model.

    Attributes:
        up: ``nn.Linear`` from d to expansion·d, with bias.
        down: ``nn.Linear`` from expansion·d to d, with bias.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.3; Hendrycks and Gimpel 2016, "Gaussian Error
    Linear Units", section 2.
    """

    def __init__(self, d_model: int, expansion: int = 4) -> None:
        """Make the two layers.

        Args:
            d_model: Width d of a token.
            expansion: How many times as wide the middle is.
        """
        raise NotImplementedError("part4: MLP.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Apply the two layers with the exact GELU in between.

        Args:
            x: Tokens, float (..., d).

        Returns:
            Float (..., d), dtype and device of ``x``.

        Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.3.
        """
        raise NotImplementedError("part4: MLP.forward is not written yet")


# %% [markdown]
# Is it really more than a sum? For any map of the form Wx + c, f(a + b) - f(a) - f(b) + f(0) is 0. The first line below
# is two linear layers without a bend, the second is yours.

# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    a, b = torch.randn(2, 24)
    two_layers = nn.Sequential(nn.Linear(24, 96), nn.Linear(96, 24))
    for name, f in (("without a bend", two_layers), ("your MLP", MLP(24))):
        print(f"{name:>14}: {(f(a + b) - f(a) - f(b) + f(torch.zeros(24))).abs().max():.1e}")

# %% [markdown]
# ## 4. Why the norm stands where it stands
#
# The pieces are there: two sublayers (attention, then MLP), a path around each, and a norm for each. The first
# transformers put the norm *on the path*, after the addition. Today it stands *on the branch*, in front of the
# sublayer.
#
# | `norm` | one step | |
# |---|---|---|
# | `"post"` | `ln(x + f(x))` | the original, 2017 |
# | `"pre"` | `x + f(ln(x))` | GPT-2 and nearly everything after it |
# | `"none"` | `x + f(x)` | to see what the norm is good for |
#
# It looks like a matter of taste. Do an experiment in your head: let both sublayers return 0, as if they had nothing
# to say. With `"pre"` the step is x + 0. The block is **exactly the identity**, bit by bit, and so are twelve of them,
# or a thousand. The stream runs past all sublayers untouched, and the lone $I$ of section 1 is really there. With
# `"post"` the step is LN(x + 0): the block is **LN(LN(x))**. Nobody said anything, and yet the token has lost its size
# and its offset; and the gradient on its way back must pass the Jacobian of every one of these norms, twenty-four in
# twelve blocks. There is no path without a factor.
#
# That is the honest form of "pre-norm keeps a clean path": a statement about structure. The suite checks it exactly,
# and you will see in section 6 which of the numbers that are usually quoted with it can be reproduced.
#
# What does the clean path cost? The stream is never normalised, so it grows (like sqrt(1 + 12) in your cell above),
# and an update of size 1 means less and less to a stream that is larger and larger. And somebody must normalise once
# at the very end, before the stream is turned into logits: Part 6 has a final norm for this. With `"post"` what comes
# out always has size 1.
#
# Two slips, both so common that you should know them by name:
#
# - **The residual taken after the norm**: `x = ln(x)` and then `x + f(x)`. It saves a variable, and it puts the norm
#   on the path: with f = 0 this block is LN(LN(x)). It trains, too. It is neither of the two.
# - **`x += f(...)`.** In place, on a tensor that was given to you and that others may still hold: the caller's
#   embedding changes under their feet. `x = x + ...` makes a new one.
#
# ### Where dropout stands
#
# Dropout sets each number to 0 with probability p in training, and multiplies the others by 1/(1 - p) so that the
# expectation stays the same; in evaluation it does nothing. It keeps a layer from relying on any single number of
# another's. In a block it stands on **each sublayer's output, before the addition**. Try the alternative: *after* the
# addition it would erase coordinates of the stream itself. Of a token's first embedding, 0.9 to the 24th would survive
# twelve blocks at p = 0.1, which is 8 %. Before the addition it erases pieces of *news*, and the memory is safe: with
# p = 1 a pre-norm block would be the identity. The norm of `"post"` comes after the addition, as ever. (Attention has
# a dropout of its own on its weights, Part 5, and the embeddings have one, Part 6; neither is the block's business.)
#
# `nn.Dropout` knows whether its module is in training or in evaluation. The function `F.dropout` does not: it has an
# argument for that, which is True unless you say otherwise. A model with dropout in its evaluation looks like a model
# that is a little worse and gives another answer every time.
#
# ### `residual=False`
#
# drops the "x +" and keeps everything else, so that you can measure what it was worth: `f(ln(x))`, `ln(f(x))`, `f(x)`.

# %% [markdown]
# ### Exercise `Block`
#
# 25 minutes, difficulty 3 of 3: few lines, and many ways to get one of them wrong.
#
# - `__init__`: attributes `ln1` and `attention`, `ln2` and `mlp`. The two sublayers are given, you only keep them; the
#   norms are yours, one for each sublayer. Under `"none"` there is nothing to learn in them: `ln1` and `ln2` hold no
#   parameters then (which module of torch returns what it is given?). Any other `norm` is a `ValueError` whose message
#   says `norm` and what it was. Say so here, before a training run has begun.
# - `forward(x)`: `(B, T, d) -> (B, T, d)`. First the attention's step, then the MLP's, which reads what the first one
#   *made*.
#
# A sublayer may be any module that maps `(B, T, d)` to `(B, T, d)`: the suite gives you some that return 0, and some
# that write down what they are handed. Six lines of the table (three norms, with and without residual) need not be six
# branches: what is the same in all of them?
#
# **A pass looks like this:** sublayers that return 0 make a pre-norm block return its input exactly, and a post-norm
# block LN(LN(x)). With a sublayer that adds a constant, the MLP is handed the norm of the *sum*. In float64 all six
# variants agree with the table within 1e-10, with random weights in both norms (so that swapping them shows). In
# evaluation the same input gives the same output twice; in training with p = 0.2 about a fifth of the updates are
# missing and the rest are larger by 1/0.8, whatever the random numbers were. And the caller's x is as it was.


# %%
class Block(nn.Module):
    """Let the tokens talk, then let each think, and add both to the stream that runs past.

    Attributes:
        ln1: The norm that belongs to the attention.
        attention: The first sublayer, as given.
        ln2: The norm that belongs to the MLP.
        mlp: The second sublayer, as given.

    Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.1 and 5.4 (post-norm; dropout); Xiong et al.
    2020, "On Layer Normalization in the Transformer Architecture", section 3 (pre-norm).
    """

    def __init__(
        self,
        d_model: int,
        attention: nn.Module,
        mlp: nn.Module,
        norm: str = "pre",
        residual: bool = True,
        dropout: float = 0.0,
    ) -> None:
        """Keep the sublayers and make the norms.

        Args:
            d_model: Width d of a token.
            attention: Maps (B, T, d) to (B, T, d).
            mlp: Maps (B, T, d) to (B, T, d).
            norm: "pre", "post" or "none".
            residual: Whether a sublayer's output is added to its input or takes its place.
            dropout: Probability with which each number of a sublayer's output is dropped in training.

        Raises:
            ValueError: ``norm`` is something else; the message says "norm" and what it was.
        """
        raise NotImplementedError("part4: Block.__init__ is not written yet")

    def forward(self, x: Tensor) -> Tensor:
        """Take the attention's step, then the MLP's.

        Args:
            x: The stream, float (B, T, d).

        Returns:
            Float (B, T, d), dtype and device of ``x``.

        Source: Vaswani et al. 2017, section 3.1; Xiong et al. 2020, section 3.
        """
        raise NotImplementedError("part4: Block.forward is not written yet")


# %%
if __name__ == "__main__":

    class Silent(nn.Module):
        """A sublayer that has nothing to say."""

        def forward(self, x: Tensor) -> Tensor:
            """Return zeros."""
            return torch.zeros_like(x)

    torch.manual_seed(0)
    stream = 5 * torch.randn(1, 4, 24)
    for norm in ("pre", "post", "none"):
        x = stream
        for _ in range(12):
            x = Block(24, Silent(), Silent(), norm=norm)(x)
        print(f"{norm:>4}: twelve blocks that say nothing move the stream by {(x - stream).abs().max():.1f}")

# %% [markdown]
# ## 5. Where the parameters are
#
# Count a block by hand before you run the cell. Attention with all four biases: 4d² + 4d. The MLP: 8d² + 5d. Two
# norms: 4d. Together 12d² + 13d, which is 7,087,872 at d = 768, and twelve times that are 85 of GPT-2's 124 million.
# The norms are 0.04 % of it. The cell uses your Part 3 for the attention.

# %%
if __name__ == "__main__":
    from part3_attention import MultiHeadAttention

    def count(module: nn.Module) -> int:
        """Count the numbers that are learned."""
        return sum(p.numel() for p in module.parameters())

    for d in (64, 768):
        attention = MultiHeadAttention(d_model=d, n_heads=4, block_size=8, qkv_bias=True)
        block = Block(d, attention, MLP(d))
        shares = [f"{name} {count(getattr(block, name)) / count(block):.2%}" for name in ("attention", "mlp", "ln1")]
        print(f"d = {d}: {count(block):,} (12d² + 13d = {12 * d * d + 13 * d:,}): {', '.join(shares)}")

# %% [markdown]
# ## 6. What reaches the first block?
#
# In section 1 you looked at the gradients of single matrices. For blocks you need an instrument: after `backward()`,
# how long is the gradient of everything in block 1, of block 2, and so on?
#
# ### Exercise `block_gradient_norms`
#
# 10 minutes, difficulty 1 of 3. `blocks` is any number of modules; the result is one float for each, in their order:
# the L2 norm of *all* its parameters' gradients, laid end to end as one long vector. You are only looking: read
# `.grad` as it stands and change nothing.
#
# By hand: a block with two parameters, whose gradients are (3, 4) and (12), has the norm 13. Not 17, which adds the
# norms: lengths add up only along a straight line. What adds up is squares. A parameter that took no part has no
# gradient at all (`None`, not zeros) and counts 0, and a block of nothing but those has the norm 0. It stays in the
# list.
#
# **A pass looks like this:** plain Python floats, 13.0 for the block above, a relative error below 1e-5, for parameters
# of any shape at any depth inside of a block, and the gradients unchanged afterwards.


# %%
def block_gradient_norms(blocks: Iterable[nn.Module]) -> list[float]:
    """Measure how much gradient has arrived in each block.

    Args:
        blocks: Modules, after a backward pass.

    Returns:
        For each block the L2 norm of the gradients of all its parameters together; a parameter without a gradient
        counts 0.

    Source: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", section 3.
    """
    raise NotImplementedError("part4: block_gradient_norms is not written yet")


# %% [markdown]
# Now the experiment that the whole part was about: twelve blocks of yours, a loss at the end, one backward pass, before
# any training. Three norms, without and with the residual.

# %%
if __name__ == "__main__":
    from part3_attention import MultiHeadAttention

    def twelve_blocks(norm: str, residual: bool, d: int = 32, T: int = 16) -> nn.ModuleList:
        """Stack twelve blocks."""
        attentions = [MultiHeadAttention(d_model=d, n_heads=4, block_size=T) for _ in range(12)]
        return nn.ModuleList(Block(d, each, MLP(d), norm=norm, residual=residual) for each in attentions)

    for residual in (False, True):
        for norm in ("none", "pre", "post"):
            torch.manual_seed(0)
            stack, to_logits = twelve_blocks(norm, residual), nn.Linear(32, 32)
            x = start = torch.randn(8, 16, 32)
            for block in stack:
                x = block(x)
            F.cross_entropy(to_logits(x).flatten(0, 1), torch.randint(32, (8 * 16,))).backward()
            first, *_, last = block_gradient_norms(stack)
            looks = torch.cosine_similarity(x, start, dim=-1).mean().item()
            print(
                f"residual={residual!s:>5} norm={norm:>4}: block 1 {first:.1e}, block 12 {last:.1e}, "
                f"last/first {last / first:.2g}, output like the input {looks:5.2f}"
            )

# %% [markdown]
# ### What this shows, and what it does not
#
# - **Without residual and norm** the first block receives some 10⁻¹⁵, thirteen orders of magnitude below the last. It
#   will not learn. This is no matter of luck or seeds.
# - **A norm alone mends the gradient**, residual or not: it sets the size right at every step. Look at the last
#   column, though. Without the residual the output has nothing to do with the token any more (about 0); with it, half
#   or more of the direction is still there after twelve blocks. The path around is memory first, and gradient second.
# - **With the residual, all three look healthy at the start.** You will read that post-norm's gradients are lopsided
#   at initialisation. The figures we started from were last/first 1.32 for pre-norm and 1.65 for post-norm, and they
#   do not reproduce. With this cell and twelve seeds we measured 0.63 to 0.89 for pre and 0.88 to 1.5 for post; with
#   other embeddings and a loss on text, 0.76 to 1.00 and 0.79 to 1.56. Post-norm's ratio tends to be the larger one,
#   but the ranges touch, and none of these numbers is far from 1: a single run proves nothing. Change the seed a few
#   times and see. We do not grade what does not separate right from wrong; the suite asks for the exact statement of
#   section 4 in its place.
#
# The difference shows in training. The literature's finding is that post-norm needs a *warm-up* (a learning rate that
# rises from nearly 0 during the first steps), and pre-norm does not. In the run behind this course, twelve blocks and
# 1,000 steps on tiny Shakespeare at 3e-3, the validation perplexities were 37.82 without and 37.62 with warm-up for
# pre-norm, 308.05 and 37.88 for post-norm. The next cell does it in about 15 seconds on one core, on an invented
# language of 32 words in which each word has four followers: a model that has learned the table has a perplexity of 4,
# one that has learned nothing about 28 to 32.

# %%
if __name__ == "__main__":
    torch.set_num_threads(1)  # matrices as small as these are not worth sharing out

    def perplexity_after_training(norm: str, warm_up: int, seed: int = 0, steps: int = 100, T: int = 16) -> float:
        """Train twelve blocks on the invented language; give the perplexity over the last twenty steps."""
        torch.manual_seed(seed)
        followers = torch.stack([torch.randperm(32)[:4] for _ in range(32)])
        words, places, blocks = nn.Embedding(32, 32), nn.Embedding(T, 32), twelve_blocks(norm, residual=True, T=T)
        model = nn.ModuleList([words, places, blocks, LayerNorm(32), nn.Linear(32, 32)])
        adam = torch.optim.AdamW(model.parameters(), lr=1e-2)
        rising = torch.optim.lr_scheduler.LinearLR(adam, 0.05, total_iters=warm_up) if warm_up else None
        seen = []
        for _ in range(steps):
            text = torch.randint(32, (16, 1))
            for _ in range(T):
                text = torch.cat([text, followers[text[:, -1], torch.randint(4, (16,))].unsqueeze(1)], dim=1)
            x = words(text[:, :-1]) + places.weight
            for layer in [*blocks, *model[3:]]:
                x = layer(x)
            loss = F.cross_entropy(x.flatten(0, 1), text[:, 1:].flatten())
            adam.zero_grad()
            loss.backward()
            adam.step()
            if rising is not None:
                rising.step()
            seen.append(loss.item())
        return math.exp(sum(seen[-20:]) / 20)

    for norm in ("pre", "post"):
        without, with_warm_up = (perplexity_after_training(norm, warm_up) for warm_up in (0, 20))
        print(f"{norm:>4}: perplexity {without:.1f} without warm-up, {with_warm_up:.1f} with it (at best 4)")

# %% [markdown]
# Over seven seeds we saw 4.8 to 5.1 for pre-norm, with warm-up or without; for post-norm 5.6 to 6.2 with it, and 24.7
# to 29.4 without: it had learned next to nothing. It is not a law. In an earlier version of this cell, which drew its
# texts in another order, two of eight post-norm runs got away without a warm-up, with 8.8 and 16.8. At a third of this
# learning rate all four runs end within a point of each other. And on characters of Shakespeare we found no small
# setting in which post-norm fails every time *and* warm-up rescues it every time. Hence a cell for looking, and no
# grade.
#
# ## What you can now say
#
# - `x + f(x)`: a layer adds to the stream in place of replacing it. Forwards the token survives, backwards there is a
#   path that is multiplied by nothing.
# - LayerNorm runs over the features of one token, because every other axis mixes in somebody else: another sentence,
#   or the future. Divide by d, eps under the root, and two learned numbers for each feature.
# - The MLP is where a token is more than a sum. It holds two thirds of the block. Its factor of 4 is a habit, and
#   exact GELU a convention that must be kept to the last digit by those who share weights.
# - Pre-norm leaves the stream alone: silent sublayers make the block the identity. Post-norm normalises the stream
#   itself.
# - Dropout falls on the news, before it is added.
#
# One thing is still missing, and you have known it since Part 3: shuffle the tokens, and (but for the causal mask)
# every piece of this block shuffles along. Nothing here knows *where* a token stands. That is Part 5.
#
# Sources: He et al. 2016, "Deep Residual Learning for Image Recognition", section 3 (x + f(x)); Ba et al. 2016, "Layer
# Normalization"; Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"; Vaswani et al. 2017, "Attention Is All You
# Need", sections 3.1, 3.3 and 5.4; Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture".
