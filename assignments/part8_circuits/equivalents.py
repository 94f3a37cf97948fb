"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import torch

from autograder.checks import equivalent


@equivalent(of="attention_maps")
def walked_block_by_block(model, idx):
    """Do what forward does, and work out what each attention is given."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            maps.append(block.attention.attention_weights(block.ln1(x) if model.config.norm == "pre" else x))
            x = block(x)
    model.train(was_training)
    return maps


@equivalent(of="attention_maps")
def weights_asked_for_in_the_pass(model, idx):
    """Ask each attention for its weights at the moment when it is called."""
    maps, was_training = [], model.training
    hooks = [
        block.attention.register_forward_hook(lambda module, args, output: maps.append(module.attention_weights(*args)))
        for block in model.blocks
    ]
    try:
        with torch.inference_mode():
            model.eval()(idx)
    finally:
        model.train(was_training)
        for hook in hooks:
            hook.remove()
    return [each.clone() for each in maps]


@equivalent(of="referent_accuracy")
def sentence_by_sentence(model, idx, answers):
    """Count, with the mode left as it is: nothing here is dropped out."""
    right = 0
    with torch.no_grad():
        logits = model(idx)
        for row, answer in zip(logits, answers.tolist(), strict=True):
            right += int(row[-1].max() == row[-1, answer])
    return right / len(answers)


@equivalent(of="previous_token_score")
def shifted_mask(weights):
    """Multiply with ones below the diagonal."""
    T = weights.shape[-1]
    below = torch.ones(T, T, dtype=weights.dtype, device=weights.device).tril(-1).triu(-1)
    return (weights * below).sum(dim=(-2, -1)) / (T - 1)


@equivalent(of="induction_score")
def row_by_row(weights, period):
    """Loop over the rows that have a last occurrence."""
    T = weights.shape[-1]
    return torch.stack([weights[..., t, t - period + 1] for t in range(period, T)], dim=-1).mean(-1)
