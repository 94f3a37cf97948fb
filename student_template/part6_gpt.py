# %% [markdown]
# # Part 6: the model and its arithmetic
#
# Everything that a GPT is made of lies on your bench: attention that looks backwards (parts 1 to 3, and in one
# product in part 5), a block that adds what it finds to what it has (part 4), four ways to say where a token stands
# (part 5). What is missing is small and easy to get wrong. Something has to turn token numbers into vectors at the
# bottom and vectors into scores at the top, somebody has to choose the first weights, and somebody has to write text
# with the result. And before anyone pays for a computer, somebody has to say how large the thing is, how much memory
# it takes and how much arithmetic, *without building it*. This part is half a model and half a bill.
#
# | exercise | what you write | minutes | difficulty |
# |---|---|---|---|
# | `GPTConfig` | refuse a plan that cannot be built | 5 | 1 of 3 |
# | `count_parameters` | how many numbers are learned, and where they sit | 20 | 2 of 3 |
# | `GPT` | the model: layers, first weights, forward | 35 | 3 of 3 |
# | `generate` | write text with it, one token at a time | 25 | 2 of 3 |
# | `attention_matrix_bytes` | what the n x n scores cost | 5 | 1 of 3 |
# | `flops_per_token` | what one token costs in multiplications | 10 | 2 of 3 |
#
# Twenty more minutes go into reading. `gpt-hw test part6` runs the checks, `gpt-hw hint part6` asks you a question
# first. Attention and normalisation come from your own parts 4 and 5; the ready-made ones stay forbidden here.
#
# Letters: `B` sequences in a batch, `T` tokens in a sequence, `V` the vocabulary, `d` the width `d_model`, `L` the
# number of blocks `n_layers`, `h` the number of heads.

# %%
"""Part 6: count a GPT before it is built, build it, write with it, and say what it costs."""

import math
from dataclasses import dataclass

import torch
from part4_block import MLP, Block, LayerNorm
from part5_positions import CausalSelfAttention, LearnedPositions, sinusoidal_positions
from torch import Tensor, nn
from torch.nn import functional as F

# %% [markdown]
# ## 1. A plan, and what is wrong with it
#
# Ten numbers and words say everything about a GPT's shape. They belong in one object: the count, the model and the
# bill must talk about the same thing, and a checkpoint without them is a heap of numbers. The fields are given, and
# their defaults are GPT-2 small, the smallest model of its family.
#
# A plan can be wrong in three ways that do not show where they are made. A misspelt `positions="sinusoid"` falls
# through every `if`, and you train for a day a model that has no positions. A misspelt `norm` does the same. Five
# heads in a width of 24 leave 24 // 5 = 4 columns each, and four columns that belong to nobody. All three are cheap
# to refuse and expensive to find. The earlier the better: here, before there is any model. A dataclass calls its
# `__post_init__` when all fields are set.
#
# ## Exercise: `GPTConfig`
#
# 5 minutes, difficulty 1 of 3. Write `__post_init__`: a `ValueError` for an unknown `positions`, an unknown `norm`,
# or an `n_heads` that does not divide `d_model`. The message names the field and what it was. (`POSITIONS` and
# `NORMS` below are yours to use.)
#
# **A pass looks like this:** each of the five `positions` and three `norm`s is accepted, `GPTConfig(norm="layer")` is
# refused with the word `norm` and the word `layer` in the message, `GPTConfig(n_heads=5, d_model=24)` with its
# numbers.

# %%
POSITIONS = ("learned", "none", "sinusoidal", "rope", "alibi")
NORMS = ("pre", "post", "none")


@dataclass
class GPTConfig:
    """Say how large a GPT is and which variants it uses; the defaults are GPT-2 small.

    Attributes:
        vocab_size: Number of tokens V.
        block_size: Tokens of context that the model is made for.
        n_layers: Number of blocks.
        n_heads: Heads in each block; divides ``d_model``.
        d_model: Width d of a token's vector.
        positions: "learned" or "sinusoidal" (added to the embeddings), "rope" or "alibi" (inside attention), "none".
        norm: "pre", "post" or "none", as part 4's ``Block`` takes it.
        qkv_bias: Whether queries, keys and values have biases.
        dropout: Probability, in each of the three places.
        tie_weights: Whether the output layer shares the table of token embeddings.

    Raises:
        ValueError: ``positions`` or ``norm`` is unknown, or ``n_heads`` does not divide ``d_model``; the message names
            the field and its value.

    Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3 and table 2.
    """

    vocab_size: int = 50257
    block_size: int = 1024
    n_layers: int = 12
    n_heads: int = 12
    d_model: int = 768
    positions: str = "learned"
    norm: str = "pre"
    qkv_bias: bool = True
    dropout: float = 0.0
    tie_weights: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        raise NotImplementedError("part6: GPTConfig.__post_init__ is not written yet")


# %% [markdown]
# ## 2. Count before you build
#
# How many numbers does GPT-2 small learn? The cheapest way to know is to build it and add up `p.numel()`. For GPT-2
# that works: half a gigabyte, a few seconds. For a model a thousand times its size it does not, and those are the
# models for which one would like to know *before*. There is a second reason, which matters even for tiny models. A
# sum over a built model tells you what you *have* built, and you have nothing to compare it with. A count by hand
# tells you what you *meant* to build, and when the two differ, one of them has found a bug in the other.
#
# So take a pencil. There are only two kinds of things: a linear layer from a to b has ab weights and, if it has a
# bias, b more; an embedding of n things in width d has nd.
#
# **One block** at width d. Attention: four matrices d x d (queries, keys, values, output), four biases: 4d² + 4d. The
# MLP: up to 4d and back, 4d² + 4d and 4d² + d: 8d² + 5d. Two LayerNorms with a weight and a bias each: 4d. Together:
#
#     4d² + 4d  +  8d² + 5d  +  4d  =  12d² + 13d
#
# At d = 768 that is 7,077,888 + 9,984 = 7,087,872, and the MLP has two thirds of it. Look at what is *not* in the
# formula: the number of heads. Cutting d columns into 12 pieces or into 1 leaves the matrices the same size. Nor is
# there a mask: it is a buffer, nobody learns it. Nor does the length of the text appear anywhere inside a block.
#
# **Around the blocks.** A vector for each of 50,257 tokens: 38,597,376. A vector for each of 1,024 positions:
# 786,432. One last LayerNorm: 1,536. And a matrix that turns the final vector into a score for each token, d x V.
#
# ### Why that last matrix is free
#
# Written out, d x V is another 38,597,376 numbers. Is it needed? Its row for `cat` answers "how does the final vector
# look when `cat` comes next?", and the score of `cat` is the product of the two. The embedding's row for `cat`
# answers "what does the model know when it has just read `cat`?". These are different questions about the same word,
# and what makes a good answer to one makes a good answer to the other: `cat` and `dog` follow similar words (so they
# need similar output rows) and are followed by similar words (so they need similar input rows). Two tables would have
# to learn this twice. The output row sees every step of training, since each softmax moves every row a little; the
# input row of a rare word moves only when that word is read. Share one table and the rare word learns all the time.
#
# So the output layer *is* the embedding table: the same tensor, used twice (this is called tying). It is learned
# once, saved once, and **counted once**. With it, the whole of GPT-2 small is
#
#     38,597,376 + 786,432 + 12 · 7,087,872 + 1,536 = 124,439,808
#
# and 31 % of it is one table. What it costs: the two roles can no longer differ. Larger models have relatively
# smaller tables (5 % in GPT-2 XL), so they save less and some of them do not tie; `tie_weights=False` is for those.
#
# People miss this number in a handful of ways, and every one of them lands on a number of its own: 163,037,184,
# 137,022,720, 124,475,904, 123,653,376, ... If you get one of these, the test will tell you what you counted.
#
# ### What the variants change
#
# | field | what happens to the count |
# |---|---|
# | `positions` | only "learned" has a table. Sinusoids, rotations and slopes are computed, not learned |
# | `norm="none"` | each block loses its two LayerNorms, 4d; the one after the blocks stays for every `norm` |
# | `qkv_bias=False` | three biases fewer in each block: 3d, 2,304 at d = 768. The output projection keeps its own |
# | `tie_weights=False` | `lm_head` has a table of its own: dV |
# | `n_heads`, `dropout` | nothing |
#
# ## Exercise: `count_parameters`
#
# 20 minutes, difficulty 2 of 3. A dict of seven ints, by arithmetic alone.
#
# | key | what it counts |
# |---|---|
# | `token_embeddings` | the table of tokens |
# | `position_embeddings` | the table of positions, 0 where there is none |
# | `block` | one block |
# | `blocks` | all blocks |
# | `final_layernorm` | the LayerNorm after the blocks |
# | `lm_head` | what the output layer has *of its own*: 0 where it is tied |
# | `total` | everything that is learned, each number once |
#
# Write the block as a sum of named pieces, in the order of the text; `12 * d * d + 13 * d` is right and cannot be
# switched. Python's integers do not overflow, so nothing here needs a float (and 12.0 is not an int).
#
# **A pass looks like this:** 124,439,808 for the default, 354,823,168 for GPT-2 medium, 774,030,080 and 1,557,611,200
# for large and XL. For forty plans drawn at random your arithmetic equals the sum over the model that you build in
# the next exercise, to the last number. And a plan with ten million blocks is counted at once.


# %%
def count_parameters(config: GPTConfig) -> dict[str, int]:
    """Count what a GPT learns, by arithmetic: no model is built.

    Args:
        config: The plan.

    Returns:
        ``token_embeddings``, ``position_embeddings``, ``block``, ``blocks``, ``final_layernorm``, ``lm_head`` (0 where
        it is tied) and ``total``.

    Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", table 2.
    """
    raise NotImplementedError("part6: count_parameters is not written yet")


# %%
if __name__ == "__main__":
    gpt2_sizes = {
        "small": GPTConfig(),
        "medium": GPTConfig(d_model=1024, n_layers=24, n_heads=16),
        "large": GPTConfig(d_model=1280, n_layers=36, n_heads=20),
        "XL": GPTConfig(d_model=1600, n_layers=48, n_heads=25),
    }
    for part, number in count_parameters(GPTConfig()).items():
        print(f"{part:20} {number:>13,}")
    for size, plan in gpt2_sizes.items():
        counted = count_parameters(plan)
        share = counted["token_embeddings"] / counted["total"]
        print(f"GPT-2 {size:7}{counted['total']:>14,} parameters, {share:4.0%} of them in the table of tokens")

# %% [markdown]
# ## 3. The model
#
# Now put it together. From the bottom to the top:
#
#     idx (B, T)  ->  token vectors (+ positions)  ->  dropout  ->  block 1 ... block L  ->  LayerNorm  ->  lm_head
#
# **Bottom.** An embedding is a look-up: row 17 for token 17. Positions come in one of two places. "learned" and
# "sinusoidal" are *added here*, once, and ride along through every block. "rope" and "alibi" act *inside attention*,
# at every block, on queries and keys or on scores; nothing is added here, and attention must be told. So each kind is
# handled in one of the two places and must be invisible to the other. Your attention of part 5 knows "none", "rope"
# and "alibi", and refuses what it does not know.
#
# **Length.** A learned table ends after `block_size` rows. There is no row 1,025, and every way to invent one is
# worse than stopping: wrapping around tells the model that the last word is the first, clamping tells it that all the
# last words stand in one place. `LearnedPositions` refuses by itself. The other kinds are defined at any length, and
# the model must not refuse for them; whether it is any *good* there is another matter, which part 7 measures.
#
# **Dropout** has three places, each of which you have built or will build now: on attention's weights (part 5), on
# what a sublayer adds (part 4), and on the sum of embeddings, here. One number from the plan goes to all three.
#
# **Top.** Why one more LayerNorm after the blocks? Follow the vector of a token through a pre-norm model. Each block
# normalises what it *reads* and adds the result to what was there; nobody ever normalises the sum itself. With every
# block it can only grow, and how large it ends up depends on the depth and on the training so far. The output layer
# multiplies it with the table: vectors of twice the length would be twice as sure of themselves for no reason but
# their length. One LayerNorm makes the last step see a direction. In this course it stands there for every `norm`,
# so that models that differ in their blocks differ in nothing else.
#
# **The output layer** has no bias (it would be one number for each token, "how common is this word"; the table can
# say that too), and it shares the table. *Sharing* means one tensor under two names, not two tensors with equal
# numbers. Copies are equal until the first step of training. You can see the difference without training: the
# gradient of the shared table has two sources, the rows that were read and the scores that were written.
#
# ### The first weights, first question: how large?
#
# Before training the model knows nothing, and the honest thing to say about the next token is that each of V is as
# likely as any other. The loss of that is -ln(1/V) = **ln V**: 4.17 for 65 characters, 10.82 for 50,257 tokens.
#
# Torch's own choice gives every entry of an embedding a standard deviation of 1. Tie the output layer to such a table
# and the score of a token is a sum of d products of size 1: standard deviation sqrt(d), 28 at d = 768. A softmax over
# scores that spread by 28 is nearly one-hot. So the model begins *certain*, about nothing, and almost always wrong;
# the cell below shows a first loss of 62 where 4.17 would do, and the first part of training would go into
# unlearning. With 0.02, scores spread by 0.02 sqrt(d): 0.16 at d = 64, 0.55 at d = 768. Nearly flat, so ln V it is.
# Every weight of a linear layer or an embedding gets 0.02, every bias 0.
#
# This makes the first loss the best test in the whole course for its price: one forward pass, one number that you
# know beforehand. Far above ln V: the first weights are too large. Clearly *below* it, before a single step: the
# answer leaks in, through the mask or through the targets. Here is a leak that has caught many. Forget to shift the
# targets, so that the model is scored on the token it has just *read*. In a tied model that token's own vector is
# still in the sum, and its product with its own row in the table is the largest of all. An untrained tied model
# already repeats its input. The cell measures this as well: about 3.5 in place of 4.17, with nothing learned.
#
# What the first loss does not see: anything that only training uses, and anything that the last LayerNorm hides.
# Which brings us to the second question.
#
# ### The first weights, second question: how many add up?
#
# A token's vector starts as an embedding and 2L things are added to it, attention and MLP of each block. If they are
# independent, their variances add: with each of size s, the vector ends with a variance of (start + 2L s²). At L = 12
# it is a sum of 24 things and the embedding; at L = 48, of 96. The deeper the model, the more of its output is the
# first, random, opinion of its own blocks and the less is the token that came in. The last LayerNorm hides it (it
# divides by whatever the size is), so the loss at the start looks fine; what is lost is the proportion.
#
# The cheapest repair: let each of the 2L summands begin smaller, by 1/sqrt(2L). Then 2L of them add up to the
# variance of *one*, at any depth. Which weights decide the size of a summand? The last matrix before the addition:
# `proj` of attention and `down` of the MLP. These two, in every block, get a standard deviation of 0.02/sqrt(2L);
# everything else keeps 0.02. A cell below makes the number: the spread of the vectors, 0.028 where they enter, ends
# at 0.034 for 8 blocks and for 32 with the scaling; without it at 0.084 for 8 blocks and at 0.175 for 32.
#
# ## Exercise: `GPT`
#
# 35 minutes, difficulty 3 of 3: no single step is hard, but there are many, and most mistakes run without complaint.
#
# - `__init__`: `config`, `tok_emb` (`nn.Embedding`), the positions if they are learned, `blocks` (an `nn.ModuleList`
#   of `Block`s, each with an attention and an MLP *of its own*), `ln_f` (your `LayerNorm`), `lm_head` (`nn.Linear`
#   without bias; shares `tok_emb.weight` where tied). Then the first weights. The suite finds weights by these names
#   and by those of parts 4 and 5.
# - `init_weights()`: 0.02 for each `nn.Linear` and `nn.Embedding`, wherever it sits; biases 0; then the two output
#   projections of each block. `self.modules()` visits everything. Your LayerNorm has its ones and zeros already.
# - `embed(idx)`: token vectors, positions where they are added, dropout. `(B, T) -> (B, T, d)`. Sinusoids come as CPU
#   float32; the sum must have the device and the dtype of the embeddings.
# - `forward(idx)`: all of it. `(B, T)` long to logits `(B, T, V)`: a score for each token, at *every* position, no
#   softmax (the loss has its own).
#
# **A pass looks like this:** in float64 your logits are those of the same model written with torch's ready-made
# functions, within 1e-9, for every `positions` and every `norm` (1e-4 for sinusoids and rope, whose angles may be
# float32). Changing tokens from t on changes no logit before t, for every t. The first loss is ln V within 5 %. The
# measured spread of the weights is the one in the text. The count is the one of `count_parameters`. With dropout, two
# passes in train mode differ and two in eval mode do not.


# %%
class GPT(nn.Module):
    """Score every token of the vocabulary as the next one, at every position, from that position and those before it.

    Attributes:
        config: The plan that it was built from.
        tok_emb: ``nn.Embedding`` (V, d).
        blocks: ``nn.ModuleList`` of part 4's ``Block``s around part 5's ``CausalSelfAttention`` and part 4's ``MLP``.
        ln_f: Part 4's ``LayerNorm``, after the blocks.
        lm_head: ``nn.Linear`` from d to V without bias; its weight is ``tok_emb.weight`` where tied.

    Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
    """

    def __init__(self, config: GPTConfig) -> None:
        """Make the layers and their first weights.

        Args:
            config: The plan.

        Raises:
            ValueError: The plan has an unknown ``positions`` or ``norm``, or heads that do not divide the width.
        """
        raise NotImplementedError("part6: GPT.__init__ is not written yet")

    def init_weights(self) -> None:
        """Draw the first weights: 0.02, scaled down where 2·n_layers results are added up; biases 0.

        Source: Radford et al. 2019, section 2.3 (residual layers scaled by the square root of their number).
        """
        raise NotImplementedError("part6: GPT.init_weights is not written yet")

    def embed(self, idx: Tensor) -> Tensor:
        """Turn tokens into vectors that know their place, where places are added.

        Args:
            idx: Token ids, long (B, T).

        Returns:
            Float (B, T, d), in the dtype of the parameters.

        Raises:
            ValueError: T is larger than ``block_size`` and positions are learned; the message names T.

        Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.4 and 3.5.
        """
        raise NotImplementedError("part6: GPT.embed is not written yet")

    def forward(self, idx: Tensor) -> Tensor:
        """Score every token of the vocabulary as the next one, at every position.

        Args:
            idx: Token ids, long (B, T).

        Returns:
            Logits, float (B, T, V), in the dtype of the parameters.

        Raises:
            ValueError: T is larger than ``block_size`` and positions are learned; the message names T.

        Source: Radford et al. 2019, section 2.3.
        """
        raise NotImplementedError("part6: GPT.forward is not written yet")


# %% [markdown]
# First: does the model have as many numbers as you meant it to have? Building GPT-2 takes half a gigabyte; building
# it on torch's device "meta" takes none, since tensors there have a shape and no content. Then the first loss, with
# and without your first weights, and with targets that somebody forgot to shift.

# %%
if __name__ == "__main__":
    with torch.device("meta"):
        full_size = GPT(GPTConfig())
    print(f"built: {sum(p.numel() for p in full_size.parameters()):,}")
    print(f"meant: {count_parameters(GPTConfig())['total']:,}")

    torch.manual_seed(0)
    small_plan = GPTConfig(vocab_size=65, block_size=64, n_layers=4, n_heads=4, d_model=64)
    model = GPT(small_plan)
    text = torch.randint(65, (32, 65))
    read, following = text[:, :-1], text[:, 1:]

    def loss_of(logits: Tensor, targets: Tensor) -> float:
        """Return the mean cross-entropy in nats."""
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()

    with torch.no_grad():
        print(f"ln V = {math.log(65):.2f}, first loss {loss_of(model(read), following):.2f}")
        print(f"scored on the token that was just read: {loss_of(model(read), read):.2f}")
        model.tok_emb.reset_parameters()  # torch's own choice: standard deviation 1
        print(f"with torch's own first table: {loss_of(model(read), following):.1f}")

# %% [markdown]
# And the proportion that the first loss cannot see: how far the vectors of tokens spread when they come in and when
# they leave the last block, for models of three depths. `unscaled` undoes the division by sqrt(2L).

# %%
if __name__ == "__main__":
    for n_layers in (2, 8, 32):
        plan = GPTConfig(vocab_size=65, block_size=64, n_layers=n_layers, n_heads=4, d_model=64)
        for kind in ("scaled", "unscaled"):
            torch.manual_seed(0)
            model = GPT(plan)
            with torch.no_grad():
                for block in model.blocks if kind == "unscaled" else ():
                    block.attention.proj.weight.mul_(math.sqrt(2 * n_layers))
                    block.mlp.down.weight.mul_(math.sqrt(2 * n_layers))
                x = entering = model.embed(text[:, :64])
                for block in model.blocks:
                    x = block(x)
            print(f"{n_layers:3} blocks, {kind:9} spread {entering.std():.3f} going in, {x.std():.3f} coming out")

# %% [markdown]
# ## 4. Writing
#
# The model scores the next token; whoever wants a text must choose one, put it at the end, and ask again. Each of
# these three steps has its traps.
#
# **Ask.** Only the last position's scores matter: what comes after the *end*. And the text grows while the table of
# learned positions does not, so from some moment on it no longer fits. The cheapest idea is to cut the text to its
# first `block_size` tokens; it runs without an error, and from that moment on the model is asked the same question
# for ever, because the new tokens land behind the cut. Keep the **last** `block_size`: the oldest are forgotten,
# which is a pity, the newest are seen, which is the point. For a model without a table the cut is not a necessity. It
# was trained on texts of `block_size`, though, so it is cut to what it knows.
#
# (Each step reads the whole context anew and throws away all but one row. A model used in earnest keeps the keys and
# values of what it has read; as long as the text fits the context, that would not alter a single token.)
#
# **Choose.** The largest score is the safest next token, and a text of safe tokens soon goes round in circles. Draw
# from the softmax instead, and the text has the variety of what was learned. Two knobs stand between these:
#
# - `temperature` divides the scores before the softmax. Below 1 differences grow and the model plays safe, above 1
#   they shrink and it takes chances. In the limit 0 only the largest is left; but *at* 0 the division is 0/0 or
#   infinite, so that case is not a limit to compute, it is a case to write: argmax.
# - `top_k` drops all but the k largest scores before the softmax. Why would one, when the rest is unlikely anyway?
#   Count: 50,000 tokens with a chance of one in 100,000 each are, together, *every second token drawn*. One of them
#   is harmless and the next is conditioned on it. What is dropped gets no chance at all (you know the value that does
#   this, from part 1), and the k that remain share 1 in the old proportions. A k that exceeds V drops nothing.
#
# Whether you divide first or drop first makes no difference: dividing by a positive number leaves the order as it is.
#
# Drawing needs randomness, and whoever wants the same text twice passes a `generator`. All draws must then come from
# it and from nothing else. Each row of the batch is a text of its own, with a draw of its own.
#
# **Ask again.** Two states of the model do not belong to you. Dropout must be off while you write, else you are
# asking a damaged model; and after you, the model must be in the mode you found it in, for perhaps somebody is
# training it and looks at a sample every thousand steps. (A model that comes back in eval mode trains on, without
# dropout, and nobody is told.) And no gradients: each step would keep all its activations for a backward pass that
# never comes.

# %%
if __name__ == "__main__":
    scores = torch.tensor([2.0, 1.0, 0.0, -1.0])
    for temperature in (0.5, 1.0, 2.0):
        chances = (scores / temperature).softmax(dim=-1)
        print(f"temperature {temperature}: " + "  ".join(f"{chance:.3f}" for chance in chances.tolist()))

# %% [markdown]
# ## Exercise: `generate`
#
# 25 minutes, difficulty 2 of 3.
#
# `model` is anything that can be called with `(b, t)` tokens and returns `(b, t, V)` scores, and has
# `config.block_size`, `training`, `eval()` and `train()`. The suite calls you with models of its own (a table of
# scores; one that looks at the oldest token of its context), so nothing else of your `GPT` may be assumed.
#
# **A pass looks like this:** `(B, T)` in, `(B, T + max_new_tokens)` out, the first T columns are the prompt. At
# temperature 0, and with `top_k=1` at any temperature, every new token is the argmax. Over 16,000 draws the
# frequencies are the probabilities that you would compute by hand, within five standard deviations (0.02). The same
# generator gives the same text, whatever else was drawn in between. The model is in the mode it was in.


# %%
def generate(
    model: nn.Module,
    idx: Tensor,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Continue each row of ``idx``, one token at a time.

    Args:
        model: Scores the next token at every position, long (B, t) to float (B, t, V), for t up to
            ``model.config.block_size``.
        idx: The prompts, long (B, T), T at least 1.
        max_new_tokens: How many tokens to add.
        temperature: Divides the scores; 0 takes the largest score.
        top_k: Draw among the k largest scores only; None keeps all.
        generator: Where all randomness comes from; None is torch's global one.

    Returns:
        Long (B, T + max_new_tokens): the prompts and what follows them.

    Source: Fan et al. 2018, "Hierarchical Neural Story Generation", section 5.4 (drawing from the k most likely).
    """
    raise NotImplementedError("part6: generate is not written yet")


# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    letters = "abcdefghijklmnopqrstuvwxyz ,.\n"
    model = GPT(GPTConfig(vocab_size=len(letters), block_size=16, n_layers=2, n_heads=4, d_model=64))
    prompt = torch.tensor([[letters.index(letter) for letter in "to be or not to"]])
    for temperature in (0.0, 1.0):
        written = generate(model, prompt, max_new_tokens=40, temperature=temperature)
        print(f"temperature {temperature}:", repr("".join(letters[token] for token in written[0].tolist())))

# %% [markdown]
# An untrained model writes noise at temperature 1. At temperature 0 it repeats itself, and you know why: the table is
# tied, and the token that was just read scores highest. Part 7 teaches it better.
#
# ## 5. What attention costs: memory
#
# The parameters do not depend on how long a text is. Something else does. Between score and mix, attention holds one
# number for each pair of positions: n x n, in every head, for every sequence of the batch. Everything else in the
# model holds a few vectors per position, n times d. So at some length the n x n must win, and the question is when.
#
# Take 512 columns in 8 heads and float32. At 1,024 tokens the scores are 8 · 1,024² · 4 bytes = 32 MiB. That is
# nothing. At 4,096 they are 512 MiB, sixteen times as much for four times the text. At 16,384 they are **8 GiB**, for
# *one* tensor of scores, of one layer, of one sequence; the masked copy and the softmax are tensors of the same size.
# On a graphics card with 8 GB, this attention was measured to need 89 MB in all at 1,024 tokens, 1,100 MB at 4,096
# and 4,300 MB at 8,192 (each doubling costs close to four times as much), and at 16,384 it did not run.
#
# Note what is not in the formula: the width. A head of 8 columns pays for its scores what a head of 800 pays. That
# is the price of many heads that part 3 promised to count: the projections cost the same however they are cut, the
# scores cost h times one head.
#
# Nothing says that all n x n numbers must exist at one time; a program that computes the scores in tiles, and keeps a
# running maximum and sum for each row, needs memory for the tiles only, and gives the same output. This is what fused
# kernels do. The *arithmetic* stays n x n.
#
# ## Exercise: `attention_matrix_bytes`
#
# 5 minutes, difficulty 1 of 3. The bytes of one tensor of scores, as an int.
#
# **A pass looks like this:** `attention_matrix_bytes(16_384, 8)` is 8,589,934,592, which is 8 GiB to the last byte.


# %%
def attention_matrix_bytes(n_tokens: int, n_heads: int, batch: int = 1, bytes_per_element: int = 4) -> int:
    """Count the bytes of one tensor of attention scores.

    Args:
        n_tokens: Positions that ask, and that are asked.
        n_heads: Heads, each with a matrix of its own.
        batch: Sequences.
        bytes_per_element: 4 in float32, 2 in float16 and bfloat16.

    Returns:
        Bytes.

    Source: Dao et al. 2022, "FlashAttention", section 2.2 (the matrix that standard attention writes to memory).
    """
    raise NotImplementedError("part6: attention_matrix_bytes is not written yet")


# %%
if __name__ == "__main__":
    for n_tokens in (1_024, 2_048, 4_096, 8_192, 16_384):
        print(f"{n_tokens:6} tokens, 8 heads: {attention_matrix_bytes(n_tokens, 8) / 2**20:7,.0f} MiB")

# %% [markdown]
# ## 6. What attention costs: arithmetic
#
# Time is harder to count than memory, but nearly all of it goes into matrix products, and those can be counted. A
# product of (m, k) with (k, n) makes mn numbers, each a sum of k products: mkn multiplications and as many additions.
# By custom both count, so it is **2mkn** operations (FLOPs). Additions of biases, softmaxes, GELUs and norms are left
# out: they are of order nd, not nd².
#
# Now walk through one forward pass over T tokens and ask at each step: is this a matrix product, and of what shapes?
# An embedding is a look-up, no product at all. In a linear layer every token meets every weight once, so a layer with
# w weights costs 2w per token; 12d² weights in the matrices of a block make 24d². Then there are two products that
# have no weights in them, and that a rule of thumb "two operations for each parameter" overlooks: scores, (T, d_head)
# with (d_head, T) in each head, and the mix, (T, T) with (T, d_head). And at the top every token meets the whole
# output table. (Is that table in the parameters? If it is tied, it was counted at the bottom. The *work* is done all
# the same. Tying saves memory and not a single multiplication.)
#
# Divide by T, and you have the price of one token: proportional to the weights, plus something proportional to T.
# For GPT-2 small, by which share does the second make a token dearer? And at which T would the two products without
# weights cost as much as all the matrices of the block? Solve it with a pencil: the answer is a multiple of d.
#
# Conventions: the scores are counted in full (the mask throws the upper half away *after* the product has been
# computed), the context is full (T = `block_size`), forward only. (A backward pass does two products for each of
# these, so a step of training costs three times as much.)
#
# ## Exercise: `flops_per_token`
#
# 10 minutes, difficulty 2 of 3. An int; T divides every term, so the division leaves no remainder.
#
# **A pass looks like this:** 284,812,800 for GPT-2 small. Switching `tie_weights`, `qkv_bias`, `norm` or
# `positions` changes nothing, doubling `block_size` does not double the result.


# %%
def flops_per_token(config: GPTConfig) -> int:
    """Count the operations in the matrix products of one forward pass at full context, for each token.

    Args:
        config: The plan.

    Returns:
        Operations per token; a multiplication and its addition are two.

    Source: Kaplan et al. 2020, "Scaling Laws for Neural Language Models", section 2.1.
    """
    raise NotImplementedError("part6: flops_per_token is not written yet")


# %%
if __name__ == "__main__":
    for size, plan in gpt2_sizes.items():
        price, parameters = flops_per_token(plan), count_parameters(plan)["total"]
        print(f"GPT-2 {size:7}{price / 1e9:6.2f} GFLOP per token, {price / parameters:.2f} for each parameter")
    for block_size in (1_024, 4_608, 16_384, 131_072):
        price = flops_per_token(GPTConfig(block_size=block_size))
        print(f"small with {block_size:7,} tokens of context: {price / 1e9:5.2f} GFLOP per token")

# %% [markdown]
# ## What you can now say
#
# - A block has 12d² + 13d parameters, whatever the number of heads and the length of the text; two thirds are the
#   MLP. GPT-2 small is 38,597,376 + 786,432 + 12 · 7,087,872 + 1,536 = 124,439,808, and 31 % of that is one table.
# - The output layer shares this table: one tensor, two roles, two sources of gradient. It saves parameters and no
#   work.
# - An untrained model must have a loss of ln V. Above: the weights are too large. Below: the answer leaks.
# - 2L results are added to each token's vector, so each begins smaller by 1/sqrt(2L). The loss does not show
#   this; only a look at the weights does.
# - Writing keeps the newest `block_size` tokens, draws from softmax(scores / temperature), and leaves the model as it
#   was.
# - The scores take n² numbers per head: 8 GiB for 8 heads at 16,384 tokens. Per token, arithmetic grows with the
#   context only through two products, which overtake the block's matrices at T = 6d.
#
# Two questions to carry into part 7. Your model has a first loss of ln V whether it is any good or not; which loss
# would tell you that it has learned something, and which that it cheats? And 50,257 choices at random have a
# perplexity of 50,257: how low can it possibly go, if the text itself does not know how it will continue?
#
# Sources: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners" (the architecture, the scaling
# of residual layers, the four sizes); Press and Wolf 2017, "Using the Output Embedding to Improve Language Models"
# (tying); Fan et al. 2018, "Hierarchical Neural Story Generation" (top-k); Kaplan et al. 2020, "Scaling Laws for
# Neural Language Models", section 2.1 (counting operations); Dao et al. 2022, "FlashAttention" (the same numbers
# without n x n).
