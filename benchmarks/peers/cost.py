"""What a command costs: seconds, processor time and memory of it and of every process that it starts."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import memory_kib

_SAMPLE_S = 0.02
_MEMORY_EVERY = 5  # samples: reading a process's memory map costs it some time
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Of one command.

    ``cpu_s`` adds up what each process was last seen to have used, so that processes nobody waits for count too; the
    last fiftieth of a second of each is missing. ``peak_mib`` is the largest sum of PSS, which counts a shared page
    once.
    """

    seconds: float
    cpu_s: float
    peak_mib: float
    status: int
    printed: str


def run(command: Sequence[str], cwd: Path, environment: Mapping[str, str], limit_s: float = 1800.0) -> Cost:
    """Run a command and watch it; what is left of it at the limit is killed."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    chunks: list[bytes] = []
    stream = process.stdout
    reader = threading.Thread(target=lambda: chunks.extend(iter(lambda: stream.read(1 << 16), b"")), daemon=True)
    reader.start()
    used: dict[int, float] = {}
    peak, count = 0.0, 0
    while process.poll() is None:
        tree = _tree(process.pid)
        for pid in tree:
            used[pid] = max(used.get(pid, 0.0), _cpu_s(pid))
        if count % _MEMORY_EVERY == 0:
            peak = max(peak, sum(map(_pss_mib, tree)))
        if time.perf_counter() - started > limit_s:
            for pid in tree:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        count += 1
        time.sleep(_SAMPLE_S)
    seconds = time.perf_counter() - started
    reader.join(5)
    printed = b"".join(chunks).decode("utf-8", "replace")
    return Cost(seconds, sum(used.values()), peak, process.returncode, printed)


def _tree(top: int) -> list[int]:
    found, waiting = [], [top]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(OSError):
                    waiting += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found


def _cpu_s(pid: int) -> float:
    with contextlib.suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


def _pss_mib(pid: int) -> float:
    return memory_kib(pid).get("pss", 0) / 1024
