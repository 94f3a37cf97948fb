"""``python -m benchmarks.steps``: what a training step costs for being taught well, and for being graded.

Each ratio is taken in one run, in turns, on one thread, in processor time: a busy machine slows both alike. Each
program has a process of its own. Before anything is timed, both programs are seen to compute the same.
"""

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from benchmarks import step_programs
from benchmarks.measure import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

SOLUTIONS = ROOT / "solutions"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# Of glibc: to keep what was freed. Whether it gives memory back between two steps decides by 15 % which is faster.
_KEPT_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}


@dataclass(frozen=True)
class Pair:
    """One figure: our samples, the other's, taken in turns, and how large the ratio may be."""

    name: str
    ours: list[float]
    other: list[float]
    unit: str = "ms"
    goal: float | None = None
    most: float | None = None  # what ours may be by itself

    @property
    def ratio(self) -> float:
        """The median of the ratios of samples that were taken one after the other."""
        return statistics.median(one / other for one, other in zip(self.ours, self.other, strict=True))

    @property
    def holds(self) -> bool | None:
        """Whether both goals are kept; None where there is none."""
        if self.goal is None and self.most is None:
            return None
        small = self.most is None or statistics.median(self.ours) <= self.most
        return small and (self.goal is None or self.ratio <= self.goal)


def engine(repeats: int) -> list[Pair]:
    """Time and weigh part 9's forward and backward pass beside one without a graph."""
    pairs = []
    for dtype, E, T, V, calls, most in (
        ("float64", 128, 64, 65, 1, 100.0),
        ("float32", 128, 64, 65, 1, 100.0),
        ("float64", 32, 8, 10, 40, None),  # as part 9's check trains it
    ):
        sizes = {"E": E, "T": T, "V": V, "dtype": dtype}
        step_programs.compare_engines(**sizes)
        makers = [step_programs.graph, step_programs.by_hand]
        os.environ.update(_KEPT_MEMORY)
        times = _in_turns([(maker, sizes) for maker in makers], repeats, calls)
        for name in _KEPT_MEMORY:
            del os.environ[name]
        memory = [[step_programs.peak_mib(maker(**sizes))] for maker in makers]
        name = f"part 9, {dtype}, E {E}, context {T}"
        pairs += [Pair(f"{name}: a step", *times, goal=1.3, most=most), Pair(f"{name}: memory", *memory, "MiB")]
    return pairs


def training(repeats: int) -> list[Pair]:
    """Time steps of part 7's loop on part 6's GPT, beside another loop on another GPT."""
    pairs = []
    for plan, batch, steps in ((step_programs.TRAINED, 32, 20), (step_programs.DEEPER, 16, 3)):
        how = {"plan": plan, "batch": batch, "steps": steps}
        step_programs.compare_loops(**how)
        makers = [step_programs.course, step_programs.fused, step_programs.course_on_ready_made_kernels]
        ours, other, ready_made = (
            [each / steps for each in found] for found in _in_turns([(maker, how) for maker in makers], repeats, 1)
        )
        blocks = f"{plan['n_layers']} block" + "s" * (plan["n_layers"] > 1)
        name = f"part 7, {blocks} of {plan['d_model']}, context {plan['block_size']}, batch {batch}"
        pairs.append(Pair(f"{name}: a step", ours, other, goal=1.0))
        pairs.append(Pair(f"{name}: with torch's norm and attention in ours", ready_made, other))
    return pairs


def harness(repeats: int) -> list[Pair]:
    """Count the processor time of a training check's request, on both sides of the wall, beside a plain process."""
    from autograder.parts import load_parts
    from autograder.records import Limits
    from autograder.sandbox import ForkServer, choose_rung
    from autograder.suite.connection import PartConnection

    part, limits = load_parts(ROOT / "assignments")["part7"], Limits(check_s=600)
    sources = {path.stem: path.read_text(encoding="utf-8") for path in SOLUTIONS.glob("part*.py")}
    check = next(check for check in part.checks if check.trains)
    walled, bare = [], []
    with ForkServer(("torch", "full")) as server, _program(step_programs.bare_training, {}) as ask:
        rung, _ = choose_rung(server, limits, [ROOT / "assignments"])
        connection = PartConnection(lambda: server.worker(rung, limits, part.forbidden), part.module, sources, limits)
        connection.begin(check, 0)
        for _ in range(repeats + 1):
            connection.begin(check, 0)
            walled.append(step_programs.walled_training(connection))
            bare.append(ask(1) / 1000)
        connection.close()
    name = f"part 7: {step_programs.STEPS} steps behind the wall (rung {rung}), in a plain process"
    return [Pair(name, walled[1:], bare[1:], "s", goal=1.05)]


def _in_turns(programs: list[tuple[Callable[..., Any], dict[str, Any]]], repeats: int, calls: int) -> list[list[float]]:
    """Give for each program its samples: milliseconds of processor time of one call."""
    samples: list[list[float]] = [[] for _ in programs]
    with ExitStack() as stack:
        asks = [stack.enter_context(_program(maker, arguments)) for maker, arguments in programs]
        for number in range(repeats + 2):
            for found, ask in zip(samples, asks, strict=True):
                found.append(ask(calls))
            if number == 1:  # caches, and memory that is there from now on
                samples = [[] for _ in programs]
    return samples


@contextmanager
def _program(maker: Callable[..., Any], arguments: dict[str, Any]) -> "Iterator[Callable[[int], float]]":
    """Start a process that makes a program; each question is how long so many calls of it take, for one call."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_answer, args=(there, maker, arguments), daemon=True)
    process.start()
    there.close()

    def ask(calls: int) -> float:
        here.send(calls)
        return float(here.recv())

    try:
        yield ask
    finally:
        here.close()
        process.join(10)


def _answer(connection: Any, maker: Callable[..., Any], arguments: dict[str, Any]) -> None:
    call = maker(**arguments)
    while True:
        try:
            calls = connection.recv()
        except EOFError:
            return
        started = time.process_time()
        for _ in range(calls):
            call()
        connection.send(1000 * (time.process_time() - started) / calls)


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.steps", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--repeats", type=int, default=15, help="samples of each step (15)")
    parser.add_argument("--only", choices=("engine", "training", "harness"), help="leave the others out")
    words = parser.parse_args()
    # Read when a process or a library starts, which is why nothing above has loaded numpy or torch.
    os.environ.update(_ONE_THREAD)
    sys.path.insert(0, str(SOLUTIONS))
    stages = {"engine": engine, "training": training, "harness": lambda n: harness(max(3, n // 3))}
    found: list[Pair] = []
    with Console(stderr=True).status("") as status:
        for name, stage in stages.items():
            if words.only in (None, name):
                status.update(name)
                found += stage(words.repeats)
    load = os.getloadavg()[0]
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {load:.1f} at the end"
    if words.json:
        rows = [{**vars(pair), "ratio": pair.ratio, "holds": pair.holds} for pair in found]
        print(json.dumps({"date": time.strftime("%Y-%m-%d"), "machine": machine, "pairs": rows}))
        return
    _print(found, machine)


def _print(found: list[Pair], machine: str) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title=machine, title_justify="left")
    table.add_column("what", overflow="fold")
    for column in ("ours", "other", "ratio", "n", "goal", ""):
        table.add_column(column, justify="right", no_wrap=True)
    for pair in found:
        goals = [f"{pair.goal:g} x" if pair.goal else "", f"{pair.most:g} {pair.unit}" if pair.most else ""]
        ours, other = (f"{statistics.median(samples):.3g} {pair.unit}" for samples in (pair.ours, pair.other))
        row = (ours, other, f"{pair.ratio:.2f}", f"{len(pair.ours)}", ", ".join(filter(None, goals)))
        table.add_row(pair.name, *row, {None: "", True: "held", False: "MISSED"}[pair.holds])
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
