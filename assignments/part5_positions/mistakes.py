"""Wrong solutions of part 5, one function each, and what a student who wrote one is told."""

import math

import torch
from part5_positions import alibi_bias, alibi_slopes, rope
from torch import nn
from torch.nn import functional as F

from autograder.checks import mistake

# The table


@mistake(of="LearnedPositions.forward")
def positions_returned_alone(self, x):
    """These are exactly the rows of the table, without x: they are to be added to the tokens, not to replace them."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return self.pos_emb(torch.arange(T, device=x.device)).expand_as(x)


@mistake(of="LearnedPositions.forward")
def table_starts_at_row_one(self, x):
    """These are exactly the numbers you get when place 0 gets row 1 of the table, and each place the row after its
    own: the first token stands at place 0."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x + self.pos_emb(torch.arange(1, T + 1, device=x.device))


@mistake(of="LearnedPositions.forward")
def places_counted_from_the_end(self, x):
    """These are exactly the numbers you get when places are counted from the end of the sequence: the same token would
    then move to another place with each token that is written."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x + self.pos_emb(torch.arange(T - 1, -1, -1, device=x.device))


@mistake(of="LearnedPositions.forward")
def one_row_for_all_places(self, x):
    """These are exactly the numbers you get when every place gets the same row: then nothing tells them apart."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x + self.pos_emb(torch.full((T,), T - 1, device=x.device))


@mistake(of="LearnedPositions.forward")
def last_rows_in_place_of_first(self, x):
    """These are exactly the numbers you get with the last T rows of the table: a sequence begins at place 0, however
    short it is."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x + self.pos_emb(torch.arange(block_size - T, block_size, device=x.device))


@mistake(of="LearnedPositions.forward")
def tokens_multiplied_by_positions(self, x):
    """These are exactly the numbers you get when tokens are multiplied by the rows of the table: they are to be
    added."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x * self.pos_emb(torch.arange(T, device=x.device))


@mistake(of="LearnedPositions.forward")
def tokens_scaled_before_the_sum(self, x):
    """These are exactly the numbers you get when x is multiplied by sqrt(d) first: some models do that to their
    embeddings; this layer adds, and does nothing else."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x * x.shape[-1] ** 0.5 + self.pos_emb(torch.arange(T, device=x.device))


@mistake(of="LearnedPositions.forward")
def positions_along_the_batch(self, x):
    """Your layer counts along the first axis, which is the batch where there is one: then all tokens of a sequence
    share a place. Time is the last axis but one."""
    T, block_size = x.shape[0], self.pos_emb.num_embeddings
    if block_size < x.shape[-2]:
        raise ValueError(f"x has T = {x.shape[-2]} tokens, more than block_size = {block_size}")
    rows = self.pos_emb(torch.arange(T, device=x.device) % block_size)
    return x + rows.reshape(T, *[1] * (x.dim() - 2), x.shape[-1])


@mistake(of="LearnedPositions.forward")
def time_is_the_second_axis(self, x):
    """Your layer takes the second axis for time: it is so for (B, T, d) and for nothing else. Counted from the end, it
    is the last but one always."""
    T, block_size = x.shape[1], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x + self.pos_emb(torch.arange(T, device=x.device))


@mistake(of="LearnedPositions.forward")
def places_beyond_the_table_share_its_last_row(self, x):
    """Your layer gives every place beyond the table its last row: different places then look the same, and nobody is
    told. Refuse with the number."""
    places = torch.arange(x.shape[-2], device=x.device)
    return x + self.pos_emb(places.clamp(max=self.pos_emb.num_embeddings - 1))


@mistake(of="LearnedPositions.forward")
def places_beyond_the_table_wrap_around(self, x):
    """Your layer starts the table again where it ends: place block_size then looks like place 0, and nobody is told.
    Refuse with the number."""
    places = torch.arange(x.shape[-2], device=x.device)
    return x + self.pos_emb(places % self.pos_emb.num_embeddings)


@mistake(of="LearnedPositions.forward")
def places_beyond_the_table_get_nothing(self, x):
    """Your layer leaves the tokens beyond the table as they are: they get no position at all, and nobody is told.
    Refuse with the number."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    rows = self.pos_emb(torch.arange(min(T, block_size), device=x.device))
    return x + torch.cat([rows, rows.new_zeros(max(T - block_size, 0), x.shape[-1])])


@mistake(of="LearnedPositions.forward")
def too_long_fails_in_the_look_up(self, x):
    """A sequence longer than the table fails inside of the look-up, with an index out of range: say it first, with a
    ValueError that has the number."""
    return x + self.pos_emb(torch.arange(x.shape[-2], device=x.device))


@mistake(of="LearnedPositions.forward")
def block_size_itself_refused(self, x):
    """Your layer refuses a sequence of exactly block_size tokens: the last place, block_size - 1, has a row."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size <= T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x + self.pos_emb(torch.arange(T, device=x.device))


@mistake(of="LearnedPositions.forward")
def positions_added_in_place(self, x):
    """Your layer adds into x itself: what a layer is given belongs to the caller, who may still need it."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    x += self.pos_emb(torch.arange(T, device=x.device))
    return x


@mistake(of="LearnedPositions.forward")
def table_cut_from_the_graph(self, x):
    """Your numbers are right, but no gradient reaches the table: its rows would stay as they were born."""
    T, block_size = x.shape[-2], self.pos_emb.num_embeddings
    if block_size < T:
        raise ValueError(f"x has T = {T} tokens, more than block_size = {block_size}")
    return x + self.pos_emb.weight[:T].detach()


@mistake(of="LearnedPositions.__init__")
def table_is_a_bare_parameter(self, block_size, d_model):
    """Your table is a bare parameter: the contract asks for an nn.Embedding called pos_emb, whose weights are found
    under pos_emb.weight."""
    nn.Module.__init__(self)
    self.pos_emb = nn.Parameter(torch.randn(block_size, d_model))


# Waves


@mistake(of="sinusoidal_positions")
def wave_exponent_doubled(T, d_model, base=10_000.0):
    """These are exactly the numbers you get with 4i/d in the exponent: counting columns in steps of two, the factor 2
    is in already."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-4 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def wave_exponent_halved(T, d_model, base=10_000.0):
    """These are exactly the numbers you get with i/d in the exponent, where i is the pair's number: it is 2i/d, so
    that the slowest wave is nearly base times as slow as the first."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def wave_exponent_reaches_one(T, d_model, base=10_000.0):
    """These are exactly the numbers you get when the last exponent is -1: the exponents are -2i/d, and the last of
    them is -(d - 2)/d."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-pairs / max(d_model // 2 - 1, 1))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def each_column_has_its_own_speed(T, d_model, base=10_000.0):
    """These are exactly the numbers you get when a cosine has the speed of the next column, and not that of its sine:
    two hands of different clocks are no pair, and sin² + cos² is no longer 1."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    columns = torch.arange(d_model, dtype=torch.float64)
    angles = torch.arange(T, dtype=torch.float64)[:, None] * base ** (-columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos()).float()


@mistake(of="sinusoidal_positions")
def sine_and_cosine_swapped(T, d_model, base=10_000.0):
    """These are exactly the numbers you get with the cosine in the even columns: place 0 begins with 0, 1, not with 1,
    0."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-2 * pairs / d_model)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def sines_first_then_cosines(T, d_model, base=10_000.0):
    """These are exactly the numbers you get with all sines in the first half and all cosines in the second: here they
    alternate."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-2 * pairs / d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=-1).float()


@mistake(of="sinusoidal_positions")
def waves_start_at_place_one(T, d_model, base=10_000.0):
    """These are exactly the numbers you get when the first row is that of place 1: places begin with 0."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = (places + 1) * base ** (-2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def speed_and_period_swapped(T, d_model, base=10_000.0):
    """These are exactly the numbers you get when places are multiplied by base^(2i/d): that is the period of a wave,
    and its speed is one over it."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def slowest_wave_first(T, d_model, base=10_000.0):
    """These are exactly the numbers you get with the slowest wave in the first columns: the first pair has speed 1."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-2 * pairs.flip(0) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def base_of_waves_ignored(T, d_model, base=10_000.0):
    """Your function takes a base and always uses 10,000."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * 10_000.0 ** (-2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def sines_only(T, d_model, base=10_000.0):
    """These are exactly the numbers you get with a sine in both columns of each pair: without its cosine, a sine does
    not know where its hand is."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.sin()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def waves_go_full_circles(T, d_model, base=10_000.0):
    """These are exactly the numbers you get with a factor 2 pi in the angle: the first speed is 1 radian for each
    place, not one full turn."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = 2 * math.pi * places * base ** (-2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


@mistake(of="sinusoidal_positions")
def waves_in_float64(T, d_model, base=10_000.0):
    """Your table is float64: a function that builds from numbers alone gives float32 here, since that is what models
    are made of."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} is odd")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


@mistake(of="sinusoidal_positions")
def odd_width_of_waves_rounded_up(T, d_model, base=10_000.0):
    """Your function makes a table for an odd width, and one wave in it has no partner: refuse the width with its
    number."""
    pairs = torch.arange((d_model + 1) // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model].float()


@mistake(of="sinusoidal_positions")
def odd_width_of_waves_refused_without_number(T, d_model, base=10_000.0):
    """You refuse an odd width, but your message does not say which width it was: name the argument and its value."""
    if d_model % 2 != 0:
        raise ValueError("d_model must be even")
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    places = torch.arange(T, dtype=torch.float64)[:, None]
    angles = places * base ** (-2 * pairs / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


# Rotation


@mistake(of="rope")
def halves_paired(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when column j is paired with column j + d/2: other programs do so, here
    pairs are neighbours, (0, 1), (2, 3) and so on. Weights trained with one are garbage with the other."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1).to(x.dtype)


@mistake(of="rope")
def halves_written_back(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when neighbours are turned together and then written back in two halves:
    each pair goes back to its own two columns."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1).to(x.dtype)


@mistake(of="rope")
def turned_clockwise(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when pairs are turned by the negative angle: scores do not notice, weights
    that were trained the other way do."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = -positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def sine_and_cosine_of_rotation_swapped(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get with sine and cosine exchanged: at place 0, where the angle is 0, nothing
    may change."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.sin(), angles.cos()
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def minus_sign_lost(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get with a plus in both lines: that is no rotation, and lengths change."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() + second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def new_value_used_for_its_partner(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when the first of a pair is overwritten before the second is computed from
    it: both need the old values."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    first = first * angles.cos() - second * angles.sin()
    second = first * angles.sin() + second * angles.cos()
    return torch.stack([first, second], dim=-1).flatten(-2).to(x.dtype)


@mistake(of="rope")
def rotation_starts_at_place_one(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when places begin with 1: the first vector stands at place 0, and nothing
    happens to it."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = (positions + 1).to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def rotation_exponent_doubled(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get with 4i/d in the exponent: counting columns in steps of two, the factor 2
    is in already."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-2 * torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def rotation_exponent_halved(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get with i/d in the exponent, where i is the pair's number: it is 2i/d."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / (2 * d))
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def base_of_a_thousand(x, positions=None, base=10_000.0, right=rope):
    """These are exactly the numbers you get with a base of 1,000 by default: it is 10,000."""
    return right(x, positions, 1_000.0 if base == 10_000.0 else base)


@mistake(of="rope")
def base_of_rotation_ignored(x, positions=None, base=10_000.0, right=rope):
    """Your function takes a base and always uses 10,000."""
    return right(x, positions)


@mistake(of="rope")
def positions_ignored(x, positions=None, base=10_000.0, right=rope):
    """Your function takes positions and always counts from 0: whoever asks for place 500 gets place 0."""
    return right(x, None, base)


@mistake(of="rope")
def positions_sorted(x, positions=None, base=10_000.0, right=rope):
    """These are exactly the numbers you get when the places are put in order first: each vector stands where the
    caller says."""
    return right(x, None if positions is None else positions.sort().values, base)


@mistake(of="rope")
def positions_counted_from_the_first_one(x, positions=None, base=10_000.0, right=rope):
    """These are exactly the numbers you get when only the number of the first place is used, and the others are
    counted up from it: places may come in any order."""
    return right(x, None if positions is None else positions[0] + torch.arange(x.shape[-2], device=x.device), base)


@mistake(of="rope")
def places_along_the_heads(x, positions=None, base=10_000.0, right=rope):
    """These are exactly the numbers you get when places are counted along the axis before time: each head then has one
    angle for all its tokens."""
    if positions is not None or x.dim() < 3:
        return right(x, positions, base)
    return right(x.transpose(-3, -2), None, base).transpose(-3, -2)


@mistake(of="rope")
def angles_in_the_dtype_of_x(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when angles are computed in the dtype of x: bfloat16 cannot tell place 257
    from 256, so angles need float32 at least."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = x.dtype
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def positions_in_the_dtype_of_x(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when the places pass through the dtype of x: bfloat16 cannot tell place
    257 from 256, whatever is computed afterwards."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, x.dtype).to(wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def angles_in_bfloat16(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when angles pass through bfloat16: it has 8 significant bits, and an angle
    of 100 is then good to a quarter."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = (positions.to(x.device, wide)[:, None] * speeds).to(torch.bfloat16).to(wide)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def one_speed_for_all_pairs(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when all pairs turn at speed 1: then place 44 and place 0 look nearly the
    same to all of them."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = torch.ones(d // 2, device=x.device, dtype=wide)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def fastest_pair_last(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get with the slowest speed in the first pair: the first pair has speed 1."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide).flip(0) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def only_half_the_pairs_turned(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when only the first half of the columns is turned: some models do that,
    here every pair turns."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    angles[:, d // 4 :] = 0.0
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def places_multiplied_by_the_period(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get with base^(2i/d) in the angle: that is a pair's period, and its speed is
    one over it."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def waves_added_in_place_of_turning(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when sines and cosines are added to x: here x is turned, and keeps its
    length."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(x.dtype)


@mistake(of="rope")
def complex_parts_crossed(x, positions=None, base=10_000.0):
    """These are exactly the numbers you get when each pair comes back with its two columns exchanged."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.sin() + second * angles.cos(), first * angles.cos() - second * angles.sin()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def rotation_returned_in_float32(x, positions=None, base=10_000.0):
    """Your result is float32 where x was float16 or bfloat16: the wide cosines pulled it along. Convert it back at the
    end."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2)


@mistake(of="rope")
def rotation_written_into_x(x, positions=None, base=10_000.0):
    """Your function turns x in place: queries and keys belong to the caller, who may still need them as they were."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2].clone(), x[..., 1::2].clone()
    with torch.no_grad():
        x[..., 0::2] = first * angles.cos() - second * angles.sin()
        x[..., 1::2] = first * angles.sin() + second * angles.cos()
    return x


@mistake(of="rope")
def rotation_cut_from_the_graph(x, positions=None, base=10_000.0, right=rope):
    """Your numbers are right, but no gradient comes back through the rotation: queries and keys would never learn."""
    return right(x, positions, base).detach()


@mistake(of="rope")
def rotation_made_on_the_cpu(x, positions=None, base=10_000.0):
    """The angles are made on the CPU, while x may be elsewhere: make them on the device of x."""
    T, d = x.shape[-2:]
    if d % 2 != 0:
        raise ValueError(f"x has shape {tuple(x.shape)}: d = {d} is odd")
    places = torch.arange(T) if positions is None else positions
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = places.to(wide)[:, None] * base ** (-torch.arange(0, d, 2, dtype=wide) / d)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


@mistake(of="rope")
def rotation_needs_a_batch_and_heads(x, positions=None, base=10_000.0, right=rope):
    """Your function needs exactly two axes in front of time: the two axes that matter are the last two, and counted
    from the end they are the same for any x."""
    if x.dim() != 4:
        raise ValueError(f"x must be (B, h, T, d), not {tuple(x.shape)}")
    return right(x, positions, base)


@mistake(of="rope")
def odd_last_column_left_alone(x, positions=None, base=10_000.0, right=rope):
    """Your function takes an odd width and leaves the last column as it is: refuse it, with the width in the
    message."""
    if x.shape[-1] % 2 != 0:
        return torch.cat([right(x[..., :-1], positions, base), x[..., -1:]], dim=-1)
    return right(x, positions, base)


@mistake(of="rope")
def odd_width_of_rotation_fails_by_itself(x, positions=None, base=10_000.0):
    """An odd width fails somewhere inside, with words about sizes of tensors: say it first, with a ValueError that has
    the width."""
    T, d = x.shape[-2:]
    if positions is None:
        positions = torch.arange(T, device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    angles = positions.to(x.device, wide)[:, None] * speeds
    first, second = x[..., 0::2], x[..., 1::2]
    turned = torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    )
    return turned.flatten(-2).to(x.dtype)


# Distance


@mistake(of="alibi_slopes")
def slopes_start_at_one(n_heads):
    """These are exactly the slopes you get when i begins with 0: the first slope is 2^(-8/h), not 1, and the last is
    1/256."""
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * i / below) for i in range(below)]
    above = [2 ** (-4 * i / below) for i in range(2 * below)]
    return torch.tensor(slopes + above[0::2][: n_heads - below])


@mistake(of="alibi_slopes")
def slopes_halve_for_any_number_of_heads(n_heads):
    """These are exactly 1/2, 1/4, 1/8 and so on: that is right for eight heads, and for any other power of two the
    ratio is 2^(-8/h)."""
    return torch.tensor([2.0**-i for i in range(1, n_heads + 1)])


@mistake(of="alibi_slopes")
def formula_used_for_any_number_of_heads(n_heads):
    """These are exactly the numbers of the formula for powers of two, at a number of heads that is none: there the
    slopes are put together from two powers of two."""
    return torch.tensor([2 ** (-8 * i / n_heads) for i in range(1, n_heads + 1)])


@mistake(of="alibi_slopes")
def extra_slopes_from_the_second(n_heads):
    """These are exactly the slopes you get when the extra ones begin with the second slope of the power above: those
    are the slopes of the power below, which you have already."""
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * i / below) for i in range(1, below + 1)]
    above = [2 ** (-4 * i / below) for i in range(1, 2 * below + 1)]
    return torch.tensor(slopes + above[1::2][: n_heads - below])


@mistake(of="alibi_slopes")
def extra_slopes_not_every_other(n_heads):
    """These are exactly the slopes you get when the extra ones are the first of the power above, one after the other:
    it is every other one."""
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * i / below) for i in range(1, below + 1)]
    above = [2 ** (-4 * i / below) for i in range(1, 2 * below + 1)]
    return torch.tensor(slopes + above[: n_heads - below])


@mistake(of="alibi_slopes")
def extra_slopes_from_the_end(n_heads):
    """These are exactly the slopes you get when the extra ones are taken from the end of every other slope: they are
    taken from the first on."""
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * i / below) for i in range(1, below + 1)]
    above = [2 ** (-4 * i / below) for i in range(1, 2 * below + 1)]
    extra = above[0::2]
    return torch.tensor(slopes + extra[len(extra) - (n_heads - below) :])


@mistake(of="alibi_slopes")
def slopes_of_the_power_above_cut_off(n_heads):
    """These are exactly the first slopes of the power of two above: all slopes of the power below come first."""
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * i / below) for i in range(1, below + 1)]
    above = [2 ** (-4 * i / below) for i in range(1, 2 * below + 1)]
    return torch.tensor(slopes if below == n_heads else above[:n_heads])


@mistake(of="alibi_slopes")
def slopes_sorted(n_heads, right=alibi_slopes):
    """These are exactly the right slopes, sorted: the extra ones go to the end, and the order says which head has
    which."""
    return right(n_heads).sort(descending=True).values


@mistake(of="alibi_slopes")
def extra_slopes_first(n_heads):
    """These are exactly the right slopes, with the extra ones in front: the slopes of the power of two below come
    first."""
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * i / below) for i in range(1, below + 1)]
    above = [2 ** (-4 * i / below) for i in range(1, 2 * below + 1)]
    return torch.tensor(above[0::2][: n_heads - below] + slopes)


@mistake(of="alibi_slopes")
def exponent_of_slopes_not_eight(n_heads):
    """These are exactly the slopes you get with 2^(-i/h): the 8 is missing, and no head would ever forget."""
    below = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-i / below) for i in range(1, below + 1)]
    above = [2 ** (-i / (2 * below)) for i in range(1, 2 * below + 1)]
    return torch.tensor(slopes + above[0::2][: n_heads - below])


@mistake(of="alibi_slopes")
def slopes_in_reverse(n_heads, right=alibi_slopes):
    """These are exactly the right slopes in the opposite order: the first head has the steepest."""
    return right(n_heads).flip(0)


@mistake(of="alibi_slopes")
def slopes_negative(n_heads, right=alibi_slopes):
    """These are exactly the right slopes with a minus: slopes are positive, and it is the bias that subtracts."""
    return -right(n_heads)


@mistake(of="alibi_slopes")
def first_slope_for_all_heads(n_heads, right=alibi_slopes):
    """These are exactly the numbers you get when each head has the slope of the first: one slope cannot serve heads
    that look near and heads that look far."""
    return right(n_heads)[:1].repeat(n_heads)


@mistake(of="alibi_slopes")
def slopes_in_float64(n_heads, right=alibi_slopes):
    """Your slopes are float64: a function that builds from numbers alone gives float32 here."""
    return right(n_heads).double()


@mistake(of="alibi_bias")
def far_keys_favoured(n_heads, T):
    """These are exactly the numbers you get when the bias is added with the wrong sign: it then rises with the
    distance, and a head reads everything but its surroundings."""
    places = torch.arange(T)
    distance = places[:, None] - places
    slopes = alibi_slopes(n_heads)[:, None, None]
    return slopes * distance


@mistake(of="alibi_bias")
def bias_by_query_only(n_heads, T):
    """These are exactly the numbers you get when the bias knows the query's place and not the key's: it is the same
    for a whole row, and a softmax does not see that."""
    places = torch.arange(T)
    slopes = alibi_slopes(n_heads)[:, None, None]
    return -slopes * places[:, None].expand(T, T)


@mistake(of="alibi_bias")
def bias_by_key_only(n_heads, T):
    """These are exactly the numbers you get with the key's place alone: after a softmax that comes to the same, and it
    would be fine inside of attention. This function is asked for slope times distance."""
    places = torch.arange(T)
    slopes = alibi_slopes(n_heads)[:, None, None]
    return slopes * places.expand(T, T)


@mistake(of="alibi_bias")
def bias_from_the_last_position(n_heads, T):
    """These are exactly the numbers you get when the distance is counted from the last position for every query: a
    softmax does not see the difference, but this function is asked for t - i."""
    places = torch.arange(T)
    slopes = alibi_slopes(n_heads)[:, None, None]
    return slopes * (places - (T - 1)).expand(T, T)


@mistake(of="alibi_bias")
def distance_starts_at_one(n_heads, T):
    """These are exactly the numbers you get when a position is one step away from itself: the diagonal is 0."""
    places = torch.arange(T)
    distance = places[:, None] - places
    slopes = alibi_slopes(n_heads)[:, None, None]
    return -slopes * (distance + 1)


@mistake(of="alibi_bias")
def slopes_left_out_of_the_bias(n_heads, T):
    """These are exactly minus the distances, the same for each head: each head multiplies them by its own slope."""
    places = torch.arange(T)
    distance = places[:, None] - places
    return -distance.expand(n_heads, T, T).float()


@mistake(of="alibi_bias")
def slope_of_the_first_head_everywhere(n_heads, T):
    """These are exactly the numbers you get when the first head's slope is used for all heads."""
    places = torch.arange(T)
    distance = places[:, None] - places
    slopes = alibi_slopes(n_heads)[:, None, None]
    return -slopes[:1] * distance.expand(n_heads, T, T)


@mistake(of="alibi_bias")
def distance_divided_by_length(n_heads, T):
    """These are exactly the numbers you get when distances are divided by T: one step back would then weigh less in a
    longer text."""
    places = torch.arange(T)
    distance = places[:, None] - places
    slopes = alibi_slopes(n_heads)[:, None, None]
    return -slopes * distance / T


@mistake(of="alibi_bias")
def distance_squared(n_heads, T):
    """These are exactly the numbers you get with the square of the distance: it is linear, as the name says."""
    places = torch.arange(T)
    distance = places[:, None] - places
    slopes = alibi_slopes(n_heads)[:, None, None]
    return -slopes * distance**2


@mistake(of="alibi_bias")
def bias_with_heads_at_the_end(n_heads, T):
    """These are exactly the right numbers with the axis of heads at the end: it is (n_heads, T, T)."""
    places = torch.arange(T)
    distance = places[:, None] - places
    slopes = alibi_slopes(n_heads)[:, None, None]
    return (-slopes * distance).permute(1, 2, 0)


@mistake(of="alibi_bias")
def bias_transposed(n_heads, T):
    """These are exactly the numbers you get when rows and columns change places: row t is the query, and what lies
    behind it is to its left."""
    places = torch.arange(T)
    slopes = alibi_slopes(n_heads)[:, None, None]
    return -slopes * (places - places[:, None]).clamp(min=0)


# All heads at once: what is built


@mistake(of="CausalSelfAttention.__init__")
def qkv_bias_ignored(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your queries, keys and values have biases although qkv_bias=False asked for none."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model)
    self.k = nn.Linear(d_model, d_model)
    self.v = nn.Linear(d_model, d_model)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def qkv_bias_never(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your queries, keys and values have no biases although qkv_bias=True, the default, asks for them."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=False)
    self.k = nn.Linear(d_model, d_model, bias=False)
    self.v = nn.Linear(d_model, d_model, bias=False)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def projection_without_bias(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your output projection has no bias: it always has one, whatever qkv_bias says."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model, bias=False)


@mistake(of="CausalSelfAttention.__init__")
def projection_bias_follows_qkv_bias(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your output projection loses its bias together with the others: qkv_bias is about q, k and v alone."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model, bias=qkv_bias)


@mistake(of="CausalSelfAttention.__init__")
def keys_without_bias(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your keys have no bias: it changes nothing, as part 3 showed, but the contract has it, and so have GPT-2's
    weights."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=False)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def one_projection_for_queries_and_keys(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your queries and keys come from one and the same layer: looking for is not being found, so they need two."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = self.q
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def queries_keys_values_in_one_layer(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your queries, keys and values come from one layer of 3d: that is a good way to run them, but the contract has
    three layers, called q, k and v."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.qkv = nn.Linear(d_model, 3 * d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def unknown_positions_taken(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your module takes any word for positions and then does nothing about it: a slip of the pen would train a model
    that is blind to order. Refuse the word by name."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def unknown_positions_raise_key_error(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """An unknown word for positions ends in a KeyError: the contract asks for a ValueError that names the word."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise KeyError(positions)
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def remainder_of_heads_not_refused(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your module takes a number of heads that does not divide the width: the division rounds down, and the heads
    together no longer fill d_model columns."""
    nn.Module.__init__(self)
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def remainder_of_heads_refused_by_assertion(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """You refuse a number of heads with an assert: it says nothing to whoever calls, and vanishes under python -O. The
    contract asks for a ValueError with the numbers."""
    nn.Module.__init__(self)
    assert d_model % n_heads == 0
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def odd_heads_refused_without_rope(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your module refuses an odd width of a head in any case: only pairs need an even one, and only "rope" turns
    pairs."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = dropout
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


@mistake(of="CausalSelfAttention.__init__")
def dropout_not_kept(self, d_model, n_heads, qkv_bias=True, positions="none", dropout=0.0):
    """Your module takes a dropout and never uses it."""
    nn.Module.__init__(self)
    if n_heads < 1 or d_model % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
    if positions not in ("none", "rope", "alibi"):
        raise ValueError(f"positions = {positions!r} is not 'none', 'rope' or 'alibi'")
    if positions == "rope" and d_model // n_heads % 2 != 0:
        raise ValueError(f"positions = 'rope' turns pairs, and d_head = {d_model // n_heads} is odd")
    self.n_heads = n_heads
    self.positions = positions
    self.dropout = 0.0
    self.q = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.k = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.v = nn.Linear(d_model, d_model, bias=qkv_bias)
    self.proj = nn.Linear(d_model, d_model)


# All heads at once: columns to heads


@mistake(of="CausalSelfAttention.split_heads")
def heads_split_by_view_alone(self, x):
    """These are exactly the numbers you get when (B, T, d) is viewed as (B, h, T, d_head) directly: a view renames, it
    moves nothing, so a "head" holds whole tokens and the mask hides the wrong ones."""
    B, T, d = x.shape
    return x.reshape(B, self.n_heads, T, d // self.n_heads)


@mistake(of="CausalSelfAttention.split_heads")
def heads_interleaved(self, x):
    """These are exactly the numbers you get when head j owns every h-th column from j on: it owns d_head neighbours,
    from j * d_head on."""
    return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)


@mistake(of="CausalSelfAttention.split_heads")
def heads_in_reverse(self, x):
    """These are exactly the numbers you get when the first head owns the last columns."""
    return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2).flip(1)


@mistake(of="CausalSelfAttention.split_heads")
def heads_without_their_own_axis(self, x):
    """Your heads and your positions have not changed places: for a matrix product, time and columns must be the last
    two axes."""
    return x.unflatten(-1, (self.n_heads, -1))


# All heads at once: the weights


@mistake(of="CausalSelfAttention.attention_weights")
def attention_not_scaled(self, x):
    """These are exactly the numbers you get when the scores are not divided by sqrt(d_head)."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1)
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_scaled_by_model_width(self, x):
    """These are exactly the numbers you get with sqrt(d_model): the root is of the number of products in one score,
    and that is d_head."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_divided_by_head_width(self, x):
    """These are exactly the numbers you get when the scores are divided by d_head itself: the root is missing, or the
    division was done to the queries and once more to the scores."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / q.shape[-1]
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_scaled_by_number_of_heads(self, x):
    """These are exactly the numbers you get with sqrt(n_heads) under the scores: the root is of the width of a
    head."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(self.n_heads)
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_scaled_by_length(self, x):
    """These are exactly the numbers you get with sqrt(T): the root is of the width of a head."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(T)
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_keys_ask(self, x):
    """These are exactly the numbers you get when keys are compared with queries, in that order: rows belong to
    queries."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = k @ q.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_queries_as_keys(self, x):
    """These are exactly the numbers you get when the queries are their own keys."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.q(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def all_heads_share_one_key(self, x):
    """These are exactly the numbers you get when all heads use the first one's keys."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))[:, :1].expand(-1, self.n_heads, -1, -1)
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_without_mask(self, x):
    """These are exactly the numbers you get without a causal mask: every position reads the future."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    return scores.softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_one_step_ahead(self, x):
    """These are exactly the numbers you get when each position may also read the next one, which is the very token
    that it is to predict."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=2)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_not_to_oneself(self, x):
    """These are exactly the numbers you get when a position may not read itself."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=0)
    return scores.masked_fill(future, torch.finfo(scores.dtype).min).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_to_the_future_only(self, x):
    """These are exactly the numbers you get with the mask's transpose: each position reads itself and what comes
    after."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).tril(diagonal=-1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_crossed_out_after_softmax(self, x):
    """These are exactly the numbers you get when the mask comes after the softmax: rows no longer add up to 1, and the
    future still stands in the denominator."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.softmax(dim=-1).masked_fill(future, 0.0)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_masked_with_zero(self, x):
    """These are exactly the numbers you get when forbidden scores become 0: that is a score like any other."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, 0.0).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_softmax_over_queries(self, x):
    """These are exactly the numbers you get when the softmax runs over the queries: each row must add up to 1, not
    each column."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-2)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_softmax_over_heads(self, x):
    """These are exactly the numbers you get when the softmax runs over the heads: each head shares one unit among the
    keys by itself."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=1).nan_to_num(0.0)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_mask_remembered(self, x):
    """Your module remembered the mask of the first length that it met and used it for another: make or cut it at every
    call."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    if not hasattr(self, "remembered"):
        self.remembered = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    future = self.remembered
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_mask_on_the_cpu(self, x):
    """The mask is made on the CPU, while x may be elsewhere: make it on the device of x."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def attention_weights_averaged(self, x):
    """These are exactly the heads' weights averaged: heads look at different things, and each shows its own map."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return (
        scores.masked_fill(future, float("-inf"))
        .softmax(dim=-1)
        .mean(dim=1, keepdim=True)
        .expand(-1, self.n_heads, -1, -1)
    )


@mistake(of="CausalSelfAttention.attention_weights")
def rope_not_used(self, x):
    """These are exactly the numbers you get when "rope" does nothing, or when all tokens of a head are turned by one
    angle: the last axis but one must be time when you turn."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def rope_on_queries_only(self, x):
    """These are exactly the numbers you get when queries are turned and keys are not: the score then depends on where
    the query stands, not on the distance."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q = rope(q)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def rope_on_keys_only(self, x):
    """These are exactly the numbers you get when keys are turned and queries are not: the score then depends on where
    the key stands, not on the distance."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        k = rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def rope_in_opposite_directions(self, x):
    """These are exactly the numbers you get when queries are turned one way and keys the other: the angle between them
    is then that of t + i."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k, -torch.arange(T, device=x.device))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def rope_before_the_split(self, x):
    """These are exactly the numbers you get when all d_model columns are turned together, before the split: the speeds
    then run over d_model, and most heads get slow ones only."""
    T = x.shape[1]
    q, k = self.q(x), self.k(x)
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    q, k = self.split_heads(q), self.split_heads(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def rope_on_the_tokens(self, x):
    """These are exactly the numbers you get when x is turned before the projections: it is queries and keys that are
    turned."""
    T = x.shape[1]
    turned = rope(x) if self.positions == "rope" else x
    q, k = self.split_heads(self.q(turned)), self.split_heads(self.k(turned))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def rope_twice(self, x):
    """These are exactly the numbers you get when queries and keys are turned twice."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(rope(q)), rope(rope(k))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_not_used(self, x):
    """These are exactly the numbers you get when "alibi" does nothing."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_before_the_division(self, x):
    """These are exactly the numbers you get when the bias is added before the division by sqrt(d_head): the slopes are
    then flatter than they say."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores) / math.sqrt(q.shape[-1])
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_subtracted(self, x):
    """These are exactly the numbers you get when the bias is subtracted: it is negative already, so far keys are then
    favoured."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores - alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_multiplied(self, x):
    """These are exactly the numbers you get when the scores are multiplied by the bias: it is added."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores * alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_after_the_softmax(self, x):
    """These are exactly the numbers you get when the bias is added to the weights: it belongs to the scores, before
    the softmax."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    if self.positions == "alibi":
        weights = (weights + alibi_bias(self.n_heads, T).to(scores)).masked_fill(future, 0.0)
    return weights


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_added_twice(self, x):
    """These are exactly the numbers you get when the bias is added twice."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + 2 * alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_averaged_over_heads(self, x):
    """These are exactly the numbers you get when all heads get the mean of the biases: each head has its own slope."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).mean(dim=0).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_heads_in_reverse(self, x):
    """These are exactly the numbers you get when the first head gets the last head's bias."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).flip(0).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_keeps_its_own_dtype(self, x):
    """The bias is float32 and pulled float16 scores up with it, so that the weights no longer fit the values: convert
    it to the dtype of the scores."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores.device)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def alibi_stays_on_the_cpu(self, x):
    """The bias is made on the CPU and stays there, while the scores may be elsewhere: move it to their device."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores.dtype)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    return scores.masked_fill(future, float("-inf")).softmax(dim=-1)


@mistake(of="CausalSelfAttention.attention_weights")
def weights_shown_after_dropout(self, x):
    """attention_weights shows the weights after dropout: it is for looking, so it returns what the softmax gave."""
    T = x.shape[1]
    q, k = self.split_heads(self.q(x)), self.split_heads(self.k(x))
    if self.positions == "rope":
        q, k = rope(q), rope(k)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if self.positions == "alibi":
        scores = scores + alibi_bias(self.n_heads, T).to(scores)
    future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    return F.dropout(weights, self.dropout, self.training)


# All heads at once: mixing, dropping, merging


@mistake(of="CausalSelfAttention.forward")
def merged_without_moving_the_axes(self, x):
    """These are exactly the numbers you get when (B, h, T, d_head) is reshaped to (B, T, d) directly: time and heads
    must change places first, or a token gets what belongs to others."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.reshape(x.shape))


@mistake(of="CausalSelfAttention.forward")
def merged_interleaved(self, x):
    """These are exactly the numbers you get when the heads' columns are shuffled together in the merge: head 0 comes
    first with all of its columns, then head 1."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.permute(0, 2, 3, 1).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def heads_averaged_in_the_merge(self, x):
    """These are exactly the numbers you get when the heads' outputs are averaged, and the average repeated: heads are
    laid side by side."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.mean(dim=1).repeat(1, 1, self.n_heads))


@mistake(of="CausalSelfAttention.forward")
def output_not_projected(self, x):
    """These are exactly the heads' outputs side by side, without the projection."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return read.transpose(1, 2).flatten(-2)


@mistake(of="CausalSelfAttention.forward")
def bias_of_projection_left_out(self, x):
    """These are exactly the numbers you get without the bias of the output projection."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return F.linear(read.transpose(1, 2).flatten(-2), self.proj.weight)


@mistake(of="CausalSelfAttention.forward")
def projection_weight_transposed(self, x):
    """These are exactly the numbers you get with the transpose of the projection's weight: nn.Linear keeps one row for
    each output."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return read.transpose(1, 2).flatten(-2) @ self.proj.weight + self.proj.bias


@mistake(of="CausalSelfAttention.forward")
def residual_added_inside(self, x):
    """These are exactly the numbers you get when x is added to the output: that addition belongs to the block of part
    4."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return x + self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def keys_mixed_as_values(self, x):
    """These are exactly the numbers you get when the keys are mixed in place of the values."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(self.k(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def tokens_mixed_as_values(self, x):
    """These are exactly the numbers you get when the tokens themselves are mixed in place of the values."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights @ self.split_heads(x)
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def values_turned_too(self, x):
    """These are exactly the numbers you get when the values are turned as well: nobody compares them, so the angle of
    where they were would stay in the output."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    v = self.split_heads(self.v(x))
    read = weights @ (rope(v) if self.positions == "rope" else v)
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def weights_transposed_in_the_mix(self, x):
    """These are exactly the numbers you get when the mix uses the transpose of the weights: row t says what position t
    reads."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    read = weights.transpose(-2, -1) @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropout_in_evaluation_too(self, x):
    """Dropout is on in evaluation as well: it must be told in which mode the module is."""
    weights = F.dropout(self.attention_weights(x), self.dropout, True)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropout_before_the_softmax(self, x):
    """These are exactly the numbers you get when dropout falls on the softmax's input: a score of 0 is a share like
    any other, not an absence."""
    weights = F.dropout(self.attention_weights(x).log().clamp(min=-1e4), self.dropout, self.training)
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(diagonal=1)
    weights = weights.masked_fill(future, float("-inf")).softmax(dim=-1)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropped_shares_handed_to_the_others(self, x):
    """These are exactly the numbers you get when the weights that stay are made to add up to 1 again: they are divided
    by 1 - p, whatever is gone."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropout_not_made_up_for(self, x):
    """These are exactly the numbers you get when the weights that stay are not divided by 1 - p: the module then gives
    less in training than in evaluation."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    weights = weights * (1 - self.dropout) if self.training else weights
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropout_is_what_is_kept(self, x):
    """These are exactly the numbers you get when dropout is taken for the share that stays: it is the share that
    goes."""
    weights = F.dropout(self.attention_weights(x), (1 - self.dropout) if self.dropout else 0.0, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropout_on_the_output(self, x):
    """These are exactly the numbers you get when dropout falls on the output: that is the block's business; in here it
    falls on the weights."""
    weights = self.attention_weights(x)
    read = weights @ self.split_heads(self.v(x))
    return F.dropout(self.proj(read.transpose(1, 2).flatten(-2)), self.dropout, self.training)


@mistake(of="CausalSelfAttention.forward")
def dropout_on_what_was_read(self, x):
    """These are exactly the numbers you get when dropout falls on what the heads have read: it falls on the weights,
    so that whole tokens are gone."""
    weights = self.attention_weights(x)
    read = weights @ self.split_heads(self.v(x))
    read = F.dropout(read, self.dropout, self.training)
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropout_on_the_values(self, x):
    """These are exactly the numbers you get when dropout falls on single columns of the values: it falls on the
    weights, so that whole tokens are gone."""
    weights = self.attention_weights(x)
    read = weights @ F.dropout(self.split_heads(self.v(x)), self.dropout, self.training)
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def one_dropout_for_the_whole_batch(self, x):
    """Every sequence of your batch lost the same weights: each weight of each sequence has its own chance."""
    weights = self.attention_weights(x)
    weights = weights * F.dropout(torch.ones_like(weights[:1]), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def one_dropout_for_all_heads(self, x):
    """All heads lost the same weights: each weight of each head has its own chance."""
    weights = self.attention_weights(x)
    weights = weights * F.dropout(torch.ones_like(weights[:, :1]), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def dropout_twice(self, x):
    """These are exactly the numbers you get when dropout falls on the weights twice."""
    weights = F.dropout(self.attention_weights(x), self.dropout, self.training)
    weights = F.dropout(weights, self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))


@mistake(of="CausalSelfAttention.forward")
def attention_cut_from_the_graph(self, x):
    """Your numbers are right, but no gradient comes back through the weights: queries and keys would never learn where
    to look."""
    weights = F.dropout(self.attention_weights(x).detach(), self.dropout, self.training)
    read = weights @ self.split_heads(self.v(x))
    return self.proj(read.transpose(1, 2).flatten(-2))
