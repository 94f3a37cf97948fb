"""What a training writes down as it goes: losses, held-out perplexity, and its whole state, so that it can go on."""

import json
import math
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.labs import checkpoint
from autograder.labs.lm.corpus import Corpus
from autograder.labs.lm.settings import CHECKPOINT, PICTURE, SUMMARY, ModelSettings, Trained
from autograder.labs.meter import Meter
from autograder.labs.plot import draw
from autograder.labs.report import Plot, Report, Series
from autograder.whole_file import write_whole

if TYPE_CHECKING:
    from torch import Tensor

_SAVE_EVERY_S = 20.0
_EVALUATIONS = 20  # of a training, at the most
_TRAINED_PER_EVALUATED = 3  # tokens: an evaluation, which goes forward only, then costs a ninth of the time
_POINTS = 100  # of the loss's curve: the mean of so many pieces
_RECENT = 20  # steps whose mean is shown: one batch says little

State = tuple[dict[str, "Tensor"], dict[str, Any]]


class Stopped(KeyboardInterrupt):
    """Ctrl-C came, and the state after the last whole step is kept."""


class Journal:
    """Takes every step's loss; evaluates, saves and stops between steps.

    Args:
        folder: Where the checkpoint lies.
        settings: What the training was asked for.
        corpus: What it learns from.
        steps: How many updates in all.
        meter: Shows how far it is.
    """

    def __init__(self, folder: Path, settings: ModelSettings, corpus: Corpus, steps: int, meter: Meter) -> None:
        self.losses: list[float] = []
        self.evaluations: list[tuple[int, float]] = []
        self.began_at = 0
        self._folder, self._settings, self._corpus, self._steps, self._meter = folder, settings, corpus, steps, meter
        self._stop = False
        self._saved_at = time.monotonic()
        self.capture: Callable[[], State] | None = None
        self.evaluate: Callable[[], float] | None = None
        self.evaluated = 0  # tokens, by each call of ``evaluate``

    @property
    def left(self) -> int:
        """Say how many steps there are still to make."""
        return max(0, self._steps - len(self.losses))

    def take_up(self) -> State | None:
        """Read what an earlier run kept.

        Raises:
            UsageError: It was made with other settings, or on another text.
        """
        path = self._folder / CHECKPOINT
        if not path.is_file():
            return None
        tensors, facts = checkpoint.load(path)
        before, now = facts["settings"], asdict(self._settings)
        differing = [f"--{name} {before.get(name)}" for name in now if before.get(name) != now[name]]
        if facts["corpus"]["sha256"] != self._corpus.sha256 and not differing:
            differing = ["another text"]
        if differing:
            remedy = "give the same again to go on with it; else name another folder with --out, or --fresh"
            raise UsageError(f"{self._folder} holds a training with {', '.join(differing)}", remedy)
        self.losses = list(facts["losses"])
        self.evaluations = [(step, value) for step, value in facts["evaluations"]]
        self.began_at = len(self.losses)
        return tensors, facts

    def after_step(self, loss: float) -> None:
        """Note a step's loss.

        Raises:
            Stopped: Ctrl-C came during the step.
        """
        self.losses.append(loss)
        step = len(self.losses)
        if not math.isfinite(loss):
            raise UsageError(
                f"the loss of step {step} is {loss}", "a smaller --lr or a longer --warmup helps, if the model is right"
            )
        if self.evaluate is not None and (step % self._interval() == 0 or step == self._steps):
            self.evaluations.append((step, self.evaluate()))
        recent = statistics.fmean(self.losses[-_RECENT:])
        held_out = f", held-out perplexity {self.evaluations[-1][1]:.2f}" if self.evaluations else ""
        self._meter.at(step - self.began_at, f"step {step} of {self._steps}, loss {recent:.3f}{held_out}")
        if self._stop:
            self.save()
            raise Stopped
        if time.monotonic() - self._saved_at > _SAVE_EVERY_S:
            self.save()

    def save(self) -> None:
        """Write the state: a later run goes on from here."""
        if self.capture is None:
            return
        tensors, more = self.capture()
        checkpoint.save(self._folder / CHECKPOINT, tensors, {**self._facts(), "losses": self.losses, **more})
        self._saved_at = time.monotonic()

    def finish(self) -> Trained:
        """Write what a person reads: the summary and the curve of the loss."""
        files = [self._folder / CHECKPOINT, self._folder / SUMMARY]
        summary = json.dumps({**self._facts(), "last_loss": self.losses[-1]}, ensure_ascii=False, indent=2)
        write_whole(files[1], summary.encode())
        picture = draw(Report(findings=(), plots=self._plots()))
        if picture is not None:
            files.append(self._folder / PICTURE)
            write_whole(files[2], picture)
        return Trained(tuple(self.losses), tuple(self.evaluations), self.began_at, tuple(files))

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Let the first Ctrl-C wait for the end of the step, so that what is kept is whole; a second one does not."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def ask(number: int, frame: FrameType | None) -> None:
            if self._stop:
                raise KeyboardInterrupt
            self._stop = True

        before = signal.signal(signal.SIGINT, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interval(self) -> int:
        """Say after how many steps to evaluate again."""
        tokens = self._settings.batch * self._settings.context
        return max(1, self._steps // _EVALUATIONS, _TRAINED_PER_EVALUATED * self.evaluated // tokens)

    def _facts(self) -> Mapping[str, Any]:
        corpus = {"name": self._corpus.name, "sha256": self._corpus.sha256, "codec": self._corpus.codec.facts()}
        return {
            "settings": asdict(self._settings),
            "corpus": corpus,
            "step": len(self.losses),
            "evaluations": self.evaluations,
        }

    def _plots(self) -> tuple[Plot, ...]:
        size = max(1, math.ceil(len(self.losses) / _POINTS))
        pieces = [self.losses[i : i + size] for i in range(0, len(self.losses), size)]
        steps = [min((i + 1) * size, len(self.losses)) for i in range(len(pieces))]
        series = [Series("training", steps, [statistics.fmean(piece) for piece in pieces])]
        if self.evaluations:
            at, values = zip(*self.evaluations, strict=True)
            series.append(Series("held out", at, [math.log(value) for value in values]))
        return (Plot(f"Loss on {Path(self._corpus.name).name}", "step", "nats per token", tuple(series)),)
