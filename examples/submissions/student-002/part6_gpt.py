"""Part 6 in another style: closed formulas, another order of layers, other ways to draw; right all the same."""

from dataclasses import dataclass, fields

import torch
from part4_block import MLP, Block, LayerNorm
from part5_positions import CausalSelfAttention, sinusoidal_positions
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True, kw_only=True)
class GPTConfig:
    """A plan that cannot be changed; what is wrong with it is told when the GPT is built."""

    vocab_size: int = 50257
    block_size: int = 1024
    n_layers: int = 12
    n_heads: int = 12
    d_model: int = 768
    positions: str = "learned"
    norm: str = "pre"
    qkv_bias: bool = True
    dropout: float = 0.0
    tie_weights: bool = True


def count_parameters(config):
    """Start from 12d² + 13d and take away what a variant does not have."""
    V, T, L, _, d, positions, norm, qkv_bias, _, tied = (getattr(config, field.name) for field in fields(config))
    one = d * (12 * d + 13 - 3 * (not qkv_bias) - 4 * (norm == "none"))
    counts = {
        "lm_head": d * V * (not tied),
        "final_layernorm": 2 * d,
        "block": one,
        "blocks": L * one,
        "token_embeddings": d * V,
        "position_embeddings": d * T * (positions == "learned"),
    }
    counts["total"] = sum(number for name, number in counts.items() if name != "block")
    return counts


class GPT(nn.Module):
    """The output layer owns the shared table; places are a bare parameter; blocks are a Sequential."""

    def __init__(self, config):
        super().__init__()
        if config.positions not in {"none", "learned", "alibi", "rope", "sinusoidal"}:
            raise ValueError(f"positions must not be {config.positions}")
        if config.d_model % config.n_heads:
            raise ValueError(f"heads: {config.n_heads} into {config.d_model} leaves a rest")
        self.config = config
        d = config.d_model
        self.lm_head = nn.Linear(d, config.vocab_size, bias=False)
        self.ln_f = LayerNorm(d)
        self.blocks = nn.Sequential(*[self._block() for _ in range(config.n_layers)])
        self.tok_emb = nn.Embedding(config.vocab_size, d)
        if config.tie_weights:
            self.tok_emb.weight = self.lm_head.weight
        if config.positions == "learned":
            self.where = nn.Parameter(torch.empty(config.block_size, d))
        if config.positions == "sinusoidal":
            self.register_buffer("waves", sinusoidal_positions(config.block_size, d), persistent=False)
        small = (2 * config.n_layers) ** -0.5
        for name, parameter in self.named_parameters():
            if ".ln" in name or "ln_f" in name:
                continue
            if name.endswith("bias"):
                nn.init.constant_(parameter, 0.0)
            else:
                last = name.endswith(("proj.weight", "down.weight"))
                nn.init.normal_(parameter, mean=0.0, std=0.02 * (small if last else 1.0))

    def _block(self):
        c = self.config
        inner = {"rope": "rope", "alibi": "alibi"}.get(c.positions, "none")
        attention = CausalSelfAttention(c.d_model, c.n_heads, qkv_bias=c.qkv_bias, positions=inner, dropout=c.dropout)
        return Block(c.d_model, attention, MLP(c.d_model), c.norm, True, c.dropout)

    def forward(self, idx):
        """Score every token at every position."""
        T, x = idx.size(-1), F.embedding(idx, self.tok_emb.weight)
        if self.config.positions == "learned":
            if self.where.size(0) < T:
                raise ValueError(f"T is {T}: the table has only {self.where.size(0)} rows")
            x = x + self.where[:T]
        elif self.config.positions == "sinusoidal":
            if self.waves.size(0) < T:
                self.waves = sinusoidal_positions(T, self.config.d_model).to(self.waves)
            x = x + self.waves[:T].to(x.dtype)
        x = F.dropout(x, p=self.config.dropout, training=self.training)
        return F.linear(self.ln_f(self.blocks(x)), self.lm_head.weight)


@torch.inference_mode()
def generate(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """Write into a table that was made in full; draw by walking through the sum of chances."""
    mode, (B, T) = model.training, idx.shape
    model.train(False)
    text = idx.new_zeros(B, T + max_new_tokens)
    text[:, :T] = idx
    for end in range(T, T + max_new_tokens):
        begin = end - min(end, model.config.block_size)
        scores = model(text[:, begin:end])[:, end - begin - 1].double()
        order = scores.sort(dim=-1, descending=True)
        if not temperature:
            text[:, end] = order.indices[:, 0]
            continue
        chances = ((order.values - order.values[:, :1]) / temperature).exp()
        if top_k:
            chances[:, top_k:] = 0
        reached = chances.cumsum(dim=-1)
        point = torch.rand(B, 1, generator=generator, dtype=torch.float64) * reached[:, -1:]
        place = (reached <= point).sum(dim=-1, keepdim=True).clamp(max=scores.size(-1) - 1)
        text[:, end] = order.indices.gather(1, place)[:, 0]
    model.train(mode)
    return text


def attention_matrix_bytes(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """Multiply the shape."""
    size = bytes_per_element
    for axis in (batch, n_heads, n_tokens, n_tokens):
        size *= axis
    return size


def flops_per_token(config):
    """Two for each weight that takes part in a product, and for each score and each share of the mix."""
    d = config.d_model
    weights = config.n_layers * 12 * d * d + config.vocab_size * d
    return 2 * (weights + config.n_layers * 2 * config.block_size * d)
