"""Run one lab, and save what it found: a JSON, a page and, where matplotlib is there, a picture."""

import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.labs.bench import Bench
from autograder.labs.catalogue import Lab
from autograder.labs.data import require_shakespeare
from autograder.labs.device import CPU, find_device, only_processor
from autograder.labs.machine import machine_facts
from autograder.labs.meter import Meter
from autograder.labs.page import page
from autograder.labs.plot import draw
from autograder.labs.report import Report, report_json
from autograder.labs.work import Work
from autograder.whole_file import write_whole

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run: where results go, the text's settings or quick ones, the seed, where the text lies, the device."""

    out: Path
    full: bool = False
    seed: int = 0
    data: Path | None = None
    device: str = CPU


def run_lab(
    lab: Lab, work: Work, settings: Settings, console: "Console | None" = None
) -> tuple[Report, dict[str, Any]]:
    """Run a lab.

    Args:
        lab: Which one.
        work: The student's modules.
        settings: How.
        console: Where to show progress; None shows none.

    Returns:
        What it found, and what there is to know about the run: lab, title, settings, machine, seconds.

    Raises:
        StudentCodeError: The student's code is missing or fails.
        UsageError: The folder for results cannot be written, or the device is not there.
    """
    import torch

    if settings.data is not None:
        require_shakespeare(settings.data)
    device = find_device(settings.device) if lab.on_device else only_processor(settings.device, f"the lab {lab.name}")
    torch.set_num_threads(1)  # small matrices are not worth sharing out, and a shared machine makes it slower
    for part in lab.parts:
        work.module(part)  # a missing file is told before anything is computed
    meter = Meter(console, lab.name)
    folder = settings.out / "measurements"
    bench = Bench(
        lab, work, folder, full=settings.full, seed=settings.seed, data=settings.data, meter=meter, device=device
    )
    experiment = importlib.import_module(f"autograder.labs.experiments.{lab.name}")
    try:
        with work.active(), work.guarded(lab.parts):
            report: Report = experiment.run(bench)
    finally:
        meter.close()
    about = {
        "lab": lab.name,
        "title": lab.title,
        "code": "solutions" if work.is_ours else "yours",
        "settings": "full" if settings.full else "quick",
        "seed": settings.seed,
        "seconds": round(bench.seconds, 1),
        "reused": bench.reused,
        "machine": machine_facts(device),
    }
    return report, about


def save_report(report: Report, about: dict[str, Any], out: Path) -> list[Path]:
    """Write NAME.json, NAME.html and, where it can be drawn, NAME.png.

    Raises:
        UsageError: The folder cannot be written.
    """
    name = about["lab"]
    picture = draw(report)
    files = {
        out / f"{name}.json": json.dumps(report_json(report, about), ensure_ascii=False, indent=2).encode(),
        out / f"{name}.html": page(report, about, picture).encode(),
    }
    if picture is not None:
        files[out / f"{name}.png"] = picture
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            write_whole(path, content)
    except OSError as error:
        raise UsageError(f"cannot write in {out} ({error.strerror})", "name a folder with --out") from None
    return list(files)
