"""Requests about one student's modules, answered one at a time.

A request is a header with ``op`` and that operation's fields; a reply has ``value`` or ``error``. What a reply
claims is the student's word: the trusted side compares it and never executes it.
"""

import random
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from types import CodeType
from typing import Any

from autograder.source_modules import SourceModules
from autograder.wire import Array, decode, encode
from autograder.worker import calls, tracebacks


class Refused(Exception):
    """The request cannot be met with what the student wrote; the message is for the student."""


class Session:
    """One student's modules and the objects that checks have made of them.

    Args:
        reraise: Let an exception of a call through, for a debugger, instead of putting it into the answer.
    """

    def __init__(self, *, reraise: bool = False) -> None:
        self._reraise = reraise
        self._sources = SourceModules({})
        self._module: Any = None
        self._objects: dict[int, Any] = {}
        self._next = 0
        self._recursion_limit = sys.getrecursionlimit()

    def handle(self, message: Mapping[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        """Answer one request; whatever student code raises becomes part of the answer.

        Args:
            message: The request's header.
            arrays: The request's arrays.

        Returns:
            The reply's header and arrays.
        """
        operation = getattr(self, f"op_{message['op']}")
        out: list[Array] = []
        try:
            with self._sources.active():
                reply = operation(message, list(arrays), out)
            return reply, out
        except Refused as refusal:
            return {"error": {"type": "Refused", "message": tracebacks.clip(str(refusal)), "traceback": ""}}, []
        except BaseException as error:  # SystemExit and KeyboardInterrupt too: they are the student's
            if self._reraise and message["op"] == "call":
                raise
            return {"error": tracebacks.describe(error, self._sources.files)}, []

    # -- operations ----------------------------------------------------------------------------------------------

    def op_import(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """Load one part's module from the submission's texts."""
        self._sources = SourceModules(message["sources"])
        self._module = self._sources.load(message["module"])
        return {"value": None}

    def op_begin(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """Forget the last check's objects and set every process-wide setting anew."""
        self._objects.clear()
        seed = message["seed"]
        random.seed(seed)
        numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
        if numpy is not None:
            numpy.random.seed(seed)
            numpy.seterr(divide="warn", over="warn", under="ignore", invalid="warn")  # numpy's own defaults
        if torch is not None:
            torch.default_generator.manual_seed(seed)  # torch.manual_seed formats a traceback for each absent device
            torch.set_default_dtype(torch.float32)
            torch.set_grad_enabled(True)
            torch.set_num_threads(message.get("threads", 1))
            torch._C._set_deterministic_algorithms(False)  # the public name imports a second of torch
            torch.autograd.set_detect_anomaly(False)
            if getattr(torch.get_default_device(), "type", "cpu") != "cpu":
                torch.set_default_device(None)
        sys.setrecursionlimit(self._recursion_limit)
        return {"value": None}

    def op_call(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """Call a function, a class or a method."""
        target = self._target(message)
        args, kwargs = self._arguments(message, arrays)
        with calls.watching(args, kwargs) as changed:
            value = target(*args, **kwargs)
        return self._answer(value, out, changed)

    def op_gradients(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """Call, then send a gradient back to the arguments and the parameters."""
        target = self._target(message)
        args, kwargs = self._arguments(message, arrays)
        owner = self._object(message["handle"]) if message.get("handle") is not None else None
        upstream = self._decode(message["upstream"], arrays)
        value, gradients, changed = calls.gradients(target, owner, args, kwargs, upstream)
        reply = self._answer(value, out, changed)
        if gradients is not None:
            reply["gradients"] = encode(gradients, out, self._keep)
        return reply

    def op_probe(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """Build something of the suite's beside the student's code, to be passed into it: a sublayer, a table model."""
        space: dict[str, Any] = {"__name__": "probe"}
        exec(_compiled(message["source"]), space)
        args, kwargs = self._arguments(message, arrays)
        return self._answer(space[message["name"]](*args, **kwargs), out)

    def op_load(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """Set parameters by name, in place."""
        problem = calls.load(self._object(message["handle"]), self._decode(message["weights"], arrays))
        if problem:
            raise Refused(problem)
        return {"value": None}

    def op_shapes(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """List the parameters and their shapes."""
        thing = self._object(message["handle"])
        if not callable(getattr(thing, "named_parameters", None)):
            raise Refused(f"{type(thing).__name__} is not an nn.Module: it has no parameters")
        shapes = {name: tuple(parameter.shape) for name, parameter in thing.named_parameters()}
        return self._answer(shapes, out)

    def op_get(self, message: Mapping[str, Any], arrays: list[Array], out: list[Array]) -> dict[str, Any]:
        """Read an attribute by its dotted path; a number is an index."""
        return self._answer(self._attribute(message), out)

    # -- pieces --------------------------------------------------------------------------------------------------

    def _answer(self, value: Any, out: list[Array], changed: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            reply = {"value": encode(value, out, self._keep)}
            if changed:
                reply["changed"] = encode(dict(changed), out, self._keep)
        except ValueError as error:
            raise Refused(f"the result cannot be read: {error}") from None
        return reply

    def _keep(self, value: Any) -> dict[str, Any]:
        self._next += 1
        self._objects[self._next] = value
        return {"handle": [self._next, _type_name(value)]}

    def _object(self, handle: int) -> Any:
        return self._objects[handle]

    def _decode(self, node: Any, arrays: list[Array]) -> Any:
        return decode(node, arrays, lambda opaque: self._objects[opaque.handle])

    def _arguments(self, message: Mapping[str, Any], arrays: list[Array]) -> tuple[list[Any], dict[str, Any]]:
        return self._decode(message["args"], arrays), self._decode(message["kwargs"], arrays)

    def _target(self, message: Mapping[str, Any]) -> Any:
        if message.get("handle") is None:
            try:
                return self._sources.find(self._module, message["name"])
            except LookupError as error:
                raise Refused(str(error)) from None
        return self._attribute(message) if message.get("name") else self._object(message["handle"])

    def _attribute(self, message: Mapping[str, Any]) -> Any:
        thing = self._object(message["handle"])
        owner = _type_name(thing)
        for step in message["name"].split("."):
            try:
                thing = thing[int(step)] if step.isdigit() else getattr(thing, step)
            except (AttributeError, LookupError, TypeError):
                raise Refused(f"{owner} has no attribute '{message['name']}'") from None
        return thing


@cache
def _compiled(source: str) -> CodeType:
    return compile(source, "probe.py", "exec", dont_inherit=True)


def _type_name(value: Any) -> str:
    name = tracebacks.name_of(type(value))
    torch = sys.modules.get("torch")
    if torch is not None and type(value) is torch.Tensor:  # one of a kind that does not cross the wall
        return f"{name} ({value.layout}, {value.dtype})"
    return name
