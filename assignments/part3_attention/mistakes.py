"""Wrong solutions of part 3, one function each, and what a student who wrote one is told."""

import torch
from part1_average import causal_mask, masked_softmax
from part2_scores import dot_product_scores, scaled_scores
from part3_attention import Head, attention
from torch import nn

from autograder.checks import mistake

# The four verbs: how scores are scaled


@mistake(of="attention")
def scores_not_scaled(q, k, v, mask=None):
    """These are exactly the numbers you get when the scores are not divided by sqrt(d): their variance then grows
    with d, and the softmax freezes."""
    scores = dot_product_scores(q, k)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@mistake(of="attention")
def scores_divided_by_d(q, k, v, mask=None):
    """These are exactly the numbers you get when the scores are divided by d: either the root is missing, or sqrt(d)
    was divided out twice."""
    scores = dot_product_scores(q, k) / q.shape[-1]
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@mistake(of="attention")
def scores_multiplied_by_the_root(q, k, v, mask=None):
    """These are exactly the numbers you get when the scores are multiplied by sqrt(d), where they should be divided."""
    scores = dot_product_scores(q, k) * q.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@mistake(of="attention")
def scores_scaled_by_number_of_keys(q, k, v, mask=None):
    """These are exactly the numbers you get with the square root of S, the number of keys: the root is of the number
    of products in one score, and that is the width of q and k."""
    scores = dot_product_scores(q, k) / k.shape[-2] ** 0.5
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@mistake(of="attention")
def scores_scaled_by_number_of_queries(q, k, v, mask=None):
    """These are exactly the numbers you get with the square root of T, the number of queries: the root is of the
    number of products in one score, and that is the width of q and k."""
    scores = dot_product_scores(q, k) / q.shape[-2] ** 0.5
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@mistake(of="attention")
def scores_scaled_by_width_of_values(q, k, v, mask=None):
    """These are exactly the numbers you get with the width of the values under the root: values take no part in a
    score, so their width says nothing about its spread."""
    scores = dot_product_scores(q, k) / v.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights


@mistake(of="attention")
def weights_scaled_in_place_of_scores(q, k, v, mask=None):
    """These are exactly the numbers you get when the division by sqrt(d) comes after the softmax: it then shrinks the
    shares and no longer keeps the scores tame."""
    scores = dot_product_scores(q, k)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    weights = weights / q.shape[-1] ** 0.5
    return weights @ v, weights


# The four verbs: along which axis shares are made


@mistake(of="attention")
def softmax_over_queries(q, k, v, mask=None):
    """These are exactly the numbers you get when the softmax runs over the queries: each key then hands out one unit,
    and a query's row no longer adds up to 1."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-2).nan_to_num(0.0)
    return weights @ v, weights


@mistake(of="attention")
def softmax_over_the_whole_matrix(q, k, v, mask=None):
    """These are exactly the numbers you get when one softmax runs over all queries and keys together: the whole
    matrix then adds up to 1, and each row to a fraction."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.flatten(-2).softmax(dim=-1).view_as(scores)
    return weights @ v, weights


@mistake(of="attention")
def softmax_over_the_first_axis(q, k, v, mask=None):
    """These are exactly the numbers you get when the softmax runs over the first axis: that is the batch, whose
    sequences have nothing to share."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=0).nan_to_num(0.0)
    return weights @ v, weights


@mistake(of="attention")
def scores_not_normalised(q, k, v, mask=None):
    """These are exactly the numbers you get when the scores themselves are the weights: without a softmax they are
    negative as often as not, and add up to nothing in particular."""
    weights = scaled_scores(q, k)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights


@mistake(of="attention")
def exponentials_not_normalised(q, k, v, mask=None):
    """These are exactly the numbers you get when the scores go through exp and are never divided by their sum: a row
    of weights must add up to 1."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.exp()
    return weights @ v, weights


@mistake(of="attention")
def softmax_twice(q, k, v, mask=None):
    """These are exactly the numbers you get when the softmax is taken twice: shares between 0 and 1 are nearly equal
    as scores, so the second one flattens what the first one chose."""
    scores = scaled_scores(q, k)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    weights = weights.softmax(dim=-1) if mask is None else masked_softmax(weights, mask)
    return weights @ v, weights


@mistake(of="attention")
def exponentials_overflow(q, k, v, mask=None):
    """These are the numbers you get when exp is taken of the scores as they are: from 89 on it is infinite in float32,
    which a softmax avoids by subtracting the row's largest score first."""
    scores = scaled_scores(q, k)
    if mask is not None:
        if not (mask.is_meta or bool(mask.any(dim=-1).all())):
            raise ValueError(f"mask of shape {tuple(mask.shape)} has a row that allows nothing")
        scores = scores.masked_fill(~mask, float("-inf"))
    shares = scores.exp()
    weights = shares / shares.sum(dim=-1, keepdim=True)
    return weights @ v, weights


# The four verbs: how and when the mask is applied


@mistake(of="attention")
def mask_ignored(q, k, v, mask=None):
    """These are exactly the numbers you get when the mask is never used."""
    weights = scaled_scores(q, k).softmax(dim=-1)
    return weights @ v, weights


@mistake(of="attention")
def mask_inverted(q, k, v, mask=None):
    """These are exactly the numbers you get when True in the mask forbids: in this course True means "may attend"."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@mistake(of="attention")
def mask_filled_with_minus_ten(q, k, v, mask=None):
    """These are exactly the numbers you get with -10 under the mask: that is a low score and no wall, as soon as the
    allowed scores are low too."""
    scores = scaled_scores(q, k)
    if mask is not None:
        if not (mask.is_meta or bool(mask.any(dim=-1).all())):
            raise ValueError(f"mask of shape {tuple(mask.shape)} has a row that allows nothing")
        scores = scores.masked_fill(~mask, -10.0)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@mistake(of="attention")
def mask_filled_with_minus_a_billion(q, k, v, mask=None):
    """A mask filled with -1e9 works until the first float16 tensor, which ends at 65,504: minus infinity is the value
    that the mask means, and every float type has it."""
    scores = scaled_scores(q, k)
    if mask is not None:
        if not (mask.is_meta or bool(mask.any(dim=-1).all())):
            raise ValueError(f"mask of shape {tuple(mask.shape)} has a row that allows nothing")
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@mistake(of="attention")
def mask_multiplied_into_scores(q, k, v, mask=None):
    """These are exactly the numbers you get when forbidden scores become 0: the softmax gives a score of 0 a share
    like any other, and only minus infinity gets none."""
    scores = scaled_scores(q, k)
    weights = (scores if mask is None else scores * mask).softmax(dim=-1)
    return weights @ v, weights


@mistake(of="attention")
def shares_crossed_out_after_softmax(q, k, v, mask=None):
    """These are exactly the numbers you get when the mask comes after the softmax: the rows no longer add up to 1,
    and the forbidden scores still stand in the denominator of the others."""
    weights = scaled_scores(q, k).softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


@mistake(of="attention")
def weights_returned_from_before_the_mask(q, k, v, mask=None):
    """Your output is mixed under the mask, and these are exactly the weights from before it: return those that the
    values were mixed with."""
    scores = scaled_scores(q, k)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, scores.softmax(dim=-1)


@mistake(of="attention")
def scores_returned_as_weights(q, k, v, mask=None):
    """Your output is right, and what you return beside it are exactly the scores: the weights are what the softmax
    makes of them."""
    scores = scaled_scores(q, k)
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, scores


@mistake(of="attention")
def empty_rows_not_refused(q, k, v, mask=None):
    """A query that may see nothing has no shares to give: 0/0 is NaN, and it spreads to the whole batch in the next
    layers, so such a mask must be refused."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


@mistake(of="attention")
def empty_rows_get_zero(q, k, v, mask=None):
    """A query that may see nothing got a row of zeros here: quiet, and no average of anything. The contract asks for
    a ValueError that names the mask and its shape."""
    scores = scaled_scores(q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1).nan_to_num(0.0)
    return weights @ v, weights


@mistake(of="attention")
def only_wholly_empty_masks_refused(q, k, v, mask=None):
    """You refuse a mask without a single True; one empty row among others is enough to be refused."""
    scores = scaled_scores(q, k)
    if mask is not None:
        if not (mask.is_meta or bool(mask.any())):
            raise ValueError(f"mask of shape {tuple(mask.shape)} allows nothing")
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


# The four verbs: what meets what


@mistake(of="attention")
def leading_axes_fixed_at_one(q, k, v, mask=None):
    """Your function needs exactly one batch axis: the two axes that matter are the last two, and counted from the
    end they are the same for any number of leading axes."""
    scores = torch.bmm(q, k.transpose(1, 2)) / q.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)
    return torch.bmm(weights, v), weights


@mistake(of="attention")
def weights_cut_from_the_graph(q, k, v, mask=None):
    """Your numbers are right, but no gradient comes back through the weights: queries and keys would never learn
    where to look."""
    scores = scaled_scores(q, k)
    weights = (scores.softmax(dim=-1) if mask is None else masked_softmax(scores, mask)).detach()
    return weights @ v, weights


@mistake(of="Head.attend")
def keys_used_as_values(self, x):
    """These are exactly the numbers you get when the keys are mixed in place of the values: what a token is found by
    is not what it hands over."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return attention(self.q(x), self.k(x), self.k(x), self.mask[:T, :T])


@mistake(of="Head.attend")
def tokens_used_as_keys_of_queries(self, x):
    """These are exactly the numbers you get when the queries are their own keys: the scores are then symmetric, and
    everyone finds themselves."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return attention(self.q(x), self.q(x), self.v(x), self.mask[:T, :T])


@mistake(of="Head.attend")
def queries_and_keys_swapped(self, x):
    """These are exactly the numbers you get when queries and keys change places: the score matrix is then transposed,
    and each token uses what others look for in place of what it looks for itself."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return attention(self.k(x), self.q(x), self.v(x), self.mask[:T, :T])


# One head: its mask


@mistake(of="Head.attend")
def mask_transposed(self, x):
    """These are exactly the numbers you get with the mask's transpose: each position reads itself and the future, and
    nothing that came before."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return attention(self.q(x), self.k(x), self.v(x), self.mask[:T, :T].transpose(0, 1))


@mistake(of="Head.attend")
def mask_left_out(self, x):
    """These are exactly the numbers you get when a head uses no mask at all: every position then reads the future."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return attention(self.q(x), self.k(x), self.v(x))


@mistake(of="Head.attend")
def mask_one_step_too_far(self, x):
    """These are exactly the numbers you get when each position may also read the next one, which is the very token
    that it is to predict."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    ahead = torch.ones(T, T, dtype=torch.bool, device=x.device).tril(diagonal=1)
    return attention(self.q(x), self.k(x), self.v(x), ahead)


@mistake(of="Head.attend")
def diagonal_forbidden(self, x):
    """These are exactly the numbers you get when a position may not read itself: the diagonal is allowed, for the
    token that stands there is already known."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    strict = torch.ones(T, T, dtype=torch.bool, device=x.device).tril(diagonal=-1)
    weights = scaled_scores(self.q(x), self.k(x)).masked_fill(~strict, torch.finfo(x.dtype).min).softmax(dim=-1)
    return weights @ self.v(x), weights


@mistake(of="Head.attend")
def mask_not_cut(self, x):
    """The whole mask of block_size by block_size met the scores of a shorter sequence: block_size is what a head was
    built for, T is what came."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return attention(self.q(x), self.k(x), self.v(x), self.mask)


@mistake(of="Head.attend")
def first_mask_remembered(self, x):
    """Your head cut its mask for the first sequence that it saw and used the same cut for one of another length: cut
    at every call."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    if not hasattr(self, "remembered"):
        self.remembered = self.mask[:T, :T]
    return attention(self.q(x), self.k(x), self.v(x), self.remembered)


@mistake(of="Head.attend")
def too_long_grows_a_new_mask(self, x):
    """Your head takes a sequence longer than block_size and makes a larger mask for it: the contract refuses it, for
    the positions of the model that is built around it end there."""
    T = x.shape[-2]
    return attention(self.q(x), self.k(x), self.v(x), causal_mask(T, device=x.device))


@mistake(of="Head.attend")
def too_long_is_cropped(self, x):
    """Your head quietly drops what is beyond block_size: whoever asked for T results gets fewer, and learns it
    somewhere else. Refuse it with the number."""
    x = x[:, : self.mask.shape[-1]]
    T = x.shape[-2]
    return attention(self.q(x), self.k(x), self.v(x), self.mask[:T, :T])


@mistake(of="Head.attend")
def too_long_fails_by_itself(self, x):
    """A sequence longer than block_size fails somewhere inside, with words about sizes of tensors: say it first, with
    a ValueError that has the number."""
    T = x.shape[-2]
    return attention(self.q(x), self.k(x), self.v(x), self.mask[:T, :T])


@mistake(of="Head.__init__")
def mask_is_a_plain_attribute(self, d_model, d_head, block_size, bias=False):
    """Your mask is a plain attribute, which .to() does not know: on another device the weights move and the mask
    stays behind. Register it as a buffer."""
    nn.Module.__init__(self)
    self.q = nn.Linear(d_model, d_head, bias=bias)
    self.k = nn.Linear(d_model, d_head, bias=bias)
    self.v = nn.Linear(d_model, d_head, bias=bias)
    self.mask = causal_mask(block_size)


@mistake(of="Head.__init__")
def mask_is_a_parameter(self, d_model, d_head, block_size, bias=False):
    """Your mask is a parameter: it is counted and saved, and an optimizer is handed something that nobody wants to
    learn. Register it as a buffer."""
    nn.Module.__init__(self)
    self.q = nn.Linear(d_model, d_head, bias=bias)
    self.k = nn.Linear(d_model, d_head, bias=bias)
    self.v = nn.Linear(d_model, d_head, bias=bias)
    self.mask = nn.Parameter(causal_mask(block_size), requires_grad=False)


@mistake(of="Head.__init__")
def mask_in_the_state_dict(self, d_model, d_head, block_size, bias=False):
    """Your mask is a buffer, and it is saved with the weights: a checkpoint then depends on block_size, which no
    learned number does. A buffer can be told not to be persistent."""
    nn.Module.__init__(self)
    self.q = nn.Linear(d_model, d_head, bias=bias)
    self.k = nn.Linear(d_model, d_head, bias=bias)
    self.v = nn.Linear(d_model, d_head, bias=bias)
    self.register_buffer("mask", causal_mask(block_size))


# One head: its width, its biases, its batch


@mistake(of="Head.attend")
def scores_scaled_by_width_of_model(self, x):
    """These are exactly the numbers you get when a head divides by sqrt(d_model): a score is a sum over the d_head
    columns of q and k, so d_head stands under the root."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    scores = dot_product_scores(self.q(x), self.k(x)) / x.shape[-1] ** 0.5
    weights = masked_softmax(scores, self.mask[:T, :T])
    return weights @ self.v(x), weights


@mistake(of="Head.attend")
def attention_runs_across_the_batch(self, x):
    """These are exactly the numbers you get when attention runs along the batch: each token reads the tokens at its
    own position in other sequences."""
    T, block_size = x.shape[-2], self.mask.shape[-1]
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    turned = x.transpose(0, 1)
    output, weights = attention(self.q(turned), self.k(turned), self.v(turned), causal_mask(x.shape[0], x.device))
    return output.transpose(0, 1), weights


@mistake(of="Head.__init__")
def bias_not_passed_on(self, d_model, d_head, block_size, bias=False):
    """Your head ignores bias=True: its three projections have no bias although one was asked for."""
    nn.Module.__init__(self)
    self.q = nn.Linear(d_model, d_head, bias=False)
    self.k = nn.Linear(d_model, d_head, bias=False)
    self.v = nn.Linear(d_model, d_head, bias=False)
    self.register_buffer("mask", causal_mask(block_size), persistent=False)


@mistake(of="Head.__init__")
def bias_always_there(self, d_model, d_head, block_size, bias=False):
    """Your projections have biases that nobody asked for: nn.Linear makes one unless it is told not to."""
    nn.Module.__init__(self)
    self.q = nn.Linear(d_model, d_head)
    self.k = nn.Linear(d_model, d_head)
    self.v = nn.Linear(d_model, d_head)
    self.register_buffer("mask", causal_mask(block_size), persistent=False)


@mistake(of="Head.__init__")
def values_keep_the_width_of_the_model(self, d_model, d_head, block_size, bias=False):
    """Your values are as wide as the model: a head hands over d_head columns, so that several heads fit side by
    side."""
    nn.Module.__init__(self)
    self.q = nn.Linear(d_model, d_head, bias=bias)
    self.k = nn.Linear(d_model, d_head, bias=bias)
    self.v = nn.Linear(d_model, d_model, bias=bias)
    self.register_buffer("mask", causal_mask(block_size), persistent=False)


@mistake(of="Head.attention_weights")
def head_weights_averaged_over_the_batch(self, x):
    """These are exactly the weights averaged over the batch: each sequence reads in its own way and has a map of its
    own."""
    weights = self.attend(x)[1]
    return weights.mean(dim=0, keepdim=True).expand_as(weights)


# Many heads: the merge


@mistake(of="MultiHeadAttention.forward")
def heads_averaged(self, x):
    """These are exactly the numbers you get when the heads' outputs are averaged and the mean is repeated to fill the
    width: laid side by side, they would all arrive."""
    mean = torch.stack([head(x) for head in self.heads]).mean(dim=0)
    return self.proj(mean.repeat(1, 1, len(self.heads)))


@mistake(of="MultiHeadAttention.forward")
def heads_interleaved(self, x):
    """These are exactly the numbers you get when the columns of the heads are interleaved: head 0 owns the first
    d_head columns, head 1 the next ones."""
    return self.proj(torch.stack([head(x) for head in self.heads], dim=-1).flatten(-2))


@mistake(of="MultiHeadAttention.forward")
def heads_reversed(self, x):
    """These are exactly the numbers you get when the last head comes first: the heads are laid side by side in their
    order in the list."""
    return self.proj(torch.cat([head(x) for head in reversed(self.heads)], dim=-1))


@mistake(of="MultiHeadAttention.forward")
def heads_reshaped_without_moving_their_axis(self, x):
    """These are exactly the numbers you get when stacked heads are reshaped to (B, T, d_model) with their axis still
    in front of the positions: rows of different positions, even later ones, are then glued together."""
    stacked = torch.stack([head(x) for head in self.heads], dim=1)
    return self.proj(stacked.reshape(x.shape))


@mistake(of="MultiHeadAttention.forward")
def first_head_repeated(self, x):
    """These are exactly the numbers you get when the first head's output is used for every head: a loop runs over the
    heads and calls the same one."""
    return self.proj(torch.cat([self.heads[0](x) for _ in self.heads], dim=-1))


@mistake(of="MultiHeadAttention.forward")
def heads_share_their_keys(self, x):
    """These are exactly the numbers you get when all heads use the keys of the first: each head has a way of its own
    of being found."""
    T = x.shape[-2]
    keys = self.heads[0].k(x)
    outputs = [attention(head.q(x), keys, head.v(x), head.mask[:T, :T])[0] for head in self.heads]
    return self.proj(torch.cat(outputs, dim=-1))


@mistake(of="MultiHeadAttention.forward")
def heads_scaled_by_width_of_model(self, x):
    """These are exactly the numbers you get when each of several heads divides by sqrt(d_model): d_head stands under
    the root, and with one head alone you would not see the difference."""
    T, outputs = x.shape[-2], []
    for head in self.heads:
        scores = dot_product_scores(head.q(x), head.k(x)) / x.shape[-1] ** 0.5
        outputs.append(masked_softmax(scores, head.mask[:T, :T]) @ head.v(x))
    return self.proj(torch.cat(outputs, dim=-1))


@mistake(of="MultiHeadAttention.forward")
def heads_not_masked(self, x):
    """These are exactly the numbers you get when the heads run without their masks inside MultiHeadAttention: every
    position then reads the future."""
    outputs = [attention(head.q(x), head.k(x), head.v(x))[0] for head in self.heads]
    return self.proj(torch.cat(outputs, dim=-1))


# Many heads: the projection


@mistake(of="MultiHeadAttention.forward")
def projection_not_applied(self, x):
    """These are exactly the concatenated heads: the output projection was made and never applied, so each head can
    write into its own columns only."""
    return torch.cat([head(x) for head in self.heads], dim=-1)


@mistake(of="MultiHeadAttention.forward")
def projection_bias_added_for_each_head(self, x):
    """These are exactly the numbers you get when each head is projected by itself and its result added: the bias of
    the projection is then in there once for each head."""
    output = 0
    for index, head in enumerate(self.heads):
        part = head(x)
        width = part.shape[-1]
        padded = x.new_zeros(x.shape)
        padded[..., index * width : (index + 1) * width] = part
        output = output + self.proj(padded)
    return output


@mistake(of="MultiHeadAttention.forward")
def projection_bias_left_out(self, x):
    """These are exactly the numbers you get when the bias of the output projection is not added."""
    return torch.cat([head(x) for head in self.heads], dim=-1) @ self.proj.weight.transpose(0, 1)


@mistake(of="MultiHeadAttention.forward")
def projection_transposed(self, x):
    """These are exactly the numbers you get with the transpose of the projection's weight: nn.Linear keeps one row
    for each output."""
    return torch.cat([head(x) for head in self.heads], dim=-1) @ self.proj.weight + self.proj.bias


@mistake(of="MultiHeadAttention.forward")
def projection_before_the_heads(self, x):
    """These are exactly the numbers you get when the tokens are projected first and the heads read the result: the
    output projection comes after the heads, to mix what they found."""
    projected = self.proj(x)
    return torch.cat([head(projected) for head in self.heads], dim=-1)


@mistake(of="MultiHeadAttention.forward")
def tokens_added_to_the_output(self, x):
    """These are exactly the numbers you get when x is added to the output: that addition belongs to the block of part
    4, which does it outside of attention."""
    return x + self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


@mistake(of="MultiHeadAttention.__init__")
def no_projection(self, d_model, n_heads, block_size, qkv_bias=False):
    """Your module has no output projection: its 16,512 parameters at d = 128 are all that four heads of 32 cost more
    than one head of 128."""
    nn.Module.__init__(self)
    if d_model % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    self.heads = nn.ModuleList(Head(d_model, d_model // n_heads, block_size, bias=qkv_bias) for _ in range(n_heads))
    self.proj = nn.Identity()


@mistake(of="MultiHeadAttention.__init__")
def projection_without_bias(self, d_model, n_heads, block_size, qkv_bias=False):
    """Your output projection has no bias: it always has one, whatever qkv_bias says about the heads."""
    nn.Module.__init__(self)
    if d_model % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    self.heads = nn.ModuleList(Head(d_model, d_model // n_heads, block_size, bias=qkv_bias) for _ in range(n_heads))
    self.proj = nn.Linear(d_model, d_model, bias=False)


# Many heads: how they are made, and what they show


@mistake(of="MultiHeadAttention.__init__")
def heads_as_wide_as_the_model(self, d_model, n_heads, block_size, qkv_bias=False):
    """Each of your heads is as wide as the model: n_heads of them then cost n_heads times as much, while heads of
    width d_model // n_heads cost what one wide head does."""
    nn.Module.__init__(self)
    if d_model % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    self.heads = nn.ModuleList(Head(d_model, d_model, block_size, bias=qkv_bias) for _ in range(n_heads))
    self.proj = nn.Linear(n_heads * d_model, d_model)


@mistake(of="MultiHeadAttention.__init__")
def heads_in_a_plain_list(self, d_model, n_heads, block_size, qkv_bias=False):
    """Your heads are in a plain list, where nn.Module does not see them: .parameters() and .to() pass them by, and
    they are never trained. nn.ModuleList is the list that registers."""
    nn.Module.__init__(self)
    if d_model % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    self.heads = [Head(d_model, d_model // n_heads, block_size, bias=qkv_bias) for _ in range(n_heads)]
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="MultiHeadAttention.__init__")
def one_head_in_every_place(self, d_model, n_heads, block_size, qkv_bias=False):
    """All places of your list hold one and the same head: multiplying a list repeats the object, and n_heads heads
    need n_heads objects."""
    nn.Module.__init__(self)
    if d_model % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    self.heads = nn.ModuleList([Head(d_model, d_model // n_heads, block_size, bias=qkv_bias)] * n_heads)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="MultiHeadAttention.__init__")
def qkv_bias_not_passed_on(self, d_model, n_heads, block_size, qkv_bias=False):
    """Your heads have no biases although qkv_bias=True asked for them: pass it on to each Head."""
    nn.Module.__init__(self)
    if d_model % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    self.heads = nn.ModuleList(Head(d_model, d_model // n_heads, block_size) for _ in range(n_heads))
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="MultiHeadAttention.__init__")
def remainder_not_refused(self, d_model, n_heads, block_size, qkv_bias=False):
    """Your module takes a number of heads that does not divide the width: the division rounds down, and the heads
    together no longer fill d_model columns."""
    nn.Module.__init__(self)
    self.heads = nn.ModuleList(Head(d_model, d_model // n_heads, block_size, bias=qkv_bias) for _ in range(n_heads))
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="MultiHeadAttention.__init__")
def remainder_refused_by_assertion(self, d_model, n_heads, block_size, qkv_bias=False):
    """You refuse with an assert: it says nothing to whoever calls, and vanishes under python -O. The contract asks
    for a ValueError with the numbers."""
    nn.Module.__init__(self)
    assert d_model % n_heads == 0
    self.heads = nn.ModuleList(Head(d_model, d_model // n_heads, block_size, bias=qkv_bias) for _ in range(n_heads))
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="MultiHeadAttention.attention_weights")
def weights_averaged_over_heads(self, x):
    """These are exactly the heads' weights averaged: the heads look at different things, and each shows its own
    map."""
    return torch.stack([head.attention_weights(x) for head in self.heads], dim=1).mean(dim=1)


@mistake(of="MultiHeadAttention.attention_weights")
def weights_with_heads_in_front(self, x):
    """These are exactly the right maps with the axis of the heads in front of the batch: the contract is
    (B, n_heads, T, T)."""
    return torch.stack([head.attention_weights(x) for head in self.heads])


@mistake(of="MultiHeadAttention.attention_weights")
def weights_of_the_first_head_only(self, x):
    """These are exactly the weights of the first head, repeated for all of them."""
    first = self.heads[0].attention_weights(x)
    return torch.stack([first for _ in self.heads], dim=1)
