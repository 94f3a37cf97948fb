"""Where a model computes: the processor, an NVIDIA card or an Apple one. What is drawn is drawn on the processor."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from torch import nn

AUTO, CPU, CUDA, MPS = "auto", "cpu", "cuda", "mps"
DEVICES = (AUTO, CPU, CUDA, MPS)


def find_device(word: str) -> str:
    """Say on which device to compute.

    Args:
        word: One of DEVICES; "auto" takes the best that is there.

    Returns:
        "cpu", "cuda" or "mps".

    Raises:
        UsageError: There is no such device here, or none of that name at all.
    """
    if word not in DEVICES:
        raise UsageError(f"--device {word} is not one of {', '.join(DEVICES)}", did_you_mean(word, DEVICES))
    if word == CPU:
        return CPU
    there = accelerators()
    if word == AUTO:
        return next((name for name in (CUDA, MPS) if name in there), CPU)
    if word not in there:
        raise UsageError(
            f"--device {word}: torch finds {_missing(word)}",
            "take --device cpu, or leave --device out to get the best that is there",
        )
    return word


def only_processor(word: str, what: str) -> str:
    """Settle on the processor for what runs nowhere else.

    Args:
        word: One of DEVICES.
        what: Named in the error, such as "the numpy engine".

    Raises:
        UsageError: Another device was asked for by name.
    """
    if word not in (AUTO, CPU):
        raise UsageError(f"{what} computes on the processor alone, not on {word}", "take --device cpu, or leave it out")
    return CPU


def accelerators() -> tuple[str, ...]:
    """List what torch finds beside the processor: ``cuda``, ``mps``."""
    import torch

    there = {CUDA: torch.cuda.is_available(), MPS: torch.backends.mps.is_available()}
    return tuple(name for name, is_there in there.items() if is_there)


def device_name(device: str) -> str:
    """Name the card behind a device, as its maker does where torch can tell."""
    if device != CUDA:
        return device
    import torch

    return f"{CUDA} ({torch.cuda.get_device_name()})"


def device_of(model: "nn.Module") -> Any:
    """Say where a model's parameters are; whoever hands tensors to a piece of it sends them there."""
    return next(model.parameters()).device


@contextmanager
def living_on(model: "nn.Module", device: str) -> Iterator[None]:
    """Let a model compute on a device for a while, and bring it back.

    Meanwhile it takes token ids from wherever they are and gives scores back to the same place. So a loop or a judge
    that knows the processor alone, with its generators, works unchanged and draws the same numbers on every device;
    ids that are on the device already stay there, and so do their scores.
    """
    if device == CPU:
        yield
        return
    computed = model.forward

    def forward(*given: Any, **named: Any) -> Any:
        home = next((each.device for each in (*given, *named.values()) if hasattr(each, "device")), CPU)
        sent = {name: _sent(value, device) for name, value in named.items()}
        return _sent(computed(*(_sent(each, device) for each in given), **sent), home)

    model.to(device)
    vars(model)["forward"] = forward
    try:
        yield
    except Exception as error:  # what a processor never complained about is often a tensor that was made there
        error.add_note(f"(the model was on {device}; with --device cpu everything is on the processor)")
        raise
    finally:
        del vars(model)["forward"]
        model.to(CPU)


def _sent(value: Any, device: Any) -> Any:
    return value.to(device) if hasattr(value, "device") else value


def _missing(word: str) -> str:
    import torch

    if word == MPS:
        return "no Apple GPU on this machine"
    return "no NVIDIA GPU on this machine" if torch.version.cuda else "no NVIDIA GPU: this torch is built without CUDA"
