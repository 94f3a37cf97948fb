"""Ready-made operations that an exercise forbids: replaced where torch dispatches them, so that no name escapes.

Each forbidden operator's kernels are overridden in the dispatcher of this process: an alias, ``getattr``,
``torch.ops``, ``torch._C``, another thread, a scripted function or a switched-off mode all end there. Python-level
modules (nn.MultiheadAttention) get a constructor that raises. This is evidence, not the wall: the worker is the
student's process.
"""

import ctypes
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, NoReturn

_OPERATORS = {
    "attention": re.compile(
        r"\w+::.*(scaled_dot_product|multi_head_attention|transformer_encoder|(flash|efficient|cudnn|dot)_attention)"
        r"(?!.*backward)|onnx::Attention"
    ),
    "normalisation": re.compile(r"\w+::.*(layer|group|batch|instance|rms)_norm(?!.*(backward|stats|elemt))"),
}
_PYTHON = {
    "attention": (
        "torch.nn.functional:multi_head_attention_forward",
        "torch.nn:MultiheadAttention.__init__",
        "torch.nn:Transformer.__init__",
        "torch.nn:TransformerEncoder.__init__",
        "torch.nn:TransformerDecoder.__init__",
        "torch.nn:TransformerEncoderLayer.__init__",
        "torch.nn:TransformerDecoderLayer.__init__",
        "torch._higher_order_ops.flex_attention:FlexAttentionHOP.__call__",
        "torch._higher_order_ops.flex_attention:math_attention",
        "torch._higher_order_ops.flex_attention:_math_attention_inner",
    ),
    "normalisation": (
        "torch.nn:LayerNorm.__init__",
        "torch.nn:RMSNorm.__init__",
        "torch.nn:GroupNorm.__init__",
        "torch.nn.modules.batchnorm:_NormBase.__init__",
        # torch's own second versions, in Python, for its compiler
        "torch._refs:_normalize",
        "torch._decomp.decompositions:_fused_rms_norm",
        "torch._decomp.decompositions:native_batch_norm_helper",
    ),
}
_MODULES = {
    "attention": ("torch.nn.attention.flex_attention", "torch.nn.attention.varlen"),
    "normalisation": (),
}
# It registers operators of its own (Attention) when it is imported. An optimizer does that, so it cannot be blocked.
_REGISTERS_LATE = "torch.onnx.ops"
GROUPS = tuple(_OPERATORS)


class ForbiddenOperation(RuntimeError):
    """A ready-made operation that this part asks the student to write."""

    __module__ = "builtins"  # a student's traceback then names the error, and not a module of ours


@cache
def kernels(group: str) -> tuple[tuple[str, str], ...]:
    """List (operator, dispatch key) of every kernel in a group; worked out once, before any fork.

    Args:
        group: One of ``GROUPS``.

    Returns:
        Names such as ``aten::layer_norm`` and keys such as ``CPU``.
    """
    import torch

    names = [name for name in torch._C._dispatch_get_all_op_names() if _OPERATORS[group].match(name)]
    keys = [key for key in torch._C.DispatchKey.__members__ if key not in ("Undefined", "EndOfAliasKeys")]
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    found = []
    for name in names:
        for key in keys:
            try:
                if has(name, key):
                    found.append((name, key))
            except RuntimeError:  # a key of this list that no kernel may be registered for
                continue
    return tuple(found)


def forbid(groups: Iterable[str]) -> None:
    """Make every operation of these groups raise ``ForbiddenOperation`` in this process, for good.

    Args:
        groups: Of ``GROUPS``.
    """
    every = tuple(groups)
    for group in every:
        _override(kernels(group))
        for place in _PYTHON[group]:
            _replace_code(place)
        sys.meta_path.insert(0, _BlockedModules(_MODULES[group]))
    if every and _REGISTERS_LATE not in sys.modules:
        sys.meta_path.insert(0, _LateOperators(every))


def _override(found: Iterable[tuple[str, str]]) -> None:
    import torch

    libraries: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that a kernel is overridden, which is the point
        for operator, key in found:
            space, _, name = operator.partition("::")
            if space not in libraries:
                libraries[space] = torch._C._dispatch_library("IMPL", space, "", __file__, 1)
            libraries[space].impl(name, key, _refusal(name.split(".")[0].lstrip("_")))
    # Dropping a library would bring the kernels back. An extra reference and no name: it stays, unfindable.
    for library in libraries.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def only(libraries: Iterable[str]) -> None:
    """Let this process import Python's own modules, these libraries and the submission's, and nothing else.

    Args:
        libraries: Top-level names.
    """
    sys.meta_path.insert(0, _OnlyModules(frozenset(libraries) | sys.stdlib_module_names))


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise ForbiddenOperation(f"{name} is ready-made: writing it is the exercise, so the checks do not accept it")

    return refuse


def _replace_code(place: str) -> None:
    module_name, _, path = place.partition(":")
    target: Any = sys.modules.get(module_name)
    for step in path.split("."):
        target = getattr(target, step, None)
    if target is None:
        return
    shown = path.removesuffix(".__init__").removesuffix(".__call__").lstrip("_")
    # The code object is replaced rather than the name, so that copies of the function made earlier refuse too.
    source = (
        "def refuse(*args, **kwargs):\n"
        "    from autograder.worker.forbidden import ForbiddenOperation\n"
        f"    raise ForbiddenOperation('{shown} is ready-made: writing it is the exercise, "
        "so the checks do not accept it')\n"
    )
    space: dict[str, Any] = {}
    exec(source, space)
    code = space["refuse"].__code__
    if len(target.__code__.co_freevars) == 0:
        target.__code__ = code
        target.__kwdefaults__ = None
        target.__defaults__ = None
    else:  # a constructor that uses super() has a closure, whose shape a new code object must share
        owner: Any = sys.modules[module_name]
        *steps, last = path.split(".")
        for step in steps:
            owner = getattr(owner, step)
        setattr(owner, last, space["refuse"])


class _BlockedModules:
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname in self.names:
            raise ForbiddenOperation(f"{fullname} is ready-made: writing it is the exercise")
        return None


class _LateOperators:
    def __init__(self, groups: tuple[str, ...]) -> None:
        self.groups = groups

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname == _REGISTERS_LATE else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            before = {group: set(kernels(group)) for group in self.groups}
            load(module)
            kernels.cache_clear()
            for group in self.groups:
                _override(sorted(set(kernels(group)) - before[group]))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class _OnlyModules:
    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self.names and not fullname.startswith("part"):
            raise ForbiddenOperation(f"{fullname} may not be imported here: this part is written with numpy alone")
        return None
