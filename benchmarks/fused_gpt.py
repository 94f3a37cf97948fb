"""A GPT from torch's ready-made pieces, as one would write it for speed: what part 6's is compared with.

One linear layer for queries, keys and values together, the fused attention kernel, torch's own LayerNorm; everything
that decides the result (learned positions, norm in front, exact GELU, biases, tied output) is as in part 6's default.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class FusedBlock(nn.Module):
    """Attention, then an MLP, each behind a norm and beside a residual."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        """Make the layers."""
        super().__init__()
        self.n_heads = n_heads
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.proj = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, T, d) to (B, T, d)."""
        B, T, d = x.shape
        q, k, v = (
            each.view(B, T, self.n_heads, d // self.n_heads).transpose(1, 2)
            for each in self.qkv(self.ln1(x)).split(d, dim=2)
        )
        read = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(read.transpose(1, 2).reshape(B, T, d))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class FusedGPT(nn.Module):
    """Scores of the next token at every position."""

    def __init__(self, vocab_size: int, block_size: int, n_layers: int, n_heads: int, d_model: int) -> None:
        """Make the layers."""
        super().__init__()
        self.tok_emb, self.pos_emb = nn.Embedding(vocab_size, d_model), nn.Embedding(block_size, d_model)
        self.blocks = nn.ModuleList(FusedBlock(d_model, n_heads) for _ in range(n_layers))
        self.ln_f = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.lm_head.weight = self.tok_emb.weight

    def forward(self, idx: Tensor) -> Tensor:
        """Map (B, T) to (B, T, V)."""
        x = self.tok_emb(idx) + self.pos_emb(torch.arange(idx.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.ln_f(x))

    def load_course(self, weights: dict[str, Tensor]) -> None:
        """Take the weights of part 6's GPT, so that both can be seen to be one function."""
        own = dict(self.named_parameters())
        renamed = {name.replace("attention.", "").replace("mlp.", ""): each for name, each in weights.items()}
        table = next(name for name in renamed if name.startswith("positions."))
        renamed["pos_emb.weight"] = renamed.pop(table)
        with torch.no_grad():
            for name, mine in own.items():
                if ".qkv." in name:
                    each = [renamed[name.replace("qkv", letter)] for letter in "qkv"]
                    mine.copy_(torch.cat(each))
                else:
                    mine.copy_(renamed[name])


def train(model: nn.Module, tokens: Tensor, steps: int, batch_size: int, block_size: int, lr: float) -> None:
    """Train with AdamW on windows that are cut one by one."""
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    for _ in range(steps):
        starts = torch.randint(len(tokens) - block_size, (batch_size,)).tolist()
        x = torch.stack([tokens[start : start + block_size] for start in starts])
        y = torch.stack([tokens[start + 1 : start + 1 + block_size] for start in starts])
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), y.view(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        loss.item()
