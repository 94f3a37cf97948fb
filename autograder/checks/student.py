"""The student as a suite sees them: names that can be called, handles of what they made.

Every call is a request through the wall; what comes back is plain data or a handle. Whatever goes wrong on the other
side becomes a ``CheckFailure`` in words.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from autograder.checks import describe
from autograder.checks.failures import CheckFailure, Evidence, next_step
from autograder.checks.guards import Named, NotData
from autograder.checks.replies import remember_reply
from autograder.records import Outcome
from autograder.wire import MAX_TEXT, Array, Opaque, ProtocolViolation, WorkerDied, WorkerTimedOut, decode, encode

_MOST_PARAMETERS = 1 << 25  # in float32 as many bytes as a reply may have


class Connection(Protocol):
    """Where student code can be asked: a worker behind the wall, or a session in this process."""

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        """Send one request and return the reply; raises WorkerDied where none comes."""
        ...


@dataclass(frozen=True, slots=True)
class StudentError:
    """What student code raised."""

    type_name: str
    bases: tuple[str, ...]
    message: str
    traceback: str

    def is_a(self, name: str) -> bool:
        """Tell whether the exception is of that class or of a subclass."""
        return name in (self.type_name, *self.bases)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one request: a value, or an error."""

    value: Any = None
    gradients: Any = None
    error: StudentError | None = None


@dataclass(frozen=True, slots=True)
class Gradients:
    """What came of a call and its backward pass; an input or parameter that got no gradient has None."""

    output: Any
    inputs: list[Tensor | None]
    parameters: dict[str, Tensor | None]


class Remote(NotData):
    """Something of the student's that can be called by name."""

    def __init__(self, connection: Connection, handle: int | None, name: str, label: str) -> None:
        self._connection = connection
        self._handle = handle
        self._name = name
        self.label = label
        self.told = f"{label} is something to call"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it and return the raw reply; an exception of the student's fails the check.

        What has a name like a class must make an object, so that a suite can go on to ask that object.
        """
        called = describe.Call(self.label, args, kwargs)
        value = _value_of(self.ask(args, kwargs), called)
        if self._handle is None and self._name[:1].isupper() and not isinstance(value, Handle):
            raise CheckFailure(
                f"{called} returned {describe.kind_of(value)}, expected an object of class {self._name}.",
                evidence=Evidence("exact", value, step=next_step()),
            )
        return value

    def ask(self, args: Sequence[Any], kwargs: Mapping[str, Any], **fields: Any) -> Reply:
        """Call it and return the value or the error."""
        message = {"op": "call", "handle": self._handle, "name": self._name, **fields}
        return _ask(self._connection, message, list(args), dict(kwargs), self.label)

    def gradients(self, *args: Any, upstream: Any, **kwargs: Any) -> Gradients:
        """Call it, send ``upstream`` back, and return the output with the gradients.

        Args:
            args: Float tensors among them get gradients.
            upstream: A tensor like the output, or a tuple with one entry for each output (None: not used).
            kwargs: Named arguments, not differentiated.
        """
        reply = self.ask(args, kwargs, op="gradients", upstream=upstream)
        called = describe.Call(self.label, args, kwargs)
        value = _value_of(reply, called)
        if reply.gradients is None:
            wanted = upstream if isinstance(upstream, tuple) else (upstream,)
            shapes = ", ".join(describe.kind_of(up) for up in wanted if up is not None)
            raise CheckFailure(
                f"{called} returned {describe.kind_of(value)}, expected {shapes}.",
                evidence=Evidence("exact", value, step=next_step()),
            )
        found = reply.gradients
        if not _fits_arguments(found, args):
            raise CheckFailure(f"{called}: the gradients that came back do not fit the arguments.")
        return Gradients(value, found["inputs"], Named(found["parameters"], self.label))


class Handle(NotData):
    """An object that the student's code made; it lives in the worker."""

    def __init__(self, connection: Connection, handle: int, type_name: str) -> None:
        self._connection = connection
        self.handle = handle
        self.type_name = type_name
        self.label = type_name
        self.told = f"a {type_name} object came back"
        self._itself = Remote(connection, handle, "", type_name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object itself."""
        return self._itself(*args, **kwargs)

    def ask(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Reply:
        """Call the object and return the value or the error."""
        return self._itself.ask(args, kwargs)

    def gradients(self, *args: Any, upstream: Any, **kwargs: Any) -> Gradients:
        """Call the object and return gradients of its arguments and parameters (see ``Remote.gradients``)."""
        return self._itself.gradients(*args, upstream=upstream, **kwargs)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name -> shape of every parameter."""
        reply = _ask(self._connection, {"op": "shapes", "handle": self.handle, "name": ""}, [], {}, self.label)
        shapes = _value_of(reply, f"reading the parameters of {self.label}")
        if not isinstance(shapes, dict) or not all(_is_shape(shape) for shape in shapes.values()):
            raise CheckFailure(f"the parameters of {self.label} cannot be listed.")
        count = sum(map(math.prod, shapes.values()))
        if count > _MOST_PARAMETERS:  # a suite may go on to draw so many numbers
            raise CheckFailure(f"the parameters of {self.label} hold {count:,} numbers, far more than expected.")
        return Named(shapes, self.label)

    def load(self, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Set parameters by name, in place, and return the weights."""
        message = {"op": "load", "handle": self.handle, "name": "", "weights": dict(weights)}
        _value_of(_ask(self._connection, message, [], {}, self.label), f"setting the weights of {self.label}")
        return weights

    def get(self, path: str) -> Any:
        """Read an attribute by its dotted path, such as ``heads.0.q.weight``."""
        message = {"op": "get", "handle": self.handle, "name": path}
        return _value_of(_ask(self._connection, message, [], {}, self.label), f"reading {self.label}.{path}")

    def __getattr__(self, name: str) -> Remote:
        """Name a method of the object."""
        if name.startswith("_"):
            raise AttributeError(name)
        return Remote(self._connection, self.handle, name, f"{self.type_name}.{name}")


class Student:
    """Everything that a submission's module defines, by name."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Remote:
        """Name a function or class of the student's."""
        if name.startswith("_"):
            raise AttributeError(name)
        return Remote(self._connection, None, name, name)

    def probe(self, source: str, name: str, *args: Any, **kwargs: Any) -> Any:
        """Build something of the suite's own in the worker, for the student's code to be given.

        Args:
            source: Python text; it is the suite's, and student code may read it, so it holds nothing secret.
            name: What to call in it: a class or a function.
            args: With what.
            kwargs: Named arguments.

        Returns:
            A handle (or plain data), which can be passed to the student's functions and classes.
        """
        message = {"op": "probe", "handle": None, "name": name, "source": source}
        return _value_of(_ask(self._connection, message, list(args), kwargs, name), f"building {name}")


def _ask(connection: Connection, message: dict[str, Any], args: list[Any], kwargs: dict[str, Any], label: str) -> Reply:
    arrays: list[Array] = []
    for field, value in (("args", args), ("kwargs", kwargs)):
        message[field] = encode(value, arrays, _handle_node)
    for field in ("upstream", "weights"):
        if field in message:
            message[field] = encode(message[field], arrays, _handle_node)
    called = describe.Call(label, args, kwargs)
    message["label"] = label
    try:
        reply, back = connection.request(message, arrays)
        return _read_reply(connection, reply, back, called)
    except WorkerTimedOut as death:
        evidence = Evidence("raised", ("TimedOut", ""), step=next_step())
        raise CheckFailure(f"{called}: {death.reason}", evidence=evidence, outcome=Outcome.TIMED_OUT) from None
    except WorkerDied as death:
        raise CheckFailure(f"{called}: {death.reason}") from None


def _read_reply(connection: Connection, reply: dict[str, Any], arrays: list[Array], called: object) -> Reply:
    def handle(opaque: Opaque) -> Handle:
        return Handle(connection, opaque.handle, opaque.type_name)

    if "error" in reply:
        error = reply["error"]
        return Reply(error=_read_error(error))
    value = decode(reply.get("value"), arrays, handle)
    remember_reply(value)
    if reply.get("changed") is not None:
        changed = decode(reply["changed"], arrays, handle)
        names = ", ".join(str(name) for name in changed) if isinstance(changed, dict) else "an argument"
        raise CheckFailure(
            f"{called} changed {names} in place. What a function is given belongs to the caller: work on a copy.",
            evidence=Evidence("exact", changed, step=next_step()),
        )
    gradients = decode(reply["gradients"], arrays, handle) if reply.get("gradients") is not None else None
    return Reply(value=value, gradients=gradients)


def _read_error(error: Any) -> StudentError:
    fields = error if isinstance(error, dict) else {}
    texts = [fields.get(key) for key in ("type", "message", "traceback")]
    bases = fields.get("bases", [])
    kind, message, traceback = (text[:MAX_TEXT] if isinstance(text, str) else None for text in texts)
    if kind is None or message is None or traceback is None or not isinstance(bases, list):
        raise ProtocolViolation("the answer was not one that this code can give")
    return StudentError(kind, tuple(base for base in bases if isinstance(base, str)), message, traceback)


def _value_of(reply: Reply, called: object) -> Any:
    error = reply.error
    if error is None:
        return reply.value
    if error.type_name == "Refused":
        text = f"{called}: {error.message}."
    else:
        text = f"{called} raised {error.type_name}: {error.message}"
        if error.type_name == "MemoryError" or "can't allocate memory" in error.message:
            text += "\nIt asked for more memory than a check may use."
    evidence = Evidence("raised", (error.type_name, error.message), step=next_step())
    raise CheckFailure(text, evidence=evidence, traceback=error.traceback)


def _handle_node(value: Any) -> Any:
    if isinstance(value, Handle):
        return {"handle": [value.handle, ""]}
    raise TypeError(f"a suite cannot send {type(value).__name__} to student code")


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(type(size) is int and size >= 0 for size in value)


def _fits_arguments(found: Any, args: Sequence[Any]) -> bool:
    if not isinstance(found, dict) or set(found) != {"inputs", "parameters"}:
        return False
    inputs, parameters = found["inputs"], found["parameters"]
    if not isinstance(inputs, list) or len(inputs) != len(args) or not isinstance(parameters, dict):
        return False
    return all(g is None or isinstance(g, Tensor) for g in [*inputs, *parameters.values()])
