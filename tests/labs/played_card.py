"""A device that is played: tensors that say "cuda", compute on the processor, and refuse what a card refuses."""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

CARD = torch.device("cuda")
_DEVICE = torch.Tensor.device.__get__
_ASKS = {  # questions about a tensor, which move nothing and compute nothing
    torch.Tensor.shape.__get__,
    torch.Tensor.dtype.__get__,
    torch.Tensor.grad.__get__,
    torch.Tensor.requires_grad.__get__,
}


class OnCard(torch.Tensor):
    """A tensor that was sent to the card: its numbers lie on the processor, and only ``Card`` lets it say so."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        """Do nothing of its own: the mode sees every call."""
        return torch._C._disabled_torch_function_impl(func, types, args, kwargs or {})


class ParameterOnCard(OnCard, nn.Parameter):
    """A parameter of a module that was sent to the card."""


class Card(TorchFunctionMode):
    """Plays the device "cuda" while it is entered; ``calls`` counts what was computed there."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        """Answer as a card would: move on request, compute with its own, refuse to mix."""
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        tensors = [one for one in tree_flatten((args, kwargs))[0] if isinstance(one, torch.Tensor)]
        ours = [one for one in tensors if isinstance(one, OnCard)]
        if func == _DEVICE:
            return CARD if ours else torch.device("cpu")
        if func in (torch.Tensor.to, torch.Tensor.cuda, torch.Tensor.cpu):
            return self.sent(func, args, kwargs)
        if name == "numpy" and ours:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        wanted = kwargs.get("device")
        if wanted is not None and torch.device(wanted).type == "cuda":
            kwargs["device"] = "cpu"
            assert kwargs.get("generator") is None, "Expected a 'cuda' device type for generator but found 'cpu'"
            return self.put(func(*args, **kwargs))
        if not ours:
            return func(*args, **kwargs)
        if kwargs.get("generator") is not None:
            raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
        strangers = [one for one in tensors if not isinstance(one, OnCard) and one.ndim]
        is_index = func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__)
        if strangers and not is_index and name not in ("copy_", "__set__", "backward"):
            raise RuntimeError(f"{name}: Expected all tensors to be on the same device, but found cuda:0 and cpu")
        if func not in _ASKS:
            self.calls += 1
        return self.put(func(*args, **kwargs))

    def sent(self, func, args, kwargs):
        """Move: Tensor.to, .cuda, .cpu."""
        tensor, *rest = args
        asked = [one for one in (*rest, *kwargs.values()) if isinstance(one, str | torch.device)]
        likes = [one for one in rest if isinstance(one, torch.Tensor)]
        there = isinstance(tensor, OnCard)
        if asked:
            there = torch.device(asked[0]).type == "cuda"
        elif likes:
            there = isinstance(likes[0], OnCard)
        elif func is not torch.Tensor.to:
            there = func is torch.Tensor.cuda
        rest = [torch.device("cpu") if isinstance(one, str | torch.device) else one for one in rest]
        kwargs = {key: "cpu" if key == "device" else value for key, value in kwargs.items()}
        plain = func(tensor, *rest, **kwargs) if func is torch.Tensor.to else tensor
        # a node of the graph, as a copy to a card is: the gradient comes back to where the tensor was
        moved = plain.view_as(plain) if there != isinstance(tensor, OnCard) else plain
        return moved.as_subclass(OnCard if there else torch.Tensor)

    @staticmethod
    def move_module(module, where):
        """Move a module as ``nn.Module.to`` does: every parameter stays the object that it was, tied ones too."""
        there = torch.device(where).type == "cuda"
        for parameter in module.parameters():
            parameter.__class__ = ParameterOnCard if there else nn.Parameter
        for buffer in module.buffers():
            buffer.__class__ = OnCard if there else torch.Tensor
        return module

    @staticmethod
    def put(result):
        """Mark what was computed there."""
        return tree_map(lambda one: one.as_subclass(OnCard) if isinstance(one, torch.Tensor) else one, result)
