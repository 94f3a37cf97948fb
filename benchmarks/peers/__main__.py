"""``python -m benchmarks.peers``: the same checks, submissions and attacks through gpt-hw, nbgrader and otter-grader.

One command and one run. The peers are installed into environments of their own on the first run, which takes minutes.
"""

import argparse
import json
import os
import platform
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.peers import material
from benchmarks.peers.graders import TOOLS, Graded, gpt_hw
from benchmarks.peers.install import PEERS, install

OURS = "gpt-hw grade"
ALL_CORES = "gpt-hw grade, a lane a core"  # as it comes; the others have no such lanes
FIRST_TIME = "gpt-hw grade, the first time"  # what mistakes give in the checks of this course is not known yet
LARGER = 5  # times the class, for what one more costs with a lane a core
JUDGES = (OURS, "nbgrader, API", "otter, API")  # what attacks are tried on: the commands have the same judges


def main() -> None:
    """Measure, and print tables or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    parser.add_argument("--only", choices=("speed", "attacks"), help="leave the other out")
    words = parser.parse_args()
    console = Console(stderr=True, highlight=False)
    found: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "machine": _machine()}
    with console.status("installing the peers") as status:
        for peer in PEERS:
            install(peer)
        if words.only != "attacks":
            found["speed"] = _speed(lambda told: status.update(f"speed: {told}"))
        if words.only != "speed":
            found["attacks"] = _attacks(lambda told: status.update(f"attacks: {told}"))
    found["load at the end"] = round(os.getloadavg()[0], 1)
    if words.json:
        print(json.dumps(found, indent=1))
    else:
        _print(found)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _speed(tell: Any) -> dict[str, Any]:
    handed_in = material.submissions()
    first = dict(list(handed_in.items())[:1])
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="gpt-hw-peers-") as base:
        os.chmod(base, 0o755)
        home = Path(base) / "home"
        known = partial(gpt_hw, home=home)
        right = known(_empty(base), handed_in)
        for tool, grade in {FIRST_TIME: gpt_hw, **TOOLS, OURS: known}.items():
            tell(tool)
            one, graded = grade(_empty(base), first), right
            if tool != FIRST_TIME:
                graded = grade(_empty(base), handed_in)
            rows[tool] = _row(graded, right) | _one_more(one, graded)
        tell(ALL_CORES)
        # With one submission there is one lane: what one more costs is seen between a class and a larger one.
        larger = {f"{name}-{copy}": sources for copy in range(LARGER) for name, sources in handed_in.items()}
        few, many = (known(_empty(base), each, one_lane=False) for each in (handed_in, larger))
        rows[ALL_CORES] = _row(few, right) | _one_more(few, many)
    for row in rows.values():
        for key in ("seconds", "cpu_s", "seconds for one more", "cpu for one more"):
            row[f"times our {key}"] = row[key] / rows[OURS][key]
            row[f"times our {key}, a lane a core"] = row[key] / rows[ALL_CORES][key]
    return rows


def _empty(base: str) -> Path:
    folder = tempfile.mkdtemp(dir=base)
    os.chmod(folder, 0o755)
    return Path(folder)


def _row(graded: Graded, right: Graded) -> dict[str, Any]:
    return {
        "seconds": graded.cost.seconds,
        "cpu_s": graded.cost.cpu_s,
        "peak_mib": graded.cost.peak_mib,
        "same checks passed as ours": sum(graded.scores.get(name) == found for name, found in right.scores.items()),
    }


def _one_more(few: Graded, many: Graded) -> dict[str, float]:
    more = len(many.scores) - len(few.scores)
    return {
        "seconds for one more": (many.cost.seconds - few.cost.seconds) / more,
        "cpu for one more": (many.cost.cpu_s - few.cost.cpu_s) / more,
    }


def _attacks(tell: Any) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for tool in JUDGES:
        tell(tool)
        with _listener() as (port, calls), tempfile.TemporaryDirectory(prefix="gpt-hw-peers-") as folder:
            os.chmod(folder, 0o755)
            handed_in = material.attacks(port)
            graded = TOOLS[tool](Path(folder), handed_in)
        base = material.BASELINE.replace(" ", "-")
        without = graded.total(base) or 0.0
        totals = {name: graded.total(name) for name in handed_in if name != base}
        rows[tool] = {
            "points without an attack": without,
            "hidden text shown without an attack": material.CANARY in graded.seen[base],
            "points": totals,
            "gain points": sorted(name for name, total in totals.items() if (total or 0.0) > without),
            "show hidden text": sorted(name for name in totals if material.CANARY in graded.seen[name]),
            "get no score": sorted(name for name, total in totals.items() if total is None),
            "calls that left the machine": len(calls),
        }
    return rows


@contextmanager
def _listener() -> Iterator[tuple[int, list[bytes]]]:
    """Wait on a port of this machine for code that calls home."""
    calls: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def listen() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(2)
                calls.append(connection.recv(100))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1], calls
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(3)


def _print(found: dict[str, Any]) -> None:
    console = Console(highlight=False)
    console.print(f"{found['machine']}, load {found['load at the end']} at the end, {found['date']}")
    if "speed" in found:
        table = Table(box=None, pad_edge=False, header_style="bold")
        heads = ["20 submissions of part 3", "s", "x ours", "s for one more", "x ours", "cpu s for one more", "x ours"]
        heads.append("s for one more, x ours with a lane a core")
        for column in (*heads, "peak MiB", "agree"):
            table.add_column(column, justify="left" if column[0] == "2" else "right")
        for tool, row in found["speed"].items():
            pairs = [
                (row[key], row[f"times our {key}"]) for key in ("seconds", "seconds for one more", "cpu for one more")
            ]
            cells = [cell for value, ratio in pairs for cell in (f"{value:.2f}", f"{ratio:.1f}")]
            cells.append(f"{row['times our seconds for one more, a lane a core']:.1f}")
            same = f"{row['same checks passed as ours']} of {material.SUBMISSIONS}"
            table.add_row(tool, *cells, f"{row['peak_mib']:.0f}", same)
        console.print(table)
    for tool, row in found.get("attacks", {}).items():
        shown = row["show hidden text"]
        console.print(
            f"\n{tool}: {len(row['points'])} attacks on work that is worth {row['points without an attack']:g}"
        )
        console.print(f"  {len(row['gain points'])} gain points: {', '.join(row['gain points']) or '-'}")
        always = " (as the page of any submission does)" if row["hidden text shown without an attack"] else ""
        console.print(f"  {len(shown)} show hidden text{always}: {'all' if always else ', '.join(shown) or '-'}")
        console.print(f"  {len(row['get no score'])} get no score: {', '.join(row['get no score']) or '-'}")
        console.print(f"  {row['calls that left the machine']} reach the network")


if __name__ == "__main__":
    main()
