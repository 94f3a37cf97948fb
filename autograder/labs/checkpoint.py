"""The state of a training that goes on later exactly where it stopped: one safetensors file, JSON inside, no pickle."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.whole_file import write_whole

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

FORMAT = 1

_KEY = "gpt-hw"  # of our JSON among a safetensors file's own notes
_MODEL, _OPTIMIZER, _GENERATOR, _GLOBAL = "model.", "optimizer.", "generator", "global_generator"


def save(path: Path, tensors: "Mapping[str, Tensor]", facts: Mapping[str, Any]) -> None:
    """Write tensors and facts (JSON values) whole or not at all.

    Raises:
        UsageError: The folder cannot be written.
    """
    from safetensors.torch import save as to_bytes

    # a copy each, on the processor: tied weights share their memory, which the format refuses, and the next run may
    # have no such device
    content = to_bytes(
        {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()},
        metadata={_KEY: json.dumps({"version": FORMAT, **facts}, ensure_ascii=False)},
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror})", "name another folder with --out") from None


def load(path: Path) -> "tuple[dict[str, Tensor], dict[str, Any]]":
    """Read what ``save`` wrote.

    Raises:
        UsageError: It is no such file, or of a newer version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {})[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    except FileNotFoundError:
        raise UsageError(f"there is no checkpoint {path}", "make one with gpt-hw train") from None
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        told = " ".join(str(error).split())
        raise UsageError(f"{path} is not a checkpoint of ours ({told})", "remove it, or name another folder") from None
    if facts.get("version") != FORMAT:
        raise UsageError(f"{path} was written by another version of gpt-hw", "train again, in another folder")
    return tensors, facts


def training_state(
    model: "nn.Module", optimizer: "torch.optim.Optimizer", generator: "torch.Generator"
) -> "tuple[dict[str, Tensor], list[dict[str, Any]]]":
    """Collect all that decides how a training goes on.

    Returns:
        The tensors, and the optimizer's settings as JSON values.
    """
    import torch

    tensors = {f"{_MODEL}{name}": tensor for name, tensor in model.state_dict().items()}
    state = optimizer.state_dict()
    for index, values in state["state"].items():
        for name, value in values.items():
            tensors[f"{_OPTIMIZER}{index}.{name}"] = torch.as_tensor(value)
    tensors[_GENERATOR], tensors[_GLOBAL] = generator.get_state(), torch.get_rng_state()
    return tensors, state["param_groups"]


def model_weights(tensors: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Pick the model's state dict out of a checkpoint's tensors."""
    return {name.removeprefix(_MODEL): tensor for name, tensor in tensors.items() if name.startswith(_MODEL)}


def restore_generators(tensors: "Mapping[str, Tensor]", generator: "torch.Generator") -> None:
    """Set a generator, and torch's global one (dropout draws from it), to where they were."""
    import torch

    generator.set_state(tensors[_GENERATOR])
    torch.set_rng_state(tensors[_GLOBAL])


def restore_optimizer(
    tensors: "Mapping[str, Tensor]", groups: list[dict[str, Any]], optimizer: "torch.optim.Optimizer"
) -> None:
    """Give an optimizer the averages and the settings that it had."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith(_OPTIMIZER):
            index, name = key.removeprefix(_OPTIMIZER).split(".", 1)
            state.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": groups})
