"""Part 7 in another style: lists of slices, one window at a time, a scheduler; right all the same."""

import contextlib
import math

import torch
from torch import nn


def get_batch(tokens, batch_size, block_size, generator=None):
    """Cut every window that there is, as a view, and pick rows of that."""
    windows = tokens.unfold(0, block_size + 1, 1)
    chosen = torch.empty(batch_size, dtype=torch.long).random_(0, windows.size(0), generator=generator)
    rows = torch.index_select(windows, 0, chosen)
    return rows[:, :block_size].clone(), rows[:, 1:].clone()


@contextlib.contextmanager
def in_mode(model, training):
    """Put a model into a mode for a while."""
    before = model.training
    model.train(training)
    try:
        yield
    finally:
        model.train(before)


def perplexity(model, tokens, block_size, batch_size=64):
    """Read one window at a time, whatever may be run at once, and add logarithms of probabilities."""
    log_likelihood = []
    with in_mode(model, False), torch.inference_mode():
        place = 0
        while place < tokens.numel() - 1:
            piece = tokens[place : place + block_size + 1].unsqueeze(0)
            log_p = model(piece[:, :-1]).log_softmax(-1)
            log_likelihood += log_p.gather(-1, piece[:, 1:, None]).flatten().tolist()
            place += block_size
    return math.e ** (-math.fsum(log_likelihood) / len(log_likelihood))


def warmup_lr(step, max_lr, warmup_steps):
    """Take the smaller of the line and the ceiling."""
    return min(max_lr, max_lr * (step + 1) / max(1, warmup_steps))


def train(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """Let a scheduler of torch's multiply the rate."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: warmup_lr(step, 1.0, warmup_steps))
    measure = nn.CrossEntropyLoss()
    history = []
    with in_mode(model, True):
        while len(history) < steps:
            model.zero_grad(set_to_none=False)
            x, y = get_batch(tokens, batch_size, block_size, generator=generator)
            loss = measure(model(x).transpose(1, 2), y)
            loss.backward()
            optimizer.step()
            schedule.step()
            history.append(loss.item())
            if on_step:
                on_step(len(history) - 1, history[-1])
    return history
