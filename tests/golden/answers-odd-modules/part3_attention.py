"""Every name is a class whose objects have odd parameters and answer with odd things."""

import torch


class Odd(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(10**6, 10**6, device="meta"))
        self.training = "yes"

    def named_parameters(self, *args, **kwargs):
        yield from {1: self.weight, (2, 3): self.weight, "": self.weight}.items()

    def forward(self, *args, **kwargs):
        return {"output": self, 1: float("inf")}

    def state_dict(self, *args, **kwargs):
        return [self, None]

    def __getattr__(self, name):
        return self.forward


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return Odd
