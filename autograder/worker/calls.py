"""What the worker does around a call: watch the arguments, take gradients, set weights."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def watching(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Notice when a call changes a tensor, an array, a list or a dict that it was given.

    Args:
        args: The positional arguments.
        kwargs: The named ones.

    Yields:
        A dict that, once the call has returned, holds what changed, by name.
    """
    named = [(f"argument {i + 1}", value) for i, value in enumerate(args)] + list(kwargs.items())
    before = [(name, thing, _snapshot(thing)) for name, value in named for thing in _mutable(value)]
    changed: dict[str, Any] = {}
    yield changed
    changed.update({name: thing for name, thing, old in before if not _same(_snapshot(thing), old)})


def gradients(
    target: Any, owner: Any, args: list[Any], kwargs: Mapping[str, Any], upstream: Any
) -> tuple[Any, dict[str, Any] | None, dict[str, Any]]:
    """Call and differentiate.

    Args:
        target: What to call.
        owner: The module whose parameters get gradients too, or None.
        args: Positional arguments; float tensors among them get gradients.
        kwargs: Named arguments, not differentiated.
        upstream: One tensor, or a tuple with one entry for each output, None for an output that is not used.

    Returns:
        What the call returned; ``{"inputs": [...], "parameters": {...}}``, or None where the output's type or shape
        does not fit the upstream, which the trusted side then tells; and what the call changed (see ``watching``).
    """
    import torch

    args = [
        a.detach().clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in args
    ]
    parameters = dict(owner.named_parameters()) if isinstance(owner, torch.nn.Module) else {}
    with watching(args, kwargs) as changed:
        value = target(*args, **kwargs)
    outputs = value if isinstance(upstream, tuple) else (value,)
    wanted = upstream if isinstance(upstream, tuple) else (upstream,)
    if not isinstance(outputs, tuple | list) or len(outputs) != len(wanted):
        return value, None, changed
    pairs = [(out, up) for out, up in zip(outputs, wanted, strict=True) if up is not None]
    if any(not isinstance(out, torch.Tensor) or out.shape != up.shape or out.dtype != up.dtype for out, up in pairs):
        return value, None, changed
    # A parameter may be frozen, and a call may return nothing that depends on anything: their gradients are None.
    sources = [s for s in [*args, *parameters.values()] if isinstance(s, torch.Tensor) and s.requires_grad]
    flowing = [(out, up) for out, up in pairs if out.requires_grad]
    found: Sequence[Any] = ()
    if sources and flowing:
        found = torch.autograd.grad([out for out, _ in flowing], sources, [up for _, up in flowing], allow_unused=True)
    by_source = {id(source): gradient for source, gradient in zip(sources, found, strict=False)}
    inputs = [by_source.get(id(a)) for a in args]
    return value, {"inputs": inputs, "parameters": {n: by_source.get(id(p)) for n, p in parameters.items()}}, changed


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


def _mutable(value: Any) -> Iterator[Any]:
    if _is_tensor(value) or _is_array(value):
        yield value
    elif isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _mutable(item)
        if not isinstance(value, tuple):
            yield value


def _snapshot(thing: Any) -> tuple[Any, ...]:
    # Bytes, since NaN differs from itself and an equal value is no change.
    if _is_tensor(thing):
        import torch

        has_data = thing.numel() and thing.device.type != "meta"
        plain = thing.detach().cpu().contiguous() if has_data else thing
        data = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if has_data else b""
        return tuple(plain.shape), str(plain.dtype), data
    if _is_array(thing):
        return thing.shape, thing.dtype.str, thing.tobytes()
    return (*thing, *thing.values()) if isinstance(thing, dict) else tuple(thing)


def _same(new: tuple[Any, ...], old: tuple[Any, ...]) -> bool:
    # What a list or a dict holds is compared by identity: what those things hold is compared on its own.
    plain = (int, str, bytes, tuple)
    return len(new) == len(old) and all(
        a is b or (type(a) is type(b) and type(a) in plain and a == b) for a, b in zip(new, old, strict=True)
    )


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)
