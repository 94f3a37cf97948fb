"""Wrong solutions of part 7, one function each, and what a student who wrote one is told."""

import copy
import math

import torch
from part7_training import get_batch, perplexity, train, warmup_lr
from torch.nn import functional as F

from autograder.checks import mistake

# Batches


@mistake(
    of="get_batch",
    trains=(
        "table_learns_what_counting_knows",
        "your_gpt_learns_to_look_back",
        "mean_forgets_the_token_and_the_residual_brings_it_back",
        "head_finds_what_counts_and_needs_the_token_beside_it",
        "block_learns_the_language",
        "wide_head_collapses_without_the_division",
        "model_without_a_mask_fools_every_loss",
        "two_blocks_copy_and_one_cannot",
        "positions_beyond_the_trained_length",
    ),
)
def targets_not_shifted(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your y is x itself, so the model is asked for the token that it has just read: it learns to copy, with a loss of
    almost 0, and to predict nothing."""
    x, _ = right(tokens, batch_size, block_size, generator)
    return x, x.clone()


@mistake(of="get_batch")
def targets_shifted_twice(tokens, batch_size, block_size, generator=None):
    """Your y is two tokens ahead of x: what follows a token is the very next one."""
    starts = torch.randint(len(tokens) - block_size - 1, (batch_size, 1), generator=generator)
    places = starts + torch.arange(block_size)
    return tokens[places], tokens[places + 2]


@mistake(of="get_batch")
def targets_shifted_backwards(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your y is one token before x in place of one after it: the model is asked for what it has read already."""
    x, y = right(tokens, batch_size, block_size, generator)
    return y, x


@mistake(of="get_batch")
def last_target_is_the_first_token(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your y is x rolled round by one, so that the last token of each row is "followed" by the row's own first: what
    follows it stands in the text, outside the window."""
    x, _ = right(tokens, batch_size, block_size, generator)
    return x, x.roll(-1, dims=1)


@mistake(of="get_batch")
def last_window_never_drawn(tokens, batch_size, block_size, generator=None):
    """Your windows never start at the last place that fits, so the end of the text is never predicted: a text of N
    tokens has N - block_size starts, and torch.randint leaves its upper end out by itself."""
    starts = torch.randint(max(1, len(tokens) - block_size - 1), (batch_size, 1), generator=generator)
    windows = tokens[starts + torch.arange(block_size + 1)]
    return windows[:, :-1], windows[:, 1:]


@mistake(of="get_batch")
def first_window_never_drawn(tokens, batch_size, block_size, generator=None):
    """Your windows never start at token 0: places in Python begin there."""
    starts = torch.randint(min(1, len(tokens) - block_size - 1), len(tokens) - block_size, (batch_size, 1))
    if generator is not None:
        low = min(1, len(tokens) - block_size - 1)
        starts = torch.randint(low, len(tokens) - block_size, (batch_size, 1), generator=generator)
    windows = tokens[starts + torch.arange(block_size + 1)]
    return windows[:, :-1], windows[:, 1:]


@mistake(of="get_batch")
def windows_past_the_end(tokens, batch_size, block_size, generator=None):
    """Your windows may start anywhere in the text, and go on at its beginning when it ends: these two pieces never
    stood next to each other. The last start is where the last target is the last token."""
    starts = torch.randint(len(tokens), (batch_size, 1), generator=generator)
    windows = tokens[(starts + torch.arange(block_size + 1)) % len(tokens)]
    return windows[:, :-1], windows[:, 1:]


@mistake(of="get_batch")
def one_start_for_all_rows(tokens, batch_size, block_size, generator=None, right=get_batch):
    """All rows of your batch are the same window: a batch of B copies teaches what one of them does. Each row needs a
    start of its own."""
    x, y = right(tokens, 1, block_size, generator)
    return x.repeat(batch_size, 1), y.repeat(batch_size, 1)


@mistake(of="get_batch")
def rows_follow_each_other(tokens, batch_size, block_size, generator=None):
    """Only your first row starts at random, and each of the others one token after the row above: the windows of a
    batch are then almost the same text. Each row needs a start of its own."""
    starts = torch.randint(len(tokens) - block_size, (1, 1), generator=generator) + torch.arange(batch_size)[:, None]
    windows = tokens[starts % (len(tokens) - block_size) + torch.arange(block_size + 1)]
    return windows[:, :-1], windows[:, 1:]


@mistake(of="get_batch")
def starts_at_multiples_of_block_size(tokens, batch_size, block_size, generator=None):
    """Your windows start only at multiples of block_size: the tokens there are never read with anything before them. A
    window may start anywhere it fits."""
    n_pieces = (len(tokens) - 1) // block_size
    starts = block_size * torch.randint(n_pieces, (batch_size, 1), generator=generator)
    windows = tokens[starts + torch.arange(block_size + 1)]
    return windows[:, :-1], windows[:, 1:]


@mistake(of="get_batch")
def starts_without_replacement(tokens, batch_size, block_size, generator=None):
    """You shuffle the starts and take the first ones, so a short text has fewer windows than you were asked for: draw
    each row's start independently."""
    starts = torch.randperm(len(tokens) - block_size, generator=generator)[:batch_size, None]
    windows = tokens[starts + torch.arange(block_size + 1)]
    return windows[:, :-1], windows[:, 1:]


@mistake(of="get_batch")
def starts_crowd_the_middle(tokens, batch_size, block_size, generator=None):
    """Your windows prefer some places of the text to others: every start that fits must be equally likely."""
    n_starts = len(tokens) - block_size
    draws = torch.rand((batch_size, 2), generator=generator).mean(dim=1, keepdim=True)
    windows = tokens[(draws * n_starts).long().clamp(max=n_starts - 1) + torch.arange(block_size + 1)]
    return windows[:, :-1], windows[:, 1:]


@mistake(of="get_batch")
def windows_one_token_too_long(tokens, batch_size, block_size, generator=None):
    """Your x has block_size + 1 columns: a window of that length is cut first, and then loses one token at either
    end."""
    starts = torch.randint(max(1, len(tokens) - block_size - 1), (batch_size, 1), generator=generator)
    places = (starts + torch.arange(block_size + 1)).clamp(max=len(tokens) - 2)
    return tokens[places], tokens[places + 1]


@mistake(of="get_batch")
def windows_one_token_too_short(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your x has block_size - 1 columns: cut block_size + 1 tokens, so that block_size are left of them when the last
    one is taken off."""
    x, y = right(tokens, batch_size, block_size, generator)
    return x[:, :-1], y[:, :-1]


@mistake(of="get_batch")
def batch_lies_on_its_side(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your batch is (T, B): each window must be a row, not a column."""
    x, y = right(tokens, batch_size, block_size, generator)
    return x.T.contiguous(), y.T.contiguous()


@mistake(of="get_batch")
def batch_is_int32(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your batch is int32; token numbers are long, and cross_entropy takes nothing else for a target."""
    x, y = right(tokens, batch_size, block_size, generator)
    return x.int(), y.int()


@mistake(of="get_batch")
def generator_not_used(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your batches do not come from the generator that you are given, so nobody can draw the same ones again: hand it
    to torch.randint."""
    return right(tokens, batch_size, block_size)


@mistake(of="get_batch")
def global_seed_set(tokens, batch_size, block_size, generator=None, right=get_batch):
    """You set torch's global seed in get_batch: without a generator every batch is then the same, and everybody else's
    random numbers start again as well."""
    torch.manual_seed(0)
    return right(tokens, batch_size, block_size, generator)


@mistake(of="get_batch")
def generator_started_again(tokens, batch_size, block_size, generator=None, right=get_batch):
    """Your generator starts again at each call, so it gives the same batch for ever: it must move on."""
    state = None if generator is None else generator.get_state()
    batch = right(tokens, batch_size, block_size, generator)
    if state is not None:
        generator.set_state(state)
    return batch


# Perplexity


@mistake(of="perplexity")
def mean_of_the_batches_perplexities(model, tokens, block_size, batch_size=64):
    """You average the perplexities of windows or batches: an exponential of a mean is not a mean of exponentials.
    Average nats over all tokens, and take exp once, at the end."""
    was_training, found = model.training, []
    model.eval()
    with torch.no_grad():
        for x, y in zip(tokens[:-1].split(block_size), tokens[1:].split(block_size), strict=True):
            found.append(F.cross_entropy(model(x[None])[0], y).exp().item())
    model.train(was_training)
    return sum(found) / len(found)


@mistake(of="perplexity")
def mean_of_the_batches_means(model, tokens, block_size, batch_size=64):
    """You average the windows' mean losses, so the tokens of a short last window count more than the others: add up
    nats, and divide once by the number of tokens."""
    was_training, found = model.training, []
    model.eval()
    with torch.no_grad():
        for x, y in zip(tokens[:-1].split(block_size), tokens[1:].split(block_size), strict=True):
            found.append(F.cross_entropy(model(x[None])[0], y).item())
    model.train(was_training)
    return math.exp(sum(found) / len(found))


@mistake(of="perplexity")
def two_to_the_power_of_nats(model, tokens, block_size, batch_size=64, right=perplexity):
    """This is exactly the number you get from 2 to the power of nats: cross_entropy takes the natural logarithm, and
    it is exp that undoes it."""
    return 2 ** math.log(right(model, tokens, block_size, batch_size))


@mistake(of="perplexity")
def exponential_of_bits(model, tokens, block_size, batch_size=64, right=perplexity):
    """This is exactly the number you get from exp of bits: once the nats are divided by ln 2, it is 2 that must be
    raised to their power."""
    return math.exp(math.log2(right(model, tokens, block_size, batch_size)))


@mistake(of="perplexity")
def loss_returned(model, tokens, block_size, batch_size=64, right=perplexity):
    """This is exactly the mean surprise in nats: its exponential is the perplexity."""
    return math.log(right(model, tokens, block_size, batch_size))


@mistake(of="perplexity")
def last_window_left_out(model, tokens, block_size, batch_size=64, right=perplexity):
    """You leave out the last window when it is shorter than the others: the end of the text, or the whole of a short
    text, is then never judged."""
    n_whole = (len(tokens) - 1) // block_size
    return right(model, tokens[: max(1, n_whole) * block_size + 1], block_size, batch_size) if n_whole else 1.0


@mistake(of="perplexity")
def last_whole_window_left_out(model, tokens, block_size, batch_size=64, right=perplexity):
    """You leave out the last window, whether it is shorter than the others or not: count how many windows begin before
    the last token."""
    n_windows = -(-(len(tokens) - 1) // block_size)
    if n_windows == 1:
        raise ZeroDivisionError("division by zero")
    return right(model, tokens[: (n_windows - 1) * block_size + 1], block_size, batch_size)


@mistake(of="perplexity")
def only_the_first_batch(model, tokens, block_size, batch_size=64, right=perplexity):
    """You judge the first batch of windows and no other: the result then depends on batch_size, which may change the
    time and nothing else."""
    return right(model, tokens[: batch_size * block_size + 1], block_size, batch_size)


@mistake(of="perplexity")
def each_window_loses_a_token(model, tokens, block_size, batch_size=64):
    """You cut the text into windows and shift within each, so the first token of every window is never predicted: what
    one window reads last predicts what the next one reads first."""
    was_training, nats, n = model.training, 0.0, 0
    model.eval()
    with torch.no_grad():
        for window in tokens.split(block_size):
            if len(window) > 1:
                nats += F.cross_entropy(model(window[None, :-1])[0], window[1:], reduction="sum").item()
                n += len(window) - 1
    model.train(was_training)
    return math.exp(nats / max(1, n))


@mistake(of="perplexity")
def scored_on_what_was_read(model, tokens, block_size, batch_size=64):
    """You score the model on the token that it has just read: the scores at a place are about the next one."""
    was_training, nats = model.training, 0.0
    model.eval()
    with torch.no_grad():
        for x in tokens[:-1].split(block_size):
            nats += F.cross_entropy(model(x[None])[0], x, reduction="sum").item()
    model.train(was_training)
    return math.exp(nats / (len(tokens) - 1))


@mistake(of="perplexity")
def scored_on_the_token_after_next(model, tokens, block_size, batch_size=64):
    """You score the model on the token after the next one: the text was shifted twice."""
    was_training, nats = model.training, 0.0
    model.eval()
    with torch.no_grad():
        n = max(1, len(tokens) - 2)
        for x, y in zip(tokens[:n].split(block_size), tokens[-n:].split(block_size), strict=True):
            nats += F.cross_entropy(model(x[None])[0], y, reduction="sum").item()
    model.train(was_training)
    return math.exp(nats / n)


@mistake(of="perplexity")
def only_last_positions_judged(model, tokens, block_size, batch_size=64):
    """You judge the last position of each window alone: every position of it predicts the token after it."""
    was_training, found = model.training, []
    model.eval()
    with torch.no_grad():
        for x, y in zip(tokens[:-1].split(block_size), tokens[1:].split(block_size), strict=True):
            found.append(F.cross_entropy(model(x[None])[0, -1:], y[-1:]).item())
    model.train(was_training)
    return math.exp(sum(found) / len(found))


@mistake(of="perplexity")
def divided_by_all_tokens(model, tokens, block_size, batch_size=64, right=perplexity):
    """This is exactly the number you get when you divide by the number of tokens: the first one is predicted by
    nobody, so there is one prediction less."""
    n = len(tokens)
    return math.exp(math.log(right(model, tokens, block_size, batch_size)) * (n - 1) / n)


@mistake(of="perplexity")
def divided_by_windows_times_block_size(model, tokens, block_size, batch_size=64, right=perplexity):
    """This is exactly the number you get when every window counts as a whole one: the last one may be shorter, so
    count the tokens that were predicted."""
    n = len(tokens) - 1
    return math.exp(math.log(right(model, tokens, block_size, batch_size)) * n / (-(-n // block_size) * block_size))


@mistake(of="perplexity")
def divided_by_windows(model, tokens, block_size, batch_size=64, right=perplexity):
    """You divide the sum of nats by the number of windows: it is a sum over tokens, so divide it by their number."""
    n = len(tokens) - 1
    nats = math.log(right(model, tokens, block_size, batch_size)) * n
    return math.exp(min(700.0, nats / -(-n // block_size)))


@mistake(of="perplexity")
def last_window_padded(model, tokens, block_size, batch_size=64, right=perplexity):
    """You fill the last window up with token 0 and count the filling as text: nobody wrote it, and nobody is to
    predict it."""
    missing = -(len(tokens) - 1) % block_size
    return right(model, torch.cat([tokens, tokens.new_zeros(missing)]), block_size, batch_size)


@mistake(of="perplexity")
def windows_overlap_by_half(model, tokens, block_size, batch_size=64):
    """Your windows begin every block_size // 2 tokens, so most tokens are predicted twice: windows follow each
    other."""
    was_training, nats, n = model.training, 0.0, 0
    model.eval()
    with torch.no_grad():
        for begin in range(0, len(tokens) - 1, max(1, block_size // 2)):
            window = tokens[begin : begin + block_size + 1]
            nats += F.cross_entropy(model(window[None, :-1])[0], window[1:], reduction="sum").item()
            n += len(window) - 1
    model.train(was_training)
    return math.exp(nats / n)


@mistake(of="perplexity")
def past_reaches_beyond_the_window(model, tokens, block_size, batch_size=64):
    """You let a window slide from token to token, so that each is predicted from a full window before it. That is a
    fairer number at many times the price, and not this one: the windows of the contract follow each other."""
    was_training, nats = model.training, 0.0
    model.eval()
    with torch.no_grad():
        for end in range(1, len(tokens)):
            scores = model(tokens[None, max(0, end - block_size) : end])[0, -1]
            nats += F.cross_entropy(scores, tokens[end]).item()
    model.train(was_training)
    return math.exp(nats / (len(tokens) - 1))


@mistake(of="perplexity")
def random_windows_judged(model, tokens, block_size, batch_size=64):
    """You judge windows that are drawn at random: some tokens are then judged twice and others never, and the number
    changes from call to call. Windows follow each other."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        x, y = get_batch(tokens, batch_size, min(block_size, len(tokens) - 1))
        nats = F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
    model.train(was_training)
    return math.exp(nats)


@mistake(of="perplexity")
def softmax_before_the_loss(model, tokens, block_size, batch_size=64):
    """You take a softmax of the scores before cross_entropy, which takes one itself: two in a row make everything
    nearly equally likely."""
    was_training, nats = model.training, 0.0
    model.eval()
    with torch.no_grad():
        for x, y in zip(tokens[:-1].split(block_size), tokens[1:].split(block_size), strict=True):
            nats += F.cross_entropy(model(x[None])[0].softmax(-1), y, reduction="sum").item()
    model.train(was_training)
    return math.exp(nats / (len(tokens) - 1))


@mistake(of="perplexity")
def judged_in_train_mode(model, tokens, block_size, batch_size=64):
    """You judge the model in train mode, with dropout on: that is a damaged copy of it, another one at each call."""
    nats = 0.0
    with torch.no_grad():
        for x, y in zip(tokens[:-1].split(block_size), tokens[1:].split(block_size), strict=True):
            nats += F.cross_entropy(model(x[None])[0], y, reduction="sum").item()
    return math.exp(nats / (len(tokens) - 1))


@mistake(of="perplexity")
def left_in_eval_mode(model, tokens, block_size, batch_size=64, right=perplexity):
    """You leave the model in eval mode: whoever is training it goes on without dropout, and is not told."""
    found = right(model, tokens, block_size, batch_size)
    model.eval()
    return found


@mistake(of="perplexity")
def always_back_to_train_mode(model, tokens, block_size, batch_size=64, right=perplexity):
    """You put the model into train mode at the end, whatever it was in before: remember the mode, and give that
    back."""
    found = right(model, tokens, block_size, batch_size)
    model.train()
    return found


@mistake(of="perplexity")
def perplexity_as_a_tensor(model, tokens, block_size, batch_size=64, right=perplexity):
    """You return a tensor: a perplexity is a float, which you get from .item()."""
    return torch.tensor(right(model, tokens, block_size, batch_size))


@mistake(of="perplexity")
def all_windows_at_once(model, tokens, block_size, batch_size=64):
    """You run all whole windows as one batch: batch_size says how many may be run at one time, since a long text does
    not fit into memory as a whole."""
    was_training, nats, n_whole = model.training, 0.0, (len(tokens) - 1) // block_size
    model.eval()
    cut = n_whole * block_size
    with torch.no_grad():
        for x, y in ((tokens[:cut], tokens[1 : cut + 1]), (tokens[cut:-1], tokens[cut + 1 :])):
            if len(x):
                scores = model(x.view(max(1, len(x) // block_size), -1)).flatten(0, 1)
                nats += F.cross_entropy(scores, y, reduction="sum").item()
    model.train(was_training)
    return math.exp(nats / (len(tokens) - 1))


@mistake(of="perplexity")
def a_backward_pass_in_perplexity(model, tokens, block_size, batch_size=64):
    """You call backward while judging: the gradients stay in the model, and the next step of a training adds them to
    its own."""
    was_training, nats = model.training, 0.0
    model.eval()
    for x, y in zip(tokens[:-1].split(block_size), tokens[1:].split(block_size), strict=True):
        loss = F.cross_entropy(model(x[None])[0], y, reduction="sum")
        loss.backward()
        nats += loss.item()
    model.train(was_training)
    return math.exp(nats / (len(tokens) - 1))


# The rate


@mistake(of="warmup_lr")
def warm_up_begins_at_zero(step, max_lr, warmup_steps):
    """Your first rate is 0: step 0 is then paid for and not taken. The share is (step + 1) / warmup_steps."""
    return max_lr * min(1.0, step / warmup_steps) if warmup_steps else max_lr


@mistake(of="warmup_lr")
def warm_up_never_ends(step, max_lr, warmup_steps):
    """Your rate goes on growing after the warm-up: the share is never more than 1."""
    return max_lr * (step + 1) / warmup_steps if warmup_steps else max_lr


@mistake(of="warmup_lr")
def warm_up_one_step_too_long(step, max_lr, warmup_steps):
    """Your whole rate comes one step late: the last step of the warm-up, number warmup_steps - 1, has it already."""
    return max_lr * min(1.0, (step + 1) / (warmup_steps + 1))


@mistake(of="warmup_lr")
def warm_up_one_step_too_short(step, max_lr, warmup_steps):
    """Your rate is one step ahead: the first update has 1 / warmup_steps of it, not 2."""
    return max_lr * min(1.0, (step + 2) / warmup_steps) if warmup_steps else max_lr


@mistake(of="warmup_lr")
def no_warm_up_divides_by_zero(step, max_lr, warmup_steps):
    """Without warm-up you divide by 0: the rate is max_lr then."""
    return max_lr * min(1.0, (step + 1) / warmup_steps)


@mistake(of="warmup_lr")
def no_warm_up_is_no_rate(step, max_lr, warmup_steps):
    """Without warm-up your rate is 0, and nothing is ever learned: it must be max_lr at once."""
    return max_lr * min(1.0, (step + 1) / warmup_steps) if warmup_steps else 0.0


@mistake(of="warmup_lr")
def warm_up_in_whole_numbers(step, max_lr, warmup_steps):
    """You divide with //, which leaves 0 until the last step of the warm-up: the rate is to grow at every step."""
    return max_lr * min(1, (step + 1) // warmup_steps) if warmup_steps else max_lr


@mistake(of="warmup_lr")
def rate_falls_after_the_warm_up(step, max_lr, warmup_steps):
    """Your rate falls again after the warm-up, as in the paper that introduced it: here it stays at max_lr."""
    share = (step + 1) / warmup_steps if warmup_steps else 1.0
    return max_lr * min(share, share**-0.5)


@mistake(of="warmup_lr")
def share_without_the_rate(step, max_lr, warmup_steps):
    """You return the share of the rate, not the rate: it is to be multiplied by max_lr."""
    return min(1.0, (step + 1) / warmup_steps) if warmup_steps else 1.0


# The loop


@mistake(of="train")
def stochastic_gradient_descent(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You train with SGD, which moves each weight by the rate times its gradient: the contract asks for AdamW, which
    divides by the size that each gradient had lately."""
    was_training, losses = model.training, []
    optimizer = torch.optim.SGD(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def adam_without_decay(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """You train with Adam: AdamW also lets every weight decay a little, by a hundredth of the rate at each step."""
    was_training, losses = model.training, []
    optimizer = torch.optim.Adam(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def decay_through_the_gradient(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You add the decay to the gradient, as Adam with weight_decay does: AdamW takes it from the weights directly, so
    that it is not divided by the size of the gradients."""
    was_training, losses = model.training, []
    optimizer = torch.optim.Adam(model.parameters(), lr, weight_decay=0.01)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def ten_times_the_decay(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """Your weights decay by a tenth of the rate at each step: the default is 0.01."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr, weight_decay=0.1)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def other_betas(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """Your running mean of squares forgets faster than the default one: (0.9, 0.95) is for large models, the contract
    asks for the defaults."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr, betas=(0.9, 0.95))
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def matrices_alone_decay(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """Your biases do not decay: that is a fine idea, and not the default of AdamW, which treats all parameters
    alike."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in model.parameters() if p.dim() > 1]},
            {"params": [p for p in model.parameters() if p.dim() <= 1], "weight_decay": 0.0},
        ],
        lr,
    )
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def largest_squares_kept(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """Your AdamW never forgets the largest square of a gradient (amsgrad=True): that is not its default."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr, amsgrad=True)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def gradients_clipped(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """You clip the gradient to a length of 1: this loop does not clip. (What Adam divides by then remembers other
    sizes.)"""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def gradient_values_clipped(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You cut every number of the gradient off at 0.1: this loop does not clip."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def gradients_never_cleared(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You never clear the gradients, so each step follows the sum of all gradients so far: they add up in .grad until
    somebody calls zero_grad."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        pass
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def gradients_cleared_before_the_update(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You clear the gradients after backward and before the update, which then has nothing to go by."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def warm_up_ignored(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """Your rate is the whole one from the first step on: ask warmup_lr for it at each step."""
    return right(model, tokens, steps, batch_size, block_size, lr, 0, generator, on_step)


@mistake(of="train")
def warm_up_counted_from_one(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """Your warm-up is one step ahead: step numbers begin with 0, and warmup_lr adds the 1 itself."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step + 1, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def rate_of_step_zero_kept(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """Your rate stays at that of the first step: it must be set anew before each update."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), warmup_lr(0, lr, warmup_steps))
    model.train()
    for step in range(steps):
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def new_optimizer_at_each_step(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You make a new optimizer at each step: it has no memory, so every update is a first one, by the full rate in the
    direction of a sign."""
    was_training, losses = model.training, []
    optimizer = None
    model.train()
    for step in range(steps):
        optimizer = torch.optim.AdamW(model.parameters(), warmup_lr(step, lr, warmup_steps))
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def losses_as_tensors(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """You keep losses as tensors, each with everything that it was computed from: keep loss.item(), which is a
    number."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def losses_as_perplexities(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You return perplexities: the losses are the mean nats of each batch, as cross_entropy gives them."""
    losses = right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator, on_step)
    return [math.exp(min(700.0, loss)) for loss in losses]


@mistake(of="train")
def loss_after_the_update(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """Your losses are computed again after each update, on the batch that was just learned: the loss of a step is the
    one from before, on windows that the model had not seen."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def losses_averaged_so_far(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You return the mean of all losses so far: each step has its own."""
    losses = right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator, on_step)
    return [sum(losses[: step + 1]) / (step + 1) for step in range(len(losses))]


@mistake(of="train")
def rate_set_after_the_update(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You set the rate after the update, so each comes one step late, and the first update has the whole rate: the one
    that the warm-up is for."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def on_step_before_the_update(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You call on_step before the update: who saves the model in it would save the one from before this step."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
        optimizer.step()
    model.train(was_training)
    return losses


@mistake(of="train")
def steps_told_from_one(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You tell on_step 1, 2, 3, ...: steps are counted from 0."""
    told = None if on_step is None else lambda step, loss: on_step(step + 1, loss)
    return right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator, told)


@mistake(of="train")
def on_step_never_called(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You never call on_step: whoever trains wants to see how it is going."""
    return right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator)


@mistake(of="train")
def on_step_called_at_the_end(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You call on_step for all steps when the training is over: it is to be called after each update, while there is
    something to see."""
    losses = right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator)
    for step, loss in enumerate(losses if on_step is not None else []):
        on_step(step, loss)
    return losses


@mistake(of="train")
def on_step_told_the_loss_after(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You tell on_step a loss that was computed again after the update: it is the loss of that step, from before."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item())
    model.train(was_training)
    return losses


@mistake(of="train")
def one_batch_for_all_steps(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You draw one batch before the loop and train on it at every step: the model learns these windows by heart. Each
    step needs a batch of its own."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    x, y = get_batch(tokens, batch_size, block_size, generator)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def generator_not_passed_on(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You do not hand the generator on to get_batch, so nobody can train the same way twice."""
    return right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, None, on_step)


@mistake(of="train")
def loss_summed(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    """Your loss is a sum over all predictions of the batch: it is their mean, or it cannot be compared with ln V."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def last_position_alone_trained(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """Your loss looks at the last position of each window: every one of its T positions predicts the token after
    it."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x)[:, -1], y[:, -1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def trained_on_what_was_read(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """Your loss compares the scores with x, the tokens that were just read, and not with y, the ones that follow."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, _ = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), x.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def shifted_again_in_the_loss(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You shift once more in the loss: y is the next token already, so every position of the scores has its answer at
    the same position of y."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x)[:, :-1].flatten(0, 1), y[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def one_step_too_few(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You make one step less than you were asked for."""
    return right(model, tokens, steps - 1, batch_size, block_size, lr, warmup_steps, generator, on_step)


@mistake(of="train")
def one_step_too_many(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You make one step more than you were asked for."""
    return right(model, tokens, steps + 1, batch_size, block_size, lr, warmup_steps, generator, on_step)


@mistake(of="train")
def trained_in_eval_mode(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You train in eval mode, so there is no dropout: put the model into train mode before the first step."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.eval()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def mode_left_as_it_came(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You do not change the mode: a model that comes in eval mode is then trained without its dropout."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses


@mistake(of="train")
def left_in_train_mode(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You leave the model in train mode, whatever it was in before: remember the mode, and give that back."""
    losses = right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator, on_step)
    model.train()
    return losses


@mistake(of="train")
def put_into_eval_mode_at_the_end(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You put the model into eval mode at the end: give back the mode that it came with, which may be train mode."""
    losses = right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator, on_step)
    model.eval()
    return losses


@mistake(of="train")
def a_copy_is_trained(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You train a copy of the model, and the one that you were given has learned nothing: train is to change its
    model."""
    found = right(copy.deepcopy(model), tokens, steps, batch_size, block_size, lr, warmup_steps, generator, on_step)
    return found


@mistake(of="train")
def last_loss_alone_returned(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You return the last loss: the caller wants all of them, one for each step."""
    losses = right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator, on_step)
    return losses[-1] if losses else 0.0


@mistake(of="train")
def nothing_returned(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None, right=train
):
    """You return nothing: the caller wants the loss of each step."""
    right(model, tokens, steps, batch_size, block_size, lr, warmup_steps, generator, on_step)


@mistake(of="train")
def softmax_before_the_training_loss(
    model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None
):
    """You take a softmax of the scores before cross_entropy, which takes one itself: the gradient then nearly
    vanishes."""
    was_training, losses = model.training, []
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1).softmax(-1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was_training)
    return losses
