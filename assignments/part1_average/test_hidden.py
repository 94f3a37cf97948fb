"""What only instructors have of part 1: random inputs, extremes, dtypes, gradients."""

import torch
from torch import Tensor

from autograder.checks import agree, check, equal, expect, raises_value_error, tensor

# float32 and float64 are compared closely. In half precision the order of rounding is free, so the limits there are a
# few times the rounding of numbers of size 4; a wrong mean is off by 0.1 and more.
MEAN_LIMITS = ((torch.float32, 1e-6), (torch.float64, 1e-12), (torch.float16, 1e-2), (torch.bfloat16, 8e-2))


def _prefix_means(x: Tensor) -> Tensor:
    """Average each prefix in float64."""
    counts = torch.arange(1, x.shape[-2] + 1, dtype=torch.float64).unsqueeze(-1)
    return x.double().cumsum(dim=-2) / counts


def _weights(scores: Tensor, mask: Tensor) -> Tensor:
    """Normalise over the allowed entries in float64."""
    return torch.where(mask, scores.double(), -torch.inf).softmax(dim=-1)


def _logits(weights: dict[str, Tensor], idx: Tensor, *, residual: bool) -> Tensor:
    """Compute MeanLM's logits in float64; there are positions where there is a table of them."""
    table = {name: weight.double() for name, weight in weights.items()}
    x = table["tok_emb.weight"][idx]
    if "pos_emb.weight" in table:
        x = x + table["pos_emb.weight"][: idx.shape[1]]
    mixed = _prefix_means(x) + (x if residual else 0)
    return mixed @ table["lm_head.weight"].T + table["lm_head.bias"]


def _random_mask(rng, *shape: int) -> Tensor:
    """Allow about half of the entries and, so that no row is empty, the first column."""
    mask = rng.uniform(*shape) < 0.5
    mask[..., 0] = True
    return mask


def _agrees_with_the_mean(function, rng) -> None:
    """Compare with the mean of each prefix over shapes, then over dtypes."""
    for shape in ((2, 3, 9, 4), (33, 5), (2, 1, 6)):
        x = rng.normal(*shape)
        # measured over 20 seeds: three right versions are at most 2.4e-7 apart
        agree(function(x), _prefix_means(x).float(), atol=1e-6, what=f"the means of an x of shape {shape}")
    for dtype, limit in MEAN_LIMITS:
        x = rng.normal(3, 7, 4, dtype=torch.float64).to(dtype)
        agree(function(x), _prefix_means(x).to(dtype), atol=limit, what=f"the means of an x of {dtype}")


@check(points=1, exercise="prefix_mean_loop", hint="Which axis is time, counted from the end?")
def test_prefix_mean_loop_holds_for_any_shape_and_dtype(student, rng):
    """prefix_mean_loop is the mean of each prefix for any leading axes and in the dtype of x."""
    _agrees_with_the_mean(student.prefix_mean_loop, rng)


@check(points=1, exercise="averaging_matrix", hint="In which dtype, and where, is the division done?")
def test_averaging_matrix_holds_for_any_length_dtype_and_device(student, rng):
    """averaging_matrix shares evenly at any length, precisely in its dtype, on the device asked for."""
    for T in (1, 33):
        agree(student.averaging_matrix(T), _prefix_means(torch.eye(T)).float(), atol=1e-7, what=f"the table, T = {T}")
    # a few units in the last place of a number of size 1
    for dtype, limit in ((torch.float64, 1e-15), (torch.float16, 2e-3), (torch.bfloat16, 1.6e-2)):
        expected = _prefix_means(torch.eye(7)).to(dtype)
        agree(student.averaging_matrix(7, dtype=dtype), expected, atol=limit, what=f"the table in {dtype}")
    # a meta tensor has no values: only shape, dtype and device are compared
    nowhere = torch.empty(7, 7, device="meta")
    agree(student.averaging_matrix(7, device="meta"), nowhere, atol=0.0, what="the table on meta")


@check(points=1, exercise="prefix_mean_matmul", hint="What of x must the table share: length, dtype, device?")
def test_prefix_mean_matmul_holds_for_any_shape_and_dtype(student, rng):
    """prefix_mean_matmul is the mean of each prefix for any leading axes and in the dtype of x."""
    _agrees_with_the_mean(student.prefix_mean_matmul, rng)


@check(points=1, exercise="causal_mask", hint="What may the very first position read?")
def test_causal_mask_holds_for_any_length_and_device(student, rng):
    """causal_mask is the lower triangle at any length, on the device asked for."""
    for T in (1, 2, 9):
        expected = torch.arange(T).unsqueeze(1) >= torch.arange(T)
        equal(student.causal_mask(T), expected, what=f"the mask for T = {T}", picture=True)
    nowhere = torch.empty(5, 5, dtype=torch.bool, device="meta")  # shape, dtype and device without values
    equal(student.causal_mask(5, device="meta"), nowhere, what="the mask on meta")


@check(points=2, exercise="masked_softmax", hint="exp(89) is infinite in float32: what can be subtracted before it?")
def test_masked_softmax_equals_the_softmax_of_what_is_allowed(student, rng):
    """masked_softmax is the softmax of the allowed scores, small ones and scores in the hundreds."""
    for shape, std in (((2, 3, 5, 7), 1.5), ((4, 9), 4.0), ((3, 6, 5), 100.0)):
        scores, mask = rng.normal(*shape, std=std), _random_mask(rng, *shape)
        # a score of 300 carries an error of 1.5e-5 when a maximum is subtracted in float32, and so does its weight
        limit = 1e-6 if std < 10 else 1e-4
        weights = student.masked_softmax(scores, mask)
        agree(weights, _weights(scores, mask).float(), atol=limit, what=f"the weights of {shape} scores", picture=True)
    scores, mask = rng.normal(3, 4, 6, dtype=torch.float64), _random_mask(rng, 3, 4, 6)
    # float64 all the way: a detour through float32 is off by 1e-8
    agree(student.masked_softmax(scores, mask), _weights(scores, mask), atol=1e-12, what="the weights in float64")


@check(points=1, exercise="masked_softmax", hint="Whose axes line up when a (T, S) mask meets (B, h, T, S) scores?")
def test_masked_softmax_lets_the_mask_broadcast(student, rng):
    """One mask serves many heads and batches, one per sequence serves all its readers."""
    scores = rng.normal(2, 3, 5, 7)
    for shape in ((5, 7), (2, 1, 1, 7), (3, 1, 7), (1, 7)):
        mask = _random_mask(rng, *shape)
        expected = _weights(scores, mask).float()
        agree(student.masked_softmax(scores, mask), expected, atol=1e-6, what=f"the weights under a {shape} mask")


@check(points=2, exercise="masked_softmax", hint="Is the forbidden score still in the sum, or in the maximum?")
def test_masked_softmax_does_not_feel_forbidden_scores(student, rng):
    """However high or low a forbidden score is, its weight is exactly 0 and the others do not move."""
    scores, mask = rng.normal(3, 5, 6, std=2.0), _random_mask(rng, 5, 6)
    expected = _weights(scores, mask).float()
    for forbidden in (0.0, -10_000.0, 10_000.0, 1e30):
        changed = torch.where(mask, scores, forbidden)
        weights = tensor(student.masked_softmax(changed, mask), shape=(3, 5, 6), dtype=torch.float32)
        what = f"the weights with forbidden scores of {forbidden:g}"
        agree(weights, expected, atol=1e-6, what=what, picture=True)
        expect(bool((weights[:, ~mask] == 0).all()), f"forbidden weights are not all 0 in {what}", evidence=weights)


@check(points=1, exercise="masked_softmax", hint="Below which allowed scores is your 'very low' number no longer low?")
def test_masked_softmax_ignores_a_common_shift(student, rng):
    """Adding -100,000 to every score of integer value changes no weight."""
    scores, mask = rng.integers(-4, 5, 2, 5, 6).float(), _random_mask(rng, 5, 6)
    expected = _weights(scores, mask).float()
    # whole numbers below 2 ** 24 are exact in float32, so nothing is lost in the shift itself
    weights = student.masked_softmax(scores - 100_000.0, mask)
    agree(weights, expected, atol=1e-6, what="the weights of scores around -100,000", picture=True)


@check(points=2, exercise="masked_softmax", hint="float16 ends at 65,504. Which number is below all of its numbers?")
def test_masked_softmax_survives_half_precision(student, rng):
    """masked_softmax works in float16 and bfloat16, also for scores in the hundreds."""
    for dtype, limit in ((torch.float16, 4e-3), (torch.bfloat16, 3e-2)):  # a few units in the last place at 1
        for std in (1.0, 200.0):
            scores, mask = rng.normal(2, 5, 6, std=std).to(dtype), _random_mask(rng, 5, 6)
            weights = tensor(student.masked_softmax(scores, mask), shape=(2, 5, 6), dtype=dtype)
            agree(weights, _weights(scores, mask).to(dtype), atol=limit, what=f"the weights in {dtype}", picture=True)
            expect(bool((weights[:, ~mask] == 0).all()), f"a forbidden weight is not 0 in {dtype}", evidence=weights)


@check(points=1, exercise="masked_softmax", hint="A row without a single True cannot be given weights that sum to 1.")
def test_masked_softmax_refuses_an_empty_row(student, rng):
    """A reader who may read nothing is a ValueError that names the mask and its shape."""
    scores, mask = rng.normal(3, 4, 6), torch.ones(4, 6, dtype=torch.bool)
    mask[2] = False
    raises_value_error(
        student.masked_softmax,
        scores,
        mask,
        mentions=("mask", ("4, 6", "4,6", "4 x 6", "4x6")),
        because="row 2 of a mask of shape (4, 6) allows nothing",
    )
    one_per_sequence = torch.ones(3, 1, 6, dtype=torch.bool)
    one_per_sequence[1] = False
    raises_value_error(
        student.masked_softmax,
        scores,
        one_per_sequence,
        mentions=("mask",),
        because="a mask of shape (3, 1, 6) allows nothing to all readers of the second sequence",
    )


@check(points=2, exercise="masked_softmax", hint="A weight that is exactly 0 passes no gradient on.")
def test_masked_softmax_sends_no_gradient_through_the_mask(student, rng):
    """The gradient of a forbidden score is exactly 0, that of an allowed one is the softmax's."""
    mask = _random_mask(rng, 5, 6)
    for forbidden in (None, 10_000.0):
        scores, upstream = rng.normal(3, 5, 6), rng.normal(3, 5, 6)
        if forbidden is not None:
            scores = torch.where(mask, scores, forbidden)
        weights = _weights(scores, mask)
        expected = weights * (upstream - (weights * upstream).sum(dim=-1, keepdim=True))
        reply = student.masked_softmax.gradients(scores, mask, upstream=upstream)
        gradient = tensor(reply.inputs[0], shape=(3, 5, 6), dtype=torch.float32)
        agree(gradient, expected.float(), atol=1e-6, what="the gradient of the scores", picture=True)
        expect(
            bool((gradient[:, ~mask] == 0).all()), "a gradient through the mask is small, but not 0", evidence=gradient
        )


@check(points=2, exercise="prefix_mean_softmax", hint="Zero scores, in the dtype of x; then mask, normalise, mix.")
def test_prefix_mean_softmax_holds_for_any_shape_and_dtype(student, rng):
    """prefix_mean_softmax is the mean of each prefix for any leading axes and in the dtype of x."""
    _agrees_with_the_mean(student.prefix_mean_softmax, rng)


@check(points=3, exercise="MeanLM", hint="What goes into the mean, and what exactly is added to it?")
def test_mean_lm_equals_the_mean_of_its_embeddings(student, rng):
    """MeanLM's logits are right in all four variants, for short, full and single-token texts."""
    for positions, residual in ((False, False), (False, True), (True, False), (True, True)):
        model = student.MeanLM(11, 24, 8, positions=positions, residual=residual)
        weights = rng.like(_shapes(positions), std=0.7)
        model.load(weights)
        for B, T in ((3, 5), (2, 8), (1, 1)):
            idx = rng.integers(0, 11, B, T)
            expected = _logits(weights, idx, residual=residual).float()
            # sums of 24 products of size 1: float32 is good to about 2e-6 here
            what = f"the logits (positions={positions}, residual={residual}, idx of shape {(B, T)})"
            agree(model(idx), expected, atol=2e-5, what=what)


@check(points=1, exercise="MeanLM", hint="A mean does not know the order of what it averages.")
def test_mean_lm_does_not_see_the_order_of_the_past(student, rng):
    """Shuffling all tokens but the last leaves the last logits alone, and later tokens never count."""
    idx, order = rng.integers(0, 11, 3, 8), rng.permutation(5)
    shuffled, other = idx.clone(), idx.clone()
    shuffled[:, :5] = idx[:, order]  # the token at 5 stays: residual reads it by itself
    other[:, 6:] = (idx[:, 6:] + 1) % 11
    for positions in (False, True):
        model = student.MeanLM(11, 24, 8, positions=positions, residual=True)
        model.load(rng.like(_shapes(positions), std=0.7))
        base = tensor(model(idx), shape=(3, 8, 11), dtype=torch.float32)
        # the shuffle changes the order of a float sum, nothing else
        after = tensor(model(shuffled), shape=(3, 8, 11), dtype=torch.float32)
        agree(after[:, 5], base[:, 5], atol=2e-5, what=f"logits at 5 after a shuffle of 0 to 4, positions={positions}")
        after = tensor(model(other), shape=(3, 8, 11), dtype=torch.float32)
        what = f"logits at 0 to 5 after a change of tokens 6 and 7, positions={positions}"
        agree(after[:, :6], base[:, :6], atol=2e-5, what=what)
        moved = (after[:, 6:] - base[:, 6:]).abs().amax() > 1e-3  # other tokens there: logits of about 1 are others
        expect(moved, "The logits at 6 and 7 do not depend on the tokens there.", evidence=after)


@check(points=1, exercise="MeanLM", hint="Which layers does each variant need, and which of them has a bias?")
def test_mean_lm_has_the_layers_it_says(student, rng):
    """MeanLM holds tok_emb, lm_head with a bias, and pos_emb only where positions are asked for."""
    for positions in (False, True):
        model = student.MeanLM(11, 24, 8, positions=positions)
        equal(model.shapes, _shapes(positions), what=f"the parameters and their shapes (positions={positions})")
    equal(student.MeanLM(11, 24, 8).get("pos_emb"), None, what="pos_emb of a model without positions")


@check(points=2, exercise="MeanLM", hint="Everything made in forward takes its dtype and device from what is there.")
def test_mean_lm_follows_a_change_of_dtype(student, rng):
    """Converted to float64 or half precision, MeanLM computes and answers in it."""
    weights, idx = rng.like(_shapes(True), std=0.7), rng.integers(0, 11, 3, 5)
    expected = _logits(weights, idx, residual=True)
    # Logits of size 10. A table of weights that was kept as a buffer was rounded to float32 before it was converted, so
    # float64 is held to float32's limit; half precision rounds each of three steps.
    for dtype, limit in ((torch.float64, 2e-5), (torch.float16, 5e-2), (torch.bfloat16, 4e-1)):
        model = student.MeanLM(11, 24, 8, positions=True, residual=True)
        model.load(weights)
        model.to(dtype)
        agree(model(idx), expected.to(dtype), atol=limit, what=f"the logits in {dtype}")


@check(points=1, exercise="MeanLM", hint="Where could the way back from the logits to a table be cut?")
def test_mean_lm_can_be_trained_in_every_part(student, rng):
    """The gradient reaches every table of MeanLM, and is the right one."""
    model = student.MeanLM(11, 24, 8, positions=True, residual=True)
    weights = model.load(rng.like(_shapes(True), std=0.7))
    idx, upstream = rng.integers(0, 11, 3, 5), rng.normal(3, 5, 11)
    tables = {name: weight.double().requires_grad_() for name, weight in weights.items()}
    (_logits(tables, idx, residual=True) * upstream).sum().backward()
    got = model.gradients(idx, upstream=upstream).parameters
    for name, table in tables.items():
        # sums of 15 products of size 3: float32 is good to about 1e-5
        agree(got.get(name), table.grad.float(), atol=1e-4, what=f"the gradient of {name}")


def _shapes(positions: bool) -> dict[str, tuple[int, ...]]:
    """List MeanLM(11, 24, 8)'s parameters."""
    table = {"pos_emb.weight": (8, 24)} if positions else {}
    return {"tok_emb.weight": (11, 24), **table, "lm_head.weight": (11, 24), "lm_head.bias": (11,)}
