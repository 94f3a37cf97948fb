"""The bench a lab works at: the student's parts, the settings, and measurements that are kept as they finish."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from autograder import __version__
from autograder.errors import UsageError
from autograder.labs.catalogue import Lab
from autograder.labs.device import CPU
from autograder.labs.meter import Meter
from autograder.labs.work import Piece, Work
from autograder.whole_file import write_whole

if TYPE_CHECKING:
    import numpy as np
    import torch

T = TypeVar("T")

_FORMAT = 1
# What measurements are made with, beside the lab's own module.
_SHARED = ("data.py", "device.py", "rungs.py", "training.py", "lm/by_numpy.py")
_BESIDE = re.compile(r"autograder\.labs\.experiments(?:\.| import )(\w+)")


class Bench:
    """What an experiment is given.

    Args:
        lab: Which lab.
        work: The student's modules.
        folder: Where finished measurements are kept.
        full: Whether to take the text's settings instead of the quick ones.
        seed: Where all draws begin.
        data: A folder with tiny Shakespeare, where one was named.
        meter: Shows how far it is.
        device: Where models are trained.
    """

    def __init__(
        self,
        lab: Lab,
        work: Work,
        folder: Path,
        *,
        full: bool,
        seed: int,
        data: Path | None,
        meter: Meter,
        device: str = CPU,
    ) -> None:
        self.device = device
        self.lab, self.work, self.full, self.seed, self.data_folder = lab, work, full, seed, data
        self.reused = 0
        self.seconds = 0.0  # of the processor, for all measurements, also those of an earlier run
        self._folder = folder
        self._meter = meter
        self._cost = 1.0
        self._code = ""
        self._seen: set[Path] = set()  # of this run: what it asks for twice is made once and counted once
        self.partial: Path | None = None  # where the measurement that is going on may keep its state

    def part(self, name: str) -> Piece:
        """Import a part that the lab's PARTS names."""
        if name not in self.lab.parts:
            raise ValueError(f"{self.lab.path.name}: PARTS does not name {name}")
        return self.work.part(name)

    def choose(self, quick: T, full: T) -> T:
        """Take the quick setting, or with --full the text's."""
        return full if self.full else quick

    def seeds(self, count: int) -> list[int]:
        """Give as many seeds as asked, from the one of this run on."""
        return [self.seed + i for i in range(count)]

    def generator(self, seed: int) -> "torch.Generator":
        """Make a torch generator."""
        import torch

        return torch.Generator().manual_seed(seed)

    def rng(self, seed: int) -> "np.random.Generator":
        """Make a numpy generator, whose numbers are the same on every machine."""
        import numpy as np

        return np.random.default_rng(seed)

    def measure(
        self,
        function: Callable[..., Any],
        settings: Iterable[Mapping[str, Any]],
        cost: Callable[[Mapping[str, Any]], float] = lambda settings: 1.0,
    ) -> list[Any]:
        """Call ``function(bench, **settings)`` for each, and keep every result the moment it is there.

        Args:
            function: Returns JSON values. torch's global generator is seeded before it is called.
            settings: One mapping of JSON values for each call; ``seed`` is added where it is missing.
            cost: How much work a call is, in any unit: the estimate of the time left is made from it.

        Returns:
            The results, in order; those of an earlier run with the same code and settings are not made again.
        """
        plan = [{"seed": self.seed, **each} for each in settings]
        paths = [self._path(function.__name__, each) for each in plan]
        costs = [max(float(cost(each)), 1e-9) for each in plan]
        kept = [_read(path) for path in paths]
        self._meter.plan(sum(costs), sum(work for work, found in zip(costs, kept, strict=True) if found is not None))
        new = {path for path, found in zip(paths, kept, strict=True) if found is None}
        self.reused += sum(path not in self._seen | new for path in paths)
        results = []
        for each, path, work, found in zip(plan, paths, costs, kept, strict=True):
            made = self._make(function, each, path, work) if found is None else found
            self.seconds += made["seconds"] if path not in self._seen else 0
            self._seen.add(path)
            results.append(made["value"])
        return results

    def tick(self, share: float, words: str = "") -> None:
        """Say which share of the measurement that is going on has been done, from 0 to 1."""
        self._meter.at(share * self._cost, words)

    def _make(self, function: Callable[..., Any], settings: dict[str, Any], path: Path, cost: float) -> dict[str, Any]:
        import torch

        torch.manual_seed(settings["seed"])
        self._cost, self.partial = cost, path.with_suffix(".partial")
        began = time.process_time()  # what a busy machine gives to others does not count
        with self.work.active(), self.work.guarded(self.lab.parts):
            value = function(self, **settings)
        found = {
            "version": _FORMAT,
            "lab": self.lab.name,
            "of": function.__name__,
            "settings": settings,
            "value": value,
            "seconds": round(time.process_time() - began, 3),
        }
        text = json.dumps(found, ensure_ascii=False, indent=1)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
        except OSError as error:
            raise UsageError(f"cannot write in {path.parent} ({error.strerror})", "name a folder with --out") from None
        self._meter.finish(cost)
        made: dict[str, Any] = json.loads(text)  # as a rerun will find it
        return made

    def _path(self, name: str, settings: Mapping[str, Any]) -> Path:
        import torch

        self._code = self._code or self._digest()
        # figures of another device are others in their last digits, and their seconds are others altogether
        content = json.dumps([self._code, torch.__version__, self.device, name, settings], sort_keys=True)
        key = hashlib.sha256(content.encode()).hexdigest()[:12]
        words = re.sub(r"[^\w.=,-]+", "_", ",".join(f"{word}={value}" for word, value in settings.items()))[:80]
        return self._folder / f"{name.strip('_')},{words},{key}.json"

    def _digest(self) -> str:
        """Digest all the code that decides a figure: the student's, the lab's, and what labs share."""
        digest = hashlib.sha256(f"{__version__} {self.work.digest(self.lab.parts)}".encode())
        here = Path(__file__).parent
        for path in (*_with_imported(self.lab.path), *(here / name for name in _SHARED)):
            digest.update(path.read_bytes())
        return digest.hexdigest()


def _with_imported(path: Path) -> list[Path]:
    """List a lab's module and those beside it that it imports, directly or not."""
    found: list[Path] = []
    wanted = [path]
    while wanted:
        one = wanted.pop()
        if one not in found and one.is_file():
            found.append(one)
            wanted += [path.with_name(f"{name}.py") for name in _BESIDE.findall(one.read_text(encoding="utf-8"))]
    return sorted(found)


def _read(path: Path) -> dict[str, Any] | None:
    """Read a finished measurement; one that is not whole counts as not made."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return (
        found
        if isinstance(found, dict) and found.get("version") == _FORMAT and {"value", "seconds"} <= set(found)
        else None
    )
