"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import math

import torch
import torch.nn.functional as F
from part7_training import get_batch, warmup_lr

from autograder.checks import equivalent


@equivalent(of="get_batch")
def windows_one_by_one(tokens, batch_size, block_size, generator=None):
    """Draw a start for each row in turn, cut two pieces, and put them on top of each other."""
    x, y = [], []
    for _ in range(batch_size):
        start = int(torch.randint(0, tokens.shape[0] - block_size, (), generator=generator))
        x.append(tokens[start : start + block_size])
        y.append(tokens[start + 1 : start + 1 + block_size])
    return torch.stack(x), torch.stack(y)


@equivalent(of="perplexity")
def short_window_first(model, tokens, block_size, batch_size=64):
    """Take the short last window first, then the whole ones in batches; exp of a sum of logarithms of probabilities."""
    x, y = tokens[:-1], tokens[1:]
    whole = len(x) // block_size * block_size
    pieces = [(x[None, whole:], y[None, whole:])] if whole < len(x) else []
    step = batch_size * block_size
    for begin in range(0, whole, step):
        end = min(begin + step, whole)
        pieces.append((x[begin:end].reshape(-1, block_size), y[begin:end].reshape(-1, block_size)))
    mode = model.training
    model.train(False)
    nats = []
    for read, following in pieces:
        p = model(read).detach().softmax(dim=-1)
        nats.append(-p.gather(-1, following[..., None]).log().flatten())
    model.train(mode)
    return torch.cat(nats).mean().exp().item()


@equivalent(of="perplexity")
def weighted_mean_of_means(model, tokens, block_size, batch_size=64):
    """Weigh each window's mean by its share of all tokens."""
    mode, mean = model.training, 0.0
    model.eval()
    with torch.no_grad():
        for begin in range(0, len(tokens) - 1, block_size):
            window = tokens[begin : begin + block_size + 1]
            share = (len(window) - 1) / (len(tokens) - 1)
            mean += share * F.cross_entropy(model(window[None, :-1])[0], window[1:]).item()
    model.train(mode)
    return math.exp(mean)


@equivalent(of="train")
def rate_as_a_factor(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """Set the rate through the optimizer's defaults, gradients through autograd.grad."""
    mode = model.training
    model.train(True)
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=lr, foreach=False)
    found = []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = lr * warmup_lr(step, 1.0, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        log_p = model(x).log_softmax(dim=-1)
        loss = -log_p.gather(-1, y[..., None]).mean()
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        optimizer.step()
        found.append(loss.detach().item())
        if on_step is not None:
            on_step(step, found[step])
    model.train(mode)
    return found
