"""``python -m benchmarks``: one command, one run, ratios taken in that run, medians of several."""

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import measure
from benchmarks.measure import Measure
from benchmarks.processor import processor

_WORDS = {None: "", True: "held", False: "MISSED"}


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--repeats", type=int, default=5, help="samples of what takes seconds (5)")
    words = parser.parse_args()
    console = Console(stderr=True, highlight=False)
    found: list[Measure] = []
    with tempfile.TemporaryDirectory(prefix="gpt-hw-benchmarks-") as name, console.status("") as status:
        folder, repeats = Path(name), words.repeats
        for told, run in (
            ("gpt-hw --help", lambda: measure.help_text(2 * repeats)),
            ("gpt-hw test", lambda: measure.students_test(folder / "work", repeats)),
            ("starting workers", lambda: measure.worker_start(6 * repeats)),
            ("grading", lambda: measure.grading(folder / "course", max(1, repeats // 2))),
            ("processor time", lambda: processor(max(1, repeats // 2))),
            ("memory", lambda: measure.memory(folder / "three")),
        ):
            status.update(told)
            found += run()
    load = os.getloadavg()[0]
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {load:.1f} at the end"
    if words.json:
        print(json.dumps({"date": time.strftime("%Y-%m-%d"), "machine": machine, "measures": list(map(_plain, found))}))
        return
    _print(found, machine)


def _plain(one: Measure) -> dict[str, object]:
    return {**vars(one), "median": one.median, "minimum": one.minimum, "holds": one.holds}


def _print(found: list[Measure], machine: str) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title=machine, title_justify="left")
    table.add_column("what", overflow="fold")
    for column in ("median", "minimum", "n", "goal", ""):
        table.add_column(column, justify="right", no_wrap=True)
    for one in found:
        goal = "" if one.goal is None else f"{one.goal:g} {one.unit}"
        row = (f"{one.median:.3g} {one.unit}", f"{one.minimum:.3g} {one.unit}", f"{len(one.samples)}", goal)
        table.add_row(f"{one.name} ({one.note})" if one.note else one.name, *row, _WORDS[one.holds])
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
