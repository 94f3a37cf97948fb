"""Wrong solutions of part 4, one function each, and what a student who wrote one is told."""

import math

import torch
from part4_block import MLP, Block, LayerNorm
from torch import nn
from torch.nn import functional as F

from autograder.checks import mistake

# LayerNorm: the variance


@mistake(of="LayerNorm.forward")
def variance_unbiased(self, x):
    """These are exactly the numbers you get when the variance is divided by d - 1, which is what torch.var does unless
    told otherwise: the d features are no sample of anything, they are all there are."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (x.var(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def unbiased_and_eps_beside_the_root(self, x):
    """These are exactly the numbers of x.std() + eps: that divides by d - 1, and adds eps beside the root. Two things in
    one short line, and neither is LayerNorm."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (x.std(dim=-1, keepdim=True) + self.eps) * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def eps_beside_the_root(self, x):
    """These are exactly the numbers you get when eps is added after the root: the value survives a variance of 0, the
    gradient of the root does not. It belongs under the root."""
    centred = x - x.mean(dim=-1, keepdim=True)
    spread = centred.square().mean(dim=-1, keepdim=True).sqrt()
    return centred / (spread + self.eps) * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def eps_left_out(self, x):
    """These are exactly the numbers you get without eps: a token whose features are all equal then becomes 0/0."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / centred.square().mean(dim=-1, keepdim=True).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def eps_squared(self, x):
    """These are exactly the numbers you get when the square of eps stands under the root: eps is added to the variance as
    it is."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + self.eps**2).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def eps_as_a_floor(self, x):
    """These are exactly the numbers you get when eps is the least that the variance may be: it is added always, and not
    only where the variance is small."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True).clamp(min=self.eps)
    return centred / variance.sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def divided_by_the_variance(self, x):
    """These are exactly the numbers you get when you divide by the variance itself: its root is what has the size of x."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps) * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def not_divided(self, x):
    """These are exactly the numbers you get when the mean is subtracted and nothing is divided: the tokens keep their
    different sizes."""
    return (x - x.mean(dim=-1, keepdim=True)) * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def mean_not_subtracted(self, x):
    """These are exactly the numbers of RMSNorm, which divides by the root of the mean square and subtracts no mean: a good
    norm, and another one than this."""
    size = (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
    return x / size * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def divided_by_deviation_around_the_mean_only(self, x):
    """These are exactly the numbers you get when x is divided by its standard deviation with its mean still in it: the
    mean is taken away from what is divided, too."""
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return x / (variance + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def variance_not_around_the_mean(self, x):
    """These are exactly the numbers you get when the mean of the squares stands under the root: the variance is the mean
    square of what is left after the mean is subtracted."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def divided_by_mean_absolute_deviation(self, x):
    """These are exactly the numbers you get when you divide by the mean distance from the mean: the standard deviation
    squares the distances before it averages them."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.abs().mean(dim=-1, keepdim=True) + self.eps) * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def squares_summed_and_not_averaged(self, x):
    """These are exactly the numbers you get when the squares are summed and not averaged: each token then has the length
    1 and not sqrt(d), so that wide tokens have tiny features."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().sum(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


# LayerNorm: the axis


@mistake(of="LayerNorm.forward")
def normalised_over_positions_and_features(self, x):
    """These are exactly the numbers you get when mean and variance run over positions and features together: each token
    is then divided by something that later tokens helped to make, which is a leak."""
    axes = (-2, -1) if x.dim() > 1 else (-1,)
    centred = x - x.mean(dim=axes, keepdim=True)
    return centred / (centred.square().mean(dim=axes, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def normalised_over_positions(self, x):
    """These are exactly the numbers you get when mean and variance run over the positions: that mixes tokens, the future
    among them. Count from the end, the features are the last axis."""
    axis = -2 if x.dim() > 1 else -1
    centred = x - x.mean(dim=axis, keepdim=True)
    return centred / (centred.square().mean(dim=axis, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def normalised_over_the_first_axis(self, x):
    """These are exactly the numbers you get when mean and variance run over the first axis, the batch: what a sentence
    means must not depend on its neighbours there, and alone it would become 0."""
    centred = x - x.mean(dim=0, keepdim=True)
    return centred / (centred.square().mean(dim=0, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def normalised_over_everything(self, x):
    """These are exactly the numbers you get with one mean and one variance for the whole tensor: each token has its own."""
    centred = x - x.mean()
    return centred / (centred.square().mean() + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def axis_counted_from_the_front(self, x):
    """Your LayerNorm normalises axis 2, which is the last one of (B, T, d) and of nothing else: counted from the end it
    is always -1."""
    axis = 2 if x.dim() > 2 else 0
    centred = x - x.mean(dim=axis, keepdim=True)
    return centred / (centred.square().mean(dim=axis, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def averaged_axis_not_kept(self, x):
    """The averaged axis is gone from your mean and variance, so they line up with the wrong axis: it fails for most
    shapes, and where T = d it quietly subtracts other tokens' means. keepdim keeps the axis."""
    centred = x - x.mean(dim=-1)
    return centred / (x.var(dim=-1, correction=0) + self.eps).sqrt() * self.weight + self.bias


# LayerNorm: weight, bias, and what it is made of


@mistake(of="LayerNorm.forward")
def weight_and_bias_not_used(self, x):
    """These are exactly the normalised tokens: weight and bias are there and are not applied. At first they change
    nothing, so that nobody notices until they have been trained."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


@mistake(of="LayerNorm.forward")
def bias_not_added(self, x):
    """These are exactly the numbers you get when the bias is not added."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight


@mistake(of="LayerNorm.forward")
def weight_not_multiplied(self, x):
    """These are exactly the numbers you get when the weight is not applied and only the bias is added."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() + self.bias


@mistake(of="LayerNorm.forward")
def bias_before_the_weight(self, x):
    """These are exactly the numbers you get when the bias is added before the weight multiplies: scale first, then
    shift."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return (centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() + self.bias) * self.weight


@mistake(of="LayerNorm.forward")
def scaled_before_it_is_normalised(self, x):
    """These are exactly the numbers you get when weight and bias come before the normalisation, which then takes most of
    their work away again."""
    x = x * self.weight + self.bias
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


@mistake(of="LayerNorm.forward")
def weight_counted_from_zero(self, x):
    """These are exactly the numbers you get when 1 is added to the weight: a weight that begins at 1 is the scale
    itself."""
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * (1 + self.weight) + self.bias


@mistake(of="LayerNorm.forward")
def statistics_cut_off_from_the_gradient(self, x):
    """Your numbers are right and your gradients are those of a mean and a variance that do not depend on x: both are made
    of x, so neither may be detached or computed under no_grad."""
    mean = x.mean(dim=-1, keepdim=True).detach()
    variance = x.var(dim=-1, correction=0, keepdim=True).detach()
    return (x - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def variance_cut_off_from_the_gradient(self, x):
    """Your numbers are right and your gradients are those of a variance that does not depend on x: it is made of x, and
    its part of the gradient keeps a token from growing."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True).detach()
    return centred / (variance + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def mean_subtracted_in_place(self, x):
    """Your LayerNorm subtracts the mean from the caller's own tensor: the residual stream is still needed, and it has just
    been changed. Make a new tensor."""
    x -= x.mean(dim=-1, keepdim=True)
    return x / (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias


@mistake(of="LayerNorm.forward")
def answer_in_float32(self, x):
    """A float16 token goes in and a float32 token comes out: compute as wide as you like, and give back the dtype that
    you were given."""
    wide = x if x.dtype == torch.float64 else x.float()
    centred = wide - wide.mean(dim=-1, keepdim=True)
    normal = centred / (centred.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()
    return normal * self.weight.to(wide.dtype) + self.bias.to(wide.dtype)


@mistake(of="LayerNorm.__init__")
def default_eps_of_a_millionth(self, d_model, eps=1e-6):
    """These are exactly the numbers of a default eps of 1e-6: this course uses 1e-5, and for small tokens one sees it."""
    nn.Module.__init__(self)
    self.eps = eps
    self.weight = nn.Parameter(torch.ones(d_model))
    self.bias = nn.Parameter(torch.zeros(d_model))


@mistake(of="LayerNorm.__init__")
def default_eps_too_small_to_matter(self, d_model, eps=1e-8):
    """These are exactly the numbers of a default eps of 1e-8: this course uses 1e-5, and for small tokens one sees it."""
    nn.Module.__init__(self)
    self.eps = eps
    self.weight = nn.Parameter(torch.ones(d_model))
    self.bias = nn.Parameter(torch.zeros(d_model))


@mistake(of="LayerNorm.__init__")
def eps_that_is_given_is_ignored(self, d_model, eps=1e-5):
    """Your LayerNorm uses 1e-5 whatever eps it is given."""
    nn.Module.__init__(self)
    self.eps = 1e-5
    self.weight = nn.Parameter(torch.ones(d_model))
    self.bias = nn.Parameter(torch.zeros(d_model))


@mistake(of="LayerNorm.__init__")
def weight_begins_at_zero(self, d_model, eps=1e-5):
    """Your weight begins at 0: a new LayerNorm then returns 0 for every token. Ones are what changes nothing."""
    nn.Module.__init__(self)
    self.eps = eps
    self.weight = nn.Parameter(torch.zeros(d_model))
    self.bias = nn.Parameter(torch.zeros(d_model))


@mistake(of="LayerNorm.__init__")
def weight_begins_at_random(self, d_model, eps=1e-5):
    """Your weight and bias begin at random: a new LayerNorm should do nothing but normalise, with ones and zeros."""
    nn.Module.__init__(self)
    self.eps = eps
    self.weight = nn.Parameter(torch.randn(d_model))
    self.bias = nn.Parameter(torch.randn(d_model))


@mistake(of="LayerNorm.__init__")
def weight_and_bias_not_learned(self, d_model, eps=1e-5):
    """Your weight and bias are plain tensors: nobody trains, saves or moves them. nn.Parameter makes them known to the
    module."""
    nn.Module.__init__(self)
    self.eps = eps
    self.weight = torch.ones(d_model)
    self.bias = torch.zeros(d_model)


@mistake(of="LayerNorm.__init__")
def one_weight_for_all_features(self, d_model, eps=1e-5):
    """Your LayerNorm has a single weight and a single bias: each of the d features has its own."""
    nn.Module.__init__(self)
    self.eps = eps
    self.weight = nn.Parameter(torch.ones(1))
    self.bias = nn.Parameter(torch.zeros(1))


# MLP


@mistake(of="MLP.forward")
def relu_in_place_of_gelu(self, x):
    """These are exactly the numbers of ReLU: below 0 it is flat, and GELU is not."""
    return self.down(F.relu(self.up(x)))


@mistake(of="MLP.forward")
def gelu_by_tanh(self, x):
    """These are exactly the numbers of the tanh form of GELU: close, at most 0.0005 off for each hidden unit, and not the
    exact one that is asked for."""
    return self.down(F.gelu(self.up(x), approximate="tanh"))


@mistake(of="MLP.forward")
def gelu_by_sigmoid(self, x):
    """These are exactly the numbers of x times a sigmoid of 1.702x, a rough form of GELU: the exact one is asked for."""
    hidden = self.up(x)
    return self.down(hidden * torch.sigmoid(1.702 * hidden))


@mistake(of="MLP.forward")
def silu_in_place_of_gelu(self, x):
    """These are exactly the numbers of SiLU, x times the sigmoid of x: GELU takes the normal distribution."""
    return self.down(F.silu(self.up(x)))


@mistake(of="MLP.forward")
def tanh_in_place_of_gelu(self, x):
    """These are exactly the numbers of tanh: it is flat at both ends, where GELU rises for ever."""
    return self.down(torch.tanh(self.up(x)))


@mistake(of="MLP.forward")
def error_function_without_root_of_two(self, x):
    """These are exactly the numbers you get when erf is taken of x itself: the standard normal's distribution function
    has x divided by the root of 2 in it."""
    hidden = self.up(x)
    return self.down(0.5 * hidden * (1 + torch.erf(hidden)))


@mistake(of="MLP.forward")
def no_activation(self, x):
    """These are exactly the numbers you get without a bend: two matrices after each other are one matrix."""
    return self.down(self.up(x))


@mistake(of="MLP.forward")
def activation_after_the_second_layer(self, x):
    """These are exactly the numbers you get when the bend comes after the second layer: what the MLP writes into the
    stream can then never be much below 0, and the two matrices are one."""
    return F.gelu(self.down(self.up(x)))


@mistake(of="MLP.forward")
def activation_after_both_layers(self, x):
    """These are exactly the numbers you get with a bend after each of the layers: only the first one is followed by a
    bend, the second must be able to write anything."""
    return F.gelu(self.down(F.gelu(self.up(x))))


@mistake(of="MLP.forward")
def activation_before_the_first_layer(self, x):
    """These are exactly the numbers you get when the bend comes before the first layer: it stands in the middle, where
    the token is wide."""
    return self.down(self.up(F.gelu(x)))


@mistake(of="MLP.forward")
def input_added_to_the_mlp(self, x):
    """These are exactly the numbers you get when x is added inside of the MLP: that addition is the block's."""
    return x + self.down(F.gelu(self.up(x)))


@mistake(of="MLP.forward")
def biases_not_added(self, x):
    """These are exactly the numbers you get when the weights are multiplied and the biases are not added."""
    return F.gelu(x @ self.up.weight.transpose(0, 1)) @ self.down.weight.transpose(0, 1)


@mistake(of="MLP.__init__")
def expansion_ignored(self, d_model, expansion=4):
    """Your MLP is 4d wide in the middle whatever expansion it is given."""
    nn.Module.__init__(self)
    self.up = nn.Linear(d_model, 4 * d_model)
    self.down = nn.Linear(4 * d_model, d_model)


@mistake(of="MLP.__init__")
def not_wider_in_the_middle(self, d_model, expansion=4):
    """Your MLP is as wide in the middle as at its ends: expansion times d is asked for."""
    nn.Module.__init__(self)
    self.up = nn.Linear(d_model, d_model)
    self.down = nn.Linear(d_model, d_model)


@mistake(of="MLP.__init__")
def expansion_is_the_width(self, d_model, expansion=4):
    """Your MLP takes expansion for the width of the middle: it says how many times d that is."""
    nn.Module.__init__(self)
    self.up = nn.Linear(d_model, expansion)
    self.down = nn.Linear(expansion, d_model)


@mistake(of="MLP.__init__")
def default_expansion_of_two(self, d_model, expansion=2):
    """Your MLP is 2d wide unless told otherwise: the default is 4d."""
    nn.Module.__init__(self)
    self.up = nn.Linear(d_model, expansion * d_model)
    self.down = nn.Linear(expansion * d_model, d_model)


@mistake(of="MLP.__init__")
def up_without_bias(self, d_model, expansion=4):
    """Your first layer has no bias: every hidden unit then has its threshold at 0."""
    nn.Module.__init__(self)
    self.up = nn.Linear(d_model, expansion * d_model, bias=False)
    self.down = nn.Linear(expansion * d_model, d_model)


@mistake(of="MLP.__init__")
def down_without_bias(self, d_model, expansion=4):
    """Your second layer has no bias: both layers have one."""
    nn.Module.__init__(self)
    self.up = nn.Linear(d_model, expansion * d_model)
    self.down = nn.Linear(expansion * d_model, d_model, bias=False)


@mistake(of="MLP.__init__")
def both_layers_without_bias(self, d_model, expansion=4):
    """Neither of your layers has a bias: both have one."""
    nn.Module.__init__(self)
    self.up = nn.Linear(d_model, expansion * d_model, bias=False)
    self.down = nn.Linear(expansion * d_model, d_model, bias=False)


# Block: where the residual is taken, and where the norm stands


@mistake(of="Block.forward")
def residual_taken_after_the_norm(self, x):
    """These are exactly the numbers you get when x is normalised first and the sublayer's output is added to the
    normalised x: the norm then stands on the path, and silent sublayers no longer leave the stream alone."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        x = ln(x) if self.norm == "pre" else x
        update = self.dropout(sublayer(x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def norm_on_the_update(self, x):
    """These are exactly the numbers of x + ln(f(x)) in place of pre-norm: the norm stands before the sublayer, on what it
    is handed, and not behind it."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(x))
        update = ln(update) if self.norm == "pre" else update
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def post_norm_on_the_update(self, x):
    """These are exactly the numbers of x + ln(f(x)) in place of post-norm: with "post" the sum is normalised, x and all."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        update = ln(update) if self.norm == "post" else update
        x = x + update if self.residual else update
    return x


@mistake(of="Block.forward")
def norms_swapped(self, x):
    """These are exactly the numbers you get when ln2 serves the attention and ln1 the MLP: while both are new, they are
    alike, and nothing shows."""
    for ln, sublayer in ((self.ln2, self.attention), (self.ln1, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def first_norm_used_twice(self, x):
    """These are exactly the numbers you get when ln1 serves both sublayers: ln2 is there and never trained."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln1, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def second_norm_missing(self, x):
    """These are exactly the numbers you get when the MLP's step has no norm: each of the two sublayers has its own."""
    for ln, sublayer in ((self.ln1, self.attention), (nn.Identity(), self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def first_norm_missing(self, x):
    """These are exactly the numbers you get when the attention's step has no norm: each of the two sublayers has its
    own."""
    for ln, sublayer in ((nn.Identity(), self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def post_is_treated_as_pre(self, x):
    """These are exactly the numbers of pre-norm where post-norm was asked for: with "post" the sum is normalised, after
    the addition."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x)))
        x = x + update if self.residual else update
    return x


@mistake(of="Block.forward")
def pre_and_post_exchanged(self, x):
    """These are exactly the numbers of post-norm for "pre" and of pre-norm for "post": the word says where the norm
    stands, before the sublayer or after the addition."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "post" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "pre" else x
    return x


@mistake(of="Block.forward")
def post_norm_only_at_the_end(self, x):
    """These are exactly the numbers of a post-norm block that normalises once, at its end: each of the two additions is
    followed by a norm."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
    return self.ln2(x) if self.norm == "post" else x


@mistake(of="Block.forward")
def normalised_before_and_after(self, x):
    """These are exactly the numbers you get when a post-norm block also normalises what it hands to its sublayers: with
    "post" the sublayer reads the stream as it is."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x)))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def pre_norm_block_normalises_its_output(self, x):
    """These are exactly the numbers you get when a pre-norm block normalises its output, too: the final norm belongs to
    the model, once, behind the last block."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return self.ln2(x) if self.norm == "pre" else x


@mistake(of="Block.forward")
def none_still_normalises(self, x):
    """These are exactly the numbers you get when a block with norm="none" normalises without weights: no norm means that
    the sublayers read the stream as it is."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        handed = x if self.norm == "post" else ln(x)
        if self.norm == "none":
            centred = x - x.mean(dim=-1, keepdim=True)
            handed = centred / (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
        update = self.dropout(sublayer(handed))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


# Block: the additions


@mistake(of="Block.forward")
def first_residual_missing(self, x):
    """These are exactly the numbers you get when the attention's output takes the place of x: both sublayers add to the
    stream."""
    for ln, sublayer, adds in ((self.ln1, self.attention, False), (self.ln2, self.mlp, True)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual and adds else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def second_residual_missing(self, x):
    """These are exactly the numbers you get when the MLP's output takes the place of the stream: both sublayers add to
    it."""
    for ln, sublayer, adds in ((self.ln1, self.attention, True), (self.ln2, self.mlp, False)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual and adds else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def residual_never_added(self, x):
    """These are exactly the numbers you get when nothing is added to the stream at all: "x +" is missing, or residual is
    read the wrong way round."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        x = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def residual_false_ignored(self, x):
    """Your block adds x although residual=False asks it not to."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        x = x + self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def residual_false_drops_one_addition_only(self, x):
    """These are exactly the numbers you get when residual=False drops the attention's "x +" and keeps the MLP's: it drops
    both."""
    for ln, sublayer, always in ((self.ln1, self.attention, False), (self.ln2, self.mlp, True)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual or always else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def residual_false_drops_the_norms_too(self, x):
    """These are exactly the numbers you get when residual=False leaves the norms out as well: it drops the "x +" and
    nothing else."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" and self.residual else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" and self.residual else x
    return x


@mistake(of="Block.forward")
def second_addition_to_the_block_input(self, x):
    """These are exactly the numbers you get when the MLP's output is added to the block's input: it is added to what the
    attention's step has made, or the attention is lost on the way."""
    start = x
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = start + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def both_sublayers_read_the_input(self, x):
    """These are exactly the numbers you get when the MLP reads the block's input beside the attention: it reads what the
    attention's step has made."""
    start = x
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(start) if self.norm == "pre" else start))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def mlp_before_attention(self, x):
    """These are exactly the numbers you get when the MLP's step comes first: the tokens talk, and then each of them
    thinks about what it heard."""
    for ln, sublayer in ((self.ln2, self.mlp), (self.ln1, self.attention)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def attention_used_twice(self, x):
    """These are exactly the numbers you get when both steps call the attention: the second one is the MLP's."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.attention)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def mlp_step_missing(self, x):
    """These are exactly the numbers you get after the attention's step alone: the MLP's is missing."""
    update = self.dropout(self.attention(self.ln1(x) if self.norm == "pre" else x))
    x = x + update if self.residual else update
    return self.ln1(x) if self.norm == "post" else x


@mistake(of="Block.forward")
def sum_halved(self, x):
    """These are exactly the numbers you get when x and the update are averaged: half of the stream is then lost at each
    step, a 4,096th is left after twelve. They are added."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = (x + update) / 2 if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def stream_added_twice(self, x):
    """These are exactly the numbers you get when x is added twice: a sublayer that adds its own input, in a block that
    adds it as well."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def added_in_place(self, x):
    """Your block adds to the caller's own tensor: x += writes into what it was given, and x = x + makes a new one."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        if self.residual:
            x += update
        else:
            x = update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def stream_cut_off_from_the_gradient(self, x):
    """Your numbers are right and your gradients are those of a stream that is detached: the path around the sublayers is
    there for the gradient most of all."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x.detach() + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


# Block: dropout


@mistake(of="Block.forward")
def dropout_always_on(self, x):
    """Your block drops numbers in evaluation, too: F.dropout does so unless it is told, and nn.Dropout knows by itself
    whether its module is in training."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = F.dropout(sublayer(ln(x) if self.norm == "pre" else x), self.dropout.p)
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_never(self, x):
    """Your block drops nothing in training: each sublayer's output goes through dropout before it is added."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = sublayer(ln(x) if self.norm == "pre" else x)
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_after_the_addition(self, x):
    """These are exactly the values you get when dropout comes after the addition: it then erases the stream itself, and
    not only the news."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = sublayer(ln(x) if self.norm == "pre" else x)
        x = self.dropout(x + update if self.residual else update)
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_before_the_sublayer(self, x):
    """Your block drops what the sublayers are handed: dropout falls on what they return."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = sublayer(self.dropout(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_after_the_attention_only(self, x):
    """These are exactly the values you get when only the attention's output is dropped: the MLP's is, too."""
    for ln, sublayer, dropout in ((self.ln1, self.attention, self.dropout), (self.ln2, self.mlp, nn.Identity())):
        update = dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_after_the_mlp_only(self, x):
    """These are exactly the values you get when only the MLP's output is dropped: the attention's is, too."""
    for ln, sublayer, dropout in ((self.ln1, self.attention, nn.Identity()), (self.ln2, self.mlp, self.dropout)):
        update = dropout(sublayer(ln(x) if self.norm == "pre" else x))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_twice(self, x):
    """Your block drops each update twice: 1 - p of it should stay, and (1 - p) squared does."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = self.dropout(self.dropout(sublayer(ln(x) if self.norm == "pre" else x)))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_not_made_up_for(self, x):
    """These are exactly the values you get when the numbers that stay are not multiplied by 1/(1 - p): the sublayers then
    seem to speak more softly in training than in evaluation."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = sublayer(ln(x) if self.norm == "pre" else x)
        update = update * (torch.rand_like(update) >= self.dropout.p) if self.training else update
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.forward")
def dropout_of_whole_tokens_shared_by_the_batch(self, x):
    """Your block draws one set of numbers to drop and uses it for every sequence of the batch."""
    for ln, sublayer in ((self.ln1, self.attention), (self.ln2, self.mlp)):
        update = sublayer(ln(x) if self.norm == "pre" else x)
        update = update * self.dropout(torch.ones_like(update[:1]))
        x = x + update if self.residual else update
        x = ln(x) if self.norm == "post" else x
    return x


@mistake(of="Block.__init__")
def dropout_is_taken_for_what_stays(
    self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__
):
    """Your block keeps a share of dropout and drops the rest: dropout is the probability with which a number is
    dropped."""
    right(self, d_model, attention, mlp, norm, residual, dropout)
    self.dropout = nn.Dropout(1 - dropout if dropout else 0.0)


@mistake(of="Block.__init__")
def dropout_of_a_tenth_always(
    self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__
):
    """Your block drops a tenth whatever dropout it is given, and also when it is given none."""
    right(self, d_model, attention, mlp, norm, residual, dropout)
    self.dropout = nn.Dropout(0.1)


# Block: how it is made


@mistake(of="Block.__init__")
def unknown_norm_accepted(self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__):
    """Your block takes a norm that it does not know and does something else in its place: a misspelt setting should be
    refused before a training run has been spent on it."""
    right(self, d_model, attention, mlp, norm if norm in ("post", "none") else "pre", residual, dropout)


@mistake(of="Block.__init__")
def unknown_norm_refused_by_assertion(
    self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__
):
    """You refuse with an assert: it says nothing to whoever calls, and vanishes under python -O. The contract asks for a
    ValueError that says norm and what it was."""
    assert norm in ("pre", "post", "none")
    right(self, d_model, attention, mlp, norm, residual, dropout)


@mistake(of="Block.__init__")
def unknown_norm_refused_without_its_name(
    self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__
):
    """Your ValueError does not say which norm was asked for: whoever reads it wants to see the word that was misspelt."""
    if norm not in ("pre", "post", "none"):
        raise ValueError("unknown norm")
    right(self, d_model, attention, mlp, norm, residual, dropout)


@mistake(of="Block.__init__")
def one_norm_in_both_places(
    self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__
):
    """ln1 and ln2 are one and the same object in your block, so that its 2d parameters are shared: each sublayer has a
    norm of its own."""
    right(self, d_model, attention, mlp, norm, residual, dropout)
    self.ln2 = self.ln1


@mistake(of="Block.__init__")
def none_keeps_its_norms(self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__):
    """Your block with norm="none" holds two LayerNorms that it may never use: they count as parameters, and there should
    be none."""
    right(self, d_model, attention, mlp, norm, residual, dropout)
    self.ln1, self.ln2 = LayerNorm(d_model), LayerNorm(d_model)
    self.norm = "no" if norm == "none" else norm


@mistake(of="Block.__init__")
def own_mlp_in_place_of_the_given_one(
    self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__
):
    """Your block makes an MLP of its own: it is given one, which may be any module, and keeps that."""
    right(self, d_model, attention, MLP(d_model), norm, residual, dropout)


@mistake(of="Block.__init__")
def sublayers_exchanged(self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__):
    """Your block keeps the MLP as its attention and the attention as its MLP."""
    right(self, d_model, mlp, attention, norm, residual, dropout)


@mistake(of="Block.__init__")
def sublayers_not_registered(
    self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0, right=Block.__init__
):
    """Your block keeps its sublayers where nn.Module does not see them: their parameters are not among the block's, and
    are neither trained nor moved. Assign them as attributes."""
    right(self, d_model, attention, mlp, norm, residual, dropout)
    del self.attention, self.mlp
    self.__dict__.update(attention=attention, mlp=mlp)


# block_gradient_norms


@mistake(of="block_gradient_norms")
def root_left_out(blocks):
    """These are exactly the sums of squares: the length is their root."""
    return [
        sum((p.grad.double() ** 2).sum().item() for p in block.parameters() if p.grad is not None) for block in blocks
    ]


@mistake(of="block_gradient_norms")
def lengths_added(blocks):
    """These are exactly the sums of the parameters' norms: lengths add up only along a straight line. Squares add up."""
    return [float(sum(p.grad.norm().item() for p in block.parameters() if p.grad is not None)) for block in blocks]


@mistake(of="block_gradient_norms")
def lengths_averaged(blocks):
    """These are exactly the means of the parameters' norms: the gradients are laid end to end as one long vector, and
    that one's length is asked for."""
    result = []
    for block in blocks:
        lengths = [p.grad.norm().item() for p in block.parameters() if p.grad is not None]
        result.append(sum(lengths) / len(lengths) if lengths else 0.0)
    return result


@mistake(of="block_gradient_norms")
def longest_parameter(blocks):
    """These are exactly the largest of the parameters' norms in each block: all of them count."""
    return [max((p.grad.norm().item() for p in b.parameters() if p.grad is not None), default=0.0) for b in blocks]


@mistake(of="block_gradient_norms")
def largest_entry(blocks):
    """These are exactly the largest entries of the gradients, the maximum norm: the L2 norm is asked for."""
    return [max((p.grad.abs().max().item() for p in b.parameters() if p.grad is not None), default=0.0) for b in blocks]


@mistake(of="block_gradient_norms")
def absolute_values_added(blocks):
    """These are exactly the sums of the absolute values, the L1 norm: L2 squares, adds and takes the root."""
    return [float(sum(p.grad.abs().sum().item() for p in b.parameters() if p.grad is not None)) for b in blocks]


@mistake(of="block_gradient_norms")
def root_mean_square(blocks):
    """These are exactly the roots of the mean squares: a norm is not divided by how many numbers there are."""
    result = []
    for block in blocks:
        flat = [p.grad.double().flatten() for p in block.parameters() if p.grad is not None]
        result.append(torch.cat(flat).square().mean().sqrt().item() if flat else 0.0)
    return result


@mistake(of="block_gradient_norms")
def matrices_only(blocks):
    """These are exactly the norms of the matrices' gradients: the biases and the norms' weights, which have one axis, are
    parameters, too."""
    return [
        math.hypot(*(p.grad.norm().item() for p in block.parameters() if p.grad is not None and p.dim() > 1))
        for block in blocks
    ]


@mistake(of="block_gradient_norms")
def last_parameter_only(blocks):
    """These are exactly the norms of each block's last gradient: in your loop each parameter takes the place of the one
    before, in place of adding to it."""
    result = []
    for block in blocks:
        norm = 0.0
        for parameter in block.parameters():
            if parameter.grad is not None:
                norm = parameter.grad.norm().item()
        result.append(norm)
    return result


@mistake(of="block_gradient_norms")
def first_parameter_only(blocks):
    """These are exactly the norms of each block's first gradient: all of its parameters count."""
    return [next((p.grad.norm().item() for p in b.parameters() if p.grad is not None), 0.0) for b in blocks]


@mistake(of="block_gradient_norms")
def outer_parameters_only(blocks):
    """Your norms leave out the parameters of modules inside of a block, which are nearly all that a block has:
    parameters() goes to any depth."""
    return [
        math.hypot(*(p.grad.norm().item() for p in block.parameters(recurse=False) if p.grad is not None))
        for block in blocks
    ]


@mistake(of="block_gradient_norms")
def norms_of_the_parameters(blocks):
    """These are exactly the norms of the parameters themselves: their gradients are asked for."""
    return [math.hypot(*(p.norm().item() for p in block.parameters())) for block in blocks]


@mistake(of="block_gradient_norms")
def parameter_in_place_of_a_missing_gradient(blocks):
    """These are exactly the numbers you get when a parameter without a gradient counts with its own values: it counts 0."""
    return [
        math.hypot(*((p if p.grad is None else p.grad).detach().norm().item() for p in block.parameters()))
        for block in blocks
    ]


@mistake(of="block_gradient_norms")
def missing_gradients_not_expected(blocks):
    """Your function reads .grad of a parameter that took no part, and finds None: that parameter counts 0."""
    return [math.hypot(*(p.grad.norm().item() for p in block.parameters())) for block in blocks]


@mistake(of="block_gradient_norms")
def stops_at_a_missing_gradient(blocks):
    """Your function stops at the first parameter that has no gradient: it counts 0, and those after it count as ever."""
    result = []
    for block in blocks:
        total = 0.0
        for parameter in block.parameters():
            if parameter.grad is None:
                break
            total += parameter.grad.double().square().sum().item()
        result.append(total**0.5)
    return result


@mistake(of="block_gradient_norms")
def block_without_gradients_left_out(blocks):
    """Your list leaves out the blocks without any gradient, so the norms no longer stand where their blocks do: such a
    block has the norm 0."""
    found = [[p.grad.norm().item() for p in block.parameters() if p.grad is not None] for block in blocks]
    return [math.hypot(*lengths) for lengths in found if lengths]


@mistake(of="block_gradient_norms")
def block_with_a_missing_gradient_is_zero(blocks):
    """Your function gives 0 for a block in which any parameter has no gradient: only that parameter counts 0."""
    result = []
    for block in blocks:
        gradients = [p.grad for p in block.parameters()]
        missing = any(gradient is None for gradient in gradients)
        result.append(0.0 if missing else math.hypot(*(gradient.norm().item() for gradient in gradients)))
    return result


@mistake(of="block_gradient_norms")
def total_not_begun_anew(blocks):
    """These are exactly the norms of all blocks so far: your total is not set back to 0 for each block."""
    total, result = 0.0, []
    for block in blocks:
        for parameter in block.parameters():
            if parameter.grad is not None:
                total += parameter.grad.double().square().sum().item()
        result.append(total**0.5)
    return result


@mistake(of="block_gradient_norms")
def one_norm_for_all_blocks(blocks):
    """Every entry of your list is the norm over all blocks together: each block has its own."""
    blocks = list(blocks)
    lengths = [p.grad.norm().item() for block in blocks for p in block.parameters() if p.grad is not None]
    return [math.hypot(*lengths) for _ in blocks]


@mistake(of="block_gradient_norms")
def norms_in_reverse(blocks):
    """These are exactly the right norms with the last block first: they stand in the order of the blocks."""
    return [
        math.hypot(*(p.grad.norm().item() for p in block.parameters() if p.grad is not None))
        for block in reversed(list(blocks))
    ]


@mistake(of="block_gradient_norms")
def tensors_in_the_list(blocks):
    """Your list holds tensors of one element: the contract asks for floats, which .item() gives."""
    return [
        torch.tensor(math.hypot(*(p.grad.norm().item() for p in block.parameters() if p.grad is not None)))
        for block in blocks
    ]


@mistake(of="block_gradient_norms")
def gradients_clipped(blocks):
    """Your norms are right, and the gradients are shorter after you looked: clip_grad_norm_ returns the norm, and it
    clips."""
    return [float(torch.nn.utils.clip_grad_norm_(block.parameters(), 1.0)) for block in blocks]


@mistake(of="block_gradient_norms")
def gradients_set_to_zero(blocks):
    """Your norms are right, and the gradients are 0 after you looked: setting them back is the optimizer's business."""
    result = []
    for block in blocks:
        result.append(math.hypot(*(p.grad.norm().item() for p in block.parameters() if p.grad is not None)))
        for parameter in block.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
    return result


@mistake(of="block_gradient_norms")
def missing_gradients_filled_in(blocks):
    """Your norms are right, and a parameter that had no gradient has one of zeros after you looked: an optimizer treats
    the two differently, and you were only looking."""
    result = []
    for block in blocks:
        for parameter in block.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        result.append(math.hypot(*(p.grad.norm().item() for p in block.parameters())))
    return result


@mistake(of="block_gradient_norms")
def squares_in_half_precision(blocks):
    """Your norms are rounded to float16 on the way, which ends at 65,504: add up in the gradients' own type, or in a
    wider one."""
    result = []
    for block in blocks:
        total = sum((p.grad.half().square().sum().item() for p in block.parameters() if p.grad is not None), 0.0)
        result.append(total**0.5)
    return result
