"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import torch
import torch.nn.functional as F

from autograder.checks import equivalent


@equivalent(of="attention_matrix_bytes")
def bytes_by_shifting(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """Count one row, then all rows."""
    row = n_tokens * bytes_per_element
    return sum(row * n_tokens for _ in range(n_heads)) * batch


@equivalent(of="generate")
def one_column_at_a_time(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """Keep the columns in a list; sort instead of topk; draw from probabilities that were cut by hand."""
    was_training = model.training
    model.eval()
    columns = [idx]
    with torch.no_grad():
        for _ in range(max_new_tokens):
            context = torch.cat(columns, dim=1)[:, -model.config.block_size :]
            logits = model(context)[:, -1, :]
            if temperature == 0:
                chosen = logits.argmax(-1, keepdim=True)
            else:
                logits = logits / temperature
                if top_k is not None and top_k < logits.shape[-1]:
                    least = logits.sort(-1, descending=True).values[:, top_k - 1 : top_k]
                    logits = torch.where(logits < least, float("-inf"), logits)
                chosen = torch.multinomial(F.softmax(logits, dim=-1), 1, generator=generator)
            columns.append(chosen)
    model.train(was_training)
    return torch.cat(columns, dim=1)
