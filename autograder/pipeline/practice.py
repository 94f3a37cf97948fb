"""A student's own run: the public checks, on their own file, on their own machine, through the same line."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.intake import read_source
from autograder.parts import public_parts, template_folder
from autograder.pipeline.blame import suspect
from autograder.records import CheckResult, Limits, Outcome, Part
from autograder.sandbox import ForkServer, Worker, choose_rung
from autograder.workspace import find_source


@dataclass(frozen=True, slots=True)
class PartRun:
    """What came of one part; ``problem`` where its file cannot be read at all."""

    part: Part
    results: tuple[CheckResult, ...] = ()
    problem: str = ""


def practise(folder: Path, parts: Sequence[Part], *, pdb: bool = False) -> Iterator[PartRun]:
    """Run the public checks of some parts on what is in a folder.

    Args:
        folder: The student's workspace.
        parts: In which order.
        pdb: Run everything in this process and stop in the debugger where something fails.

    Yields:
        One result for each part, as soon as it is known.
    """
    sources, problems = _read(folder, parts)
    runnable = [part for part in parts if part.module in sources]
    servers = {} if pdb else _servers(runnable)
    try:
        yield from _run(parts, sources, problems, servers)
    finally:
        for server in servers.values():
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


def _run(
    parts: Sequence[Part], sources: Mapping[str, str], problems: Mapping[str, str], servers: Mapping[str, ForkServer]
) -> Iterator[PartRun]:
    from autograder.checks.catalogue import COMPILED, PUBLIC_SEED, Compiled
    from autograder.checks.local import InProcessWorker
    from autograder.suite import WorkerLike, run_part

    known = public_parts()
    limits = Limits()
    rung = 0

    def run(part: Part) -> list[CheckResult]:
        nonlocal rung
        server = servers.get(part.libraries[0])
        if server is not None and not rung:
            # The code is the student's own and so is the machine: where no wall holds, none is needed.
            rung, _ = choose_rung(server, limits, [], unsafe=True)

        def open_worker() -> WorkerLike | Worker:
            return InProcessWorker() if server is None else server.worker(rung, limits, part.forbidden)

        return run_part(
            part,
            sources,
            open_worker,
            seed=PUBLIC_SEED,
            limits=limits,
            catalogue=Compiled(template_folder() / "checks" / part.folder.name / COMPILED),
            extra_options=("--pdb",) if server is None else (),
        )

    passes: dict[str, bool] = {}

    def broken(part: Part) -> list[str]:
        for earlier in known.values():
            if earlier.module in part.needs and earlier.module in sources and earlier.module not in passes:
                passes[earlier.module] = all(result.outcome is Outcome.PASSED for result in run(earlier))
        return [module for module in part.needs if not passes.get(module, True)]

    for part in parts:
        if part.module not in sources:
            yield PartRun(part, problem=problems[part.module])
            continue
        results = run(part)
        passes[part.module] = all(result.outcome is Outcome.PASSED for result in results)
        if servers:
            results = suspect(part, results, partial(broken, part))
        yield PartRun(part, tuple(results))


def _groups(parts: Sequence[Part]) -> list[str]:
    return sorted({group for part in parts for group in part.forbidden})


def _read(folder: Path, parts: Sequence[Part]) -> tuple[dict[str, str], dict[str, str]]:
    """Read the files of these parts and of those that they import."""
    known = public_parts()
    needed = {part.module: part for part in parts}
    needed |= {part.module: part for part in known.values() if any(part.module in asked.needs for asked in parts)}
    sources, problems = {}, {}
    for module, part in needed.items():
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
