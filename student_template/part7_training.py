# %% [markdown]
# # Part 7: from weights to perplexity
#
# You have a model, and it knows nothing. Its first loss is ln V: as far as it is concerned, every token is as likely
# as every other. What turns these numbers into a language model is a loop of eight lines, and you will write it in a
# quarter of an hour. The rest of this part is about the harder question: how do you know that it has worked? "The
# loss goes down" is the usual answer. It is worth very little, and you will see a model whose loss falls to almost
# nothing and which cannot predict a single word.
#
# | exercise | what you write | minutes | difficulty |
# |---|---|---|---|
# | `get_batch` | pieces of text, and what follows each of their tokens | 15 | 1 of 3 |
# | `perplexity` | one number that says how good a model is | 25 | 2 of 3 |
# | `warmup_lr` | the rate of each step | 5 | 1 of 3 |
# | `train` | the loop | 25 | 2 of 3 |
#
# Forty more minutes go into reading and into looking at what your loop does to the models of parts 1 to 6.
# `gpt-hw test part7` runs the checks, two of which train a model and take a few seconds; `gpt-hw hint part7` asks you
# a question first.
#
# Letters: `B` windows in a batch, `T` tokens in a window (`block_size`), `V` the vocabulary, `N` tokens in the text.

# %%
"""Part 7: batches from a text, perplexity, the rate of each step, and the loop that trains a language model."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# %% [markdown]
# ## 1. What there is to learn from
#
# A text is one long row of N token numbers. The model reads at most T of them and is to say what comes next. The
# cheapest way to make an exercise out of this: take T tokens, let the model read them, compare its scores at the
# *last* position with the token that follows. It works, and throws away nearly everything. The model has produced
# scores at all T positions, and because of the causal mask the scores at position t were made from tokens 0 to t
# alone: each of them is an honest prediction of token t + 1, as if the text had ended there. One window of T tokens
# is T exercises, of lengths 1 to T, for the price of one forward pass. This is what the causal mask is *for*. A model
# that reads in both directions gets one exercise out of a pass, or has to blank words out.
#
# So what is read is `tokens[s], ..., tokens[s + T - 1]`, and what is to be predicted is the same piece, one further:
# `tokens[s + 1], ..., tokens[s + T]`. The two overlap in all but one token. That is easy to write and easy to get
# wrong, in three ways that all run, and all train:
#
# - **not shifted**: predict the token that was just read. The answer is under the model's nose; the loss falls to
#   almost 0 in a hundred steps, and the model has learned to copy.
# - **shifted twice**, once in the batch and once more in the loss (every library that shifts for you has users who
#   shifted already). The model learns to predict the token after the next one, rather well, and is asked for the
#   next.
# - **last position only**: right, and T times as slow to learn.
#
# ### Where does a window start?
#
# Anywhere it fits. One could cut the text into N / T pieces and shuffle them, but then the token at a cut is always
# read first and never with anything before it, and there are few different windows. With a random start there are
# nearly N of them. "Where it fits" deserves ten seconds with a pencil: the last target of a window that starts at s
# is token s + T, which must exist. Be one too generous, and once in N draws your program stops with an index error,
# after an hour. One too strict, and the last token of the text is never predicted, which nobody notices.
#
# ## Exercise: `get_batch`
#
# 15 minutes, difficulty 1 of 3.
#
# | argument | shape | |
# |---|---|---|
# | `tokens` | `(N,)` long | the text, N at least T + 1 |
# | `batch_size`, `block_size` | | B and T |
# | `generator` | | where the randomness comes from; None is torch's own |
# | returns | `(B, T)` and `(B, T)` long | what is read, and what follows each token of it |
#
# Each row has a start of its own, drawn independently, every start that fits equally likely. A loop over the rows is
# fine; so is a table of places (a column of starts plus a row of offsets), with which no loop is needed.
#
# **A pass looks like this:** every row of `x` is a piece of the text and `y` is that piece one further. Over a
# thousand windows each start occurs, the first and the last among them, as often as the others within what chance
# allows. A text of T + 1 tokens has one window, and a batch of five of it is that window five times. The same
# generator gives the same batch.


# %%
def get_batch(
    tokens: Tensor, batch_size: int, block_size: int, generator: torch.Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Draw windows of a text, and for each of their tokens the one that follows.

    Args:
        tokens: The text, long (N,), N at least ``block_size`` + 1.
        batch_size: Number of windows B.
        block_size: Tokens in a window T.
        generator: Where all randomness comes from; None is torch's global one.

    Returns:
        x and y, long (B, T): B windows that start at independent random places, and the same windows one token later.

    Source: Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training", section 3.1 (each token
    is predicted from the window before it).
    """
    raise NotImplementedError("part7: get_batch is not written yet")


# %%
if __name__ == "__main__":
    letters = "to be or not to be"
    read, following = get_batch(torch.tensor([ord(letter) for letter in letters]), batch_size=4, block_size=6)
    for x, y in zip(read.tolist(), following.tolist(), strict=True):
        print(repr("".join(map(chr, x))), "is followed by", repr("".join(map(chr, y))))

# %% [markdown]
# ## 2. One number for a model
#
# How good is a model of language? The cheapest idea is to count how often its favourite token is the right one. Take
# "she poured tea into the". A model that says `cup` with 0.4, `pot` with 0.3 and `mug` with 0.2 knows a great deal
# about tea; if the text goes on with `pot`, it gets no point. One that says `mug` with 0.34, and something about
# every other word in the language, gets none either. Counting hits sees the favourite and nothing else, and it hardly
# moves while a model learns.
#
# So look at the probability p that the model gave to what really came. A text of many tokens gets the product of all
# these probabilities, a number with thousands of zeros after the point; so take the logarithm of each, turn the sign,
# and average:
#
#     mean surprise  =  -(ln p_1 + ln p_2 + ... + ln p_n) / n        in nats
#
# This is the cross-entropy that you train with. It has two properties that matter. Whoever says what they really
# believe does best (no other distribution than the true one has a lower expectation, so there is nothing to gain by
# exaggerating); and it has a scale.
#
# Only, who can feel 2.3 nats? Undo the logarithm, and the mean surprise becomes a number of things:
#
#     perplexity  =  exp(mean surprise)
#
# A model that spreads its belief evenly over V tokens gives each of them 1/V; its surprise is ln V at every token and
# its perplexity is V, whatever the text. A perplexity of 10 says: as unsure, on average, as if it had to choose among
# ten equally likely tokens. A model that is always certain and always right has 1.
#
# ### Three averages, of which one is right
#
# Say the first 99 tokens of a text get a surprise of 1 nat each and the last gets 11. The mean is 1.1 nats,
# perplexity 3.0. Now somebody computes in two windows of 99 and 1 tokens.
#
# - *The mean of the windows' means*, (1 + 11) / 2 = 6 nats, gives perplexity 403. One token has the weight of 99.
# - *The mean of the windows' perplexities*, (2.7 + 59,874) / 2, is 29,938. An exponential of a mean is not a mean of
#   exponentials: the second is always larger, and it changes with the size of the windows.
# - *Sum of nats over all tokens, divided by their number, exp at the end*: 3.0, however the text was cut.
#
# Also: nats go with exp. `F.cross_entropy` uses the natural logarithm; 2 to the power of nats is a smaller, prettier,
# wrong number.
#
# ### What is predicted from what?
#
# Every token but the first can be predicted. A model reads T at most, so a long text is read in windows: tokens 0 to
# T - 1 predict 1 to T, tokens T to 2T - 1 predict T + 1 to 2T, and so on to the end. Look at the seam: token T is the
# last target of the first window *and* the first thing that the second one reads. No token is predicted twice, none
# is left out, and the last window is as long as it happens to be. (Two faults are popular here. Cutting the *text*
# into pieces of T and shifting within each loses one prediction per piece. Dropping the last window because it does
# not fit loses the end of the text; with a text shorter than T it loses everything.)
#
# A token at the beginning of a window has little before it and is hard to guess. Longer windows therefore look
# better, with the same model. Windows that overlap would give every token a long past, at several times the price.
# There is no truth in this, only a convention, and two perplexities can be compared when they share it (and the
# vocabulary: among 50,257 tokens 30 is excellent, among 65 characters it is what counting letters gives).
#
# ### The model's mode
#
# Dropout must be off: you want to judge the model, not a damaged copy of it. So `eval()` before, and afterwards the
# mode that you *found*. Not simply `train()`: perhaps somebody is not training. Nor nothing: whoever trains and looks
# at the perplexity every hundred steps would train on without dropout from then on, and nothing would tell them.
# Gradients are not needed, and computing them costs memory.
#
# ## Exercise: `perplexity`
#
# 25 minutes, difficulty 2 of 3.
#
# `model` is anything that maps `(b, t)` tokens to `(b, t, V)` scores for t up to `block_size`, with `training`,
# `eval()` and `train()`. `batch_size` says how many windows are run at one time; it may change the time, and not the
# result.
#
# **A pass looks like this:** a model without an opinion has a perplexity of V, to seven digits, for a text of any
# length. A model whose scores depend on the place in the window gets exactly what the sum over all tokens gives, for
# texts that end within a window, with a window, and before the first one does; batches of 1, 2 and 64 agree. In each
# call the model is in eval mode; after it, in whichever mode it was before.


# %%
def perplexity(model: nn.Module, tokens: Tensor, block_size: int, batch_size: int = 64) -> float:
    """Say among how many equally likely tokens the model is choosing, on average, when it predicts a text.

    Args:
        model: Scores the next token at every position, long (b, t) to float (b, t, V), for t up to ``block_size``.
        tokens: The text, long (N,), N at least 2.
        block_size: Tokens that the model reads at one time; the windows follow each other, the last may be shorter.
        batch_size: Windows in one forward pass, at most.

    Returns:
        exp of the mean negative log-likelihood in nats over every token but the first. The model is in eval mode
        during it, and afterwards in the mode that it was in.

    Source: Jelinek et al. 1977, "Perplexity: a measure of the difficulty of speech recognition tasks".
    """
    raise NotImplementedError("part7: perplexity is not written yet")


# %% [markdown]
# Try it on something whose answer you know. A table of scores can say exactly what follows what: here each of eight
# tokens is followed by one of two, the first three times as often. A model that knows this is right to be unsure, and
# its perplexity is exp(0.75 ln(4/3) + 0.25 ln 4) = 1.75. That is the *entropy* of the source: nobody can do better
# for long, since the source itself has not decided. Keep this in mind for section 5.

# %%
if __name__ == "__main__":

    class Table(nn.Module):
        """Score what follows a token by that token's row."""

        def __init__(self, scores: Tensor) -> None:
            super().__init__()
            self.scores = nn.Parameter(scores)

        def forward(self, idx: Tensor) -> Tensor:
            """Look each token up."""
            return self.scores[idx]

    torch.manual_seed(0)
    source = torch.zeros(8, 8)
    for token in range(8):
        source[token, (token + 1) % 8], source[token, (token + 3) % 8] = 0.75, 0.25
    text = [0]
    for _ in range(5_000):
        text.append(torch.multinomial(source[text[-1]], 1).item())
    for name, scores in (("knows nothing", torch.zeros(8, 8)), ("knows the source", (source + 1e-9).log())):
        print(f"a table that {name}: perplexity {perplexity(Table(scores), torch.tensor(text), block_size=32):.3f}")
    overconfident = torch.where(source == 0.75, 0.98, torch.where(source == 0.25, 0.02, 1e-9)).log()
    print(f"a table that exaggerates: perplexity {perplexity(Table(overconfident), torch.tensor(text), 32):.3f}")

# %% [markdown]
# ## 3. How far to step
#
# The gradient says in which direction the loss falls; how far to go is up to you. The cheapest rule is one rate for
# everything: w minus rate times gradient (this is called SGD). Its fault is that gradients come in all sizes. The row
# of a rare token in the embedding table hears of itself once in a thousand steps, a LayerNorm's weight at each of
# them. A rate that is safe for the second is far too small for the first.
#
# Adam divides each weight's gradient by that weight's own recent size: it keeps a running mean m of the gradients and
# a running mean v of their squares, and steps by rate · m / sqrt(v). Sizes cancel; every weight moves by about the
# rate, whatever its gradient. (AdamW is the same and also lets each weight decay a little towards 0, next to this,
# not through it.) It is the optimizer for transformers, and torch has it ready: `torch.optim.AdamW`.
#
# Its trouble is the beginning. After *one* step m is that one gradient and v its square, so m / sqrt(v) is +1 or -1:
# at the very first update **every weight in the model moves by the full rate, in the direction of one batch's
# accident**. All of them at once, when the model knows least and v is a mean of one thing. You can see this in a cell
# below: gradients that differ by a factor of a million, and equal steps.
#
# So begin with small steps and let them grow, until the running means mean something. This is *warm-up*. The simplest
# form is a straight line: with ten steps of warm-up, a tenth of the rate at the first update, two tenths at the
# second, the whole at the tenth and from then on. Note where it begins. Not at 0: an update with rate 0 is a step
# paid for and not taken.
#
# How much depends on it? In part 4 you saw it: twelve blocks with the norm behind the addition learned nothing
# without warm-up and learned with it; with the norm in front, hardly a difference. On a model with one block you will
# not see anything. It costs nothing, so everybody does it.

# %%
if __name__ == "__main__":
    weights = nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.AdamW([weights], lr=0.1)
    weights.grad = torch.tensor([1e-4, -1e-2, 1.0, -100.0])
    optimizer.step()
    print("gradients", weights.grad.tolist())
    print("first step", [round(w, 4) for w in weights.tolist()])

# %% [markdown]
# ## Exercise: `warmup_lr`
#
# 5 minutes, difficulty 1 of 3. Steps are counted from 0.
#
# **A pass looks like this:** `warmup_lr(0, 0.1, 10)` is 0.01, `warmup_lr(9, 0.1, 10)` is 0.1, as is every later one.
# With `warmup_steps` 0 it is `max_lr` at once.


# %%
def warmup_lr(step: int, max_lr: float, warmup_steps: int) -> float:
    """Give the learning rate of a step: a straight line up to ``max_lr``, and then that.

    Args:
        step: Counted from 0.
        max_lr: The rate after the warm-up.
        warmup_steps: How many updates it takes to get there; 0 is no warm-up.

    Returns:
        max_lr · min(1, (step + 1) / warmup_steps), or max_lr without warm-up.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 5.3 (without its decay).
    """
    raise NotImplementedError("part7: warmup_lr is not written yet")


# %% [markdown]
# ## 4. The loop
#
# Every step: draw a batch, predict, measure, ask each weight in which direction it should have been, move. Five lines
# in any tutorial. What can be wrong with them is nearly all about *order* and about *what is kept*.
#
# - **The optimizer remembers** (m and v, of every weight). Make it once. A new one at each step has always just
#   begun: its every step is a first step, of the full rate in the direction of a sign.
# - **Gradients add up** in `.grad` until somebody clears them. Forget it, and each step follows the sum of all
#   gradients there ever were. It even learns, for a while.
# - **The rate of a step must be there before its update.** Set after it, everything is one late, and the first update
#   has the full rate: the only one for which the warm-up was invented.
# - **The loss of a step is the one before its update**: the model had not seen this batch when it made these
#   predictions. That makes the training loss of the first pass over a text a fair measure. Computed again after the
#   update, on the same batch, it flatters.
# - **Keep floats.** A loss is a tensor that holds on to everything it was computed from. A list of a thousand of them
#   is a thousand graphs in memory. `loss.item()` is a number.
# - **Train mode** during it, or there is no dropout; and on the way out the mode that the model came with.
# - **Fresh batches.** One batch drawn before the loop is learned by heart in no time, and the loss looks wonderful.
#
# The loss is the mean over all B · T predictions of the batch, as `F.cross_entropy` gives it. A sum has B · T times
# the gradient; Adam divides that out again and trains just as well, and your numbers can be compared with nobody's.
#
# People also *clip* gradients (shorten the whole gradient when it is longer than 1). It helps with models that are
# much larger than these, and here it would only hide what you want to see. This loop does not clip.
#
# A loop that runs for an hour in silence is no fun, and one that prints is a nuisance to whoever calls it. So it
# takes a function `on_step` and tells it, after each update, the number of the step and its loss; the caller may
# print, draw, compute a perplexity, or save the model.
#
# ## Exercise: `train`
#
# 25 minutes, difficulty 2 of 3.
#
# `torch.optim.AdamW(model.parameters(), lr)`, everything else as it is by default; the rate of each step from
# `warmup_lr`; batches from your `get_batch` with the generator that you were given.
#
# **A pass looks like this:** on a text with a single window, where every batch must be the same, your losses and all
# weights after every step are those of AdamW, to ten digits, with warm-up and without. `on_step` gets 0, 1, 2, ...
# and sees the weights after the update. A generator alone decides what is drawn. And what you train, learns: the
# suite trains your models of parts 1 to 6 with your loop on languages that it invents on the spot, and computes the
# perplexity itself.


# %%
def train(
    model: nn.Module,
    tokens: Tensor,
    steps: int,
    batch_size: int,
    block_size: int,
    lr: float,
    warmup_steps: int = 0,
    generator: torch.Generator | None = None,
    on_step: Callable[[int, float], object] | None = None,
) -> list[float]:
    """Train a model to predict the next token of a text, with AdamW and without clipping.

    Args:
        model: Scores the next token at every position, long (B, T) to float (B, T, V); it is changed.
        tokens: The text, long (N,).
        steps: Number of updates.
        batch_size: Windows in a batch B.
        block_size: Tokens in a window T.
        lr: The rate after the warm-up.
        warmup_steps: How many updates it takes to get there.
        generator: Where the batches come from; None is torch's global one.
        on_step: Called as ``on_step(step, loss)`` after each update; steps are counted from 0.

    Returns:
        The loss of each step, before its update. The model is in train mode during the steps, and afterwards in the
        mode that it was in.

    Source: Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
    """
    raise NotImplementedError("part7: train is not written yet")


# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)  # matrices as small as these are not worth sharing out
    table = Table(torch.zeros(8, 8))
    losses = train(table, torch.tensor(text), steps=200, batch_size=16, block_size=32, lr=0.05, warmup_steps=10)
    print(f"first loss {losses[0]:.4f} (ln 8 = {math.log(8):.4f}), last {losses[-1]:.3f}")
    print(f"perplexity {perplexity(table, torch.tensor(text), block_size=32):.3f} (the source: 1.75)")

# %% [markdown]
# ## 5. The ladder
#
# Now use it. Real text has one great disadvantage for somebody who wants to learn about models: nobody knows how well
# it *can* be predicted. So invent a language of which you do. In this one, with 32 tokens, the next token is
#
# - with 0.4: a token that is fixed by the one **two back** (an adjective that chooses its noun over another word's
#   head),
# - with 0.4: whatever **followed the current token the last time** (names: after `Mrs` comes what came after it
#   before),
# - with 0.2: drawn from a table, by the current token.
#
# (Early in a document, where there is no "two back" and no "last time", the table gets their share.) The exact
# probabilities are known at every position, so one can compute what a perfect model would reach, about **4.4**.
# Counting pairs of neighbours reaches 13.4, knowing nothing 32. Between 13.4 and 4.4 there is room for everything you
# have built.
#
# Each rung of the ladder adds one piece of parts 1 to 6. All are 64 wide, see 32 tokens, and learn for 300 steps from
# your loop. Before you run the cell, guess the order, and where each of them gets stuck and why. (About ten seconds.)

# %%
if __name__ == "__main__":
    import numpy as np
    from part1_average import MeanLM
    from part3_attention import Head
    from part5_positions import LearnedPositions
    from part6_gpt import GPT, GPTConfig

    from autograder.corpora import SkipInduction

    V, T, d = 32, 32, 64
    draw = np.random.default_rng(0)
    language = SkipInduction(draw, vocab_size=V)
    documents = language.documents(3_000, T + 1, draw)
    stream = torch.from_numpy(documents).flatten()
    held_out = language.documents(100, T + 1, draw)

    class Rung(nn.Module):
        """Token and place, something that mixes them, the token itself where residual, scores."""

        def __init__(self, mix: nn.Module, residual: bool = True) -> None:
            super().__init__()
            self.tok_emb, self.positions = nn.Embedding(V, d), LearnedPositions(T, d)
            self.mix, self.residual, self.lm_head = mix, residual, nn.Linear(d, V)

        def forward(self, idx: Tensor) -> Tensor:
            """Score what comes next."""
            x = self.positions(self.tok_emb(idx))
            return self.lm_head(x + self.mix(x) if self.residual else self.mix(x))

    def on_held_out(model: nn.Module) -> float:
        """Give the perplexity over documents that were not trained on, each read from its beginning."""
        nats = [math.log(perplexity(model, document, T)) for document in torch.from_numpy(held_out)]
        return math.exp(sum(nats) / len(nats))

    rungs = {
        "the token alone": Rung(nn.Identity(), residual=False),
        "the mean of what was read": MeanLM(V, d, T),
        "the mean + the token": MeanLM(V, d, T, residual=True),
        "a head": Rung(Head(d, d, T), residual=False),
        "a head + the token": Rung(Head(d, d, T)),
        "one block": GPT(GPTConfig(vocab_size=V, block_size=T, n_layers=1, n_heads=4, d_model=d)),
    }
    counted = language.bigram_perplexity(documents, held_out)
    print(f"best possible {language.floor(held_out):.2f}, counted pairs {counted:.2f}, no opinion {V}")
    for name, model in rungs.items():
        torch.manual_seed(0)
        train(model, stream, steps=300, batch_size=32, block_size=T, lr=3e-3, warmup_steps=20)
        print(f"{name:26} {on_held_out(model):5.2f}")

# %% [markdown]
# Read it from the top (4.50 is the best that is possible on these documents):
#
# - **The token alone** (13.86) learns what counting pairs knows (13.36), and nothing else is in there to learn.
# - **The mean** (23.50) is far *worse*, though it has seen thirty-two tokens in place of one. It has all of them in
#   equal parts, and the one that matters most, the last, is a thirty-second of a sum.
# - **The mean + the token** (13.63): the residual brings the token back, and the mean beside it is worth nothing. A
#   bag of thirty-two words does not say which was two back. Everything so far was either in the token or useless.
# - **A head** (11.95) may choose. It can find the token two back, by its place. But it stands *in place of* the
#   token: what it fetches costs it what it had, or it must spend part of its one unit of attention on looking at
#   itself.
# - **A head + the token** (6.76). Here is the step. The token is there for free, and the head's attention is free for
#   the past. Compare the last two lines: not one matrix is different, only an addition.
# - **One block** (6.87) adds an MLP, four heads and norms, and at this length of training that is about as good. The
#   four heads and the MLP need more steps than 300 to be worth their weights; give it 3,000 one evening.
#
# And nobody reaches 4.50. Counting what follows each *pair* of tokens, in a text of three million, comes to 5.8: that
# is all there is to the first rule and the table. From there on it is the second rule, "what followed the current
# token the last time", and for that one layer is not enough. Section 9 is about it.
#
# ## 6. Too good to be true
#
# Here is a model that beats them all. It is the head of the ladder with one thing less: nobody told it not to look
# ahead.

# %%
if __name__ == "__main__":
    from part3_attention import attention

    class OpenHead(nn.Module):
        """A head without a mask."""

        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(d, d, bias=False) for _ in range(3))

        def forward(self, x: Tensor) -> Tensor:
            """Let every position read every other."""
            return attention(self.q(x), self.k(x), self.v(x))[0]

    def from_prefixes(model: nn.Module) -> float:
        """Give the perplexity where the model is handed what came before each token, and nothing else."""
        nats = []
        with torch.no_grad():
            for t in range(1, T + 1):
                scores = model(torch.from_numpy(held_out[:, :t]))[:, -1]
                nats.append(F.cross_entropy(scores, torch.from_numpy(held_out[:, t])).item())
        return math.exp(sum(nats) / len(nats))

    torch.manual_seed(0)
    open_eyed = Rung(OpenHead())
    losses = train(open_eyed, stream, steps=150, batch_size=32, block_size=T, lr=1e-2, warmup_steps=20)
    print(f"without a mask the last training loss is {losses[-1]:.2f}")
    for name, model in (("with a mask", rungs["a head + the token"]), ("without", open_eyed)):
        print(f"{name:12} your perplexity {on_held_out(model):5.2f}, from prefixes alone {from_prefixes(model):7.2f}")

# %% [markdown]
# With the mask both numbers are the same: what comes after a token was not used anyway. Without it, your own
# `perplexity` says 1.10, on text that the model has never seen, in eval mode, with no mistake in any line, and the
# training loss agrees. **That is below what is possible.** There is no model of this language with a perplexity below
# 4.50, since the language itself has not decided; whoever is clearly below has read the answer. Here position t simply
# looked at position t + 1. Asked honestly, from what came before and nothing else, the same model stands at 308:
# far worse than knowing nothing, since it has learned to look where there is now nothing to be seen.
#
# Two things to take away. A held-out text does not protect you from this; the only thing that does is to hide the
# future, at every position, and to see that nothing changes. (That is what the hidden checks do with everything that
# you train.) And a loss can be *too good*. In real life the floor is not known, so the sign is a jump: a model that
# is suddenly twice as good as everybody's has a bug until proven otherwise.
#
# ## 7. What the division was for
#
# Part 2 promised that scores which are not divided by the root of their width put the softmax to sleep. There it was
# a matter of random numbers. Now train one, at a width of 256, and its twin that divides.

# %%
if __name__ == "__main__":
    from part1_average import causal_mask, masked_softmax
    from part2_scores import dot_product_scores, frozen_fraction, scaled_scores

    class WideHead(nn.Module):
        """A head of any width whose scores are divided or not."""

        def __init__(self, width: int, divided: bool) -> None:
            super().__init__()
            self.q, self.k = nn.Linear(d, width, bias=False), nn.Linear(d, width, bias=False)
            self.v, self.scores = nn.Linear(d, d, bias=False), scaled_scores if divided else dot_product_scores

        def weights(self, x: Tensor) -> Tensor:
            """Share out attention."""
            return masked_softmax(self.scores(self.q(x), self.k(x)), causal_mask(x.shape[-2]))

        def forward(self, x: Tensor) -> Tensor:
            """Mix."""
            return self.weights(x) @ self.v(x)

    for divided in (True, False):
        torch.manual_seed(0)
        model = Rung(WideHead(256, divided))
        x = model.positions(model.tok_emb(torch.from_numpy(held_out[:, :T])))
        before = frozen_fraction(model.mix.weights(x)[:, 8:])
        train(model, stream, steps=300, batch_size=16, block_size=T, lr=1e-2, warmup_steps=20)
        name = "divided" if divided else "not divided"
        print(f"{name:12} {before:4.0%} of rows frozen before training, perplexity {on_held_out(model):5.2f} after it")

# %% [markdown]
# The undivided head starts with 37 % of its rows frozen on a single token each, and frozen rows have hardly any
# gradient: they look where chance made them look, and stay there. After training its perplexity is 13.03: counted
# pairs. It has learned to ignore its own head. The divided one, otherwise the same, with the same first weights,
# reaches 7.34.
#
# At a width of 16 you would have seen no difference at all: scores then spread by 4, and a few steps of training put
# that right. The division is not a matter of taste, and not always a matter of success either; it is a guard against
# width.
#
# ## 8. Beyond the trained length
#
# Part 5 built four ways to say where a token stands and could not say which is better. Here is a question that
# separates them: train on windows of 32, then read 64. (The learned table has 64 rows, or it could not even be
# asked.)

# %%
if __name__ == "__main__":
    from part5_positions import CausalSelfAttention

    class Placed(nn.Module):
        """Attention with one of three kinds of positions, the token beside it, scores."""

        def __init__(self, kind: str) -> None:
            super().__init__()
            self.tok_emb, self.lm_head = nn.Embedding(V, d), nn.Linear(d, V)
            self.places = LearnedPositions(2 * T, d) if kind == "learned" else nn.Identity()
            self.mix = CausalSelfAttention(d, 4, positions="none" if kind == "learned" else kind)

        def forward(self, idx: Tensor) -> Tensor:
            """Score what comes next."""
            x = self.places(self.tok_emb(idx))
            return self.lm_head(x + self.mix(x))

    long_documents = torch.from_numpy(language.documents(1_500, 2 * T + 1, draw))
    long_held_out = torch.from_numpy(language.documents(100, 2 * T + 1, draw))
    for kind in ("learned", "rope", "alibi"):
        torch.manual_seed(0)
        model = Placed(kind)
        train(model, long_documents.flatten(), steps=200, batch_size=32, block_size=T, lr=3e-3, warmup_steps=20)
        found = []
        for length in (T, 2 * T):
            nats = [math.log(perplexity(model, document[: length + 1], length)) for document in long_held_out]
            found.append(math.exp(sum(nats) / len(nats)))
        print(f"{kind:8} 32 tokens {found[0]:6.2f}, 64 tokens {found[1]:6.2f}: {found[1] / found[0]:.2f} times")

# %% [markdown]
# - **learned**: 6.98, then 13.43. Rows 32 to 63 of the table were never read in training, so they are what they were
#   drawn as. A random vector is added to each token there, and the model falls apart.
# - **rope**: 6.72, then 7.95. No table, so nothing is missing; but angles between tokens 40 apart were never met
#   either, and what a head does with those nobody has trained.
# - **alibi**: 8.91, then 9.63. Its weights fall with distance, so what is new at 64 is far away and hardly counts. It
#   holds.
#
# But look at the first column too. At the length that all were trained for, alibi is the *worst* of the three: this
# language asks for exactly two back, and a slope is a poor way to say "exactly". A table of what is better has at
# least two columns. (With a longer text more is known, so the best possible perplexity is lower at 64 tokens than at
# 32. A model that used the longer past would go *down*.)
#
# ## 9. What one block cannot do
#
# One more language, and the simplest of all: six to fourteen different tokens, and then the same ones again, over and
# over. You continue such a row without thinking: find where the current token stood the last time, and say what came
# after it.

# %%
if __name__ == "__main__":
    from part4_block import MLP, Block, LayerNorm

    from autograder.corpora import Copy

    class Stack(nn.Module):
        """Token and place, blocks, LayerNorm, scores; with torch's own first weights, which learn this sooner."""

        def __init__(self, n_blocks: int) -> None:
            super().__init__()
            self.tok_emb, self.places = nn.Embedding(V, d), LearnedPositions(T, d)
            self.blocks = nn.Sequential(*(Block(d, CausalSelfAttention(d, 4), MLP(d)) for _ in range(n_blocks)))
            self.ln_f, self.lm_head = LayerNorm(d), nn.Linear(d, V)

        def forward(self, idx: Tensor) -> Tensor:
            """Score what comes next."""
            return self.lm_head(self.ln_f(self.blocks(self.places(self.tok_emb(idx)))))

    copies = Copy(V)
    rows, _ = copies.documents(800, 4 * T + 1, draw)
    asked, is_determined = copies.documents(200, T + 1, draw)
    asked, is_determined = torch.from_numpy(asked), torch.from_numpy(is_determined)[:, 1:]
    print("such a row:", asked[0].tolist())
    for n_blocks in (1, 2):
        torch.manual_seed(0)
        model = Stack(n_blocks)
        train(model, torch.from_numpy(rows).flatten(), 250, batch_size=16, block_size=T, lr=3e-3, warmup_steps=20)
        with torch.no_grad():
            hits = model(asked[:, :-1]).argmax(dim=-1) == asked[:, 1:]
        print(f"blocks: {n_blocks}, right where the answer is determined: {hits[is_determined].float().mean():.0%}")

# %% [markdown]
# One block gets a fifth of them; two blocks have all but solved it. Why does it take two? Write down what is needed:
# "find where the current token stood before, and say what came *after* it". A head can look for a token like the
# current one: compare contents. It then stands at that token, and reads what is written *there*: the token itself,
# which it knew. What came after it is written one place to the right, and nothing at that place says who its
# neighbour was.
#
# Unless somebody has written it there. A head of the *first* block can do that: look one place back, always, and copy
# "the token before me was ..." into the stream. Then a head of the second block looks for a place where it says "the
# token before me was" *the current one*, and reads the token that stands there. Two heads in two layers, of which the
# second works with what the first wrote down. Such a pair is called an induction head, and in part 8 you will find
# both of them in your own model and measure them.
#
# ## What you can now say
#
# - Every position of a window is an exercise of its own: read x, predict x shifted by one. N - T windows fit into a
#   text.
# - Perplexity is exp of the mean surprise in nats, over *tokens*: V for no opinion, 1 for certainty, and below the
#   language's own entropy nobody gets without reading the answer.
# - AdamW's first update moves every weight by the whole rate, whatever its gradient; warm-up makes that step small.
# - A loop of eight lines has a dozen wrong orders. Most of them train. So compare it with something known, step by
#   step.
# - On a language with a floor each piece has its price and its worth: the mean is worth nothing, the residual brings
#   the token back, a head beside the token halves the perplexity, an undivided wide head is worth nothing again.
# - A learned table ends where training ended, alibi does not, and each has its price at home.
# - One block cannot continue a copy, two can.
#
# Two questions to carry into part 8. Your two blocks know how to copy: *where* in them does that stand? And if you
# could look at one head while it works, which single number would tell you that it looks one place back?
#
# Sources: Jelinek et al. 1977, "Perplexity: a measure of the difficulty of speech recognition tasks"; Kingma and Ba
# 2015, "Adam: A Method for Stochastic Optimization"; Loshchilov and Hutter 2019, "Decoupled Weight Decay
# Regularization" (AdamW); Vaswani et al. 2017, "Attention Is All You Need", section 5.3 (warm-up); Press et al. 2022,
# "Train Short, Test Long" (ALiBi); Olsson et al. 2022, "In-context Learning and Induction Heads".
