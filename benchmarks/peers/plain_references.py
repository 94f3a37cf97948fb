"""What the plain checks of part 3 compare with: sizes, inputs and the formulas written out once more."""

# ruff: noqa: D103 - their names say what they do

import math

import torch

BATCH, T, BLOCK, WIDTH, HEADS, D_HEAD = 3, 5, 8, 24, 4, 6
DOUBLE = torch.float64


def normal(*shape, std=1.0, dtype=torch.float32, seed=0):
    return (std * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)).to(dtype)


def close(got, expected, atol):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    assert torch.allclose(got, expected, rtol=0.0, atol=atol)


def refuses(call, *words):
    try:
        call()
    except ValueError as error:
        assert all(any(word in str(error).lower() for word in group) for group in words)
        return
    raise AssertionError("no ValueError")


def formula(q, k, v, mask=None):
    scores = torch.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])
    weights = (scores if mask is None else torch.where(mask, scores, -math.inf)).softmax(-1)
    return weights @ v, weights


def triangle(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def some_mask(*shape):
    mask = normal(*shape, seed=9) < 0.25
    mask[..., 1] = True
    return mask


def with_weights(module, std=0.7, dtype=DOUBLE):
    module.to(dtype)
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(normal(*parameter.shape, std=std, dtype=dtype, seed=20 + number))
    return module


def head_formula(head, x):
    return formula(head.q(x), head.k(x), head.v(x), triangle(x.shape[-2]))


def many_formula(module, x):
    outputs, maps = zip(*(head_formula(head, x) for head in module.heads), strict=True)
    return module.proj(torch.cat(outputs, dim=-1)), torch.stack(maps, dim=1)


def hides_the_future(module, width, atol=1e-6):
    x = normal(BATCH, T, WIDTH, dtype=DOUBLE)
    before = module(x)
    assert before.shape == (BATCH, T, width)
    for t in range(1, T):
        after = module(torch.cat([x[:, :t], normal(BATCH, T - t, WIDTH, dtype=DOUBLE, seed=t)], dim=1))
        close(after[:, :t], before[:, :t], atol)
        assert (after[:, t:] - before[:, t:]).abs().max() > 1e-3
