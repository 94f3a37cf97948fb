"""Part 8 in another style: attentions replaced for one pass, counting, sums over places; right all the same."""

import torch
from torch import nn


class _Recorder(nn.Module):
    """Stands in for an attention during one pass."""

    def __init__(self, attention, found):
        super().__init__()
        self.attention, self.found = attention, found

    def forward(self, x):
        self.found.append(self.attention.attention_weights(x))
        return self.attention(x)


def attention_maps(model, idx):
    """Put a recorder in the place of each attention, run once, and put everything back."""
    found, mode = [], model.training
    originals = [block.attention for block in model.blocks]
    model.train(False)
    with torch.no_grad():
        for block, attention in zip(model.blocks, originals, strict=True):
            block.attention = _Recorder(attention, found)
        try:
            model(idx)
        finally:
            for block, attention in zip(model.blocks, originals, strict=True):
                block.attention = attention
            model.train(mode)
    return found


def referent_accuracy(model, idx, answers):
    """Count the sentences in which no word beats the answer."""
    mode = model.training
    model.eval()
    with torch.no_grad():
        scores = model(idx)[:, idx.shape[1] - 1, :].float()
    model.train(mode)
    own = scores.gather(-1, answers.reshape(-1, 1))
    beaten = (scores > own).any(dim=-1)
    return 1.0 - beaten.sum().item() / beaten.numel()


def previous_token_score(weights):
    """Shift rows against columns and read the main diagonal."""
    return torch.einsum("...tt->...t", weights[..., 1:, :-1]).mean(-1)


def induction_score(weights, period):
    """Gather, from each row with a last occurrence, the column after it."""
    T = weights.size(-1)
    rows = weights[..., period:, :]
    columns = torch.arange(1, T - period + 1, device=weights.device).reshape(-1, 1)
    return rows.gather(-1, columns.expand(*rows.shape[:-1], 1)).squeeze(-1).mean(-1)
