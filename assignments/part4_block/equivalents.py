"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import torch
from part4_block import Block

from autograder.checks import equivalent


@equivalent(of="LayerNorm.forward")
def by_var_mean(self, x):
    """Let the library find both moments."""
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias


@equivalent(of="LayerNorm.forward")
def by_the_length_of_the_rest(self, x):
    """Use the norm of what is left without the mean."""
    rest = x - x.mean(-1).unsqueeze(-1)
    spread = rest.pow(2).sum(-1, keepdim=True) / x.size(-1)
    return torch.addcmul(self.bias, rest / torch.sqrt(self.eps + spread), self.weight)


@equivalent(of="MLP.forward")
def gelu_by_the_error_function(self, x):
    """Write the exact GELU out."""
    hidden = self.up(x)
    return self.down(hidden * 0.5 * (1 + torch.erf(hidden * 0.5**0.5)))


@equivalent(of="Block.forward")
def copied_before_it_is_added_to(self, x, right=Block.forward):
    """Work on a copy."""
    return right(self, x.clone())


@equivalent(of="block_gradient_norms")
def all_numbers_in_one_row(blocks):
    """Put all gradients of a block into one vector."""
    norms = []
    for block in blocks:
        pieces = [p.grad.detach().reshape(-1).double() for p in block.parameters() if p.grad is not None]
        norms.append(float(torch.cat(pieces).norm()) if pieces else 0.0)
    return norms
