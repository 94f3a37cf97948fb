# %% [markdown]
# # Part 9 · The gradients, derived by a graph
#
# In eight parts you have written `loss.backward()` without asking what happens there. It is the one thing in your GPT
# that somebody else made, and it is the thing that makes it learn. In this part you take it away: numpy only, which
# knows nothing of gradients. You will get them back three times, each time for a model that the last way cannot
# reach.
#
# | level | model | where its gradients come from |
# |---|---|---|
# | 1 | a table of counts | there are none: the best table is known in closed form |
# | 2 | an MLP on a window of tokens | you derive each on paper and write it down |
# | 3 | the transformer of part 6 | a `Tensor` remembers how it was made, and the graph derives them |
#
# **What you need:** numpy, the chain rule for one variable, and parts 1 to 6 in your head (not in your imports: this
# file stands alone). **About four hours**, in three sittings, one for each level.
#
# | exercise | minutes | difficulty |
# |---|---|---|
# | `bigram_counts`, `bigram_nll` | 15 | 1 of 3 |
# | `WindowMLP` | 45 | 2 of 3 |
# | `Tensor`: the engine (`__init__`, `zero_grad`, `backward_all`) | 35 | 3 of 3, the heart of this part |
# | `unbroadcast`, `add`, `mul` | 20 | 2 of 3 |
# | `matmul` | 15 | 2 of 3 |
# | `sum`, `reshape`, `transpose`, `rows` | 15 | 1 of 3 |
# | `tanh`, `gelu` | 10 | 1 of 3 |
# | `layer_norm` | 20 | 3 of 3 |
# | `causal_mask`, `softmax_rows`, `cross_entropy` | 25 | 2 of 3 |
# | `TransformerLM` | 40 | 2 of 3 |
#
# Letters: `B` sequences in a batch, `T` positions, `N` rows of a matrix (often `B·T` of them), `V` tokens in the
# vocabulary, `E` the model's width, `h` heads. For any quantity `a` in a computation that ends in a loss `L`, write
# `da` for its gradient: an array of the shape of `a` whose entries are `∂L/∂a`. That the shapes are equal sounds like
# bookkeeping. It will be your best friend: half of the formulas below can be guessed from shapes alone.
#
# Cells that begin with `if __name__ == "__main__":` are for looking. They use what you have written above them.

# %%
"""Part 9: gradients three times, in numpy alone: not needed, derived by hand, derived by a graph."""

import math
import time
from collections.abc import Callable

import numpy as np

# %% [markdown]
# ## 0. Two tools
#
# **A language with a known floor.** `two_voices` makes a text of 10 tokens. Each next token is decided by the last
# one (45 % of the time), by the one *before* it (45 %), or by nobody (10 %). So you know what there is to know: a
# model that sees one token can hear one of the voices, a model that sees two can hear both, and none can foresee the
# 10 %. The law of this language, judged on its own texts, pays 1.07 nats: that is the floor. Guessing evenly costs ln
# 10 = 2.30.
#
# **A judge of gradients.** A gradient is a promise: move this number by a little `h`, and the loss moves by `h` times
# the gradient. So move it and look, up and down: `(L(a + h) - L(a - h)) / 2h`, the central difference. (Why both
# sides? Expand `L` around `a`: the one-sided quotient is wrong by `h L''/2`; in the difference of the two sides the
# even terms cancel, and `h² L'''/6` remains. With `h = 1e-5` that is a relative error of some 1e-10, and rounding,
# 1e-16 divided by `h`, is as large. Smaller `h` would make it *worse*.) It needs two forward passes for each number,
# so it cannot train anything, a million parameters would take two million passes a step. It can judge everything.

# %%
VOCABULARY = 10


def two_voices(length: int, seed: int) -> np.ndarray:
    """Make a text in which every token listens to the last one, to the one before it, or to nobody.

    Args:
        length: Number of tokens.
        seed: Of the text; the language itself is always the same.

    Returns:
        Int (length,), ids below ``VOCABULARY``.
    """
    language, chance = np.random.default_rng(7), np.random.default_rng(seed)
    after_last, after_second = language.permutation(VOCABULARY), language.permutation(VOCABULARY)
    text = [0, 1]
    for voice, nobody in zip(chance.random(length - 2), chance.integers(0, VOCABULARY, length - 2), strict=True):
        text.append(after_last[text[-1]] if voice < 0.45 else after_second[text[-2]] if voice < 0.9 else nobody)
    return np.array(text)


def central_difference(loss: Callable[[], float], array: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Measure the gradient of a loss with respect to every number of an array, by moving each up and down.

    Args:
        loss: Computes the loss anew from what ``array`` holds.
        array: Float64, of any shape; moved in place and put back.
        h: How far.

    Returns:
        Float64, the shape of ``array``.
    """
    slopes = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + h
        above = loss()
        array[place] = kept - h
        slopes[place] = (above - loss()) / (2 * h)
        array[place] = kept
    return slopes


# %% [markdown]
# ## 1. Level 1: counts
#
# What follows this token? Go through the text and count. Row `a` of the table holds how often each token came right
# after `a`; divided by its sum it is a distribution. Is that the *best* distribution that a model can have which sees
# one token? The loss of row `a` is `-Σ_b n_b ln p_b`, where `n_b` are the counts and the `p_b` must sum to 1. Move a
# little probability from `c` to `b`: the loss changes by `-n_b/p_b + n_c/p_c`, and at the best place this is 0 for
# every pair, so all `n_b/p_b` are one number and `p_b` is proportional to `n_b`. Solved. No gradient, no training, no
# learning rate. **Where there is a closed form, take it**, and keep its number: a model that is harder to train and
# no better than this has learned nothing.
#
# One repair. A pair that never occurred in training gets probability 0, and if it occurs once in the validation text
# the loss is infinite. So pretend that every pair was seen `smoothing` times before the text began:
#
#     p(b | a) = (n_ab + smoothing) / (Σ_c n_ac + smoothing · V)
#
# The denominator is what makes it sum to 1: `V` pairs of this row were each seen `smoothing` times more.
#
# ### Exercise: `bigram_counts` and `bigram_nll`
#
# 15 minutes, difficulty 1 of 3. `ids (n,) -> counts (V, V)`, row = this token, column = the next; then the mean of
# `-ln p(next | this)` over the `n - 1` predictions that a text of `n` tokens contains.
#
# A trap that will come back. `counts[this, next] += 1` with arrays of indices looks like a loop and is none: numpy
# reads all the places, adds 1, and writes them back. A pair that occurs five times is read five times as 0 and
# written five times as 1. What you want is called `np.add.at`, or a count over the numbers `this · V + next`.
#
# **A pass looks like this:** for the text `0 1 0 1` and two tokens the counts are `[[0, 2], [1, 0]]`, and its loss
# with smoothing 1 is the mean of `-ln 3/4`, `-ln 2/3` and `-ln 3/4`. Counts of zero give exactly `ln V`.


# %%
def bigram_counts(ids: np.ndarray, vocab_size: int) -> np.ndarray:
    """Count which token follows which.

    Args:
        ids: The text, int (n,).
        vocab_size: Number of tokens V.

    Returns:
        (V, V): entry (a, b) is how often b came right after a.

    Source: Shannon 1948, section 3 (a text as a chain of pairs).
    """
    ### BEGIN SOLUTION
    counts = np.zeros((vocab_size, vocab_size))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    return counts
    ### END SOLUTION


def bigram_nll(counts: np.ndarray, ids: np.ndarray, smoothing: float = 1.0) -> float:
    """Judge a table of counts on a text.

    Args:
        counts: (V, V), row = this token, column = the next.
        ids: The text to predict, int (n,) with n at least 2.
        smoothing: How often every pair is taken to have been seen beforehand.

    Returns:
        Mean negative log-likelihood in nats per predicted token.

    Source: Chen and Goodman 1999, section 2.1 (additive smoothing).
    """
    ### BEGIN SOLUTION
    smoothed = counts + smoothing
    probabilities = smoothed / smoothed.sum(axis=1, keepdims=True)  # (V, V), rows sum to 1
    return float(-np.log(probabilities[ids[:-1], ids[1:]]).mean())
    ### END SOLUTION


# %%
if __name__ == "__main__":
    train_text, val_text = two_voices(20_000, seed=1), two_voices(4_000, seed=2)
    nats_of_counts = bigram_nll(bigram_counts(train_text, VOCABULARY), val_text)
    print(f"validation, level 1: {nats_of_counts:.3f} nats   (guessing {math.log(VOCABULARY):.3f}, floor 1.07)")

# %% [markdown]
# About 1.6: one voice heard. (On characters of tiny Shakespeare, 65 of them, the same two functions give 2.48.)
#
# ## 2. Level 2: a window, and gradients by hand
#
# The other voice is one token further back. Count triples, then? `V³` cells; for a window of eight characters of
# Shakespeare there are 65⁸, more than three hundred million million cells, for a text of one million characters.
# Nearly every window that you will ever meet was never seen. The table's fault is that it knows no *similar*: what it
# has learned about `the ca` says nothing about `the ba`. So give each token a vector, lay the vectors of the window
# side by side, and let a function with few parameters read them: close vectors get close answers. This is the oldest
# neural language model:
#
#     e = E[x]                    (N, window) ids -> (N, window, d)    a look-up
#     f = e, laid side by side    (N, window·d)                        oldest token first
#     a = f @ W1 + b1             (N, H)
#     g = tanh(a)                 (N, H)
#     s = g @ W2 + b2             (N, V)                               scores, the logits
#     L = mean over N of  -ln softmax(s)[y]
#
# Now there is no closed form, and we need `dE, dW1, db1, dW2, db2`. Begin at the end, where the answer is known (`dL
# = 1`), and go backwards through the six lines. For each line one question: *given the gradient of what it made, what
# is the gradient of what it was made from?* You never need to see the whole.
#
# **Last line.** For one row with scores `s` and answer `y`, `L = ln Σ_j exp(s_j) - s_y`. Differentiate by `s_i`: the
# first term gives `exp(s_i)/Σ_j exp(s_j)`, which is the softmax `p_i`, and the second `-1` if `i = y`. So
#
#     ds = (p - one-hot(y)) / N
#
# What was predicted minus what came. Each row sums to 0 (why must it? Add a constant to all scores of a row: the loss
# does not change). The `1/N` is there because the loss is a mean; forget it, and everything is right at `N = 1`.
#
# **A matrix product, the one formula to know by heart.** `s = g @ W`, so `s_nk = Σ_j g_nj W_jk`. Which scores does
# `W_jk` touch? Column `k` of every row `n`, each with the factor `g_nj`. A number that acts in several places has the
# *sum* of the effects as its gradient:
#
#     dW_jk = Σ_n g_nj ds_nk      that is    dW = gᵀ @ ds
#     dg_nj = Σ_k ds_nk W_jk      that is    dg = ds @ Wᵀ
#
# Check by shapes: `dW` must be `(H, V)`, and of `g (N, H)` and `ds (N, V)` there is just one product that has it. The
# sum over `n` is the batch's contribution: every row of the batch used the same `W`.
#
# **A bias** touches its column in every row with the factor 1: `db = Σ_n ds_n`. (The same formula: a bias is one more
# row of `W`, read by a column of ones.)
#
# **tanh** acts on each number alone, so its Jacobian is diagonal: `da = dg · (1 - g²)`, with the *output* `g` that we
# have already. A saturated unit (`g = ±1`) passes nothing back.
#
# **Laying side by side** moves numbers and changes none: the gradient is moved back, `de = df` in the other shape.
#
# **A look-up** copies row `x_ni` of `E` to place `(n, i)`. A token that stands in a hundred places of the batch acted
# a hundred times, so its row collects a hundred gradients: `dE[x_ni] += de_ni` for every place. In numpy this is the
# trap of level 1 once more, and here it is vicious: with `+=` on repeated ids the model still trains, only worse.
#
# ### Exercise: `WindowMLP`
#
# 45 minutes, difficulty 2 of 3. `params` holds `E (V, d_embed)`, `W1 (window·d_embed, d_hidden)`, `b1`, `W2
# (d_hidden, V)`, `b2`, float64. How you draw them is yours; a good start has pre-activations around 1 (`W1` with
# standard deviation `1/√(window·d_embed)`), scores near 0, biases 0. `loss_and_grads(x (N, window), y (N,))` returns
# the mean loss in nats and a dict with the same five names: six lines forward, about nine backward, each beside its
# twin. Subtract each row's largest score before `exp` (part 1 says why that changes nothing and saves everything).
#
# **A pass looks like this:** the next cell, in which your nine lines meet the central difference at every single
# number, prints errors below 1e-6; they should be below 1e-9.


# %%
class WindowMLP:
    """Predict the next token from a window of the last ones: look up, lay side by side, one hidden layer.

    Attributes:
        params: Name -> array: ``E (V, d_embed)``, ``W1 (window * d_embed, d_hidden)``, ``b1 (d_hidden,)``,
            ``W2 (d_hidden, V)``, ``b2 (V,)``.

    Source: Bengio et al. 2003, section 2 (the model); Rumelhart et al. 1986 (its gradients).
    """

    def __init__(
        self,
        vocab_size: int,
        window: int = 8,
        d_embed: int = 16,
        d_hidden: int = 128,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Draw the parameters.

        Args:
            vocab_size: Number of tokens V.
            window: How many tokens are seen.
            d_embed: Width of a token's vector.
            d_hidden: Number of hidden units.
            rng: Draws the initial values; None makes a fresh one.
        """
        ### BEGIN SOLUTION
        rng = np.random.default_rng() if rng is None else rng
        d_in = window * d_embed
        self.params = {
            "E": rng.normal(0.0, 1.0, (vocab_size, d_embed)),
            "W1": rng.normal(0.0, d_in**-0.5, (d_in, d_hidden)),
            "b1": np.zeros(d_hidden),
            "W2": rng.normal(0.0, 0.1 * d_hidden**-0.5, (d_hidden, vocab_size)),
            "b2": np.zeros(vocab_size),
        }
        ### END SOLUTION

    def loss_and_grads(self, x: np.ndarray, y: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        """Run the model, and send the gradient back through every line by hand.

        Args:
            x: Windows of ids, oldest token first, int (N, window).
            y: The token that follows each window, int (N,).

        Returns:
            The mean loss in nats, and the gradient of it with respect to each parameter, by name.

        Source: Rumelhart et al. 1986.
        """
        ### BEGIN SOLUTION
        E, W1, b1, W2, b2 = (self.params[name] for name in ("E", "W1", "b1", "W2", "b2"))
        n_rows, row = len(y), np.arange(len(y))
        looked_up = E[x]  # (N, window, d_embed)
        features = looked_up.reshape(n_rows, -1)  # (N, window * d_embed)
        hidden = np.tanh(features @ W1 + b1)  # (N, d_hidden)
        scores = hidden @ W2 + b2  # (N, V)
        shifted = scores - scores.max(axis=1, keepdims=True)
        log_shares = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        loss = float(-log_shares[row, y].mean())

        d_scores = np.exp(log_shares)
        d_scores[row, y] -= 1
        d_scores /= n_rows  # (N, V): predicted minus what came
        d_hidden = d_scores @ W2.T  # (N, d_hidden)
        d_before = d_hidden * (1 - hidden * hidden)  # (N, d_hidden)
        d_looked_up = (d_before @ W1.T).reshape(looked_up.shape)  # (N, window, d_embed)
        d_E = np.zeros_like(E)
        np.add.at(d_E, x, d_looked_up)
        grads = {
            "E": d_E,
            "W1": features.T @ d_before,
            "b1": d_before.sum(axis=0),
            "W2": hidden.T @ d_scores,
            "b2": d_scores.sum(axis=0),
        }
        return loss, grads
        ### END SOLUTION


# %%
if __name__ == "__main__":
    small = WindowMLP(vocab_size=5, window=3, d_embed=2, d_hidden=4, rng=np.random.default_rng(0))
    windows, answers = np.array([[0, 1, 2], [1, 2, 2], [4, 4, 0], [3, 0, 1]]), np.array([2, 4, 3, 2])
    by_hand = small.loss_and_grads(windows, answers)[1]
    for name, array in small.params.items():
        measured = central_difference(lambda: small.loss_and_grads(windows, answers)[0], array)
        print(f"d{name:2}: by hand and measured differ by at most {np.abs(by_hand[name] - measured).max():.1e}")

# %% [markdown]
# Now train it. The next cell holds Adam, the optimizer of part 7, in numpy; it wants a gradient for each array and
# does not care where it came from, so level 3 will use the same one.


# %%
class Adam:
    """Follow gradients in steps of about equal size.

    Args:
        arrays: Name -> array, changed in place by ``step``.
        lr: Size of a step.

    Source: Kingma and Ba 2015, algorithm 1.
    """

    def __init__(self, arrays: dict[str, np.ndarray], lr: float) -> None:
        """Begin with averages of zero."""
        self.arrays, self.lr, self.n_steps = arrays, lr, 0
        self.mean = {name: np.zeros_like(array) for name, array in arrays.items()}
        self.square = {name: np.zeros_like(array) for name, array in arrays.items()}

    def step(self, grads: dict[str, np.ndarray]) -> None:
        """Move every array once."""
        self.n_steps += 1
        for name, array in self.arrays.items():
            self.mean[name] += 0.1 * (grads[name] - self.mean[name])
            self.square[name] += 0.01 * (grads[name] ** 2 - self.square[name])
            mean, square = self.mean[name] / (1 - 0.9**self.n_steps), self.square[name] / (1 - 0.99**self.n_steps)
            array -= self.lr * mean / (np.sqrt(square) + 1e-8)


# %%
if __name__ == "__main__":
    rng, window = np.random.default_rng(0), 4
    mlp = WindowMLP(VOCABULARY, window=window, d_embed=8, d_hidden=64, rng=rng)
    adam, started = Adam(mlp.params, lr=1e-2), time.process_time()
    for _ in range(400):
        first = rng.integers(0, len(train_text) - window, 64)
        adam.step(mlp.loss_and_grads(train_text[first[:, None] + np.arange(window)], train_text[first + window])[1])
    seconds = time.process_time() - started
    first = np.arange(len(val_text) - window)
    nats, _ = mlp.loss_and_grads(val_text[first[:, None] + np.arange(window)], val_text[first + window])
    print(f"validation, level 2: {nats:.3f} nats after {seconds:.1f} s   (level 1: {nats_of_counts:.3f}, floor 1.07)")

# %% [markdown]
# Both voices heard: within a tenth of a nat of the floor. (On the characters of Shakespeare: 2.30 after 1,000 steps
# of a window of eight, 2.11 after 3,000, two seconds; the counts stay at 2.48.)
#
# ### What was easy, and what does not scale
#
# Look at your two halves side by side. Each backward line is the twin of a forward line. It needed three things: the
# gradient of what its twin *made*, the values that its twin *read*, and the rule for that one operation. Not one of
# them asked what the loss was, how deep the network is, or what comes before. You did the rest: which line comes
# after which, and that `g` was used once only. For six lines that is fun. A transformer of twelve blocks has some 250
# lines, and each change to the model, a residual here, a second use of a matrix there, must be made twice, in
# opposite order. The *rules* are knowledge. The *order* is clerical work, and clerical work is for a program.
#
# ## 3. Level 3: a tensor that remembers
#
# So let the forward pass take notes. Each result keeps, beside its numbers, **which tensors it was made from** and
# **how to send a gradient on to them**: a function that takes the gradient of the result (the *upstream*) and returns
# one gradient for each parent. Written out for the exponential function, which is its own derivative and no exercise:
#
#     out = np.exp(x.data)
#     Tensor(out, parents=(x,), backward=lambda upstream: (upstream * out,))
#
# That is a line such as those of level 2, put into a box, at the moment at which everything that it needs is in
# reach. Run a model on such tensors and the notes form a graph, from the loss down to the parameters. The engine that
# walks back through it knows no mathematics at all. It has four decisions to make, and each has a classic wrong
# answer.
#
# ### 3a. What if a tensor is used twice?
#
# `y = x + x`: two arrows lead from `y` to the same `x`, and 1 comes back along each. The derivative is 2. In general
# a small move of `x` reaches the loss along every path, and the effects add up (you used this above: `dW` sums over
# the rows, `dE` over the places). So gradients that arrive are **added**; whoever stores the last one that came gets
# 1, and a network in which nothing is used twice will never tell. A transformer uses everything twice: each residual
# is a fork.
#
# ### 3b. In which order?
#
# When may a node send its gradient on? When *all* of it has arrived: when every node that was made from it has sent.
# Take `b = 2a`, `c = 3b`, `d = b + c`. From `d`, `b` is one arrow away (directly) and also two (by way of `c`). Walk
# breadth first, "nearest to the loss comes first": `d` sends 1 to `b` and 1 to `c`. `b` is nearest and sends on `2 ·
# 1` to `a`. Then `c` sends `3` to `b`, which had its turn already. `a` gets 2; the truth is 8. What we need is an
# order in which every node comes before what it was made from. List the graph by "first all my parents, then I"
# (depth-first, post-order): every node then stands behind everything that it depends on. Read the list **backwards**.
# That is a reverse topological order, and *pre*-order ("first I, then my parents") is none, although on simple graphs
# it looks like one.
#
# Each node enters the list once, so note which you have seen. Without that note the walk follows every *path*: add a
# number to itself 18 times and there are 2¹⁸ paths through 19 nodes.
#
# ### 3c. Why not recursion?
#
# "First all my parents, then I" asks to be written as a function that calls itself, and Python stops at a depth of
# about 1,000 calls. A loop over 10,000 steps that adds to a running total makes a graph 10,000 deep. Keep your own
# stack instead, in a list: it holds the nodes that you have entered and not finished, each with those of its parents
# that you have not looked at yet. When a node has none left, it goes into the order and off the stack.
#
# ### 3d. What flows now, and what has been collected
#
# `grad` accumulates, also from one backward pass to the next: that is how one adds up several batches, and why
# optimizers are told to `zero_grad()`. So call `backward_all` twice, and everything should be there twice. If you let
# the second pass send on what stands in `grad`, the leftovers of the first pass are sent once more, and at a depth of
# three you have neither once nor twice. Keep what flows *in this pass* apart (a dict, emptied as you go), and add to
# `grad` at the moment at which a node has its turn.
#
# And mind whose array it is. `add` sends the *same* array to both of its parents. If one of them keeps it and the
# next arrival is added with `+=`, in place, the other parent's gradient changes too, far away. `x.add(x)` does not
# show it (both are one); a residual does. Either own a copy, or make a new array when you add: `a = a + b`, not `a +=
# b`.
#
# ### Exercise: `Tensor`
#
# 35 minutes, difficulty 3 of 3. Three methods of the class below; the operations follow one at a time, and until then
# the class does nothing useful. Python lets you add to a class later, but a file has to hold it in one piece, so the
# text for the other methods comes first and their places are further down. **Read 3e to 3j as you come to each.**
#
# - `__init__`: keep `data` as an array of floats, in the dtype in which it comes. Integers are refused: there is no
#   "a little more" for an integer. What else you keep is up to you: nobody but you calls it with more than `data`.
# - `grad` is given. It is zeros of the shape of `data` until something arrives, but these zeros are made only when
#   somebody looks: most nodes of a graph are never looked at, and filling, reading and adding to zeros for all of
#   them made a whole training step half as slow again when we measured it. `self.grad = ...` works as usual, and
#   `self._grad` is None as long as nothing has arrived.
# - `zero_grad`: zeros of the shape and dtype that `data` has *now*; somebody may have replaced it.
# - `backward_all`: on a scalar only (shape `()`): "the gradient" of a whole array is not one question. Else
#   ValueError.
#
# **A pass looks like this**, with numbers you can check by hand: for `x = 3` and `y = x.mul(x).add(x)` you get 7; a
# second call makes it 14; a graph of 10,000 additions takes a tenth of a second, and 18 doublings no time at all.
#
# ### 3e. `add` and `mul`, and what broadcasting does to a gradient
#
# `y = a + b`: both get the upstream as it is. `y = a · b`: a move of `a` is stretched by `b` and the other way round,
# so `da = dy · b`, `db = dy · a`: crosswise. (Try `x · x` only and you will not notice having them straight.) `other`
# may be a Python number, which needs no gradient. Make it a plain `float`: numpy's own scalars carry a dtype, and one
# `np.float64` among float32 arrays makes everything after it float64.
#
# Now shapes. `(B, T, E) + (E,)` works because numpy pretends that the bias stands there `B·T` times. You know this
# one: a number that acts in many places collects the sum. So **broadcasting forward is summing backward**, over
# exactly the axes that were stretched. There are two kinds: axes in *front* that the smaller array does not have, and
# axes where it has *length 1*, which must stay there. A bias only ever shows you the first kind; `(T, 1)` shows the
# second.
#
# **Exercises `unbroadcast`** (10 minutes) **and `add`, `mul`** (10 minutes), difficulty 2 of 3. What does not fit
# raises ValueError with both shapes; numpy's own does that already for these two.
#
# ### 3f. `matmul`: an old friend
#
# `(..., n, k) @ (..., k, m)`. Here is the line from level 2, with `self` for `g` and `other` for `W`:
#
#     d_self  = upstream @ otherᵀ
#     d_other = selfᵀ @ upstream
#
# The very same expression, now written once for every product in every model. Only two things are new. The transpose
# is of the *last two* axes (`.T` on four axes reverses all of them). And leading axes broadcast, as in `add`: a
# weight `(E, E)` against `(B, T, E)` acts in `B` products, so its gradient has to be summed over `B`: `unbroadcast`
# again.
#
# Which brings up a question of cost. That product can be computed in two ways: as `B` products whose `B` gradients
# `(E, E)` are kept and then summed, or with batch and time **stacked** into one matrix `(B·T, E)`, where `gᵀ @ ds` is
# *one* product and the sum over the batch happens inside of it. A linear layer treats each row alone, it cannot tell
# which sequence a row came from, so stacking changes nothing but the time. Layer norm, gelu, the look-up and the loss
# treat each row alone too. Attention is the one place where rows speak to each other, and only to rows of their own
# sequence: there, and nowhere else, `B` and `T` must be told apart. That is why your transformer below will live on
# `(B·T, E)` and unfold to `(B, h, T, d)` for the attention alone.
#
# **Exercise `matmul`**: 15 minutes, difficulty 2 of 3. If the inner sizes or the leading axes do not fit: ValueError
# with both *shapes* (numpy's own message has the sizes only).
#
# ### 3g. Moving and copying: `sum`, `reshape`, `transpose`, `rows`
#
# `sum` to one number: each element acted with factor 1, so each gets the upstream. `reshape` and `transpose` move
# numbers; send the gradient back the same way. (To undo `transpose(1, 2)`: `transpose(1, 2)`. To undo a reshape: the
# shape from before. A reshape where a transpose is due has the right shape and the wrong places.) `rows(ids)`, for
# ids of any shape: the look-up of level 2, and its trap.
#
# **Exercises**: 15 minutes together, difficulty 1 of 3.
#
# ### 3h. One number at a time: `tanh`, `gelu`
#
# numpy has no erf, so take the form that GPT-2 has: with `c = √(2/π)`,
#
#     t = tanh(c (x + 0.044715 x³)),    gelu(x) = x (1 + t) / 2
#
# Product rule, then chain rule: `gelu'(x) = (1 + t)/2 + x/2 · (1 - t²) · c (1 + 3 · 0.044715 x²)`. Two terms, and
# each alone looks plausible in a plot. (`x**3` is a slow way to write `x * x * x`: numpy calls a general power.)
#
# **Exercises**: 10 minutes together, difficulty 1 of 3.
#
# ### 3i. `layer_norm`: a row that normalises itself
#
# For one row of `E` numbers: mean `μ`, `x̂ = (x - μ)/σ` with `σ = √(var + eps)`, `y = x̂ · w + b`. The last step is
# old: `db` sums the upstream over the rows, `dw` sums upstream times `x̂`, and `u = dy · w` arrives at `x̂`. But
# `x̂_i` depends on `x_j` in three ways: directly, through `μ`, and through `σ`. Do it in one go. From `σ² = mean((x -
# μ)²) + eps` you get `∂μ/∂x_j = 1/E` and `∂σ/∂x_j = x̂_j/E`, so
#
#     ∂x̂_i/∂x_j = (δ_ij - 1/E - x̂_i x̂_j / E) / σ
#
# and with `mean` over the row:
#
#     dx = (u - mean(u) - x̂ · mean(u · x̂)) / σ
#
# Read it: the norm does not care if all of `x` is shifted, so that part of the gradient is taken out (`mean(u)`), and
# it does not care if `x` is stretched, so that part goes too. (`eps` stands under the root all along, so the formula
# is exact with it.) An upstream of ones with `w = 1` has a `dx` of zero, which many wrong formulas have as well: it
# is why the suite never sends ones.
#
# **Exercise**: 20 minutes, difficulty 3 of 3.
#
# ### 3j. `causal_mask`, `softmax_rows`, `cross_entropy`
#
# The mask writes -inf above the diagonal. What was overwritten has no influence: its gradient is exactly 0, whatever
# arrives there. Choose by `where`; a product with a mask makes `0 · inf = NaN`.
#
# Softmax, one row: `w_i = exp(s_i)/Σ exp`, and `∂w_i/∂s_j = w_i (δ_ij - w_j)`, the Jacobian of part 2. Multiply by
# the upstream `u` without ever building that matrix:
#
#     ds_j = Σ_i u_i w_i (δ_ij - w_j) = w_j (u_j - Σ_i u_i w_i)
#
# Each share's upstream, *compared with the average that the row pays*. Leave the average out and you have only the
# diagonal. And if the upstream is all ones the result is 0, since shares always sum to 1: another reason to test with
# anything but ones.
#
# `cross_entropy` is level 2's last line, `(p - one-hot)/N`, times the upstream. It is easy to forget that factor as
# long as the loss is the end of the graph, where it is 1. Then somebody writes `loss.mul(0.5)`. `N` is the number of
# predictions, however many axes they come in. Targets whose shape is not that of the logits without the last axis
# would broadcast into nonsense: ValueError with both shapes.
#
# **Exercises**: 25 minutes together, difficulty 2 of 3.


# %%
def unbroadcast(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum a gradient over every axis along which an array was repeated to fill the result.

    Args:
        gradient: Of the result, in the result's shape.
        shape: What the array had before it was stretched to that shape.

    Returns:
        Float ``shape``.

    Source: Baydin et al. 2018, section 3.2 (adjoints of a value used several times add up).
    """
    ### BEGIN SOLUTION
    if gradient.shape == shape:
        return gradient
    n_new = gradient.ndim - len(shape)
    stretched = tuple(n_new + axis for axis, size in enumerate(shape) if size == 1)
    return gradient.sum(axis=(*range(n_new), *stretched)).reshape(shape)
    ### END SOLUTION


Backward = Callable[[np.ndarray], tuple[np.ndarray, ...]]


class Tensor:
    """An array that remembers what it was made from, and how to send a gradient back there.

    Args:
        data: Floats of any shape; their dtype is kept.
        parents: The tensors that it was made from.
        backward: Takes the gradient of this tensor and returns one for each parent; None where there is none.

    Attributes:
        data: The numbers. They may be assigned, or written in place.
        grad: The gradient collected so far, in the shape of ``data``.

    Source: Rumelhart et al. 1986; Baydin et al. 2018, section 3.2 (reverse mode).
    """

    _grad: np.ndarray | None = None

    def __init__(self, data: np.ndarray, parents: tuple["Tensor", ...] = (), backward: Backward | None = None) -> None:
        """Keep the numbers and the notes.

        Raises:
            ValueError: ``data`` holds no floats; the message says what it holds.
        """
        ### BEGIN SOLUTION
        self.data = np.asarray(data)
        if self.data.dtype.kind != "f":
            raise ValueError(f"data must be floats, not {self.data.dtype} of shape {self.data.shape}")
        self._parents = parents
        self._backward = backward
        ### END SOLUTION

    @property
    def grad(self) -> np.ndarray:
        """The gradient so far: zeros, made when somebody looks, until something has arrived."""
        if self._grad is None:
            self._grad = np.zeros_like(self.data)
        return self._grad

    @grad.setter
    def grad(self, gradient: np.ndarray) -> None:
        self._grad = gradient

    def zero_grad(self) -> None:
        """Forget the gradient: zeros of the shape and dtype of ``data``.

        Source: Baydin et al. 2018, section 3.2.
        """
        ### BEGIN SOLUTION
        self._grad = None  # zeros as soon as somebody looks
        ### END SOLUTION

    def backward_all(self) -> None:
        """Add the gradient of this scalar to ``grad`` of every tensor it was made from, and 1 to its own.

        Raises:
            ValueError: This tensor is not a scalar; the message says its shape.

        Source: Griewank and Walther 2008, section 3.2 (the reverse sweep).
        """
        ### BEGIN SOLUTION
        if self.data.shape != ():
            raise ValueError(f"backward_all starts at a scalar of shape (), not at shape {self.data.shape}")
        order: list[Tensor] = []
        seen, unfinished = {self}, [(self, iter(self._parents))]
        while unfinished:
            node, rest = unfinished[-1]
            parent = next(rest, None)
            if parent is None:
                unfinished.pop()
                order.append(node)
            elif parent not in seen:
                seen.add(parent)
                unfinished.append((parent, iter(parent._parents)))
        flowing = {self: np.ones_like(self.data)}  # this pass alone; grad holds the earlier ones too
        for node in reversed(order):
            upstream = flowing.pop(node)
            if node._grad is not None:
                node._grad = node._grad + upstream
            else:  # a parameter owns its gradient, to be scaled in place; inside the graph a shared array will do
                node._grad = upstream if node._parents else upstream.copy()
            if node._backward is None:
                continue
            for parent, gradient in zip(node._parents, node._backward(upstream), strict=True):
                waiting = flowing.get(parent)
                flowing[parent] = gradient if waiting is None else waiting + gradient  # a new array: never +=
        ### END SOLUTION

    def add(self, other: "Tensor | float") -> "Tensor":
        """Add, with broadcasting.

        Way back: section 3e of the text.

        Args:
            other: A tensor whose shape broadcasts with this one's, or a number.

        Returns:
            A tensor of the broadcast shape.

        Raises:
            ValueError: The shapes do not broadcast; the message has both.

        Source: Baydin et al. 2018, section 3.2.
        """
        ### BEGIN SOLUTION
        if not isinstance(other, Tensor):
            return Tensor(self.data + float(other), (self,), lambda upstream: (upstream,))
        shape, other_shape = self.data.shape, other.data.shape

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            return unbroadcast(upstream, shape), unbroadcast(upstream, other_shape)

        return Tensor(self.data + other.data, (self, other), backward)
        ### END SOLUTION

    def mul(self, other: "Tensor | float") -> "Tensor":
        """Multiply number by number, with broadcasting.

        Way back: section 3e of the text.

        Args:
            other: A tensor whose shape broadcasts with this one's, or a number.

        Returns:
            A tensor of the broadcast shape.

        Raises:
            ValueError: The shapes do not broadcast; the message has both.

        Source: Baydin et al. 2018, section 3.2.
        """
        ### BEGIN SOLUTION
        if not isinstance(other, Tensor):
            factor = float(other)
            return Tensor(self.data * factor, (self,), lambda upstream: (upstream * factor,))
        a, b = self.data, other.data

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            return unbroadcast(upstream * b, a.shape), unbroadcast(upstream * a, b.shape)

        return Tensor(a * b, (self, other), backward)
        ### END SOLUTION

    def matmul(self, other: "Tensor") -> "Tensor":
        """Multiply matrices, batch by batch.

        Way back: section 3f of the text.

        Args:
            other: (..., k, m), where this tensor is (..., n, k); leading axes broadcast.

        Returns:
            A tensor (..., n, m).

        Raises:
            ValueError: The shapes do not fit; the message has both.

        Source: Giles 2008, section 2.2.1 (the two products of the reverse mode).
        """
        ### BEGIN SOLUTION
        a, b = self.data, other.data
        try:
            if min(a.ndim, b.ndim) < 2:
                raise ValueError("these are not matrices")
            product = a @ b  # (..., n, m)
        except ValueError as misfit:
            raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not fit: {misfit}") from None

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            d_self = upstream @ b.swapaxes(-1, -2)  # (..., n, k): level 2's dg = ds @ W transposed
            d_other = a.swapaxes(-1, -2) @ upstream  # (..., k, m): level 2's dW = g transposed @ ds
            return unbroadcast(d_self, a.shape), unbroadcast(d_other, b.shape)

        return Tensor(product, (self, other), backward)
        ### END SOLUTION

    def sum(self) -> "Tensor":
        """Add up all elements.

        Way back: section 3g of the text.

        Returns:
            A scalar, shape ().

        Source: Baydin et al. 2018, section 3.2.
        """
        ### BEGIN SOLUTION
        shape = self.data.shape
        return Tensor(self.data.sum(), (self,), lambda upstream: (np.broadcast_to(upstream, shape),))
        ### END SOLUTION

    def reshape(self, *shape: int) -> "Tensor":
        """Read the same numbers in another shape.

        Way back: section 3g of the text.

        Args:
            shape: As many elements as before; one size may be -1.

        Returns:
            A tensor of that shape.

        Source: Harris et al. 2020 (reshape and swapaxes of numpy).
        """
        ### BEGIN SOLUTION
        before = self.data.shape
        return Tensor(self.data.reshape(shape), (self,), lambda upstream: (upstream.reshape(before),))
        ### END SOLUTION

    def transpose(self, axis1: int, axis2: int) -> "Tensor":
        """Swap two axes.

        Way back: section 3g of the text.

        Args:
            axis1: One of them; negative ones count from the end.
            axis2: The other.

        Returns:
            A tensor with the two sizes swapped.

        Source: Harris et al. 2020 (reshape and swapaxes of numpy).
        """
        ### BEGIN SOLUTION
        swapped = self.data.swapaxes(axis1, axis2)
        return Tensor(swapped, (self,), lambda upstream: (upstream.swapaxes(axis1, axis2),))
        ### END SOLUTION

    def rows(self, ids: np.ndarray) -> "Tensor":
        """Look up rows of this table.

        Way back: section 3g of the text.

        Args:
            ids: Int, any shape; an id may occur many times.

        Returns:
            A tensor (*ids.shape, *row shape).

        Source: Bengio et al. 2003, section 2 (the matrix C).
        """
        ### BEGIN SOLUTION
        table = self.data

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            collected = np.zeros_like(table)
            np.add.at(collected, ids, upstream)
            return (collected,)

        return Tensor(table[ids], (self,), backward)
        ### END SOLUTION

    def tanh(self) -> "Tensor":
        """Squash each number into (-1, 1).

        Way back: section 2 and 3h of the text.

        Returns:
            A tensor of the same shape.

        Source: Rumelhart et al. 1986.
        """
        ### BEGIN SOLUTION
        squashed = np.tanh(self.data)
        return Tensor(squashed, (self,), lambda upstream: (upstream * (1 - squashed * squashed),))
        ### END SOLUTION

    def gelu(self) -> "Tensor":
        """Let each number pass as far as it is positive, smoothly (the tanh form).

        Way back: section 3h of the text.

        Returns:
            A tensor of the same shape.

        Source: Hendrycks and Gimpel 2016, section 2.
        """
        ### BEGIN SOLUTION
        x, c = self.data, math.sqrt(2 / math.pi)
        t = np.tanh(x * (c + c * 0.044715 * (x * x)))

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (c + 3 * c * 0.044715 * (x * x))
            return (upstream * slope,)

        return Tensor(0.5 * x * (1 + t), (self,), backward)
        ### END SOLUTION

    def layer_norm(self, weight: "Tensor", bias: "Tensor", eps: float = 1e-5) -> "Tensor":
        """Normalise along the last axis, then stretch and shift.

        Way back: section 3i of the text.

        Args:
            weight: (E,), where this tensor is (..., E).
            bias: (E,).
            eps: Added to the (biased) variance, under the root.

        Returns:
            A tensor of the same shape.

        Source: Ba et al. 2016, section 3.
        """
        ### BEGIN SOLUTION
        w, shape_w, shape_b = weight.data, weight.data.shape, bias.data.shape
        centred = self.data - self.data.mean(axis=-1, keepdims=True)
        scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)  # (..., 1): one over sigma
        normed = centred * scale

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            u = upstream * w
            shift, stretch = u.mean(axis=-1, keepdims=True), (u * normed).mean(axis=-1, keepdims=True)
            d_self = scale * (u - shift - normed * stretch)
            return d_self, unbroadcast(upstream * normed, shape_w), unbroadcast(upstream, shape_b)

        return Tensor(normed * w + bias.data, (self, weight, bias), backward)
        ### END SOLUTION

    def causal_mask(self) -> "Tensor":
        """Put minus infinity above the diagonal of the last two axes.

        Way back: section 3j of the text.

        Returns:
            A tensor of the same shape, (..., T, T).

        Source: Vaswani et al. 2017, section 3.2.3.
        """
        ### BEGIN SOLUTION
        allowed = np.tri(self.data.shape[-1], dtype=bool)  # (T, T), True on and below the diagonal
        masked = np.where(allowed, self.data, -np.inf)
        return Tensor(masked, (self,), lambda upstream: (np.where(allowed, upstream, 0.0),))
        ### END SOLUTION

    def softmax_rows(self) -> "Tensor":
        """Turn the last axis into shares that sum to 1.

        Way back: section 3j of the text.

        Returns:
            A tensor of the same shape.

        Source: Vaswani et al. 2017, section 3.2.1.
        """
        ### BEGIN SOLUTION
        grown = np.exp(self.data - self.data.max(axis=-1, keepdims=True))
        shares = grown / grown.sum(axis=-1, keepdims=True)

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            return (shares * (upstream - (upstream * shares).sum(axis=-1, keepdims=True)),)

        return Tensor(shares, (self,), backward)
        ### END SOLUTION

    def cross_entropy(self, targets: np.ndarray) -> "Tensor":
        """Judge scores by the tokens that came.

        Way back: section 3j of the text.

        Args:
            targets: Int (...), where this tensor is (..., V).

        Returns:
            The mean loss in nats over all predictions, shape ().

        Raises:
            ValueError: ``targets`` does not have this tensor's shape without the last axis; the message has both.

        Source: Shannon 1948, section 7 (the entropy of a source, here estimated with the model's probabilities).
        """
        ### BEGIN SOLUTION
        targets = np.asarray(targets)
        if self.data.ndim == 0 or targets.shape != self.data.shape[:-1]:
            raise ValueError(f"cross_entropy: targets {targets.shape} do not fit logits {self.data.shape}")
        shifted = self.data - self.data.max(axis=-1, keepdims=True)
        shares = np.exp(shifted)
        totals = shares.sum(axis=-1, keepdims=True)  # (..., 1)
        shares /= totals
        place = targets[..., None]
        nats = np.log(totals) - np.take_along_axis(shifted, place, axis=-1)

        def backward(upstream: np.ndarray) -> tuple[np.ndarray, ...]:
            gradient = shares * (upstream / targets.size)
            came = np.take_along_axis(gradient, place, axis=-1) - upstream / targets.size
            np.put_along_axis(gradient, place, came, axis=-1)
            return (gradient,)

        return Tensor(nats.mean(), (self,), backward)
        ### END SOLUTION


# %% [markdown]
# Three looks at your engine. First the numbers that you can check in your head; then every operation against the
# central difference, with a random upstream; then the cost of not stacking.

# %%
if __name__ == "__main__":
    x = Tensor(np.array(3.0))
    y = x.mul(x).add(x)
    for calls in (1, 2):
        y.backward_all()
        print(f"d(x x + x)/dx at 3, after {calls} call(s): {x.grad}   (7 for each)")
    total = Tensor(np.array(0.0))
    for _ in range(10_000):
        total = total.add(x)
    x.zero_grad()
    total.backward_all()
    print(f"10,000 additions of x, one after the other: {x.grad}")

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    a, b = Tensor(rng.normal(size=(2, 3, 4))), Tensor(rng.normal(size=(4,)))
    square, ids = Tensor(rng.normal(size=(2, 4, 4))), np.array([1, 1, 0])
    operations: dict[str, Callable[[], Tensor]] = {
        "add": lambda: a.add(b),
        "mul": lambda: a.mul(b),
        "matmul": lambda: a.matmul(square),
        "reshape": lambda: a.reshape(6, 4),
        "transpose": lambda: a.transpose(0, 2),
        "rows": lambda: a.rows(ids),
        "tanh": lambda: a.tanh(),
        "gelu": lambda: a.gelu(),
        "layer_norm": lambda: a.layer_norm(b, b),
        "mask, softmax": lambda: a.matmul(square).matmul(a.transpose(1, 2)).causal_mask().softmax_rows(),
        "cross_entropy": lambda: a.cross_entropy(np.array([[0, 3, 1], [2, 2, 0]])),
    }
    for name, operation in operations.items():
        weights = Tensor(rng.normal(size=operation().data.shape))
        a.zero_grad()
        operation().mul(weights).sum().backward_all()
        measured = central_difference(lambda f=operation, w=weights: float((f().data * w.data).sum()), a.data)
        print(f"{name:14}: at most {np.abs(a.grad - measured).max():.1e} from the measured gradient")

# %%
if __name__ == "__main__":
    matrix = Tensor(rng.normal(size=(128, 512)))
    for label, shape in (("batch and time apart", (64, 16)), ("stacked", (64 * 16,))):
        tokens, weights = (Tensor(rng.normal(size=(*shape, width))) for width in (128, 512))
        times = []
        for _ in range(10):
            started = time.perf_counter()
            tokens.matmul(matrix).mul(weights).sum().backward_all()
            times.append(time.perf_counter() - started)
        print(f"one linear layer, forward and backward, {label}: {1000 * min(times):.1f} ms")

# %% [markdown]
# ## 4. The transformer again, with nothing borrowed
#
# Everything is there. What follows is part 6 in your own operations, and no line of it says how its gradient is made.
#
# Pre-norm blocks, learned positions, and the output **tied**: the matrix that turns ids into vectors, transposed,
# turns vectors into scores. Tying means that one parameter is used at both ends of the graph. At level 2 you would
# have had to remember to add its two gradients. Here you need not do anything: it has two arrows.
#
#     x = tok_emb[idx] + pos_emb[0 .. T-1]                     (B, T, E), then stacked: (B·T, E)
#     for each block:
#         x = x + proj(attention(ln1(x)))
#         x = x + down(gelu(up(ln2(x)) + up_bias)) + down_bias
#     logits = ln_f(x) @ tok_embᵀ                              (B·T, V), then (B, T, V)
#
# The attention, with `d = E / n_heads`: `q`, `k`, `v` are `(B·T, E) @ (E, E)`. Head `j` owns columns `j·d` to
# `(j+1)·d - 1`, as in part 3. So reshape to `(B, T, h, d)`, swap `T` and `h`, and one batched product scores all
# heads of all sequences; divide by `√d` (dividing `q` is the same and touches fewer numbers), mask, softmax, mix,
# swap back, stack. Between the swap and the stacking lies a copy, and a trap: reshape `(B, h, T, d)` without swapping
# back, and it works, and glues rows of different positions together.
#
# ### Exercise: `TransformerLM`
#
# 40 minutes, difficulty 2 of 3.
#
# | parameter | shape | |
# |---|---|---|
# | `tok_emb` | (V, E) | used twice |
# | `pos_emb` | (block_size, E) | the first T rows |
# | `blocks.i.ln1.weight`, `blocks.i.ln1.bias` | (E,) | start: ones, zeros; `ln2` likewise |
# | `blocks.i.q`, `.k`, `.v`, `.proj` | (E, E) | applied as `x @ W`, no bias |
# | `blocks.i.up`, `.up_bias` | (E, 4E), (4E,) | |
# | `blocks.i.down`, `.down_bias` | (4E, E), (E,) | |
# | `ln_f.weight`, `ln_f.bias` | (E,) | |
#
# `parameters()` gives the dict, and always the *same* tensors: the gradients are in them, and an optimizer changes
# their `data` behind your back (so look `data` up when you run, not when you build). All start as float64; draw the
# matrices small (0.02 is what GPT-2 took), so that the first loss is close to ln V.
#
# **A pass looks like this:** replace later tokens and no earlier logit moves; torch, given the same weights, has the
# same loss and the same gradients, within 1e-9, for one block and for three, and for T from 1 to block_size; float32
# weights give float32 gradients. Trained for a second by the suite's Adam on your gradients, it leaves the counts
# behind.


# %%
class TransformerLM:
    """Predict the next token at every position: pre-norm blocks, learned positions, tied output.

    Source: Vaswani et al. 2017, section 3; Radford et al. 2019, section 2.3 (pre-norm); Press and Wolf 2017 (tying).
    """

    def __init__(
        self,
        vocab_size: int,
        block_size: int = 64,
        n_blocks: int = 1,
        n_heads: int = 4,
        d_embed: int = 128,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Draw the parameters.

        Args:
            vocab_size: Number of tokens V.
            block_size: The most positions that the model has vectors for.
            n_blocks: Number of blocks.
            n_heads: Heads in each block; divides ``d_embed``.
            d_embed: Width E.
            rng: Draws the initial values; None makes a fresh one.
        """
        ### BEGIN SOLUTION
        if d_embed % n_heads:
            raise ValueError(f"n_heads = {n_heads} does not divide d_embed = {d_embed}")
        rng = np.random.default_rng() if rng is None else rng
        self.block_size, self.n_blocks, self.n_heads = block_size, n_blocks, n_heads
        deep = 0.02 * (2 * n_blocks) ** -0.5  # what is added to the stream is drawn smaller, the more is added
        arrays = {
            "tok_emb": rng.normal(0.0, 0.02, (vocab_size, d_embed)),
            "pos_emb": rng.normal(0.0, 0.02, (block_size, d_embed)),
        }
        for i in range(n_blocks):
            arrays |= {
                f"blocks.{i}.ln1.weight": np.ones(d_embed),
                f"blocks.{i}.ln1.bias": np.zeros(d_embed),
                f"blocks.{i}.q": rng.normal(0.0, 0.02, (d_embed, d_embed)),
                f"blocks.{i}.k": rng.normal(0.0, 0.02, (d_embed, d_embed)),
                f"blocks.{i}.v": rng.normal(0.0, 0.02, (d_embed, d_embed)),
                f"blocks.{i}.proj": rng.normal(0.0, deep, (d_embed, d_embed)),
                f"blocks.{i}.ln2.weight": np.ones(d_embed),
                f"blocks.{i}.ln2.bias": np.zeros(d_embed),
                f"blocks.{i}.up": rng.normal(0.0, 0.02, (d_embed, 4 * d_embed)),
                f"blocks.{i}.up_bias": np.zeros(4 * d_embed),
                f"blocks.{i}.down": rng.normal(0.0, deep, (4 * d_embed, d_embed)),
                f"blocks.{i}.down_bias": np.zeros(d_embed),
            }
        arrays |= {"ln_f.weight": np.ones(d_embed), "ln_f.bias": np.zeros(d_embed)}
        self._parameters = {name: Tensor(array) for name, array in arrays.items()}
        ### END SOLUTION

    def parameters(self) -> dict[str, Tensor]:
        """Return every parameter by name, the same tensors each time.

        Source: Radford et al. 2019, section 2.3.
        """
        ### BEGIN SOLUTION
        return dict(self._parameters)
        ### END SOLUTION

    def attend(self, x: Tensor, block: int, B: int, T: int) -> Tensor:
        """Run one block's causal attention, and its projection.

        Args:
            x: (B * T, E), already normed.
            block: Which block's ``q``, ``k``, ``v`` and ``proj``.
            B: Sequences.
            T: Positions of each.

        Returns:
            A tensor (B * T, E).

        Source: Vaswani et al. 2017, section 3.2.
        """
        ### BEGIN SOLUTION
        E = x.data.shape[-1]
        d_head = E // self.n_heads

        def heads_of(name: str) -> Tensor:
            rows = x.matmul(self._parameters[f"blocks.{block}.{name}"])
            return rows.reshape(B, T, self.n_heads, d_head).transpose(1, 2)  # (B, h, T, d)

        q, k, v = heads_of("q"), heads_of("k"), heads_of("v")
        scores = q.mul(d_head**-0.5).matmul(k.transpose(-1, -2))  # (B, h, T, T)
        mixed = scores.causal_mask().softmax_rows().matmul(v)  # (B, h, T, d)
        side_by_side = mixed.transpose(1, 2).reshape(B * T, E)
        return side_by_side.matmul(self._parameters[f"blocks.{block}.proj"])
        ### END SOLUTION

    def logits(self, idx: np.ndarray) -> Tensor:
        """Score every token as the next one, at every position.

        Args:
            idx: Ids, int (B, T), T at most ``block_size``.

        Returns:
            A tensor (B, T, V).

        Source: Radford et al. 2019, section 2.3.
        """
        ### BEGIN SOLUTION
        B, T = idx.shape
        if self.block_size < T:
            raise ValueError(f"idx has T = {T} tokens, more than block_size = {self.block_size}")
        p = self._parameters
        E = p["tok_emb"].data.shape[-1]
        x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(T))).reshape(B * T, E)
        for i in range(self.n_blocks):
            own = f"blocks.{i}"
            normed = x.layer_norm(p[f"{own}.ln1.weight"], p[f"{own}.ln1.bias"])
            x = x.add(self.attend(normed, i, B, T))
            normed = x.layer_norm(p[f"{own}.ln2.weight"], p[f"{own}.ln2.bias"])
            wide = normed.matmul(p[f"{own}.up"]).add(p[f"{own}.up_bias"]).gelu()  # (B * T, 4E)
            x = x.add(wide.matmul(p[f"{own}.down"]).add(p[f"{own}.down_bias"]))
        x = x.layer_norm(p["ln_f.weight"], p["ln_f.bias"])
        return x.matmul(p["tok_emb"].transpose(0, 1)).reshape(B, T, -1)
        ### END SOLUTION

    def loss(self, idx: np.ndarray, targets: np.ndarray) -> Tensor:
        """Judge the logits by the tokens that came.

        Args:
            idx: Ids, int (B, T).
            targets: The token after each position, int (B, T).

        Returns:
            The mean loss in nats, shape ().

        Source: Radford et al. 2019, section 2.
        """
        ### BEGIN SOLUTION
        return self.logits(idx).cross_entropy(targets)
        ### END SOLUTION


# %% [markdown]
# A central difference for each of some thousands of parameters takes a while; here is a cheaper judge for a whole
# model. Draw a random direction in the space of *all* parameters, move everything along it by `h` and by `-h`, and
# compare with the gradient's component in that direction: one number, two forward passes, and any wrong gradient
# anywhere shows. It does not tell you where. Then the training run.

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(1)
    gpt = TransformerLM(VOCABULARY, block_size=8, n_blocks=2, n_heads=4, d_embed=24, rng=rng)
    idx, targets = rng.integers(0, VOCABULARY, (3, 5)), rng.integers(0, VOCABULARY, (3, 5))
    gpt.loss(idx, targets).backward_all()
    direction = {name: rng.normal(size=p.data.shape) for name, p in gpt.parameters().items()}
    promised = sum(float((p.grad * direction[name]).sum()) for name, p in gpt.parameters().items())
    h, losses = 1e-6, []
    for move in (h, -2 * h):
        for name, p in gpt.parameters().items():
            p.data = p.data + move * direction[name]
        losses.append(float(gpt.loss(idx, targets).data))
    print(f"along a random direction: promised {promised:.8f}, measured {(losses[0] - losses[1]) / (2 * h):.8f}")

# %%
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    gpt = TransformerLM(VOCABULARY, block_size=8, n_blocks=1, n_heads=4, d_embed=32, rng=rng)
    parameters, started = gpt.parameters(), time.process_time()
    adam = Adam({name: p.data for name, p in parameters.items()}, lr=1e-2)
    for step in range(400):
        first = rng.integers(0, len(train_text) - 9, 16)
        chunk = train_text[first[:, None] + np.arange(9)]  # (16, 9)
        loss = gpt.loss(chunk[:, :-1], chunk[:, 1:])
        for p in parameters.values():
            p.zero_grad()
        loss.backward_all()
        adam.step({name: p.grad for name, p in parameters.items()})
        if step % 100 == 99:
            chunk = val_text[: 9 * 400].reshape(400, 9)
            nats, seconds = gpt.loss(chunk[:, :-1], chunk[:, 1:]).data, time.process_time() - started
            print(f"validation, level 3, step {step + 1}: {nats:.3f} nats, {seconds:.1f} s   (the first of 8 is blind)")

# %% [markdown]
# The transformer leaves the counts behind, as the MLP did. It does not leave the MLP behind, and it took longer. On
# Shakespeare it is the same: after 400 steps, eight seconds at a context of 16, it stands at 2.21 nats, where the MLP
# of level 2 is at 2.11 after *two* seconds. At equal seconds, at this size, the MLP wins. Before you read on: why,
# and what would have to change?
#
# The MLP has a weight of its own for each place in its window, so "the token two back" is a fixed set of rows of
# `W1`. The transformer has to *learn* to look two back, from positions and products, before it can use what it finds;
# and it predicts all positions, the blind first ones too. What it buys is that the price of one more token of context
# is nothing: no parameter depends on how far back a token stands. `W1` of a window of 1,000 would have 1,000 times
# the rows, each trained by what happened at just that distance. At eight characters that does not matter. At a
# thousand it is all.
#
# ### Things to try
#
# Each is one line in your own code, and each has an answer that surprises somebody.
#
# 1. **One head against four**, at the same width. The number of parameters is the same, so what differs?
# 2. **A context of 16 against 64**, in nats and in seconds. Which of the two do you see first?
# 3. **Take the mask out** and train 200 steps. The training loss falls to about 0.1 nats: the answer stands in the
#    input, one place to the right. Now the honest question: what is the *validation* loss? Computed the same way it
#    falls to 0.1 as well, because it peeks as well. Feed it prefixes that end where it has to predict, and you find
#    5.6 to 7.0, on 65 characters, where guessing evenly costs 4.17. A loss is only as honest as what the model was
#    shown.
# 4. **Three blocks, with and without the residual.** Print the gradient norms of each block (part 4 tells what to
#    expect).
#
# ## What you can now say
#
# - A gradient is asked for backwards, one operation at a time, and each operation needs only its own inputs, its own
#   rule, and the gradient of what it made.
# - Where a value acts in several places, the effects add up: repeated ids, broadcast biases, residual forks, tied
#   embeddings, rows of a batch. It is one rule, and forgetting it is the bug behind most wrong gradients.
# - The order is reverse topological, each node once, and what flows in this pass is not what has been collected.
# - A matrix product sends back two matrix products. Stack what treats every row alone, and they are two large ones.
# - Test gradients with random upstreams, repeated ids, unequal sizes and a layer in front. Ones hide the bugs.
# - There is nothing in `loss.backward()` that you could not have written. Now you have.
#
# Sources: Rumelhart et al. 1986, "Learning representations by back-propagating errors"; Baydin et al. 2018,
# "Automatic Differentiation in Machine Learning: a Survey"; Griewank and Walther 2008, "Evaluating Derivatives";
# Giles 2008, "An extended collection of matrix derivative results"; Bengio et al. 2003, "A Neural Probabilistic
# Language Model"; Chen and Goodman 1999, "An empirical study of smoothing techniques for language modeling"; Shannon
# 1948, "A Mathematical Theory of Communication"; Kingma and Ba 2015, "Adam"; Ba et al. 2016, "Layer Normalization";
# Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"; Vaswani et al. 2017, "Attention Is All You Need"; Press
# and Wolf 2017, "Using the Output Embedding to Improve Language Models"; Radford et al. 2019, "Language Models are
# Unsupervised Multitask Learners"; Harris et al. 2020, "Array programming with NumPy".
