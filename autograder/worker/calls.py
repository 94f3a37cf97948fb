"""What the worker does around a call: watch the arguments, take gradients, set weights."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def watching(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Notice when a call changes a tensor or an array that it was given.

    Args:
        args: The positional arguments.
        kwargs: The named ones.

    Yields:
        A dict that, once the call has returned, holds what changed, by name.
    """
    named = [(f"argument {i + 1}", value) for i, value in enumerate(args)] + list(kwargs.items())
    before = [(name, thing, _snapshot(thing)) for name, value in named for thing in _tensors(value)]
    changed: dict[str, Any] = {}
    yield changed
    changed.update({name: thing for name, thing, old in before if _snapshot(thing) != old})


def gradients(
    target: Any, owner: Any, args: list[Any], kwargs: Mapping[str, Any], upstream: Any
) -> tuple[Any, dict[str, Any] | None]:
    """Call and differentiate.

    Args:
        target: What to call.
        owner: The module whose parameters get gradients too, or None.
        args: Positional arguments; float tensors among them get gradients.
        kwargs: Named arguments, not differentiated.
        upstream: One tensor, or a tuple with one entry for each output, None for an output that is not used.

    Returns:
        What the call returned, and ``{"inputs": [...], "parameters": {...}}``; None in its place where the
        output's type or shape does not fit the upstream, which the trusted side then tells.
    """
    import torch

    args = [
        a.detach().clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in args
    ]
    parameters = dict(owner.named_parameters()) if isinstance(owner, torch.nn.Module) else {}
    value = target(*args, **kwargs)
    outputs = value if isinstance(upstream, tuple) else (value,)
    wanted = upstream if isinstance(upstream, tuple) else (upstream,)
    if not isinstance(outputs, tuple | list) or len(outputs) != len(wanted):
        return value, None
    pairs = [(out, up) for out, up in zip(outputs, wanted, strict=True) if up is not None]
    if any(not isinstance(out, torch.Tensor) or out.shape != up.shape or out.dtype != up.dtype for out, up in pairs):
        return value, None
    leaves = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    sources = [*leaves, *parameters.values()]
    if not any(out.requires_grad for out, _ in pairs):
        found: Sequence[Any] = [None] * len(sources)  # nothing flows back: each gradient is missing, and told so
    else:
        flowing = [(out, up) for out, up in pairs if out.requires_grad]
        found = torch.autograd.grad(
            [out for out, _ in flowing], sources, [up for _, up in flowing], allow_unused=True
        )
    by_leaf = iter(found)
    inputs = [next(by_leaf) if any(a is leaf for leaf in leaves) else None for a in args]
    return value, {"inputs": inputs, "parameters": dict(zip(parameters, by_leaf, strict=True))}


def load(thing: Any, weights: Mapping[str, Any]) -> str:
    """Copy weights into parameters by name.

    Args:
        thing: A module.
        weights: Name -> tensor.

    Returns:
        What does not fit, as a sentence for the student; empty where all is well.
    """
    import torch

    if not isinstance(thing, torch.nn.Module):
        return f"{type(thing).__name__} is not an nn.Module: it has no parameters to set"
    own = dict(thing.named_parameters(remove_duplicate=False))
    for name, weight in weights.items():
        if name not in own:
            listed = ", ".join(own) or "none"
            return f"{type(thing).__name__} has no parameter '{name}'; its parameters are: {listed}"
        if own[name].shape != weight.shape:
            return (
                f"{type(thing).__name__}'s parameter '{name}' has shape {tuple(own[name].shape)}, "
                f"expected {tuple(weight.shape)}"
            )
    with torch.no_grad():
        for name, weight in weights.items():
            own[name].copy_(weight)
    return ""


def _tensors(value: Any) -> Iterator[Any]:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor) and value.device.type != "meta":
        yield value
    elif numpy is not None and isinstance(value, numpy.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


def _snapshot(thing: Any) -> tuple[Any, ...]:
    # Bytes, since NaN differs from itself and an equal value is no change.
    if hasattr(thing, "detach"):
        import torch

        plain = thing.detach().cpu().contiguous()
        data = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        return tuple(plain.shape), str(plain.dtype), data
    return thing.shape, thing.dtype.str, thing.tobytes()
