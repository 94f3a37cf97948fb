"""Hear the first question of a check, and have it answered by a file that is pasted into a part."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.records import Limits, Part
from autograder.sandbox import ForkServer, Worker
from autograder.wire import Array, WorkerDied

REPLY_S = 2.0
FUNCTIONS_PER_WORKER = 150
TYPE_ERROR = {"error": {"type": "TypeError", "bases": ["Exception"], "message": "no", "traceback": ""}}


class Asked(Exception):
    """A check has put its first question to the student."""


@dataclass(frozen=True)
class Question:
    """The first thing that a check asks of the student; a check that gets no answer to it does not pass."""

    message: Mapping[str, Any]
    arrays: Sequence[Array]
    is_first: bool  # False where the suite builds something of its own before

    @property
    def name(self) -> str:
        return str(self.message["name"])

    @property
    def bytes(self) -> int:
        return sum(len(array.data) for array in self.arrays)

    def fits(self, parameters: inspect.Signature | None) -> bool:
        """Tell whether a function of this signature can be called so; None is not known."""
        if parameters is None:
            return True
        args, kwargs = self.message["args"], self.message["kwargs"]
        try:
            parameters.bind(*_items(args), **dict.fromkeys(_keys(kwargs)))
        except TypeError:
            return False
        return True


def _items(node: Any) -> list[Any]:
    return list(node["list"]) if isinstance(node, dict) else list(node)


def _keys(node: Any) -> list[str]:
    entries = node["dict"] if isinstance(node, dict) and "dict" in node else node
    return [str(entry[0]) for entry in entries] if isinstance(entries, list) else [str(key) for key in entries]


class Ear:
    """Hears the first question of a check, and stops it there."""

    def __init__(self) -> None:
        self.question: Question | None = None
        self._probes = 0

    def begin(self, seed: int, threads: int = 1) -> None:
        pass

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        if message["op"] == "probe":
            self._probes += 1
            return {"value": {"handle": [self._probes, "Probe"]}}, []
        self.question = Question(message, arrays, self._probes == 0)
        raise Asked


class Deaf:
    """Answers everything with an exception."""

    def begin(self, seed: int, threads: int = 1) -> None:
        pass

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        return dict(TYPE_ERROR), []


class Pasted:
    """A part file behind the wall, asked by checks in this process; many files one after another in one worker."""

    def __init__(self, server: ForkServer, rung: int, part: Part) -> None:
        self._open = lambda: server.worker(rung, Limits(check_s=REPLY_S), part.forbidden)
        self._module = part.module
        self._worker: Worker | None = None
        self._sources: dict[str, str] = {}
        self._files = 0

    def paste(self, sources: Mapping[str, str]) -> bool:
        """Load a file; False where it does not import."""
        self._sources = dict(sources)
        self._files += 1
        if self._files % FUNCTIONS_PER_WORKER == 0:
            self.close()
        return self._import()

    def _import(self) -> bool:
        if self._worker is None:
            self._worker = self._open()
        try:
            reply, _ = self._ask({"op": "import", "module": self._module, "sources": self._sources}, [])
        except WorkerDied:
            return False
        return "error" not in reply

    def begin(self, seed: int, threads: int = 1) -> None:
        if self._worker is None:
            self._import()
        self._ask({"op": "begin", "seed": seed, "threads": threads}, [])

    def request(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        return self._ask(message, arrays)

    def _ask(self, message: dict[str, Any], arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
        if self._worker is None:
            raise WorkerDied("the process ended before")
        try:
            self._worker.allow(REPLY_S)
            return self._worker.request(message, arrays)
        except WorkerDied:
            self.close()
            raise

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def __enter__(self) -> "Pasted":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
