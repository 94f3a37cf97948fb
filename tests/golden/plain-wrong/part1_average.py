"""What the attacks below stand on: right in causal_mask alone, zeros elsewhere."""

import torch
from torch import nn


def prefix_mean_loop(x):
    return torch.zeros_like(x)


def averaging_matrix(T, dtype=torch.float32, device=None):
    return torch.zeros(T, T, dtype=dtype, device=device)


def prefix_mean_matmul(x):
    return torch.zeros_like(x)


def causal_mask(T, device=None):
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()


def masked_softmax(scores, mask):
    return torch.zeros_like(scores)


def prefix_mean_softmax(x):
    return torch.zeros_like(x)


class MeanLM(nn.Module):
    def __init__(self, vocab_size, d_model, block_size, positions=False, residual=False):
        super().__init__()
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.pos_emb = nn.Embedding(block_size, d_model) if positions else None
        self.lm_head = nn.Linear(d_model, vocab_size)

    def forward(self, idx):
        return torch.zeros(*idx.shape, self.lm_head.out_features, dtype=self.lm_head.weight.dtype)
