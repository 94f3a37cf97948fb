"""Wrong solutions of Part 2: what each is called, and what its numbers tell the student."""

import math

import torch
from torch import Tensor

from autograder.checks import mistake


@mistake(of="dot_product_scores")
def keys_not_transposed(q: Tensor, k: Tensor) -> Tensor:
    """This is what a product with the keys as they stand gives: it sums over the keys' rows, not over their coordinates."""
    return q @ k


@mistake(of="dot_product_scores")
def all_axes_reversed(q: Tensor, k: Tensor) -> Tensor:
    """These are the numbers you get when all axes of the keys are reversed: right for one table, but a batch is mixed up."""
    return q @ k.permute(*reversed(range(k.dim())))


@mistake(of="dot_product_scores")
def first_two_axes_swapped(q: Tensor, k: Tensor) -> Tensor:
    """These are the numbers you get when the first two axes of the keys change places: without a batch these are the right ones, with a batch they are not."""
    return q @ k.transpose(0, 1)


@mistake(of="dot_product_scores")
def axes_one_and_two_swapped(q: Tensor, k: Tensor) -> Tensor:
    """These are the numbers you get when axes 1 and 2 of the keys change places: right behind one batch axis, wrong behind none or two."""
    return q @ k.transpose(1, 2)


@mistake(of="dot_product_scores")
def queries_and_keys_exchanged(q: Tensor, k: Tensor) -> Tensor:
    """This table stands on its side: its rows are keys and its columns queries, so the softmax would share out each key among the queries."""
    return k @ q.transpose(-2, -1)


@mistake(of="dot_product_scores")
def paired_rows_only(q: Tensor, k: Tensor) -> Tensor:
    """Query t was scored against key t alone; every query must meet every key, so a row has S scores."""
    return (q * k).sum(-1)


@mistake(of="dot_product_scores")
def products_averaged(q: Tensor, k: Tensor) -> Tensor:
    """These are the numbers you get when the products of the coordinates are averaged: a dot product is their sum."""
    return q @ k.transpose(-2, -1) / q.size(-1)


@mistake(of="dot_product_scores")
def scores_scaled_too_early(q: Tensor, k: Tensor) -> Tensor:
    """These scores are divided by the root of d already: the plain dot product comes first, its size is what you measure next."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))


@mistake(of="dot_product_scores")
def cosine_instead_of_dot(q: Tensor, k: Tensor) -> Tensor:
    """These are cosines: with both lengths divided away no query can be sharper than another, and no key louder."""
    return torch.nn.functional.normalize(q, dim=-1) @ torch.nn.functional.normalize(k, dim=-1).transpose(-2, -1)


@mistake(of="dot_product_scores")
def distance_instead_of_dot(q: Tensor, k: Tensor) -> Tensor:
    """These are negative squared distances: near is high, as wished, but they contain the lengths of query and key as well."""
    return -(q.unsqueeze(-2) - k.unsqueeze(-3)).square().sum(-1)


@mistake(of="dot_product_scores")
def weights_instead_of_scores(q: Tensor, k: Tensor) -> Tensor:
    """These rows have been through a softmax: scores may have any sign and sum to anything."""
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1)


@mistake(of="dot_product_scores")
def keys_of_the_first_sequence(q: Tensor, k: Tensor) -> Tensor:
    """Every batch entry was scored against the keys of the first one: sequences of a batch must never meet."""
    first = k.reshape(-1, *k.shape[-2:])[0]
    return q @ first.transpose(-2, -1)


@mistake(of="dot_product_scores")
def keys_summed_over_the_batch(q: Tensor, k: Tensor) -> Tensor:
    """The keys of all batch entries were added up before the product: sequences of a batch must never meet."""
    return q @ k.reshape(-1, *k.shape[-2:]).sum(0).transpose(-2, -1)


@mistake(of="dot_product_scores")
def scores_always_float32(q: Tensor, k: Tensor) -> Tensor:
    """The scores come back as float32 whatever came in: the dtype belongs to whoever calls."""
    return q.float() @ k.float().transpose(-2, -1)


@mistake(of="scaled_scores")
def scores_not_scaled(q: Tensor, k: Tensor) -> Tensor:
    """These are exactly the numbers you get when the scores are not divided at all: their variance then grows with d."""
    return q @ k.transpose(-2, -1)


@mistake(of="scaled_scores")
def divided_by_width(q: Tensor, k: Tensor) -> Tensor:
    """These are exactly the numbers you get when the scores are divided by d (or twice by its root): they then shrink as the head grows wider."""
    return q @ k.transpose(-2, -1) / q.size(-1)


@mistake(of="scaled_scores")
def multiplied_by_root(q: Tensor, k: Tensor) -> Tensor:
    """These are exactly the numbers you get when the scores are multiplied by the root of d: the variance becomes d squared instead of 1."""
    return q @ k.transpose(-2, -1) * math.sqrt(q.size(-1))


@mistake(of="scaled_scores")
def divided_by_root_of_queries(q: Tensor, k: Tensor) -> Tensor:
    """These are exactly the numbers you get when the divisor is the root of T, the number of queries: no score is a sum over T."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(-2))


@mistake(of="scaled_scores")
def divided_by_root_of_keys(q: Tensor, k: Tensor) -> Tensor:
    """These are exactly the numbers you get when the divisor is the root of S, the number of keys: no score is a sum over S."""
    return q @ k.transpose(-2, -1) / math.sqrt(k.size(-2))


@mistake(of="scaled_scores")
def divided_by_root_of_first_axis(q: Tensor, k: Tensor) -> Tensor:
    """These are exactly the numbers you get when the divisor is the root of the first axis: with a batch in front that is not the width."""
    return q @ k.transpose(-2, -1) / math.sqrt(q.size(0))


@mistake(of="scaled_scores")
def divided_by_half_the_width(q: Tensor, k: Tensor) -> Tensor:
    """These are the numbers of d ** 1 / 2 in Python: the power binds first, so it is d divided by 2 and no root."""
    return q @ k.transpose(-2, -1) / (q.size(-1) / 2)


@mistake(of="scaled_scores")
def power_and_division_misread(q: Tensor, k: Tensor) -> Tensor:
    """These are the numbers of scores / d ** 1 / 2 in Python, read from the left: divided by d, and then by 2."""
    return q @ k.transpose(-2, -1) / q.size(-1) / 2


@mistake(of="scaled_scores")
def root_rounded_down(q: Tensor, k: Tensor) -> Tensor:
    """The root was cut to a whole number: right for widths such as 16 and 64, wrong for all between."""
    return q @ k.transpose(-2, -1) / math.isqrt(q.size(-1))


@mistake(of="scaled_scores")
def fourth_root_once(q: Tensor, k: Tensor) -> Tensor:
    """Only one of the two factors was divided by the fourth root of d: the variance is still the root of d."""
    return q @ k.transpose(-2, -1) / q.size(-1) ** 0.25


@mistake(of="scaled_scores")
def divided_three_times(q: Tensor, k: Tensor) -> Tensor:
    """Queries, keys and scores were each divided by the root of d: once, in one place, is enough."""
    return q @ k.transpose(-2, -1) / q.size(-1) ** 1.5


@mistake(of="scaled_scores")
def divided_by_logarithm(q: Tensor, k: Tensor) -> Tensor:
    """The divisor is the logarithm of d: a variance of d is brought back to 1 by a root, a logarithm grows too slowly."""
    return q @ k.transpose(-2, -1) / math.log(q.size(-1) + 1)


@mistake(of="scaled_scores")
def divided_by_measured_spread(q: Tensor, k: Tensor) -> Tensor:
    """The scores were divided by their own standard deviation: every table then is equally sharp, and sharpness cannot be learned."""
    scores = q @ k.transpose(-2, -1)
    return scores / scores.std()


@mistake(of="scaled_scores")
def rows_standardised(q: Tensor, k: Tensor) -> Tensor:
    """Each row of scores was given mean 0 and standard deviation 1: the division is by a constant, so that training can move the sharpness."""
    scores = q @ k.transpose(-2, -1)
    return (scores - scores.mean(-1, keepdim=True)) / scores.std(-1, keepdim=True, correction=0)


@mistake(of="scaled_scores")
def divided_by_query_length(q: Tensor, k: Tensor) -> Tensor:
    """Each row was divided by the length of its query: that is the root of d on average only, and takes the query's say about sharpness away."""
    return q @ k.transpose(-2, -1) / q.norm(dim=-1, keepdim=True)


@mistake(of="scaled_scores")
def scaled_weights_instead_of_scores(q: Tensor, k: Tensor) -> Tensor:
    """These rows have been through a softmax already: the scaled scores are asked for, with either sign."""
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)


@mistake(of="scaled_scores")
def scaled_scores_always_float32(q: Tensor, k: Tensor) -> Tensor:
    """The scaled scores come back as float32 whatever came in: the dtype belongs to whoever calls."""
    return q.float() @ k.float().transpose(-2, -1) / math.sqrt(q.size(-1))


@mistake(of="dot_product_variance")
def deviation_instead_of_variance(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is the standard deviation, near the root of d: the variance is its square."""
    q, k = torch.randn(n_pairs, d, generator=generator), torch.randn(n_pairs, d, generator=generator)
    return (q * k).sum(-1).std().item()


@mistake(of="dot_product_variance")
def variance_of_one_product(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is near 1 at every width: the variance of a single product of coordinates (or of q·k divided by the root of d), not of their sum."""
    q, k = torch.randn(n_pairs, d, generator=generator), torch.randn(n_pairs, d, generator=generator)
    return (q * k).var().item()


@mistake(of="dot_product_variance")
def one_draw_for_both(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is near 2d, the variance of a squared length: q and k are the same draw, so they are not independent."""
    q = torch.randn(n_pairs, d, generator=generator)
    return (q * q).sum(-1).var().item()


@mistake(of="dot_product_variance")
def uniform_draws(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is what numbers drawn uniformly from 0 to 1 give: their variance is not 1 and their mean is not 0."""
    q, k = torch.rand(n_pairs, d, generator=generator), torch.rand(n_pairs, d, generator=generator)
    return (q * k).sum(-1).var().item()


@mistake(of="dot_product_variance")
def uniform_draws_of_variance_one(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """The draws have mean 0 and variance 1 but are uniform, not normal: the variance is right, its scatter too small."""
    width = math.sqrt(12.0)
    q = width * (torch.rand(n_pairs, d, generator=generator) - 0.5)
    k = width * (torch.rand(n_pairs, d, generator=generator) - 0.5)
    return (q * k).sum(-1).var().item()


@mistake(of="dot_product_variance")
def mean_absolute_score(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is the mean size of a score without its sign: the variance is the mean of the squares."""
    q, k = torch.randn(n_pairs, d, generator=generator), torch.randn(n_pairs, d, generator=generator)
    return (q * k).sum(-1).abs().mean().item()


@mistake(of="dot_product_variance")
def squares_not_averaged(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is the sum of all squares, n_pairs times too large: a variance is their mean."""
    q, k = torch.randn(n_pairs, d, generator=generator), torch.randn(n_pairs, d, generator=generator)
    return (q * k).sum(-1).square().sum().item()


@mistake(of="dot_product_variance")
def variance_of_the_mean_product(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is near 1/d: the products of the coordinates were averaged, and a dot product is their sum."""
    q, k = torch.randn(n_pairs, d, generator=generator), torch.randn(n_pairs, d, generator=generator)
    return (q * k).mean(-1).var().item()


@mistake(of="dot_product_variance")
def one_query_for_all_keys(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """A single query met all the keys: this is that query's squared length, which is d on average over queries only."""
    q, k = torch.randn(d, generator=generator), torch.randn(n_pairs, d, generator=generator)
    return (k * q).sum(-1).var().item()


@mistake(of="dot_product_variance")
def generator_not_used(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """The generator that was passed was not used: the same seed then gives another number at each call."""
    q, k = torch.randn(n_pairs, d), torch.randn(n_pairs, d)
    return (q * k).sum(-1).var().item()


@mistake(of="dot_product_variance")
def generator_for_queries_only(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """Only one of the two draws came from the generator that was passed; the keys came from the global one."""
    q, k = torch.randn(n_pairs, d, generator=generator), torch.randn(n_pairs, d)
    return (q * k).sum(-1).var().item()


@mistake(of="dot_product_variance")
def seed_fixed_inside(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """Every call gives the same number: a seed was set inside the function, and the one that was passed has no say."""
    torch.manual_seed(0)
    q, k = torch.randn(n_pairs, d), torch.randn(n_pairs, d)
    return (q * k).sum(-1).var().item()


@mistake(of="dot_product_variance")
def global_seed_set(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """The generator's seed was set on torch's global generator, which then repeats everybody else's draws too."""
    if generator is not None:
        torch.manual_seed(generator.initial_seed())
    q, k = torch.randn(n_pairs, d), torch.randn(n_pairs, d)
    return (q * k).sum(-1).var().item()


@mistake(of="dot_product_variance")
def width_without_measuring(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """This is exactly d: the prediction was returned, nothing was measured."""
    return float(d)


@mistake(of="dot_product_variance")
def number_of_pairs_ignored(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> float:
    """The answer is as good with 200 pairs as with 20,000: the number of pairs that was asked for is not used."""
    q, k = torch.randn(20_000, d, generator=generator), torch.randn(20_000, d, generator=generator)
    return (q * k).sum(-1).var().item()


@mistake(of="dot_product_variance")
def variance_as_a_tensor(d: int, n_pairs: int = 20_000, generator: torch.Generator | None = None) -> Tensor:
    """The number is still wrapped in a tensor: a measurement that people print and compare is a Python float."""
    q, k = torch.randn(n_pairs, d, generator=generator), torch.randn(n_pairs, d, generator=generator)
    return (q * k).sum(-1).var()


@mistake(of="effective_tokens")
def entropy_not_exponentiated(weights: Tensor) -> Tensor:
    """This is the entropy itself: it counts nats, and its exponential counts tokens."""
    return torch.special.entr(weights).sum(-1)


@mistake(of="effective_tokens")
def entropy_in_bits_not_exponentiated(weights: Tensor) -> Tensor:
    """This is the entropy in bits: it counts yes-or-no questions, and 2 to its power counts tokens."""
    return torch.special.entr(weights).sum(-1) / math.log(2.0)


@mistake(of="effective_tokens")
def exponential_of_bits(weights: Tensor) -> Tensor:
    """This is e to the power of an entropy in bits: logarithm and exponential must have the same base."""
    return (torch.special.entr(weights).sum(-1) / math.log(2.0)).exp()


@mistake(of="effective_tokens")
def two_to_the_nats(weights: Tensor) -> Tensor:
    """This is 2 to the power of an entropy in nats: logarithm and exponential must have the same base."""
    return torch.special.entr(weights).sum(-1).exp2()


@mistake(of="effective_tokens")
def entropy_averaged(weights: Tensor) -> Tensor:
    """This is the exponential of a mean over the row: the weights are the average already, so their terms are summed."""
    return torch.special.entr(weights).mean(-1).exp()


@mistake(of="effective_tokens")
def inverse_of_squares(weights: Tensor) -> Tensor:
    """This is 1 over the sum of squares, a cousin that counts large weights more: the contract asks for the entropy's exponential."""
    return 1 / weights.square().sum(-1)


@mistake(of="effective_tokens")
def inverse_of_largest(weights: Tensor) -> Tensor:
    """This is 1 over the largest weight: it does not see how the rest is shared out."""
    return 1 / weights.amax(-1)


@mistake(of="effective_tokens")
def weights_above_zero_counted(weights: Tensor) -> Tensor:
    """This counts the weights that are not 0: a weight of a millionth then counts as much as one of a half."""
    return (weights > 0).sum(-1).to(weights.dtype)


@mistake(of="effective_tokens")
def sign_forgotten(weights: Tensor) -> Tensor:
    """The minus sign of the entropy is missing: more tokens then give a smaller number, always below 1."""
    return (-torch.special.entr(weights).sum(-1)).exp()


@mistake(of="effective_tokens")
def zeros_give_nan(weights: Tensor) -> Tensor:
    """A weight of exactly 0 meets the logarithm: 0 times minus infinity is NaN, and one NaN eats the row."""
    return (-(weights * weights.log()).sum(-1)).exp()


@mistake(of="effective_tokens")
def constant_vanishes_in_half(weights: Tensor) -> Tensor:
    """The constant that keeps the logarithm from 0 is itself 0 in float16, so the NaN is back there."""
    return (-(weights * (weights + 1e-9).log()).sum(-1)).exp()


@mistake(of="effective_tokens")
def zeros_lifted_visibly(weights: Tensor) -> Tensor:
    """Every zero was lifted to a thousandth: over a wide row these add up to tokens that nobody reads."""
    lifted = weights.clamp(min=1e-3)
    return (-(lifted * lifted.log()).sum(-1)).exp()


@mistake(of="effective_tokens")
def zeros_lifted_a_little(weights: Tensor) -> Tensor:
    """Every weight was lifted by a millionth: it hardly shows in a short row, and plainly in one of a thousand zeros."""
    lifted = weights + 1e-6
    return (-(lifted * lifted.log()).sum(-1)).exp()


@mistake(of="effective_tokens")
def small_weights_dropped(weights: Tensor) -> Tensor:
    """Weights below a hundredth were left out of the sum: only exact zeros add nothing, the small ones do count."""
    return torch.special.entr(weights * (weights > 0.01)).sum(-1).exp()


@mistake(of="effective_tokens")
def sum_over_the_first_axis(weights: Tensor) -> Tensor:
    """The sum runs over the first axis: in a batch that adds up different rows."""
    return torch.special.entr(weights).sum(0).exp()


@mistake(of="effective_tokens")
def one_number_for_all_rows(weights: Tensor) -> Tensor:
    """The entropies of all rows were added up before the exponential: every row has a number of its own."""
    return torch.special.entr(weights).sum().exp()


@mistake(of="effective_tokens")
def rows_averaged(weights: Tensor) -> Tensor:
    """The mean over all rows was returned: every row has a number of its own."""
    return torch.special.entr(weights).sum(-1).exp().mean()


@mistake(of="effective_tokens")
def softmax_on_top(weights: Tensor) -> Tensor:
    """The weights went through another softmax: weights lie between 0 and 1, so it makes nearly equal ones of them."""
    return torch.special.entr(torch.softmax(weights, -1)).sum(-1).exp()


@mistake(of="softmax_jacobian")
def diagonal_only(weights: Tensor) -> Tensor:
    """Only w(1 - w) on the diagonal is there: the scores of the other tokens act too, through the shared denominator."""
    return torch.diag_embed(weights * (1 - weights))


@mistake(of="softmax_jacobian")
def outer_product_forgotten(weights: Tensor) -> Tensor:
    """Only the weights on the diagonal are there: this is the derivative without the shared denominator."""
    return torch.diag_embed(weights)


@mistake(of="softmax_jacobian")
def diagonal_forgotten(weights: Tensor) -> Tensor:
    """Only minus the products of two weights are there: a score also lifts its own numerator."""
    return -weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake(of="softmax_jacobian")
def outer_product_alone(weights: Tensor) -> Tensor:
    """These are the products of two weights alone: they are what is taken away from the weights on the diagonal."""
    return weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake(of="softmax_jacobian")
def jacobian_sign_flipped(weights: Tensor) -> Tensor:
    """Every sign is the other way round: a weight must grow with its own score."""
    return weights.unsqueeze(-1) * weights.unsqueeze(-2) - torch.diag_embed(weights)


@mistake(of="softmax_jacobian")
def outer_product_added(weights: Tensor) -> Tensor:
    """The products were added, not subtracted: what one token wins the others must lose, so the rows sum to 0."""
    return torch.diag_embed(weights) + weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake(of="softmax_jacobian")
def softmax_taken_again(weights: Tensor) -> Tensor:
    """The weights went through another softmax first: what comes in has been normalised already."""
    again = torch.softmax(weights, -1)
    return torch.diag_embed(again) - again.unsqueeze(-1) * again.unsqueeze(-2)


@mistake(of="softmax_jacobian")
def identity_instead_of_diagonal(weights: Tensor) -> Tensor:
    """There are ones on the diagonal where the weights belong: a token with little weight also moves little."""
    identity = torch.eye(weights.size(-1), dtype=weights.dtype, device=weights.device)
    return identity - weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake(of="softmax_jacobian")
def one_factor_of_two(weights: Tensor) -> Tensor:
    """One weight was subtracted where a product of two is due: both tokens take part in each entry."""
    return torch.diag_embed(weights) - weights.unsqueeze(-1)


@mistake(of="softmax_jacobian")
def own_weight_not_multiplied(weights: Tensor) -> Tensor:
    """This is the derivative of the logarithm of the weights: each row still has to be multiplied by its own weight."""
    return torch.eye(weights.size(-1), dtype=weights.dtype, device=weights.device) - weights.unsqueeze(-2)


@mistake(of="softmax_jacobian")
def outer_product_over_the_batch(weights: Tensor) -> Tensor:
    """The products of all rows were added up: each row of a batch has a matrix of its own, from its own weights."""
    rows = weights.reshape(-1, weights.size(-1))
    return torch.diag_embed(weights) - rows.transpose(0, 1) @ rows


@mistake(of="softmax_jacobian")
def jacobians_averaged(weights: Tensor) -> Tensor:
    """The mean matrix of the batch was returned: each row has a matrix of its own."""
    rows = weights.reshape(-1, weights.size(-1))
    return (torch.diag_embed(rows) - rows.unsqueeze(-1) * rows.unsqueeze(-2)).mean(0)


@mistake(of="softmax_jacobian")
def derivative_as_a_vector(weights: Tensor) -> Tensor:
    """This is w(1 - w) as a vector, as for a sigmoid: in a softmax every score acts on every weight, so it is a matrix."""
    return weights * (1 - weights)


@mistake(of="softmax_jacobian")
def jacobian_always_float32(weights: Tensor) -> Tensor:
    """The matrix comes back as float32 whatever came in: the dtype belongs to whoever calls."""
    wide = weights.float()
    return torch.diag_embed(wide) - wide.unsqueeze(-1) * wide.unsqueeze(-2)


@mistake(of="softmax_jacobian")
def identity_on_the_cpu(weights: Tensor) -> Tensor:
    """The numbers are right, but the identity was built on the CPU: on another device the two cannot meet."""
    identity = torch.eye(weights.size(-1), dtype=weights.dtype)
    return identity * weights.unsqueeze(-1) - weights.unsqueeze(-1) * weights.unsqueeze(-2)


@mistake(of="frozen_fraction")
def entries_counted(weights: Tensor, threshold: float = 0.99) -> float:
    """This is the share of single weights above the threshold: a frozen row of 64 has one of them, so it is 64 times too small."""
    return (weights > threshold).double().mean().item()


@mistake(of="frozen_fraction")
def columns_counted(weights: Tensor, threshold: float = 0.99) -> float:
    """This is the share of columns that somebody reads with nearly all weight: a row is the last axis."""
    return (weights.amax(-2 if weights.dim() > 1 else -1) > threshold).double().mean().item()


@mistake(of="frozen_fraction")
def threshold_not_used(weights: Tensor, threshold: float = 0.99) -> float:
    """The threshold that was passed is not used: 0.99 is only what holds when none is given."""
    return (weights.amax(-1) > 0.99).double().mean().item()


@mistake(of="frozen_fraction")
def rows_not_frozen(weights: Tensor, threshold: float = 0.99) -> float:
    """This is the share of the rows that are not frozen: the comparison points the other way."""
    return (weights.amax(-1) < threshold).double().mean().item()


@mistake(of="frozen_fraction")
def number_of_frozen_rows(weights: Tensor, threshold: float = 0.99) -> float:
    """This is the number of frozen rows: a share is that number divided by the number of rows."""
    return float((weights.amax(-1) > threshold).sum().item())


@mistake(of="frozen_fraction")
def percent_of_frozen_rows(weights: Tensor, threshold: float = 0.99) -> float:
    """This is in per cent: a share lies between 0 and 1."""
    return 100 * (weights.amax(-1) > threshold).double().mean().item()


@mistake(of="frozen_fraction")
def mean_of_largest(weights: Tensor, threshold: float = 0.99) -> float:
    """This is the mean of the largest weights: the share counts how many of them are above the threshold."""
    return weights.double().amax(-1).mean().item()


@mistake(of="frozen_fraction")
def any_row_frozen(weights: Tensor, threshold: float = 0.99) -> float:
    """The largest weight of the whole table was compared: one frozen row then counts for all."""
    return float(weights.amax().item() > threshold)


@mistake(of="frozen_fraction")
def frozen_by_trace(weights: Tensor, threshold: float = 0.99) -> float:
    """This counts rows by the trace of the Jacobian: a different definition, which gives a smaller share on the same rows."""
    return (1 - weights.double().square().sum(-1) < 1 - threshold).double().mean().item()


@mistake(of="frozen_fraction")
def divided_by_first_axis(weights: Tensor, threshold: float = 0.99) -> float:
    """The number of frozen rows was divided by the length of the first axis: with more axes in front there are more rows."""
    return ((weights.amax(-1) > threshold).sum() / weights.size(0)).item()


@mistake(of="frozen_fraction")
def only_the_first_sequence(weights: Tensor, threshold: float = 0.99) -> float:
    """Only the rows of the first batch entry were counted: all rows of all leading axes count."""
    rows = weights.reshape(-1, *weights.shape[-2:])[0] if weights.dim() > 1 else weights
    return (rows.amax(-1) > threshold).double().mean().item()


@mistake(of="frozen_fraction")
def share_as_a_tensor(weights: Tensor, threshold: float = 0.99) -> Tensor:
    """The share is still wrapped in a tensor: a measurement that people print and compare is a Python float."""
    return (weights.amax(-1) > threshold).double().mean()
