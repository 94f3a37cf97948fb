"""Facts about this machine that take more than a line to find; nothing here decides anything."""

import contextlib
import os
from pathlib import Path

_GIB = 2**30
_CGROUPS = (  # (limit, used), for either version of cgroups
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory_gib() -> float | None:
    """Return how much memory may still be taken, by the machine and by the container; None where nothing says it."""
    free: list[float] = []
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free.append(int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) * 1024 / _GIB)
    for limit, used in _CGROUPS:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number
            free.append((int(Path(limit).read_text()) - int(Path(used).read_text())) / _GIB)
    return min(free) if free else None


def newest_file() -> float:
    """Return when the newest file of this package was written, in seconds since 1970; 0 where none says so."""
    package = Path(__file__).resolve().parent
    return max((path.stat().st_mtime for path in package.glob("*.py")), default=0.0)


def is_time_zone(name: str) -> bool:
    """Tell whether a name or a rule (``CET-1CEST``) is one that this system can read."""
    from zoneinfo import ZoneInfo

    if any(sign.isdigit() for sign in name):  # a rule in place of a name
        return True
    try:
        ZoneInfo(name)
    except Exception:  # its name may even be a folder's
        return False
    return True
