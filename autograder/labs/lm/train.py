"""Train a language model from the student's parts, or go on with one."""

from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UsageError
from autograder.labs.device import CPU, find_device, only_processor
from autograder.labs.lm.corpus import open_corpus
from autograder.labs.lm.journal import Journal
from autograder.labs.lm.settings import CHECKPOINT, ModelSettings, Trained
from autograder.labs.meter import Meter
from autograder.labs.work import StudentCodeError, Work

if TYPE_CHECKING:
    from rich.console import Console


def train(
    work: Work,
    settings: ModelSettings,
    steps: int,
    out: Path,
    *,
    data: Path | None = None,
    fresh: bool = False,
    device: str = CPU,
    console: "Console | None" = None,
) -> Trained:
    """Train, or go on with what is in ``out``, until so many steps are made in all.

    The device decides no draw and is no part of what a checkpoint must fit: a training goes on on any.

    Raises:
        Stopped: Ctrl-C came; what was trained is kept.
        StudentCodeError: A part is missing or fails.
        UsageError: The settings do not fit each other, the corpus or what is in ``out``, or the device is not there.
    """
    on_processor = settings.engine == "numpy"
    device = only_processor(device, "the numpy engine") if on_processor else find_device(device)
    corpus = open_corpus(settings.corpus, data)
    shortest = min(len(corpus.train), len(corpus.held_out))
    if shortest <= settings.context + 1:
        held = f"{corpus.name} leaves {shortest:,} tokens on one side"
        raise UsageError(f"{held}, too few for --context {settings.context}", "take a longer text or a shorter context")
    if settings.embed % settings.heads:
        raise UsageError(
            f"--heads {settings.heads} does not divide --embed {settings.embed}", "for example --heads 4 --embed 64"
        )
    if fresh:
        (out / CHECKPOINT).unlink(missing_ok=True)
    meter = Meter(console, "train" if device == CPU else f"train on {device}")
    journal = Journal(out, settings, corpus, steps, meter)
    state = journal.take_up()
    if on_processor:
        from autograder.labs.lm import by_numpy as engine
    else:
        from autograder.labs.lm import by_torch as engine  # type: ignore[no-redef]
    try:
        if journal.left:
            meter.plan(journal.left, 0)
            with work.active(), work.guarded(engine.PARTS), journal.patient():
                engine.run(work, settings, corpus, journal, state, device)
            if journal.left:
                made = f"your train ended {journal.left} steps early, or did not call on_step after each"
                raise StudentCodeError(made, "gpt-hw test part7 says more")
            journal.save()
    finally:
        meter.close()
    return journal.finish()
