"""How far a lab is, on standard error: a bar with an estimate in a terminal, a line now and then elsewhere."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

_LINE_EVERY_S = 10.0  # where nobody looks on, a log wants few lines


def said(seconds: float) -> str:
    """Write a duration as a person would: ``40 s``, ``3 min``, ``2 h 5 min``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Meter:
    """Shows progress in units of expected work, and what is left of it in time.

    Args:
        console: Where to show it; None shows nothing.
        name: What is going on.
    """

    def __init__(self, console: "Console | None", name: str) -> None:
        self._console = console
        self._name = name
        self._total = self._done = self._part = 0.0
        self._told = time.monotonic()
        self._began: float | None = None
        self._at_begin = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def plan(self, work: float, free: float) -> None:
        """Add work that lies ahead, of which some was done in an earlier run and takes no time."""
        self._total += work
        self._done += free
        self._part = 0.0
        self._began = None  # the pace is that of this run
        if self._console is not None and self._console.is_terminal and self._bar is None:
            from rich.progress import BarColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task(self._name, total=1.0, left="")
            self._bar.start()
        self._show()

    def at(self, work: float, words: str = "") -> None:
        """Say how much of the measurement that is going on has been done, and in words what is going on."""
        self._part = work
        self._begin()
        self._show(words)

    def finish(self, work: float) -> None:
        """Count a measurement as done."""
        self._done += work
        self._part = 0.0
        self._begin()
        self._show()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def left(self) -> str:
        """Estimate what is left, as soon as there is something to judge by."""
        done = self._done + self._part
        gained = done - self._at_begin
        if self._began is None or gained <= 0 or self._total <= 0:
            return ""
        seconds = (time.monotonic() - self._began) / gained * max(self._total - done, 0.0)
        return f"about {said(seconds)} left"

    def _begin(self) -> None:
        """Judge the pace from the first news on: what came before it was mostly imports."""
        if self._began is None:
            self._began, self._at_begin = time.monotonic(), self._done + self._part

    def _show(self, words: str = "") -> None:
        share = (self._done + self._part) / self._total if self._total else 0.0
        told = " · ".join(filter(None, (f"{share:4.0%}", self.left(), words)))
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=share, left=told)
        elif self._console is not None and time.monotonic() - self._told > _LINE_EVERY_S:
            self._told = time.monotonic()
            self._console.print(f"{self._name}: {told.strip()}", markup=False, highlight=False, soft_wrap=True)
