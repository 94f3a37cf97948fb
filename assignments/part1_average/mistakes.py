"""Wrong solutions of part 1, as they are really written: what each is called, and what its author is told."""

import torch
from part1_average import (
    MeanLM,
    averaging_matrix,
    causal_mask,
    masked_softmax,
    prefix_mean_loop,
    prefix_mean_matmul,
    prefix_mean_softmax,
)
from torch import nn

from autograder.checks import mistake

# -- prefix_mean_loop ---------------------------------------------------------------------------------------------------


@mistake(of="prefix_mean_loop")
def own_row_left_out(x):
    """These are exactly the numbers you get when row t averages rows 0 to t - 1: a slice ends before its end."""
    means = [x[..., :t, :].mean(dim=-2) if t else torch.zeros_like(x[..., 0, :]) for t in range(x.shape[-2])]
    return torch.stack(means, dim=-2)


@mistake(of="prefix_mean_loop")
def own_row_missing_from_sum(x):
    """These are exactly the numbers you get when t rows are added and divided by t + 1: the own row is not in the sum."""
    return torch.stack([x[..., :t, :].sum(dim=-2) / (t + 1) for t in range(x.shape[-2])], dim=-2)


@mistake(of="prefix_mean_loop")
def prefix_divided_by_whole_length(x):
    """These are exactly the numbers you get when each prefix is divided by T: early rows then come out too small."""
    return torch.stack([x[..., : t + 1, :].sum(dim=-2) / x.shape[-2] for t in range(x.shape[-2])], dim=-2)


@mistake(of="prefix_mean_loop")
def prefix_summed(x):
    """These are exactly the sums of the prefixes: they grow with t, and nothing was divided."""
    return torch.stack([x[..., : t + 1, :].sum(dim=-2) for t in range(x.shape[-2])], dim=-2)


@mistake(of="prefix_mean_loop")
def whole_sequence_averaged(x):
    """Every row holds the mean of the whole sequence: row 0 already knows how the text ends."""
    return x.mean(dim=-2, keepdim=True).expand_as(x).clone()


@mistake(of="prefix_mean_loop")
def suffix_averaged(x):
    """These are exactly the means of rows t to the end: the future instead of the past."""
    return torch.stack([x[..., t:, :].mean(dim=-2) for t in range(x.shape[-2])], dim=-2)


@mistake(of="prefix_mean_loop")
def averaged_over_the_batch(x):
    """These are exactly the numbers you get when the first axis is taken for time: sequences of a batch are mixed."""
    return torch.stack([x[: t + 1].mean(dim=0) for t in range(x.shape[0])])


@mistake(of="prefix_mean_loop")
def averaged_over_features_too(x):
    """All features of a row are equal: the mean went over the features as well as over time."""
    means = [x[..., : t + 1, :].mean(dim=(-2, -1), keepdim=True)[..., 0, :] for t in range(x.shape[-2])]
    return torch.stack(means, dim=-2).expand_as(x).clone()


@mistake(of="prefix_mean_loop")
def running_half(x):
    """These are exactly the numbers you get when the mean so far and the new row are halved: row t then counts half."""
    mean, means = x[..., 0, :], []
    for t in range(x.shape[-2]):
        mean = (mean + x[..., t, :]) / 2
        means.append(mean)
    return torch.stack(means, dim=-2)


@mistake(of="prefix_mean_loop")
def one_total_kept_many_times(x):
    """Every row was made from the last total: the list holds one tensor T times, which each step changed in place."""
    total, totals = torch.zeros_like(x[..., 0, :]), []
    for t in range(x.shape[-2]):
        total += x[..., t, :]
        totals.append(total)
    return torch.stack([total / (t + 1) for t, total in enumerate(totals)], dim=-2)


@mistake(of="prefix_mean_loop")
def loop_in_float32(x):
    """The means come back in float32 whatever x is: something was created without the dtype of x."""
    return torch.stack([x[..., : t + 1, :].float().mean(dim=-2) for t in range(x.shape[-2])], dim=-2)


# -- averaging_matrix ---------------------------------------------------------------------------------------------------


@mistake(of="averaging_matrix")
def columns_divided(T, dtype=torch.float32, device=None):
    """Columns were divided instead of rows: counts of shape (T,) line up with the last axis, which is the columns."""
    return torch.tril(torch.ones(T, T, dtype=dtype, device=device)) / torch.arange(1, T + 1, device=device)


@mistake(of="averaging_matrix")
def upper_triangle(T, dtype=torch.float32, device=None):
    """The table is upside down: each position reads itself and the future, and never the past."""
    upper = torch.triu(torch.ones(T, T, dtype=dtype, device=device))
    return upper / upper.sum(dim=-1, keepdim=True)


@mistake(of="averaging_matrix")
def transposed_table(T, dtype=torch.float32, device=None):
    """The table is transposed: its columns sum to 1, but the unit belongs to the reader, which is the row."""
    lower = torch.tril(torch.ones(T, T, dtype=dtype, device=device))
    return (lower / lower.sum(dim=-1, keepdim=True)).T.contiguous()


@mistake(of="averaging_matrix")
def rows_divided_by_whole_length(T, dtype=torch.float32, device=None):
    """Every row was divided by T: only the last one sums to 1."""
    return torch.tril(torch.ones(T, T, dtype=dtype, device=device)) / T


@mistake(of="averaging_matrix")
def rows_not_divided(T, dtype=torch.float32, device=None):
    """The ones were never divided: the product is a sum, which grows with t."""
    return torch.tril(torch.ones(T, T, dtype=dtype, device=device))


@mistake(of="averaging_matrix")
def future_shared_too(T, dtype=torch.float32, device=None):
    """Every entry is 1/T: each position averages the whole sequence, the future included."""
    return torch.full((T, T), 1 / T, dtype=dtype, device=device)


@mistake(of="averaging_matrix")
def counts_one_too_small(T, dtype=torch.float32, device=None):
    """Row t was divided by t instead of t + 1: positions are counted from 0, rows from 1."""
    counts = torch.arange(T, device=device).clamp(min=1).unsqueeze(1)
    return torch.tril(torch.ones(T, T, dtype=dtype, device=device)) / counts


@mistake(of="averaging_matrix")
def counts_one_too_large(T, dtype=torch.float32, device=None):
    """Row t was divided by t + 2 instead of t + 1: no row sums to 1."""
    counts = torch.arange(2, T + 2, device=device).unsqueeze(1)
    return torch.tril(torch.ones(T, T, dtype=dtype, device=device)) / counts


@mistake(of="averaging_matrix")
def diagonal_left_out(T, dtype=torch.float32, device=None):
    """The diagonal is empty: a position does not count itself, and the first one has nothing to read."""
    strict = torch.tril(torch.ones(T, T, dtype=dtype, device=device), diagonal=-1)
    return strict / torch.arange(T, device=device).clamp(min=1).unsqueeze(1)


@mistake(of="averaging_matrix")
def table_rounded_to_float32(T, dtype=torch.float32, device=None):
    """The table was made in float32 and converted afterwards: in float64 a third is then right to 8 digits, not to 16."""
    counts = torch.arange(1, T + 1, device=device).unsqueeze(1)
    return (torch.tril(torch.ones(T, T, device=device)) / counts).to(dtype)


@mistake(of="averaging_matrix")
def table_ignores_dtype(T, dtype=torch.float32, device=None):
    """The table is float32 whatever dtype was asked for."""
    return torch.tril(torch.ones(T, T, device=device)) / torch.arange(1, T + 1, device=device).unsqueeze(1)


@mistake(of="averaging_matrix")
def table_ignores_device(T, dtype=torch.float32, device=None):
    """The table is on the CPU whatever device was asked for."""
    return torch.tril(torch.ones(T, T, dtype=dtype)) / torch.arange(1, T + 1).unsqueeze(1)


# -- prefix_mean_matmul -------------------------------------------------------------------------------------------------


@mistake(of="prefix_mean_matmul")
def table_turned_over(x):
    """The table was transposed before the product: each position then reads itself and the future."""
    return averaging_matrix(x.shape[-2], dtype=x.dtype, device=x.device).T @ x


@mistake(of="prefix_mean_matmul")
def features_mixed(x):
    """These are exactly the numbers you get with a table on the right of x: it mixes features, not positions."""
    return x @ averaging_matrix(x.shape[-1], dtype=x.dtype, device=x.device).T


@mistake(of="prefix_mean_matmul")
def sequences_mixed(x):
    """These are exactly the numbers you get when the product runs over the first axis: sequences are mixed."""
    table = averaging_matrix(x.shape[0], dtype=x.dtype, device=x.device)
    return torch.tensordot(table, x, dims=1)


@mistake(of="prefix_mean_matmul")
def product_in_float32(x):
    """The product was computed in float32 and converted back: float64 inputs lose half of their digits."""
    return (averaging_matrix(x.shape[-2], device=x.device) @ x.float()).to(x.dtype)


@mistake(of="prefix_mean_matmul")
def table_multiplied_by_itself(x):
    """The mean was taken twice: this is the mean of the means."""
    table = averaging_matrix(x.shape[-2], dtype=x.dtype, device=x.device)
    return table @ (table @ x)


# -- causal_mask --------------------------------------------------------------------------------------------------------


@mistake(of="causal_mask")
def mask_upside_down(T, device=None):
    """The mask is the upper triangle: it allows the future and hides the past."""
    return torch.ones(T, T, dtype=torch.bool, device=device).triu()


@mistake(of="causal_mask")
def mask_true_means_hidden(T, device=None):
    """Here True means hidden; in this course True means may attend."""
    return torch.ones(T, T, dtype=torch.bool, device=device).triu(diagonal=1)


@mistake(of="causal_mask")
def mask_without_own_position(T, device=None):
    """The diagonal is False: no position may read itself, and the first may read nothing at all."""
    return torch.ones(T, T, dtype=torch.bool, device=device).tril(diagonal=-1)


@mistake(of="causal_mask")
def mask_one_token_ahead(T, device=None):
    """Each position may read one token ahead, and that token is the answer it should predict."""
    return torch.ones(T, T, dtype=torch.bool, device=device).tril(diagonal=1)


@mistake(of="causal_mask")
def mask_of_floats(T, device=None):
    """The mask holds numbers; permissions are True and False, so its dtype is bool."""
    return torch.ones(T, T, device=device).tril()


@mistake(of="causal_mask")
def mask_allows_all(T, device=None):
    """Everything is allowed: this mask hides nothing."""
    return torch.ones(T, T, dtype=torch.bool, device=device)


@mistake(of="causal_mask")
def mask_ignores_device(T, device=None):
    """The mask is on the CPU whatever device was asked for."""
    return torch.ones(T, T, dtype=torch.bool).tril()


# -- masked_softmax -----------------------------------------------------------------------------------------------------
# ``right`` is bound before the mistake takes the solution's place: it refuses rows in which nothing is allowed, so that
# each entry has its own fault and no second one.


@mistake(of="masked_softmax")
def allowed_filled(scores, mask, right=masked_softmax):
    """The allowed entries were filled with minus infinity instead of the forbidden ones: True means may attend."""
    right(scores, mask)
    return scores.masked_fill(mask, float("-inf")).softmax(dim=-1)


@mistake(of="masked_softmax")
def mask_not_used(scores, mask, right=masked_softmax):
    """These are exactly the weights of a softmax without a mask."""
    right(scores, mask)
    return scores.softmax(dim=-1)


@mistake(of="masked_softmax")
def softmax_over_readers(scores, mask, right=masked_softmax):
    """The softmax ran over the readers (axis -2): columns sum to 1, but the budget is the reader's, so rows must."""
    right(scores, mask)
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-2)


@mistake(of="masked_softmax")
def softmax_over_whole_table(scores, mask, right=masked_softmax):
    """All readers together share one unit: the softmax ran over the last two axes at once."""
    right(scores, mask)
    return scores.masked_fill(~mask, float("-inf")).flatten(start_dim=-2).softmax(dim=-1).reshape(scores.shape)


@mistake(of="masked_softmax")
def zeroed_after_softmax(scores, mask, right=masked_softmax):
    """Forbidden weights were set to 0 after the softmax: the rest sums to less than 1, and still feels the forbidden."""
    right(scores, mask)
    return scores.softmax(dim=-1) * mask


@mistake(of="masked_softmax")
def renormalised_after_softmax(scores, mask, right=masked_softmax):
    """Zeroed after the softmax, then divided again: one large forbidden score leaves 0/0, which is nan."""
    right(scores, mask)
    weights = scores.softmax(dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True)


@mistake(of="masked_softmax")
def filled_with_zero(scores, mask, right=masked_softmax):
    """Forbidden scores were set to 0: a score of 0 is no opinion, not no weight, and exp(0) is 1."""
    right(scores, mask)
    return scores.masked_fill(~mask, 0.0).softmax(dim=-1)


@mistake(of="masked_softmax")
def filled_with_minus_ten(scores, mask, right=masked_softmax):
    """Forbidden scores were set to -10: their weight is small, not 0, and grows when the allowed scores are low."""
    right(scores, mask)
    return scores.masked_fill(~mask, -10.0).softmax(dim=-1)


@mistake(of="masked_softmax")
def filled_with_minus_thirty(scores, mask, right=masked_softmax):
    """Forbidden scores were set to -30: too small to be seen at first, and everything once the allowed scores are lower."""
    right(scores, mask)
    return scores.masked_fill(~mask, -30.0).softmax(dim=-1)


@mistake(of="masked_softmax")
def filled_with_minus_ten_thousand(scores, mask, right=masked_softmax):
    """Forbidden scores were set to -10,000: allowed scores may be lower than any number that you can name."""
    right(scores, mask)
    return scores.masked_fill(~mask, -1e4).softmax(dim=-1)


@mistake(of="masked_softmax")
def filled_with_minus_a_billion(scores, mask, right=masked_softmax):
    """Forbidden scores were set to -1e9: float16 ends at 65,504 and cannot hold that number."""
    right(scores, mask)
    return scores.masked_fill(~mask, -1e9).softmax(dim=-1)


@mistake(of="masked_softmax")
def ten_thousand_subtracted(scores, mask, right=masked_softmax):
    """10,000 was subtracted from the forbidden scores: one that is 10,000 above the others is level with them again."""
    right(scores, mask)
    return (scores - 10_000.0 * ~mask).softmax(dim=-1)


@mistake(of="masked_softmax")
def mask_times_infinity(scores, mask, right=masked_softmax):
    """The mask was multiplied by minus infinity: for the allowed entries that is 0 times infinity, which is nan."""
    right(scores, mask)
    return (scores + ~mask * float("-inf")).softmax(dim=-1)


@mistake(of="masked_softmax")
def boolean_added(scores, mask, right=masked_softmax):
    """The mask itself was added to the scores: allowed ones rise by 1, and nothing is forbidden."""
    right(scores, mask)
    return (scores + mask).softmax(dim=-1)


@mistake(of="masked_softmax")
def maximum_not_subtracted(scores, mask, right=masked_softmax):
    """The exponentials overflow: exp of 89 is infinite in float32. Subtract the largest score first."""
    right(scores, mask)
    exponentials = scores.masked_fill(~mask, float("-inf")).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(of="masked_softmax")
def maximum_of_whole_table_subtracted(scores, mask, right=masked_softmax):
    """One maximum was subtracted from all rows: a row that lies far below it underflows to 0/0, which is nan."""
    right(scores, mask)
    filled = scores.masked_fill(~mask, float("-inf"))
    exponentials = (filled - filled.max()).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(of="masked_softmax")
def exponentials_zeroed(scores, mask, right=masked_softmax):
    """The exponentials were zeroed after they were taken: a large forbidden score is infinite by then, or its gradient."""
    right(scores, mask)
    allowed = scores.masked_fill(~mask, float("-inf"))
    exponentials = torch.where(mask, (scores - allowed.amax(dim=-1, keepdim=True).detach()).exp(), 0.0)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(of="masked_softmax")
def squares_instead_of_exponentials(scores, mask, right=masked_softmax):
    """These are exactly the weights you get from squares: a score of -3 then counts more than a score of 1."""
    right(scores, mask)
    squares = scores.square() * mask
    return squares / squares.sum(dim=-1, keepdim=True)


@mistake(of="masked_softmax")
def logarithms_returned(scores, mask, right=masked_softmax):
    """These are exactly the logarithms of the weights."""
    right(scores, mask)
    return scores.masked_fill(~mask, float("-inf")).log_softmax(dim=-1)


@mistake(of="masked_softmax")
def softmax_taken_twice(scores, mask, right=masked_softmax):
    """The softmax was taken twice: the second one flattens the weights and gives the forbidden a share again."""
    return right(scores, mask).softmax(dim=-1)


@mistake(of="masked_softmax")
def weights_in_float32(scores, mask, right=masked_softmax):
    """The weights come back in float32 whatever the scores are: what is converted up must be converted back."""
    right(scores, mask)
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1, dtype=torch.float32)


@mistake(of="masked_softmax")
def rounded_to_float32_between(scores, mask, right=masked_softmax):
    """The softmax was computed in float32 and converted back: float64 scores lose half of their digits."""
    return right(scores.float(), mask).to(scores.dtype)


@mistake(of="masked_softmax")
def scores_overwritten(scores, mask, right=masked_softmax):
    """The scores were filled in place: they belong to the caller, who still needs them."""
    right(scores, mask)
    return scores.masked_fill_(~mask, float("-inf")).softmax(dim=-1)


@mistake(of="masked_softmax")
def mask_forced_on_last_axes(scores, mask, right=masked_softmax):
    """The mask was reshaped to the last two axes of the scores: one mask for each sequence no longer fits."""
    right(scores, mask)
    table = mask.reshape(-1, *mask.shape[-2:])[0]
    return scores.masked_fill(~table, float("-inf")).softmax(dim=-1)


@mistake(of="masked_softmax")
def gradient_cut(scores, mask, right=masked_softmax):
    """The scores were detached: the weights are right, but nothing can be learned through them."""
    return right(scores.detach(), mask) + 0 * scores.masked_fill(~mask, 0.0)


@mistake(of="masked_softmax")
def empty_row_is_nan(scores, mask):
    """A row in which nothing is allowed came back as nan: refuse it, and say what the mask was."""
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


@mistake(of="masked_softmax")
def empty_row_is_zero(scores, mask):
    """A row in which nothing is allowed came back as zeros, which do not sum to 1: refuse it."""
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).nan_to_num()


@mistake(of="masked_softmax")
def empty_row_is_even(scores, mask):
    """A row in which nothing is allowed came back as an even average over everything that is forbidden: refuse it."""
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)


# -- prefix_mean_softmax ------------------------------------------------------------------------------------------------


@mistake(of="prefix_mean_softmax")
def scored_by_content(x):
    """The scores are products of the rows of x: that is attention with an opinion, a step too early. No opinion is 0."""
    return masked_softmax(x @ x.transpose(-2, -1), causal_mask(x.shape[-2], device=x.device)) @ x


@mistake(of="prefix_mean_softmax")
def mask_forgotten(x):
    """These are exactly the numbers you get without the mask: every row averages the whole sequence."""
    scores = torch.zeros(x.shape[-2], x.shape[-2], dtype=x.dtype, device=x.device)
    return scores.softmax(dim=-1) @ x


@mistake(of="prefix_mean_softmax")
def softmax_of_the_mask(x):
    """The softmax was taken of the triangle of ones itself: its zeros have exponentials too, so the future counts."""
    triangle = causal_mask(x.shape[-2], device=x.device).to(x.dtype)
    return triangle.softmax(dim=-1) @ x


@mistake(of="prefix_mean_softmax")
def zero_scores_zeroed_after_softmax(x):
    """Every allowed weight is 1/T: the mask came after the softmax, and nothing was divided again."""
    T = x.shape[-2]
    scores = torch.zeros(T, T, dtype=x.dtype, device=x.device)
    return (scores.softmax(dim=-1) * causal_mask(T, device=x.device)) @ x


@mistake(of="prefix_mean_softmax")
def weights_transposed(x):
    """The weights were transposed before the product: each row then gathers from the future."""
    T = x.shape[-2]
    scores = torch.zeros(T, T, dtype=x.dtype, device=x.device)
    return masked_softmax(scores, causal_mask(T, device=x.device)).T @ x


@mistake(of="prefix_mean_softmax")
def scored_by_distance(x):
    """The scores fall with the distance between reader and row; without an opinion all scores are equal."""
    places = torch.arange(x.shape[-2], device=x.device)
    scores = (places - places.unsqueeze(1)).to(x.dtype)
    return masked_softmax(scores, causal_mask(x.shape[-2], device=x.device)) @ x


@mistake(of="prefix_mean_softmax")
def own_row_scored_lower(x):
    """The scores are ones below the diagonal and zeros on it: the own row then gets less than the others."""
    scores = torch.ones(x.shape[-2], x.shape[-2], dtype=x.dtype, device=x.device).tril(diagonal=-1)
    return masked_softmax(scores, causal_mask(x.shape[-2], device=x.device)) @ x


@mistake(of="prefix_mean_softmax")
def mixed_in_float32(x):
    """The weights were made in float32 and the result converted back: float64 inputs lose half of their digits."""
    scores = torch.zeros(x.shape[-2], x.shape[-2], device=x.device)
    return (masked_softmax(scores, causal_mask(x.shape[-2], device=x.device)) @ x.float()).to(x.dtype)


# -- MeanLM -------------------------------------------------------------------------------------------------------------


@mistake(of="MeanLM.__init__")
def output_without_bias(self, vocab_size, d_model, block_size, positions=False, residual=False):
    """lm_head has no bias: tokens that are simply frequent then have to be explained by the text before them."""
    nn.Module.__init__(self)
    self.block_size, self.residual = block_size, residual
    self.tok_emb = nn.Embedding(vocab_size, d_model)
    self.pos_emb = nn.Embedding(block_size, d_model) if positions else None
    self.lm_head = nn.Linear(d_model, vocab_size, bias=False)


@mistake(of="MeanLM.__init__")
def tables_tied(self, vocab_size, d_model, block_size, positions=False, residual=False):
    """lm_head and tok_emb share one weight: that is for part 6; here each has its own."""
    nn.Module.__init__(self)
    self.block_size, self.residual = block_size, residual
    self.tok_emb = nn.Embedding(vocab_size, d_model)
    self.pos_emb = nn.Embedding(block_size, d_model) if positions else None
    self.lm_head = nn.Linear(d_model, vocab_size)
    self.lm_head.weight = self.tok_emb.weight


@mistake(of="MeanLM.__init__")
def positions_always_made(self, vocab_size, d_model, block_size, positions=False, residual=False):
    """pos_emb exists although positions were not asked for."""
    nn.Module.__init__(self)
    self.block_size, self.residual = block_size, residual
    self.tok_emb = nn.Embedding(vocab_size, d_model)
    self.pos_emb = nn.Embedding(block_size, d_model)
    self.lm_head = nn.Linear(d_model, vocab_size)


@mistake(of="MeanLM.__init__")
def positions_never_made(self, vocab_size, d_model, block_size, positions=False, residual=False):
    """There is no pos_emb although positions were asked for."""
    nn.Module.__init__(self)
    self.block_size, self.residual = block_size, residual
    self.tok_emb = nn.Embedding(vocab_size, d_model)
    self.pos_emb = None
    self.lm_head = nn.Linear(d_model, vocab_size)


@mistake(of="MeanLM.__init__")
def one_position_per_token(self, vocab_size, d_model, block_size, positions=False, residual=False):
    """pos_emb has a row for each token of the vocabulary; it needs one for each place in the block."""
    nn.Module.__init__(self)
    self.block_size, self.residual = block_size, residual
    self.tok_emb = nn.Embedding(vocab_size, d_model)
    self.pos_emb = nn.Embedding(vocab_size, d_model) if positions else None
    self.lm_head = nn.Linear(d_model, vocab_size)


@mistake(of="MeanLM.forward")
def residual_forgotten(self, idx, right=MeanLM.forward):
    """These are exactly the logits without the residual: the current token is not added to the mean."""
    residual, self.residual = self.residual, False
    logits = right(self, idx)
    self.residual = residual
    return logits


@mistake(of="MeanLM.forward")
def residual_always_added(self, idx, right=MeanLM.forward):
    """These are exactly the logits with the residual, which was not asked for here."""
    residual, self.residual = self.residual, True
    logits = right(self, idx)
    self.residual = residual
    return logits


@mistake(of="MeanLM.forward")
def positions_not_used(self, idx, right=MeanLM.forward):
    """These are exactly the logits without positions: pos_emb was made, but it is never added."""
    table, self.pos_emb = self.pos_emb, None
    logits = right(self, idx)
    self.pos_emb = table
    return logits


@mistake(of="MeanLM.forward")
def residual_without_positions(self, idx, right=MeanLM.forward):
    """The residual adds the bare token embedding; what is added is the input of the mean, positions included."""
    right(self, idx)
    tokens = self.tok_emb(idx)
    x = tokens if self.pos_emb is None else tokens + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    mixed = prefix_mean_softmax(x)
    return self.lm_head(mixed + tokens if self.residual else mixed)


@mistake(of="MeanLM.forward")
def positions_added_after_the_mean(self, idx, right=MeanLM.forward):
    """The positions were added after the mean: they belong to the rows that are averaged."""
    right(self, idx)
    x = self.tok_emb(idx)
    mixed = prefix_mean_softmax(x) + x if self.residual else prefix_mean_softmax(x)
    if self.pos_emb is not None:
        mixed = mixed + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    return self.lm_head(mixed)


@mistake(of="MeanLM.forward")
def positions_counted_from_one(self, idx, right=MeanLM.forward):
    """The positions were counted from 1: the first row of the table is never used, and the last place has none."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb(torch.arange(1, idx.shape[1] + 1, device=idx.device))
    mixed = prefix_mean_softmax(x)
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def positions_from_the_end(self, idx, right=MeanLM.forward):
    """A short text was given the last rows of the position table; its first token stands at position 0."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb.weight[-idx.shape[1] :]
    mixed = prefix_mean_softmax(x)
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def positions_not_cut_to_length(self, idx, right=MeanLM.forward):
    """The whole position table was added to a shorter text: take its first T rows."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb.weight
    mixed = prefix_mean_softmax(x)
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def mean_of_the_whole_text(self, idx, right=MeanLM.forward):
    """The mean went over the whole text: each position has already read the token that it should predict."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    mixed = x.mean(dim=1, keepdim=True).expand_as(x)
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def texts_of_the_batch_mixed(self, idx, right=MeanLM.forward):
    """The mean went over the first axis: the texts of a batch were averaged with each other."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    mixed = prefix_mean_loop(x.transpose(0, 1)).transpose(0, 1)
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def mean_forgotten(self, idx, right=MeanLM.forward):
    """These are exactly the logits of the current token alone: the mean is missing."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    return self.lm_head(x + x if self.residual else x)


@mistake(of="MeanLM.forward")
def residual_is_the_mean(self, idx, right=MeanLM.forward):
    """The mean was added to itself: x was overwritten by its mean before the residual could use it."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    x = prefix_mean_matmul(x)
    return self.lm_head(x + x if self.residual else x)


@mistake(of="MeanLM.forward")
def probabilities_returned(self, idx, right=MeanLM.forward):
    """These are exactly the softmax of the logits: a loss that expects logits would take it a second time."""
    return right(self, idx).softmax(dim=-1)


@mistake(of="MeanLM.forward")
def logits_in_float32(self, idx, right=MeanLM.forward):
    """The logits come back in float32 whatever the parameters are."""
    return right(self, idx).float()


@mistake(of="MeanLM.forward")
def mean_cut_from_training(self, idx, right=MeanLM.forward):
    """The mean was detached: the logits are right, but training does not reach the tokens of the past."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    mixed = prefix_mean_softmax(x.detach())
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def positions_cut_from_training(self, idx, right=MeanLM.forward):
    """The position table was read through .data: the logits are right, but its vectors are never trained."""
    right(self, idx)
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb.weight.data[: idx.shape[1]]
    mixed = prefix_mean_softmax(x)
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def too_long_not_refused(self, idx):
    """A text longer than block_size went through: without positions nothing stops it unless you do."""
    x = self.tok_emb(idx)
    if self.pos_emb is not None:
        x = x + self.pos_emb(torch.arange(idx.shape[1], device=idx.device))
    mixed = prefix_mean_softmax(x)
    return self.lm_head(mixed + x if self.residual else mixed)


@mistake(of="MeanLM.forward")
def too_long_cut_off(self, idx, right=MeanLM.forward):
    """A text longer than block_size was silently cut; the caller must be told."""
    return right(self, idx[:, -self.block_size :])


@mistake(of="MeanLM.forward")
def full_block_refused(self, idx, right=MeanLM.forward):
    """A text of exactly block_size tokens was refused: it still fits."""
    if idx.shape[1] >= self.block_size:
        raise ValueError(f"idx has T = {idx.shape[1]} tokens, block_size is {self.block_size}")
    return right(self, idx)
