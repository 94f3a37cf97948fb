"""What the labs that train share: on which tokens and at which size, and how a change of a perplexity is judged."""

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.labs import data as corpora
from autograder.labs.bench import Bench
from autograder.labs.data import Data, perplexity
from autograder.labs.report import Finding, judge
from autograder.labs.training import fit

if TYPE_CHECKING:
    from torch import nn

EMBEDDED, CHARACTERS, BYTE_PAIRS = "embedded", "characters", "byte pairs"
TIE = 0.02  # of a perplexity: two seeds of one model differ by as much
SAME = 0.03  # percentage points / 100: a change this near to the text's is the text's
TEXT_PASSES = 60  # of the ladder's training through its tokens
_JUDGED = 400  # held-out windows at most


@dataclass(frozen=True)
class Ground:
    """Where a model is trained, and how: all that decides its perplexity beside the model itself."""

    on: str
    width: int
    context: int
    batch: int
    steps: int
    lr: float
    warmup: int = 0
    late: float = 1.0

    @property
    def positions(self) -> bool:
        """Whether models get learned positions: the embedded language asks for places, the text's ladder has none."""
        return self.on == EMBEDDED

    @property
    def cost(self) -> float:
        """How much work a training of one block is, in any unit."""
        return self.steps * self.batch * self.context * (self.width + 500 / self.width)

    def settings(self) -> dict[str, Any]:
        """Give it as a measurement's settings."""
        return asdict(self)

    def words(self) -> str:
        """Describe it in a line."""
        tokens = f"{self.batch} x {self.context} tokens a step"
        return f"{TITLES[self.on]}: width {self.width}, {self.steps} steps of AdamW at {self.lr:g}, {tokens}"


TITLES = {
    EMBEDDED: "the embedded language (32 tokens, its best possible perplexity is known)",
    CHARACTERS: "tiny Shakespeare, characters",
    BYTE_PAIRS: "tiny Shakespeare, 1024 byte pairs",
}
QUICK = {
    EMBEDDED: Ground(EMBEDDED, 64, 32, 32, 300, 3e-3, warmup=20, late=0.3),
    CHARACTERS: Ground(CHARACTERS, 64, 64, 16, 400, 2e-3),
}
FULL = {
    EMBEDDED: QUICK[EMBEDDED],
    BYTE_PAIRS: Ground(BYTE_PAIRS, 128, 128, 64, 3000, 1e-3),
}
NO_SHAKESPEARE = (
    "Tiny Shakespeare is not at hand, so only the embedded language ran. Save it as tinyshakespeare.txt and name its "
    "folder with --data, or let gpt-hw train fetch it."
)


def grounds(bench: Bench, **changes: Any) -> list[Ground]:
    """Choose the grounds of a run: the embedded language, and tiny Shakespeare where it is at hand.

    Args:
        bench: Knows whether the run is quick.
        changes: Fields that this lab sets otherwise, on every ground.
    """
    chosen = bench.choose(QUICK, FULL)
    kept = [one for one in chosen.values() if one.on == EMBEDDED or corpora.has_shakespeare(bench)]
    return [replace(one, **changes) for one in kept]


def open_ground(bench: Bench, ground: Ground) -> Data:
    """Read or draw the tokens of a ground."""
    return _opened(ground.on, ground.context, bench.data_folder)


@functools.lru_cache(maxsize=8)
def _opened(on: str, context: int, folder: Path | None) -> Data:
    where: Any = _Folder(folder)
    if on == EMBEDDED:
        return corpora.skip_induction(context + 1)
    return corpora.shakespeare_characters(where) if on == CHARACTERS else corpora.shakespeare_bpe(where)


@dataclass(frozen=True)
class _Folder:
    """What of a bench says which text is read."""

    data_folder: Path | None


def trained(
    bench: Bench,
    ground: Ground,
    model: "nn.Module",
    seed: int,
    data: Data | None = None,
    on_step: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train a model as a ground says, on its tokens where no others are given, and return the losses."""
    return fit(
        bench,
        model,
        open_ground(bench, ground) if data is None else data,
        steps=ground.steps,
        batch_size=ground.batch,
        block_size=ground.context,
        lr=ground.lr,
        seed=seed,
        warmup_steps=ground.warmup,
        late=ground.late,
        on_step=on_step,
    )


def held_out(bench: Bench, ground: Ground, model: "nn.Module") -> float:
    """Judge a model on tokens that it was not trained on: perplexity."""
    return perplexity(model, open_ground(bench, ground), ground.context, most=_JUDGED)


def seen(bench: Bench, ground: Ground, model: "nn.Module") -> float:
    """Judge a model on tokens that it was trained on: perplexity."""
    data = open_ground(bench, ground)
    return perplexity(model, replace(data, held_out=data.train), ground.context, most=_JUDGED)


def passes(bench: Bench, ground: Ground) -> float:
    """Say how often each token is seen in a training, on average."""
    return ground.steps * ground.batch * ground.context / open_ground(bench, ground).train.numel()


def data_line(found: list[Ground]) -> str:
    """Describe all grounds, for a report's ``data``."""
    return "; ".join(one.words() for one in found)


def notes_on(found: list[Ground]) -> tuple[str, ...]:
    """Say where the text's own tokens are missing."""
    return () if len(found) > 1 else (NO_SHAKESPEARE,)


def change(claim: str, text: float, before: float, after: float, why: str) -> Finding:
    """Judge by how much a perplexity changes when one piece is changed, as a share of what it was.

    Args:
        claim: What is changed.
        text: The text's change: -0.23 is 23 % better.
        before: Our perplexity before.
        after: Our perplexity after.
        why: What to say about anything less than reproduced.
    """
    here = after / before - 1
    return judge(
        claim,
        text,
        here,
        reproduced=abs(here - text) <= SAME and (here * text > 0 or abs(text) <= TIE),
        in_direction=here * text > 0 and abs(here) > TIE,
        why=f"{why} (a change below {TIE:.0%} is a tie: seeds differ by as much)",
        style="+.1%",
    )


def two_blocks(name: str, one: dict[str, float], two: dict[str, float], often: float) -> tuple[Finding, Finding]:
    """Judge a second block, on what was seen and on what was not; both dicts have ``seen`` and ``held_out``."""
    why = (
        f"the text's training sees every token about {TEXT_PASSES} times, this one {often:.1f} times; learning by "
        "heart, which makes the second block better on what was seen and worse on what was not, needs the repetition"
    )
    if often > TEXT_PASSES / 2:
        why = "as many passes as in the text, with other initial weights and another order of batches"
    return (
        change(
            f"{name}: two blocks instead of one, on what was seen", 14.49 / 18.77 - 1, one["seen"], two["seen"], why
        ),
        change(
            f"{name}: two blocks instead of one, on what was not",
            40.57 / 38.07 - 1,
            one["held_out"],
            two["held_out"],
            why,
        ),
    )
