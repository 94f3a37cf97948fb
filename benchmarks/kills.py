"""``python -m benchmarks.kills``: kill -9 at random moments, and look for what was lost or came out otherwise.

Each kill takes one process of a run (the grader, a lane, a fork server, a keeper, a worker) or its whole group. The
same command then goes on in the same folder until it comes to its end, with more kills on the way. What was there
before a kill must be there after it, byte by byte; what is there in the end must be what a run without kills leaves,
but for the times. Every other series of kills is a regrade under changed rules, with --yes.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.class_mix import kinds, make_course, stage
from benchmarks.classroom import processes
from benchmarks.measure import GPT_HW

SORTS = (  # quick ones: right, wrong and hostile
    "^(student-0(01|03|08|09|16)|part1-whole_sequence_averaged|exit-at-import|segfault-in-a-call|prints-scores|"
    "planted-modules|latin-1)$"
)
VICTIMS = ("grader", "lane", "server", "keeper", "worker", "group")
END_S = 900  # a run without a kill that takes so long hangs
OLD_WEIGHT, NEW_WEIGHT = 1, 2
_STOPPED = 2


@dataclass
class Tally:
    """What the kills did."""

    kills: Counter[str] = field(default_factory=Counter)
    ends: int = 0
    stopped: int = 0
    lost: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


def verdict(out: Path) -> dict[str, str]:
    """Read what a run decides: each result without its times and machine, and the gradebook."""
    found = {"gradebook.csv": (out / "gradebook.csv").read_text()}
    for path in sorted(out.glob("*/result.json")):
        result: dict[str, Any] = json.loads(path.read_text())
        del result["environment"]
        for part in result["parts"].values():
            for check in part["checks"]:
                del check["seconds"]
        found[path.parent.name] = json.dumps(result)
    return found


def settled(out: Path) -> dict[Path, bytes]:
    """Read every result and page that is there, each of which must be whole."""
    found = {}
    for path in (*out.glob("*/result.json"), *out.glob("*/pending.json"), *out.glob("*/history/*.json")):
        text = path.read_bytes()
        json.loads(text)
        found[path] = text
    return found


def one_run(course: Path, out: Path, jobs: int, draw: random.Random, longest_s: float, tally: Tally) -> bool:
    """Start a run and kill something of it at a random moment; return whether it came to its end."""
    before = settled(out)
    command = [*GPT_HW, "grade", "--jobs", str(jobs), "--out", str(out), "--yes"]
    with subprocess.Popen(
        command,
        cwd=course,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(course / "cache")},
    ) as process:
        moment = time.monotonic() + draw.uniform(0.0, longest_s)
        while time.monotonic() < moment and process.poll() is None:
            time.sleep(0.005)
        if process.poll() is None:
            _kill(process.pid, draw, tally)
        try:
            _, said = process.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            tally.odd.append("a run hung after a kill")
            return False
    if process.returncode == _STOPPED:  # a process that had only begun was missed, and the command says: again
        tally.stopped += 1
    elif process.returncode not in (0, 1, -signal.SIGKILL):
        tally.odd.append(f"exit {process.returncode}: {said.decode(errors='replace')[-300:]}")
    _compare(before, out, tally)
    return process.returncode in (0, 1)


def _kill(top: int, draw: random.Random, tally: Tally) -> None:
    found: dict[str, list[int]] = {"group": [top]}
    for role, pid in processes(top):
        found.setdefault(role, []).append(pid)
    victim = draw.choice([role for role in VICTIMS if role in found])
    tally.kills[victim] += 1
    if victim == "group":
        everything = [pid for _, pid in processes(top)]
        with suppress(ProcessLookupError):
            os.killpg(top, signal.SIGKILL)
        for pid in everything:  # fork servers and workers have sessions of their own
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return
    with suppress(ProcessLookupError):
        os.kill(draw.choice(found[victim]), signal.SIGKILL)


def _compare(before: Mapping[Path, bytes], out: Path, tally: Tally) -> None:
    try:
        after = set(settled(out).values())
    except ValueError as error:
        tally.lost.append(f"half a result: {error}")
        return
    # A regrade moves what counted into the history, and what waited to where it counts: the words stay the same.
    tally.lost += [str(path) for path, text in before.items() if text not in after and path.name != "pending.json"]


def main() -> None:
    """Kill as often as asked, and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="how many (100)")
    parser.add_argument("--size", type=int, default=11, help="submissions in the class (11)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments and victims (0)")
    words = parser.parse_args()
    draw, tally = random.Random(words.seed), Tally()
    with tempfile.TemporaryDirectory(prefix="gpt-hw-kills-") as name:
        os.chmod(name, 0o755)
        base = Path(name)
        course = make_course(base, ["part1"])
        stage(course / "submissions", kinds(["part1"], SORTS), words.size)
        old, longest_s = _straight(course, base / "old", OLD_WEIGHT)
        new, _ = _straight(course, base / "new", NEW_WEIGHT)
        print(f"{words.size} submissions, {longest_s:.0f} s without a kill")
        series = 0
        while tally.kills.total() < words.kills:
            series += 1
            out, is_regrade = base / f"out-{series}", series % 2 == 0
            if is_regrade:
                shutil.copytree(base / "old", out)
            _set_weight(course, NEW_WEIGHT if is_regrade else OLD_WEIGHT)
            while not one_run(course, out, draw.choice((1, 2)), draw, longest_s, tally):
                pass
            tally.ends += 1
            wanted, found = (new if is_regrade else old), verdict(out)
            for entry in sorted(wanted.keys() | found.keys()):
                if wanted.get(entry) != found.get(entry):
                    tally.differing.append(
                        f"series {series}: {entry}: {_difference(wanted.get(entry), found.get(entry))}"
                    )
            tally.odd += [f"left behind: {path.relative_to(base)}" for path in out.rglob("*.tmp")]
            tally.odd += [f"left behind: {path.relative_to(base)}" for path in out.rglob("pending*")]
            counts = f"{len(tally.lost)} lost, {len(tally.differing)} differing, {len(tally.odd)} odd"
            print(f"{tally.kills.total()} kills, {tally.ends} ends: {counts}", flush=True)
            shutil.rmtree(out)
    print(f"kills: {dict(tally.kills)}; runs that came to an end: {tally.ends}, that stopped at once: {tally.stopped}")
    for title, lines in (("lost", tally.lost), ("differing", tally.differing), ("odd", tally.odd)):
        print(f"{title}: {len(lines)}")
        for line in lines:
            print(f"  {line}")
    raise SystemExit(bool(tally.lost or tally.differing or tally.odd))


def _straight(course: Path, out: Path, weight: int) -> tuple[dict[str, str], float]:
    _set_weight(course, weight)
    started = time.monotonic()
    command = [*GPT_HW, "grade", "--jobs", "2", "--out", str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(course / "cache")}
    done = subprocess.run(command, cwd=course, capture_output=True, check=False, env=environment)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return verdict(out), time.monotonic() - started


def _set_weight(course: Path, weight: int) -> None:
    policy = course / "grading.yml"
    lines = [line for line in policy.read_text().splitlines() if not line.startswith("parts:")]
    policy.write_text("\n".join([*lines, f"parts: {{part1: {{weight: {weight}}}}}"]) + "\n")


def _difference(wanted: str | None, found: str | None) -> str:
    if wanted is None or found is None:
        return "is missing" if found is None else "should not be there"
    at = next((i for i, (one, other) in enumerate(zip(wanted, found, strict=False)) if one != other), 0)
    return f"...{wanted[max(0, at - 60) : at + 60]!r} became {found[max(0, at - 60) : at + 60]!r}"


if __name__ == "__main__":
    main()
