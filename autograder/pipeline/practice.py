"""A student's own run: the public checks, on their own file, on their own machine, through the same line."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.intake import read_source
from autograder.parts import public_parts, template_folder
from autograder.pipeline.blame import suspect
from autograder.records import CheckResult, Limits, Outcome, Part
from autograder.sandbox import ForkServer, choose_rung
from autograder.workspace import find_source

if TYPE_CHECKING:
    from autograder.suite import WorkerLike


@dataclass(frozen=True, slots=True)
class PartRun:
    """What came of one part; ``problem`` where its file cannot be read at all."""

    part: Part
    results: tuple[CheckResult, ...] = ()
    problem: str = ""


class Practice:
    """Runs the public checks of some parts on what is in a folder, as often as asked.

    Args:
        folder: The student's workspace.
        parts: In which order.
        pdb: Run everything in this process and stop in the debugger where something fails.
    """

    def __init__(self, folder: Path, parts: Sequence[Part], *, pdb: bool = False) -> None:
        self._folder = folder
        self._parts = parts
        self._known = public_parts()
        self._limits = Limits()
        self._rung = 0
        self._sources: dict[str, str] = {}
        self._passes: dict[str, bool] = {}
        with_file = [part for part in parts if find_source(folder, part) is not None]
        self._servers = {} if pdb else _servers(with_file)
        self._pdb = pdb
        self.seen: tuple[object, ...] = ()  # the stamp of what the last run has read

    def run(self, parts: Sequence[Part] | None = None) -> Iterator[PartRun]:
        """Read the files anew and run every part.

        Args:
            parts: Run these instead, each with the checks that it has; they may be less than all of a part's.

        Yields:
            One result for each part, as soon as it is known.
        """
        self.seen = self.stamp()
        asked = self._parts if parts is None else parts
        before = self._sources
        self._sources, problems = _read(self._folder, asked, self._known)
        # What passed passes still where nothing changed; what failed may have been out of time only.
        self._passes = {
            part.module: True
            for part in self._known.values()
            if self._passes.get(part.module)
            and all(before.get(name) == self._sources.get(name) for name in (part.module, *part.needs))
        }
        for part in asked:
            if part.module not in self._sources:
                yield PartRun(part, problem=problems[part.module])
                continue
            results = self._checked(part)
            if not self._pdb:
                results = suspect(part, results, partial(self._broken, part))
            yield PartRun(part, tuple(results))

    def _checked(self, part: Part) -> list[CheckResult]:
        from autograder.checks.catalogue import COMPILED, PUBLIC_SEED, Compiled
        from autograder.suite import run_part

        results = run_part(
            part,
            self._sources,
            partial(self._open_worker, part),
            seed=PUBLIC_SEED,
            limits=self._limits,
            catalogue=Compiled(template_folder() / "checks" / part.folder.name / COMPILED),
            extra_options=("--pdb",) if self._pdb else (),
        )
        if part.checks == self._known[part.name].checks:
            self._passes[part.module] = all(result.outcome is Outcome.PASSED for result in results)
        return results

    def _open_worker(self, part: Part) -> "WorkerLike":
        from autograder.checks.local import InProcessWorker

        if self._pdb:
            return InProcessWorker()
        library = part.libraries[0]
        if library not in self._servers:  # a file that was not there when the servers were started
            self._servers[library] = ForkServer((library, *part.forbidden))
        server = self._servers[library]
        if not self._rung:
            # The code is the student's own and so is the machine: where no wall holds, none is needed.
            self._rung, _ = choose_rung(server, self._limits, [], unsafe=True)
        return server.worker(self._rung, self._limits, part.forbidden)

    def _broken(self, part: Part) -> list[str]:
        """Name the earlier parts that do not pass their own public checks."""
        for earlier in self._known.values():
            module = earlier.module
            if module in part.needs and module in self._sources and module not in self._passes:
                self._checked(earlier)
        return [module for module in part.needs if not self._passes.get(module, True)]

    def stamp(self) -> tuple[object, ...]:
        """Return something that differs when a file of these parts, or of those that they may import, has changed."""
        files = {path for part in _with_needs(self._parts, self._known) if (path := find_source(self._folder, part))}
        stamps = []
        for path in sorted(files):
            with contextlib.suppress(OSError):  # saved by being replaced, in this very moment
                found = path.stat()
                stamps.append((path, found.st_mtime_ns, found.st_size, found.st_ino))
        return tuple(stamps)

    def close(self) -> None:
        """End the servers."""
        for server in self._servers.values():
            server.close()


def _servers(parts: Sequence[Part]) -> dict[str, ForkServer]:
    """Start the server of each library that these parts are written with."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    libraries = {part.libraries[0] for part in parts}
    servers = {library: ForkServer((library,)) for library in libraries - {"torch"}}
    if "torch" in libraries:
        # torch is imported once, here, before anything else is loaded; the server then is a fork of this process, and
        # warms itself while this process loads pytest. Forking after torch is known to be safe on Linux only.
        on_linux = sys.platform == "linux"
        if on_linux:
            import torch

            torch.set_num_threads(1)
        servers["torch"] = ForkServer(("torch", *_groups(parts)), from_this_process=on_linux)
    return servers


def _groups(parts: Sequence[Part]) -> list[str]:
    return sorted({group for part in parts for group in part.forbidden})


def _with_needs(parts: Sequence[Part], known: Mapping[str, Part]) -> list[Part]:
    needed = {module for part in parts for module in (part.module, *part.needs)}
    return [part for part in known.values() if part.module in needed]


def _read(folder: Path, parts: Sequence[Part], known: Mapping[str, Part]) -> tuple[dict[str, str], dict[str, str]]:
    """Read the files of these parts and of those that they import."""
    sources, problems = {}, {}
    for part in _with_needs(parts, known):
        module = part.module
        path = find_source(folder, part)
        if path is None:
            problems[module] = f"there is no {module}.py in {folder}"
            continue
        text, problem = read_source(path)
        if problem:
            problems[module] = problem
        else:
            sources[module] = text
    return sources, problems
