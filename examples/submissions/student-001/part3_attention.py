# %% [markdown]
# # Part 3: one head, many heads
#
# You arrive with two halves of a machine. From part 1 you have an average that looks only backwards, written as a
# softmax; its weights depend on *where* a token stands and on nothing else. From part 2 you have scores that say
# how well two vectors fit, divided so that a softmax of them stays awake. Neither half is a language model's idea
# of reading: the first cannot choose, the second chooses and then has nothing to do with its choice. In this part
# you join them, and everything after it (the block, the positions, GPT itself) is built around what you write here.
#
# | exercise | what you write | minutes | difficulty |
# |---|---|---|---|
# | `attention` | score, mask, normalise, mix: one function | 20 | 1 of 3 |
# | `Head` | the function with learned queries, keys and values, reading backwards only | 25 | 2 of 3 |
# | `MultiHeadAttention` | several narrow heads side by side, and the matrix that joins them | 25 | 2 of 3 |
#
# Twenty more minutes go into reading. Test as you go with `gpt-hw test part3`; `gpt-hw hint part3` asks you a question
# first and tells you more only if you ask again. The fused or ready-made attention that torch ships is the judge in
# this part, so you may not call it; `nn.Linear` and a softmax are yours to use.
#
# Letters: `B` sequences in a batch, `T` positions that ask, `S` positions that are asked, `d` the width of a
# token's vector. Masks are boolean and True means "may attend".

# %%
"""Part 3: attention as score, mask, normalise, mix; one causal head; many heads and their projection."""

import torch
from part1_average import causal_mask, masked_softmax
from part2_scores import scaled_scores
from torch import Tensor, nn

# %% [markdown]
# ## 1. A look-up that can be trained
#
# Take "she poured tea into the cup until it was full". To guess what comes after `it`, a reader needs `cup`. The
# mean of part 1 hands over all eight words up to `it` in equal parts: an eighth of it is the cup, and seven eighths
# are everything else.
#
# The cheapest repair is the one every programmer knows, a look-up: compare `it` with each earlier word, find the
# best match, fetch what is stored there. It works, and it cannot be learned. "Best match" is an argmax: nudge a
# score a little and the answer does not move at all, nudge it a little more and the answer jumps. The gradient is
# zero or undefined everywhere, so no training step ever tells the scores in which direction they were wrong.
#
# The repair of the repair: do not fetch *one* entry, fetch all of them, each as much as it matches. That is an
# average again, as in part 1, only now its weights come from the scores of part 2, and those are smooth in
# everything. The look-up has become four verbs:
#
# 1. **score**: how well does each query fit each key? `(..., T, d)` against `(..., S, d)` gives `(..., T, S)`.
# 2. **mask**: which pairs are not allowed at all?
# 3. **normalise**: turn each query's row of scores into shares that add up to 1.
# 4. **mix**: add up the values `(..., S, dv)` in those shares: `(..., T, dv)`.
#
# ### Why in this order
#
# Scoring must come first and mixing last, there is nothing to normalise before and nothing to mix with until then.
# The pair that people swap is the middle one. Say the scores of one row are 1, 2, 3 and 4, and the fourth key lies
# in the future. Normalise first and cross out afterwards, and you keep 0.032, 0.087 and 0.237: shares of a whole
# that add up to 0.356. The rest was given to a key that nobody may see. You could live with a sum that is not 1.
# You cannot live with the second fault, which the next cell shows: make the hidden score larger, and the *visible*
# shares shrink, since the hidden key still stands in the denominator. No forbidden weight is above zero, every
# entry right of the diagonal is exactly 0, and yet the row knows something about the future. A training run would
# find that and use it.
#
# Mask first and the future never enters the sum. That is what -inf is for: exp(-inf) is 0 before anything is
# added up. A large negative number such as -10 is no substitute, it is only a score that is usually low; the day
# that all allowed scores are lower still, the mask opens.

# %%
if __name__ == "__main__":
    for hidden_score in (4.0, 8.0):
        row = torch.tensor([1.0, 2.0, 3.0, hidden_score])
        too_late = row.softmax(dim=-1)[:3]
        in_time = masked_softmax(row, torch.tensor([True, True, True, False]))[:3]
        print(f"hidden score {hidden_score}: crossed out after {too_late.tolist()}, before {in_time.tolist()}")

# %% [markdown]
# ### Why over the last axis
#
# The score matrix has two axes, so there are two ways to normalise it. Along a *row*, each query has one unit of
# attention and spends it over the keys. Along a *column*, each key would have one unit to hand out over the
# queries. The second has rows that add up to anything, so a token's output could be three tokens' worth of values
# or almost none; and under a causal mask it is worse than untidy. A column runs through the queries at later
# positions, so how much position 2 gets from key 1 would depend on what position 9 asks: the future again, through
# the denominator, with a perfectly triangular matrix. The queries stand in the rows, so the keys are the last axis.
#
# ### Why the queries may outnumber the keys, or the other way round
#
# Follow the letters through the four verbs. `T` comes in with the queries and goes out with the output; `S` comes
# in with the keys and values and disappears in the mix; they meet in one place, the `(T, S)` matrix. Nothing forces
# them to be equal. When a translator's decoder has written 3 words and reads a source sentence of 50, there are 3
# queries and 50 keys (this is *cross-attention*). When a model that already read 50 words generates the next one,
# there is 1 query. Self-attention is the special case in which queries, keys and values come from the same tokens
# and `S = T`. So your function must not call `shape[-2]` of one thing what belongs to the other, and it cannot make
# its own triangular mask: only the caller knows what may see what. It takes a mask instead, and any mask that
# broadcasts: `(T, S)` for all sequences alike, `(B, 1, S)` for padding that differs from sequence to sequence.
#
# Likewise `d` and `dv`. Queries and keys are compared, so they share a width, and that width is the `d` under the
# square root of part 2: it is the number of products in one score. Values are compared with nothing, only added
# up, so their width is free.
#
# ### What about a row that may see nothing?
#
# Such a row has to share one unit among no one: 0/0, NaN. It would not stay alone. In the next layer this
# position is a key and a value to others, and 0 times NaN is NaN, so even a weight of exactly zero lets it through;
# two layers on, the whole batch is gone, and the place where you notice is far from the place where it began. Refuse
# such a mask on the spot, with a `ValueError` that says "mask" and its shape. (If your part 1 does that already,
# you have nothing to add.)

# %% [markdown]
# ## Exercise: `attention`
#
# 20 minutes, difficulty 1 of 3. All of the thinking is above, the code is short.
#
# | argument | shape | |
# |---|---|---|
# | `q` | `(..., T, d)` | what each position looks for |
# | `k` | `(..., S, d)` | what each position can be found by |
# | `v` | `(..., S, dv)` | what each position hands over |
# | `mask` | bool, broadcasts to `(..., T, S)`, or None | True where a query may see a key |
# | returns | `(..., T, dv)` and `(..., T, S)` | the output, and the weights it was mixed with |
#
# The dots are any number of leading axes, none included: you will never need to know how many. Nothing in here may
# depend on the device or the dtype. Return both results; part 8 looks at the weights to see what a head does.
#
# **A pass looks like this:** your output equals torch's own fused kernel within 1e-6 in float32. Why not exactly?
# Both programs add up the same products in a different order, and each float32 addition rounds by up to 6e-8 of
# its size; a handful of such roundings on numbers around 1 is a few 1e-7. In float64, where rounding is a billion
# times finer, the suite asks for 1e-10. Most of the usual mistakes are off by a tenth or more; the suite chooses
# its inputs so that the small ones, such as -10 under the mask, stand out as well.


# %%
def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Score, mask, normalise, mix: average the values by how well their keys fit each query.

    Args:
        q: Queries, float (..., T, d).
        k: Keys, float (..., S, d).
        v: Values, float (..., S, dv).
        mask: Bool, broadcasts to (..., T, S); True where a query may attend to a key. None allows every pair.

    Returns:
        The output, float (..., T, dv), and the weights, float (..., T, S), whose rows sum to 1. Both have the dtype
        and the device of ``q``.

    Raises:
        ValueError: A row of ``mask`` allows nothing; the message names the mask and its shape.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1.
    """
    scores = scaled_scores(q, k)  # (..., T, S)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights  # (..., T, dv), (..., T, S)


# %% [markdown]
# ## 2. What this function does not know: order
#
# Before you build on it, find out what is *not* in there. Look for the word "position" in your four verbs. A score
# compares two vectors and never asks where they stood. So shuffle the tokens: row and column i of the score matrix
# move to their new places and keep their numbers, a softmax over a row does not care in which order the row is
# written, and the mix adds the same things in another order. Written with a permutation matrix P (whose transpose
# undoes it), the scores of Px are P S P', the weights P W P', and the output P W P' P V = P (W V):
#
#     attention(Px) = P attention(x)
#
# Permuting the inputs permutes the outputs. Not "leaves them alone": each token carries its own result to its new
# seat, so `attention(Px)` is *not* `attention(x)`. Check both in the next cell. A function that returned the same
# mean for everybody would satisfy only a part of it.
#
# Half of this is a gift: it is why attention works on sets. The other half is a problem: to the word `bites`, "dog
# bites man" and "man bites dog" are one and the same bag. A causal mask breaks the symmetry a little (position 3
# sees three tokens, position 4 sees four), but among the tokens that it does see, order still means nothing. Keep
# that in mind; part 5 is about it.

# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    tokens = torch.randn(6, 16)
    shuffle = torch.randperm(6)
    straight, _ = attention(tokens, tokens, tokens)
    shuffled, _ = attention(tokens[shuffle], tokens[shuffle], tokens[shuffle])
    print(f"|f(Px) - P f(x)| = {(shuffled - straight[shuffle]).abs().max():.1e}   (rounding)")
    print(f"|f(Px) -   f(x)| = {(shuffled - straight).abs().max():.1e}   (not the same thing at all)")

# %% [markdown]
# ## 3. One head: three views of one token
#
# Where do queries, keys and values come from? We have one vector for each token, so the cheapest idea is to use it
# three times: `attention(x, x, x)`, as in the cell above. Try it at a real width first. The next cell measures how
# much of its attention each of 64 random tokens pays to itself at d = 128. The answer is 0.997, and you can see
# it coming: a vector's product with itself is about d, divided by sqrt(d) that is 11.3, while the product with a
# stranger has standard deviation 1. Everyone asks with their own face and finds themselves in the mirror.
#
# There is a second fault that no luck with the numbers removes. x_i . x_j is x_j . x_i: if `it` looks for `cup`,
# then `cup` looks for `it` exactly as hard. But looking for is a different thing from being found. A pronoun seeks
# a noun, and a noun does not seek a pronoun.
#
# One learned matrix for queries and keys together would cure the mirror and not the symmetry, since (Wx_i) . (Wx_j) is
# symmetric too. Two matrices cure both. And a third: what a book is found by (the label on its spine) is not what it
# gives (what is written inside), so the values get a matrix of their own. That is a head:
#
#     q = W_q x    "what am I looking for?"
#     k = W_k x    "what can I be found by?"
#     v = W_v x    "what do I hand over?"
#
# All three go from `d_model` to `d_head`, which may be much smaller: a head that only has to find the last noun does
# not need all of a token to do it.
#
# ### Do these three need a bias?
#
# Ask what it could do. A bias b in the *keys* adds q_i . b to every score of row i: the same number for each key. A
# softmax does not see a number that is added to its whole row, so this parameter changes nothing, ever, and its
# gradient is zero. A bias in the *values* adds b to each value; the weights add up to 1, so it comes out as b added
# to each output, whatever the head looked at. Only a bias in the *queries* can move attention: it adds b . k_j,
# which makes some keys popular with everybody. One of the three does nothing, one could be added anywhere later, one
# does a little. So the default is `bias=False`. GPT-2 has all three biases, and whoever wants its weights must be
# able to ask for them; if you are asked, give all three their bias.

# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    tokens = torch.randn(64, 128)
    _, mirror = attention(tokens, tokens, tokens)
    print(f"attention to oneself, q = k = v = x:       {mirror.diagonal().mean():.3f}")
    to_query, to_key = nn.Linear(128, 128, bias=False), nn.Linear(128, 128, bias=False)
    _, views = attention(to_query(tokens), to_key(tokens), tokens)
    print(f"attention to oneself, two learned views:   {views.diagonal().mean():.3f}   (even shares: {1 / 64:.3f})")

# %% [markdown]
# ### Where does the mask live?
#
# A language model predicts each next token from those before it, so a head of ours is causal, and it can make its
# own mask once, in `__init__`. There are three places to keep a tensor in a module, and two of them are traps.
#
# - **A plain attribute**, `self.m = ...`. Works today. But `model.to("cuda")` walks over what the module has
#   *registered*, and an attribute is not registered: the weights move, the mask stays behind, and the first step on
#   a GPU stops with "expected all tensors to be on the same device".
# - **A parameter.** Moves along. But a parameter is by definition something to be trained and counted: the
#   optimizer gets it, and your GPT-2 small of part 6 would have 137,022,720 parameters in place of 124,439,808
#   (twelve masks of 1024 x 1024 more). A bool cannot have a gradient anyway; torch will say so.
# - **A buffer**, `self.register_buffer(name, tensor, ...)`. Moves with `.to`, is not trained, is not counted.
#   It has one habit left to break: by default a buffer is written into `state_dict()`. Twelve masks are 12 MiB
#   in every checkpoint that anybody could recompute in no time, and a checkpoint made with `block_size=64` would
#   refuse to load into a model with 128, although no learned number depends on it. Look up the argument of
#   `register_buffer` that says "not in the state dict".
#
# ### block_size is not T
#
# `block_size` is what the head was built to allow, `T` is how many tokens came this time. They are equal in
# training, and that is why this mistake survives training: the first sentence that you generate starts with one
# token. The causal mask of any shorter length is the upper left corner of the large one (cover the last rows and
# columns and see), so cutting is all you need, at every call anew. Do not remember the cut for later; the next batch
# may be longer.
#
# And longer than `block_size`? Slicing past the end does not fail in Python, it quietly gives you less than you
# asked for, and then something else fails with a message about shapes that do not broadcast. Say it yourself, first: a
# `ValueError` with the number.

# %% [markdown]
# ## Exercise: `Head`
#
# 25 minutes, difficulty 2 of 3.
#
# - `__init__`: three `nn.Linear(d_model, d_head, bias=bias)` called `q`, `k` and `v` (the suite sets their weights
#   by these names), and the mask, kept where it belongs.
# - `attend(x)`: check the length, cut the mask, and let your `attention` do the rest; `x` is `(B, T, d_model)`.
#   It returns both results. `forward` and `attention_weights` are given: each takes the one it wants.
#
# **A pass looks like this:** with your weights copied the head equals the fused kernel, for T = 1, for T below
# `block_size`, for T equal to it, and for a short one again after a long one. Replace all tokens from position t
# on, for every t, and nothing before t moves by more than 1e-6; send a gradient back from position t, and it
# reaches every position up to t and none after. Each sequence of a batch gives what it gives alone. The state dict
# holds three weights (and three biases where asked) and nothing else.
#
# Before you run the tests, say what the first row of `attention_weights(x)[0]` must be for *any* weights. Then look.


# %%
class Head(nn.Module):
    """Read earlier positions and oneself with learned queries, keys and values.

    Attributes:
        q: ``nn.Linear(d_model, d_head)``, what a position looks for.
        k: ``nn.Linear(d_model, d_head)``, what a position is found by.
        v: ``nn.Linear(d_model, d_head)``, what a position hands over.

    Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.2.1 and 3.2.3.
    """

    def __init__(self, d_model: int, d_head: int, block_size: int, bias: bool = False) -> None:
        """Make the three projections and a causal mask that is a buffer outside of the state dict.

        Args:
            d_model: Width of a token's vector.
            d_head: Width of this head's queries, keys and values.
            block_size: The longest sequence that the head accepts, in tokens.
            bias: Whether the three projections have a bias.
        """
        super().__init__()
        self.q = nn.Linear(d_model, d_head, bias=bias)
        self.k = nn.Linear(d_model, d_head, bias=bias)
        self.v = nn.Linear(d_model, d_head, bias=bias)
        self.register_buffer("mask", causal_mask(block_size), persistent=False)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Run causal self-attention on the three views of ``x``.

        Args:
            x: Float (B, T, d_model), T at most ``block_size``.

        Returns:
            The output, float (B, T, d_head), and the weights, float (B, T, T).

        Raises:
            ValueError: T is larger than ``block_size``; the message names T.
        """
        T, block_size = x.shape[-2], self.mask.shape[-1]
        if block_size < T:
            raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
        return attention(self.q(x), self.k(x), self.v(x), self.mask[:T, :T])

    def forward(self, x: Tensor) -> Tensor:
        """Return what the head hands to each position.

        Args:
            x: Float (B, T, d_model), T at most ``block_size``.

        Returns:
            Float (B, T, d_head).

        Raises:
            ValueError: T is larger than ``block_size``; the message names T.
        """
        return self.attend(x)[0]

    def attention_weights(self, x: Tensor) -> Tensor:
        """Return which positions each position reads.

        Args:
            x: Float (B, T, d_model), T at most ``block_size``.

        Returns:
            Float (B, T, T): row t holds the weights of position t over positions 0..T-1.

        Raises:
            ValueError: T is larger than ``block_size``; the message names T.
        """
        return self.attend(x)[1]


# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    head = Head(d_model=24, d_head=6, block_size=8, bias=True)
    tokens = torch.randn(1, 5, 24)
    print("who reads whom (rows ask, columns are asked):")
    print("\n".join("  ".join(f"{weight:.2f}" for weight in row) for row in head.attention_weights(tokens)[0].tolist()))
    (head(tokens) * torch.randn(1, 5, 6)).sum().backward()
    for name in ("q", "k", "v"):
        print(f"largest gradient of the bias of {name}: {getattr(head, name).bias.grad.abs().max():.1e}")
    print("in the state dict:", list(head.state_dict()))

# %% [markdown]
# ## 4. Many heads: why not one wide one?
#
# A head gives each token **one** row of weights, and one row is one average. Suppose `it` needs two facts, the noun
# it stands for and the verb that rules it. With a single row it must split its unit, half here and half there, and
# what it gets is the *mean* of two values. A mean forgets what it was made of: if one value holds +1 in some
# column and the other -1, half and half is 0, the same as having read two tokens that hold nothing. Making the head
# wider does not help. Each column of a wider value is mixed with the same row of weights; there are more numbers,
# and still one decision about where to look.
#
# So take several heads, each with a row of its own, and lay their results side by side. Now +1 and -1 both
# arrive, in different columns. The next cell makes the number.
#
# ### And why narrow ones?
#
# If each of h heads were as wide as the model, h heads would cost h times as much. Give each of them
# `d_head = d_model / h` columns instead, and the bill does not change: the projections hold 3 d^2 weights whether they
# are cut into 1 or into h, and the scores take T^2 d multiplications, h times T^2 d/h. What you buy with the same money
# is h decisions in place of one. (Not quite the same money: there are h weight matrices of T x T to
# keep. Part 6 counts those bytes.)
#
# The price is in the comparison. q_i . k_j = x_i' (W_q' W_k) x_j, and a matrix that passes through `d_head` columns
# has rank at most `d_head`. A head of width 1 can compare two tokens by a single number. Between "one head that
# compares anything" and "d heads that compare next to nothing" lies a choice; GPT-2 small took 12 heads of 64 columns.
#
# `d_model` must be a multiple of `n_heads`. If it is not, `26 // 7` is 3 without complaint, and seven heads of 3
# fill 21 of 26 columns. Refuse it with a `ValueError` that names the numbers.

# %%
if __name__ == "__main__":
    wanted = torch.tensor([[1.0], [-1.0], [0.0]])  # one column of the values of three tokens
    one_row = torch.tensor([[0.5, 0.5, 0.0]])
    two_rows = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    print("one row of weights:", (one_row @ wanted).flatten().tolist())
    print("two rows of weights:", (two_rows @ wanted).flatten().tolist())

# %% [markdown]
# ### What is the output projection for?
#
# After concatenation the columns have owners: 0 to d_head - 1 belong to head 0, the next ones to head 1, and so on
# (in this order; part 5 relies on it). In part 4 this result is *added* to the token's own vector. Without another
# step, head 0 could write into the first columns of the token only, for ever, whatever it found, and two heads could
# never write the same feature. One matrix lifts that. Cut `proj` into blocks of `d_head` columns, W_0 ... W_{h-1}, and
# multiply out:
#
#     proj(concat(head_0, ..., head_{h-1})) = W_0 head_0 + ... + W_{h-1} head_{h-1} + b
#
# So this one layer is h small ones, each carrying one head's result to wherever in the token it is useful, and their
# sum. Note that b stands there once. If you project head by head and add, you must not add b h times.
#
# Is it not the same as a better choice of values? For one head, nearly: W_0 W_v is a single matrix, and you could
# learn the product. But that product goes from d to d in d^2 numbers for *each* head. Narrow values and a wide
# projection make it of rank `d_head` and cost 2 d d_head: the same economy as for queries and keys.
#
# What does it cost? A (d, d) weight and d biases: at d = 128 that is 16,384 + 128 = **16,512** parameters. Four
# heads of 32 have exactly as many query, key and value weights as one head of 128, so this is the whole difference
# between them. Have your own classes say so in the last cell.

# %% [markdown]
# ## Exercise: `MultiHeadAttention`
#
# 25 minutes, difficulty 2 of 3.
#
# - `__init__`: refuse what does not divide; `heads`, an `nn.ModuleList` of `n_heads` of your `Head`s, each of width
#   `d_model // n_heads`, with biases where `qkv_bias` asks for them; `proj`, an `nn.Linear(d_model, d_model)` that has
#   its bias always. (A plain Python list would hide the heads from `.parameters()`: nothing in it would be trained.)
# - `forward(x)`: `(B, T, d_model)` in and out. Every head reads the *whole* of x; what is divided among them
#   is the width that they project to, not the input.
# - `attention_weights(x)`: `(B, n_heads, T, T)`. Each head has a matrix `(B, T, T)`, and the new axis is the second.
#
# **A pass looks like this:** with weights copied, you equal `nn.MultiheadAttention` (which keeps them stacked in one
# matrix: queries of all heads, then keys, then values) within 1e-6 in float32 and 1e-10 in float64, with and
# without biases, for 1, 4 and 6 heads, for B = 1 and T = 1. The parameter counts agree to the last one.
#
# This version runs one head after the other and keeps one mask in each. That is the clear way to write it and a slow
# way to run it; part 5 computes all heads in one product and must give the same numbers as yours.


# %%
class MultiHeadAttention(nn.Module):
    """Let several narrow heads read the same tokens, and project what they found back into the model's width.

    Attributes:
        heads: ``nn.ModuleList`` of ``n_heads`` ``Head``s of width ``d_model // n_heads``.
        proj: ``nn.Linear(d_model, d_model)`` with bias; takes the heads' outputs in order, head 0 first.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2.
    """

    def __init__(self, d_model: int, n_heads: int, block_size: int, qkv_bias: bool = False) -> None:
        """Make the heads and the output projection.

        Args:
            d_model: Width of a token's vector, a multiple of ``n_heads``.
            n_heads: Number of heads.
            block_size: The longest sequence that is accepted, in tokens.
            qkv_bias: Whether the queries, keys and values of the heads have biases.

        Raises:
            ValueError: ``n_heads`` does not divide ``d_model``; the message names both numbers.
        """
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
        d_head = d_model // n_heads
        self.heads = nn.ModuleList(Head(d_model, d_head, block_size, bias=qkv_bias) for _ in range(n_heads))
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Run all heads, lay their outputs side by side, and project.

        Args:
            x: Float (B, T, d_model), T at most ``block_size``.

        Returns:
            Float (B, T, d_model).

        Raises:
            ValueError: T is larger than ``block_size``; the message names T.
        """
        side_by_side = torch.cat([head(x) for head in self.heads], dim=-1)  # (B, T, d_model)
        return self.proj(side_by_side)

    def attention_weights(self, x: Tensor) -> Tensor:
        """Return which positions each position reads, head by head.

        Args:
            x: Float (B, T, d_model), T at most ``block_size``.

        Returns:
            Float (B, n_heads, T, T): entry (b, j, t, s) is the weight of head j at position t on position s.

        Raises:
            ValueError: T is larger than ``block_size``; the message names T.
        """
        return torch.stack([head.attention_weights(x) for head in self.heads], dim=1)  # (B, n_heads, T, T)


# %%
if __name__ == "__main__":
    four = MultiHeadAttention(d_model=128, n_heads=4, block_size=16)
    one = Head(d_model=128, d_head=128, block_size=16)
    count_four, count_one = (sum(p.numel() for p in module.parameters()) for module in (four, one))
    print(f"four heads of 32: {count_four:,}   one head of 128: {count_one:,}   difference: {count_four - count_one:,}")

    before = torch.randn(1, 10, 128)
    after = before.clone()
    after[:, 6:] = torch.randn(1, 4, 128)
    moved = (four(after) - four(before)).abs().amax(dim=(0, 2))
    print("tokens 6 to 9 replaced; how far each output moved:", [f"{distance:.2f}" for distance in moved.tolist()])

# %% [markdown]
# ## What you can now say
#
# - Attention is a look-up made smooth so that it can be trained: score, mask, normalise, mix. The mask comes before
#   the normalisation, or the future sits in the denominator.
# - Queries and keys share a width because they are compared; values have their own. The number of queries and the
#   number of keys have nothing to do with each other.
# - On its own it is blind to order: permute the inputs, and the outputs are permuted.
# - A head needs separate queries and keys because looking for is not being found, and separate values because what
#   one is found by is not what one gives. The bias of the keys is invisible to the softmax.
# - A mask is a buffer: it moves, it is not trained, and need not be saved. It is made for `block_size` and cut to T.
# - Several narrow heads make several decisions for the price of one; the output projection lets each of them write
#   anywhere, and costs d^2 + d.
#
# Two questions to carry into part 4. Your `MultiHeadAttention` *replaces* a token by what it read. What happens to
# what the token knew about itself? And everything in it, once the weights are given, is a weighted sum. Where would a
# model do anything that is not?
#
# Sources: Vaswani et al. 2017, "Attention Is All You Need", section 3.2 (one head, many heads, the projection);
# Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate", section 3.1
# (the soft look-up of a decoder in a source sentence, where queries and keys differ in number).
