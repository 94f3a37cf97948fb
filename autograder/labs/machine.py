"""What was measured where: the facts that a figure needs to be read by."""

import os
import platform
import time
from pathlib import Path

from autograder.labs.device import device_name

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> None:
    """Keep the linear algebra below numpy and torch to one thread, unless the person said otherwise.

    They read this when they are imported, so it must be said before.
    """
    for name in _THREADS:
        os.environ.setdefault(name, "1")


def machine_facts(device: str) -> dict[str, str | int]:
    """Say which machine, which versions, how many threads, which day, and on which device models were trained."""
    import torch

    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "device": device_name(device),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return " ".join((names[0] if names else platform.processor() or platform.machine()).split())
