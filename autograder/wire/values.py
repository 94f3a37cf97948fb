"""Values: what may cross the wall, by exact type, and how it is written in a header.

A node is a JSON scalar (None, bool, int, finite float, str) or an object whose first key says what it is: ``float``
(nan, inf), ``list``, ``tuple``, ``dict``, ``tensor``, ``meta``, ``array``, ``dtype``, ``generator``, ``handle``.
Everything that is none of these stays where it is and is named by a handle.
"""

import math
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.wire.frames import ITEM_BYTES, MAX_AXES, Array, ProtocolViolation

_MAX_DEPTH = 12
_MAX_NODES = 200_000
_MAX_GENERATORS = 64  # each takes five kilobytes where it is read
_MAX_SAME_HASH = 16  # keys of a dict that collide, which makes building it quadratic
_MAX_INT = 10**4000  # Python writes and reads integers of 4300 digits at most
_NUMPY_DTYPES = ITEM_BYTES.keys() - {"bfloat16"}
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that stayed in the worker: its number there and the name of its type."""

    handle: int
    type_name: str


def encode(value: Any, arrays: list[Array], handle_of: Callable[[Any], Any]) -> Any:
    """Write a value as a node; the bytes of tensors are appended to ``arrays``.

    Exact types only: a subclass of Tensor is not a tensor here, since it may lie about itself.

    Args:
        value: What to send.
        arrays: Grows by one for each tensor.
        handle_of: Called for whatever is not plain; returns the node to put in its place.

    Returns:
        A JSON-ready node.

    Raises:
        ValueError: Too large or nested too deeply to be sent.
    """
    return _Encoder(arrays, handle_of).node(value, 0)


class _Encoder:
    def __init__(self, arrays: list[Array], handle_of: Callable[[Any], Any]) -> None:
        self.arrays = arrays
        self.handle_of = handle_of
        # Looked up, not imported: a worker without torch must be able to send numpy arrays.
        self.torch: Any = sys.modules.get("torch")
        self.numpy: Any = sys.modules.get("numpy")
        self.nodes = 0

    def node(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > _MAX_DEPTH:
            raise ValueError(f"a value nested more than {_MAX_DEPTH} deep")
        if self.nodes > _MAX_NODES:
            raise ValueError(f"a value of more than {_MAX_NODES} parts")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            if abs(value) >= _MAX_INT:
                raise ValueError("an integer of more than 4000 digits")
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list or kind is tuple:
            return {kind.__name__: [self.node(item, depth + 1) for item in value]}
        if kind is dict or kind is OrderedDict:
            return {"dict": [[self.node(k, depth + 1), self.node(v, depth + 1)] for k, v in dict.items(value)]}
        for special in (self.torch_node, self.numpy_node):
            node = special(value, kind)
            if node is not None:
                return node
        return self.handle_of(value)

    def torch_node(self, value: Any, kind: type) -> Any:
        torch = self.torch
        if torch is None:
            return None
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            return self.tensor_node(value)
        if kind is torch.Size:
            return {"tuple": [int(size) for size in value]}
        if kind is torch.dtype:
            return {"dtype": str(value).removeprefix("torch.")}
        if kind is torch.Generator:
            return {"generator": value.initial_seed()}
        if kind is torch.device:
            return str(value)
        return None

    def tensor_node(self, value: Any) -> Any:
        torch = self.torch
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in ITEM_BYTES or value.layout is not torch.strided or value.dim() > MAX_AXES:
            return None
        if value.device.type == "meta":
            return {"meta": {"shape": list(value.shape), "dtype": dtype}}
        plain = value.detach().cpu().resolve_neg().contiguous()
        flat = plain.reshape(-1).view(torch.uint8) if plain.numel() else plain
        self.arrays.append(Array(dtype, tuple(plain.shape), flat.numpy().tobytes() if plain.numel() else b""))
        node: dict[str, Any] = {"tensor": len(self.arrays) - 1}
        if value.requires_grad:
            node["requires_grad"] = True
        if value.device.type != "cpu":
            node["device"] = str(value.device)
        return node

    def numpy_node(self, value: Any, kind: type) -> Any:
        numpy = self.numpy
        if numpy is None:
            return None
        if kind is numpy.ndarray and value.dtype.name in _NUMPY_DTYPES and value.ndim <= MAX_AXES:
            little = value.astype(value.dtype.newbyteorder("<"), order="C", copy=False)
            self.arrays.append(Array(value.dtype.name, value.shape, little.tobytes()))
            return {"array": len(self.arrays) - 1}
        # Exact numpy scalars are numbers: what a course in numpy naturally returns.
        if kind in (numpy.float64, numpy.float32, numpy.float16, numpy.int64, numpy.int32, numpy.bool_):
            number = value.item()
            return number if type(number) is not float or math.isfinite(number) else {"float": repr(number)}
        return None


def decode(node: Any, arrays: list[Array], opaque: Callable[[Opaque], Any] = lambda value: value) -> Any:
    """Read a node that the other side wrote.

    Args:
        node: From a frame's header.
        arrays: The frame's arrays.
        opaque: Makes of a handle what the reader uses.

    Returns:
        The value; tensors are fresh and writable.

    Raises:
        ProtocolViolation: The node is not one that ``encode`` writes.
    """
    return _Decoder(arrays, opaque).value(node, 0)


class _Decoder:
    def __init__(self, arrays: list[Array], opaque: Callable[[Opaque], Any]) -> None:
        self.arrays = arrays
        self.opaque = opaque
        self.nodes = 0
        self.generators = 0
        self.read: set[int] = set()

    def value(self, node: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > _MAX_DEPTH + 1 or self.nodes > _MAX_NODES:
            raise ProtocolViolation("a value that is nested too deeply or has too many parts")
        written = type(node)  # JSON has no subclasses
        if written is int or written is str or written is bool or node is None:
            return node
        if written is float:
            if not math.isfinite(node):  # 1e999 is JSON too
                raise ProtocolViolation("a number that is not finite")
            return node
        if written is not dict or not node:
            raise ProtocolViolation("a node of no known kind")
        kind, content = next(iter(node.items()))
        reader = getattr(self, f"read_{kind}", None)
        if reader is None or (len(node) > 1 and kind != "tensor"):
            raise ProtocolViolation("a node of no known kind")
        try:
            value = reader(content, depth)
            if node.get("requires_grad") is True:
                value.student_requires_grad = True  # what it was there; here it is plain data
            return value
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise ProtocolViolation(f"a malformed {kind}") from error

    def read_float(self, content: Any, depth: int) -> float:
        return _FLOATS[content]

    def read_list(self, content: Any, depth: int) -> list[Any]:
        return [self.value(item, depth + 1) for item in _exactly(list, content)]

    def read_tuple(self, content: Any, depth: int) -> tuple[Any, ...]:
        return tuple(self.read_list(content, depth))

    def read_dict(self, content: Any, depth: int) -> dict[Any, Any]:
        pairs = [_exactly(list, pair) for pair in _exactly(list, content)]
        keys = [self.value(key, depth + 1) for key, _ in pairs]
        if keys and Counter(map(hash, keys)).most_common(1)[0][1] > _MAX_SAME_HASH:
            raise ProtocolViolation("a dict whose keys collide")
        return dict(zip(keys, [self.value(item, depth + 1) for _, item in pairs], strict=True))

    def read_tensor(self, content: Any, depth: int) -> Any:
        import torch

        array = self.array(content)
        dtype = getattr(torch, array.dtype)
        if not array.data:
            return torch.empty(array.shape, dtype=dtype)
        flat = torch.frombuffer(bytearray(array.data), dtype=torch.uint8)
        # A bool that is neither 0 nor 1 is true or false depending on who asks.
        return (flat != 0 if dtype is torch.bool else flat.view(dtype)).reshape(array.shape)

    def read_meta(self, content: Any, depth: int) -> Any:
        import torch

        if content["dtype"] not in ITEM_BYTES or len(content["shape"]) > MAX_AXES:
            raise ProtocolViolation("a malformed meta tensor")
        return torch.empty(content["shape"], dtype=getattr(torch, content["dtype"]), device="meta")

    def read_array(self, content: Any, depth: int) -> Any:
        import numpy

        array = self.array(content)
        flat = numpy.frombuffer(bytearray(array.data), dtype="uint8" if array.dtype == "bool" else array.dtype)
        return (flat != 0 if array.dtype == "bool" else flat).reshape(array.shape)

    def read_dtype(self, content: Any, depth: int) -> Any:
        import torch

        value = vars(torch).get(content)  # getattr would import whatever submodule has that name
        if type(value) is not torch.dtype:
            raise ProtocolViolation("a dtype that does not exist")
        return value

    def read_generator(self, content: Any, depth: int) -> Any:
        import torch

        self.generators += 1
        if self.generators > _MAX_GENERATORS:
            raise ProtocolViolation("too many generators")
        return torch.Generator().manual_seed(_exactly(int, content))

    def read_handle(self, content: Any, depth: int) -> Any:
        number, type_name = _exactly(list, content)
        return self.opaque(Opaque(_exactly(int, number), _exactly(str, type_name)[:80]))

    def array(self, index: Any) -> Array:
        # Each array is read once: a list of a thousand references to a large one would be a thousand copies.
        if not 0 <= _exactly(int, index) < len(self.arrays) or index in self.read:
            raise ProtocolViolation("an array that was not sent")
        self.read.add(index)
        array: Array = self.arrays[index]
        return array


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value
