"""A lab that needs one function, and a bench to measure it on."""

from pathlib import Path

from autograder.labs import Lab, Work
from autograder.labs.bench import Bench
from autograder.labs.meter import Meter

STUB = 'def mean(x):\n    raise NotImplementedError("part1: mean is not written yet")\n'
SOUND = "def mean(x):\n    return sum(x) / len(x)\n"


def toy_bench(folder: Path, text: str = SOUND, **sources: str) -> Bench:
    """Make a bench for a lab that needs a part1 with one function."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "toy.py"
    path.write_text("the lab's own text")
    lab = Lab("toy", "A toy", ("part1",), path)
    work = Work({"part1_toy": text, **sources})
    return Bench(lab, work, folder / "measurements", full=False, seed=0, data=None, meter=Meter(None, "toy"))


def measured(bench, n, seed):
    return {"mean": bench.part("part1").mean([n, seed])}
