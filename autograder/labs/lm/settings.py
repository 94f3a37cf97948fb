"""What a training was asked for, and what came of it."""

from dataclasses import dataclass
from pathlib import Path

CHECKPOINT = "checkpoint.safetensors"
SUMMARY = "checkpoint.json"
PICTURE = "loss.png"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """All that decides a training but its length: a run that goes on must not change any of these.

    ``engine`` is "torch" (parts 6 and 7) or "numpy" (part 9).
    """

    engine: str = "torch"
    corpus: str = "shakespeare"
    heads: int = 4
    embed: int = 64
    context: int = 64
    blocks: int = 2
    positions: str = "learned"
    norm: str = "pre"
    lr: float = 3e-3
    warmup: int = 50
    batch: int = 16
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training left: its losses in nats, (step, held-out perplexity) at some steps, and the files."""

    losses: tuple[float, ...]
    evaluations: tuple[tuple[int, float], ...]
    began_at: int
    files: tuple[Path, ...]
