"""Where a diagnosis looks up how each mistake fails each check: replayed here, or compiled before."""

import contextlib
import hashlib
import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import numpy as np
import torch

from autograder import __version__
from autograder.checks.bands import Band
from autograder.checks.diagnosis import Fingerprint, fingerprint
from autograder.checks.failures import CheckFailure
from autograder.checks.local import CheckFunction, LocalConnection, Mistake, load_suites, mistakes_of, run_check
from autograder.records import Part
from autograder.whole_file import write_whole

PUBLIC_SEED = 0  # students' runs draw from it, so that what was compiled before fits them
COMPILED = "diagnoses.json"


class Catalogue(Protocol):
    """The mistakes of one part."""

    def lookup(self, check_id: str) -> Mapping[str, Fingerprint]:
        """Return how each mistake fails that check; one that passes it is absent."""
        ...

    def told(self, mistake: str) -> str:
        """Return the sentence for the student."""
        ...

    def remember(self) -> None:
        """Keep what was worked out, for a later run."""
        ...


class Replays:
    """Mistakes replayed through the suites in this process, each check once and only when it is asked for.

    Args:
        part: With the folder that holds suites and mistakes.py.
        sources: Module -> text of our solutions.
        seed: The one that the students' runs draw from.
        hidden: Replay the hidden suite's checks too.
        bands: Of the part's training checks.
        cache: A folder that remembers what was replayed, for the same texts, seed and versions.
    """

    def __init__(
        self,
        part: Part,
        sources: Mapping[str, str],
        seed: int,
        *,
        hidden: bool,
        bands: Mapping[str, Band] | None = None,
        cache: Path | None = None,
    ) -> None:
        self._seed = seed
        self._bands = bands or {}
        self._trains = {check.id for check in part.checks if check.trains}
        self._mistakes = mistakes_of(part.folder / "mistakes.py")
        self._checks = load_suites(part.folder, hidden=hidden)
        solution = sources[part.module]
        self._right = LocalConnection(part.module, sources)
        self._wrong = {
            name: LocalConnection(part.module, {**sources, part.module: mistake.applied_to(solution)})
            for name, mistake in self._mistakes.items()
        }
        self._file = f"{part.module}.py"
        self._failures: dict[str, dict[str, CheckFailure | None]] = {}
        self._cache = cache / f"{part.name}-{_digest(part, sources, seed)}.json" if cache else None
        self._known = self._remembered()
        self._saved = len(self._known)

    def lookup(self, check_id: str) -> Mapping[str, Fingerprint]:
        """Return how each mistake fails that check; nothing for a training check, whose numbers fit no single line."""
        if check_id in self._trains:
            return {}
        if check_id not in self._known:
            self._known[check_id] = {
                name: found
                for name, failure in self.failures(check_id).items()
                if failure is not None and (found := fingerprint(failure.evidence)) is not None
            }
        return self._known[check_id]

    def failures(self, check_id: str) -> Mapping[str, CheckFailure | None]:
        """Return what became of each mistake in that check; None where it passed or cannot show.

        A training check takes seconds, so it is tried on the mistakes alone that declare it.
        """
        if check_id not in self._failures:
            function = self._checks[check_id]
            if check_id in self._trains:
                shows = {name for name, mistake in self._mistakes.items() if check_id in mistake.trains}
            else:
                touched = self._touched(function, check_id)
                shows = {name for name, mistake in self._mistakes.items() if mistake.of in touched}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of wrong code, in the middle of an instructor's progress
                self._failures[check_id] = {
                    name: run_check(function, check_id, self._wrong[name], self._seed, bands=self._bands)
                    if name in shows
                    else None
                    for name in self._mistakes
                }
        return self._failures[check_id]

    def _remembered(self) -> dict[str, dict[str, Fingerprint]]:
        try:
            data = json.loads(self._cache.read_text(encoding="utf-8")) if self._cache else {}
            return {
                check_id: {name: Fingerprint.from_json(found) for name, found in by_mistake.items()}
                for check_id, by_mistake in data.items()
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}  # lost or damaged: it is replayed again

    def remember(self) -> None:
        """Keep what was replayed, where a cache was given; a place that cannot be written costs nothing but time."""
        if self._cache is None or len(self._known) == self._saved:
            return
        data = {key: {name: found.to_json() for name, found in value.items()} for key, value in self._known.items()}
        with contextlib.suppress(OSError):
            self._cache.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._cache, json.dumps(data).encode())

    @property
    def mistakes(self) -> Mapping[str, Mistake]:
        """The catalogue, by name."""
        return self._mistakes

    def _touched(self, function: CheckFunction, check_id: str) -> set[str]:
        # A mistake in something that the right solution never calls in this check cannot show in it.
        called: set[str] = set()

        def note(frame: FrameType, event: str, argument: object) -> None:
            if event == "call" and frame.f_code.co_filename == self._file:
                called.add(frame.f_code.co_qualname)

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            run_check(function, check_id, self._right, self._seed)
        finally:
            sys.setprofile(before)
        return called

    def told(self, mistake: str) -> str:
        """Return the sentence for the student."""
        return self._mistakes[mistake].told

    def compiled(self) -> dict[str, Any]:
        """Return everything that a diagnosis needs, without a line of code, as JSON-ready values."""
        checks = {check_id: self.lookup(check_id) for check_id in self._checks}
        return {
            "seed": self._seed,
            "mistakes": {name: mistake.told for name, mistake in self._mistakes.items()},
            "checks": {
                check_id: {name: found.to_json() for name, found in by_mistake.items()}
                for check_id, by_mistake in checks.items()
            },
        }


def _digest(part: Part, sources: Mapping[str, str], seed: int) -> str:
    digest = hashlib.sha256(repr((__version__, seed, torch.__version__, np.__version__)).encode())
    needed = [sources.get(module, "") for module in (part.module, *part.needs)]
    suites = [path.read_text(encoding="utf-8") for path in sorted(part.folder.glob("*.py"))]
    for text in [*needed, *suites]:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.hexdigest()[:32]


class Compiled:
    """What ``Replays.compiled`` wrote; a missing file is an empty catalogue."""

    def __init__(self, path: Path) -> None:
        self._data: dict[str, Any] = {"mistakes": {}, "checks": {}}
        if path.is_file():
            self._data = json.loads(path.read_text(encoding="utf-8"))

    def lookup(self, check_id: str) -> Mapping[str, Fingerprint]:
        """Return how each mistake fails that check."""
        found = self._data["checks"].get(check_id, {})
        return {name: Fingerprint.from_json(data) for name, data in found.items()}

    def told(self, mistake: str) -> str:
        """Return the sentence for the student."""
        return str(self._data["mistakes"][mistake])

    def remember(self) -> None:
        """Do nothing: nothing was worked out."""


class NoCatalogue:
    """A part without known mistakes."""

    def lookup(self, check_id: str) -> Mapping[str, Fingerprint]:
        """Return nothing."""
        return {}

    def told(self, mistake: str) -> str:
        """Raise, since there is no mistake to ask for."""
        raise KeyError(mistake)

    def remember(self) -> None:
        """Do nothing: nothing was worked out."""
