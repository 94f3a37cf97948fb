"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import torch
from part3_attention import Head, MultiHeadAttention

from autograder.checks import equivalent


@equivalent(of="attention")
def zeroed_and_renormalised(q, k, v, mask=None):
    """Take the softmax relative to the largest allowed score, set forbidden shares to 0, share out again."""
    scores = torch.einsum("...td,...sd->...ts", q, k) * k.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
    if scores.device.type != "meta" and not mask.any(-1).all():
        raise ValueError(f"mask {tuple(mask.shape)} has a row that allows nothing")
    top = scores.masked_fill(~mask, float("-inf")).amax(-1, keepdim=True)
    shares = (scores - top).clamp(max=0).exp() * mask
    weights = shares / shares.sum(-1, keepdim=True)
    return torch.einsum("...ts,...sv->...tv", weights, v), weights


@equivalent(of="attention")
def one_query_at_a_time(q, k, v, mask=None):
    """Loop over the queries."""
    rows = []
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
    for t in range(q.shape[-2]):
        score = (q[..., t : t + 1, :] * k).sum(-1) / k.shape[-1] ** 0.5
        if mask is not None:
            allowed = mask[..., t, :]
            if score.device.type != "meta" and not allowed.any(-1).all():
                raise ValueError(f"mask {tuple(mask.shape)} has a row that allows nothing")
            score = score.masked_fill(~allowed, float("-inf"))
        rows.append(score.softmax(-1))
    weights = torch.stack(rows, dim=-2)
    return weights @ v, weights


@equivalent(of="MultiHeadAttention.forward")
def projection_cut_by_head(self, x, right=Head.forward):
    """Send each head through its own columns of the projection and add."""
    width = x.shape[-1] // len(self.heads)
    out = torch.zeros_like(x) + self.proj.bias
    for number, head in enumerate(self.heads):
        columns = self.proj.weight[:, number * width : (number + 1) * width]
        out = out + right(head, x) @ columns.T
    return out


@equivalent(of="MultiHeadAttention.attention_weights")
def weights_written_in_place(self, x, right=MultiHeadAttention.attention_weights):
    """Fill a table head by head."""
    first = self.heads[0].attention_weights(x)
    table = first.new_empty(x.shape[0], len(self.heads), x.shape[1], x.shape[1])
    for number, head in enumerate(self.heads):
        table[:, number] = head.attention_weights(x)
    return table
