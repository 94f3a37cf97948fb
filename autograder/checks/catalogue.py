"""Where a diagnosis looks up how each mistake fails each check: replayed here, or compiled before."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from autograder.checks.diagnosis import Fingerprint, fingerprint
from autograder.checks.failures import CheckFailure
from autograder.checks.local import CheckFunction, LocalConnection, Mistake, load_suite, mistakes_of, run_check
from autograder.records import Part

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


class Replays:
    """Mistakes replayed through the suites in this process, each check once and only when it is asked for.

    Args:
        part: With the folder that holds suites and mistakes.py.
        sources: Module -> text of our solutions.
        seed: The one that the students' runs draw from.
        hidden: Replay the hidden suite's checks too.
    """

    def __init__(self, part: Part, sources: Mapping[str, str], seed: int, *, hidden: bool) -> None:
        self._seed = seed
        self._mistakes = mistakes_of(part.folder / "mistakes.py")
        self._checks: dict[str, CheckFunction] = load_suite(part.folder / "test_public.py")
        if hidden:
            self._checks |= load_suite(part.folder / "test_hidden.py")
        solution = sources[part.module]
        self._right = LocalConnection(part.module, sources)
        self._wrong = {
            name: LocalConnection(part.module, {**sources, part.module: mistake.applied_to(solution)})
            for name, mistake in self._mistakes.items()
        }
        self._file = f"{part.module}.py"
        self._failures: dict[str, dict[str, CheckFailure | None]] = {}
        self._known: dict[str, dict[str, Fingerprint]] = {}

    def lookup(self, check_id: str) -> Mapping[str, Fingerprint]:
        """Return how each mistake fails that check."""
        if check_id not in self._known:
            self._known[check_id] = {
                name: found
                for name, failure in self.failures(check_id).items()
                if failure is not None and (found := fingerprint(failure.evidence)) is not None
            }
        return self._known[check_id]

    def failures(self, check_id: str) -> Mapping[str, CheckFailure | None]:
        """Return what became of each mistake in that check; None where it passed or cannot show."""
        if check_id not in self._failures:
            function = self._checks[check_id]
            touched = self._touched(function, check_id)
            self._failures[check_id] = {
                name: run_check(function, check_id, self._wrong[name], self._seed) if mistake.of in touched else None
                for name, mistake in self._mistakes.items()
            }
        return self._failures[check_id]

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


class NoCatalogue:
    """A part without known mistakes."""

    def lookup(self, check_id: str) -> Mapping[str, Fingerprint]:
        """Return nothing."""
        return {}

    def told(self, mistake: str) -> str:
        """Raise, since there is no mistake to ask for."""
        raise KeyError(mistake)
