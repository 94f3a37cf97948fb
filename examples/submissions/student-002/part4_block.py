"""Part 4 once more, in another style: functional, by einsum and moments, one expression for each variant of a block."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    """Normalise by the first two moments of each token."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))
        self.register_parameter("bias", nn.Parameter(torch.full((d_model,), 0.0)))
        self.epsilon = float(eps)

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        variance, mean = torch.var_mean(wide, dim=(wide.dim() - 1,), unbiased=False)
        scale = torch.rsqrt(variance + self.epsilon)
        normal = torch.einsum("...d,...->...d", wide - mean[..., None], scale)
        return torch.addcmul(self.bias, normal.to(x.dtype), self.weight)


class MLP(nn.Module):
    """Multiply, bend by the complementary error function, multiply."""

    def __init__(self, d_model, expansion=4):
        super().__init__()
        for name, (width, height) in {
            "up": (d_model, d_model * expansion),
            "down": (d_model * expansion, d_model),
        }.items():
            self.add_module(name, nn.Linear(width, height))

    def forward(self, x):
        hidden = torch.einsum("...d,hd->...h", x, self.up.weight) + self.up.bias
        below = torch.special.ndtr(hidden.float() if hidden.dtype in (torch.float16, torch.bfloat16) else hidden)
        return torch.einsum("...h,dh->...d", hidden * below.to(hidden.dtype), self.down.weight) + self.down.bias


class Block(nn.Module):
    """Choose one of the lines of the table when it is built."""

    def __init__(self, d_model, attention, mlp, norm="pre", residual=True, dropout=0.0):
        super().__init__()
        lines = {
            "pre": lambda x, f, ln: self.join(x, f(ln(x))),
            "post": lambda x, f, ln: ln(self.join(x, f(x))),
            "none": lambda x, f, ln: self.join(x, f(x)),
        }
        if norm not in lines:
            raise ValueError("norm is one of " + ", ".join(lines) + "; this one is " + str(norm))
        self.line = lines[norm]
        self.share = dropout
        self.kept = 1.0 if residual else None
        self.mlp, self.attention = mlp, attention
        if norm == "none":
            self.ln1 = self.ln2 = None
        else:
            self.ln2, self.ln1 = LayerNorm(d_model), LayerNorm(d_model)

    def join(self, stream, news):
        """Drop from the news and put it into the stream."""
        if self.training and self.share > 0:
            stays = torch.empty_like(news).bernoulli_(1 - self.share)
            news = news * stays / (1 - self.share)
        return news if self.kept is None else torch.add(news, stream)

    def forward(self, x):
        between = self.line(x, self.attention, self.ln1)
        return self.line(between, self.mlp, self.ln2)


def block_gradient_norms(blocks):
    """Lay the gradients of each block end to end and take the root of the vector's product with itself."""

    def length(block):
        pieces = [named.grad.reshape(-1).double() for _, named in block.named_parameters() if named.grad is not None]
        long = torch.cat([torch.zeros(1, dtype=torch.float64), *pieces])
        return float(torch.dot(long, long)) ** 0.5

    return list(map(length, blocks))
