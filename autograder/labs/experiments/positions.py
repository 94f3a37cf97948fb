"""Four ways to say where, trained at one length and read at two and four times that length."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from autograder.corpora import SkipInduction
from autograder.labs import data as corpora
from autograder.labs.bench import Bench
from autograder.labs.data import Data, perplexity, tokens
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, Plot, Report, Series, is_near, judge
from autograder.labs.rungs import LanguageModel

if TYPE_CHECKING:
    from torch import Tensor

PARTS = ("part4", "part5")
ON_DEVICE = True

KINDS = ("learned", "sinusoidal", "rope", "alibi")
TIMES = (1, 2, 4)
HEADS = 4
TEXT_ALIBI = (44.95, 42.49)
QUICK = {
    on.EMBEDDED: Ground(on.EMBEDDED, 64, 32, 32, 300, 3e-3, warmup=20, late=0.3),
    on.BYTE_PAIRS: Ground(on.BYTE_PAIRS, 64, 64, 8, 400, 3e-3, warmup=20, late=0.3),
}
FULL = {on.EMBEDDED: QUICK[on.EMBEDDED], on.BYTE_PAIRS: Ground(on.BYTE_PAIRS, 128, 64, 64, 3000, 1e-3)}
JUDGED = 12_800  # tokens, at every length
DOCUMENTS = 10_000
POINTS = 16  # of the picture of places: each is the mean of as many places
CLIFF, WORSE, FLAT = 1.8, 1.05, 0.02  # multiples of the perplexity at the trained length; a change that is none


class Waves(nn.Module):
    """Adds the student's sinusoids."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.rows = bench.part("part5").sinusoidal_positions

    def forward(self, x: "Tensor") -> "Tensor":
        """Add a row to each place of (B, T, d)."""
        out: Tensor = x + self.rows(*x.shape[-2:]).to(x.device)
        return out


def build(bench: Bench, kind: str, vocab_size: int, width: int, longest: int) -> nn.Module:
    """Build one block whose tokens know their places in one of four ways, for up to ``longest`` tokens."""
    part4, part5 = bench.part("part4"), bench.part("part5")
    inside = kind if kind in ("rope", "alibi") else "none"
    heads = part5.CausalSelfAttention(width, HEADS, positions=inside)
    block = part4.Block(width, attention=heads, mlp=part4.MLP(width))
    places: nn.Module | None = None
    if kind == "learned":
        places = part5.LearnedPositions(longest, width)  # the rows past the trained length stay as they were drawn
    elif kind == "sinusoidal":
        places = Waves(bench)
    return LanguageModel(vocab_size, width, [block], positions=places, ln_f=part4.LayerNorm(width))


def stretched(bench: Bench, kind: str, seed: int, **ground: Any) -> dict[str, Any]:
    """Train at the ground's context, and judge at one, two and four times that."""
    here = Ground(**ground)
    data, _ = tokens_for(bench, here)
    longest = max(TIMES) * here.context
    model = build(bench, kind, data.vocab_size, here.width, longest)
    on.trained(bench, here, model, seed, data=data)
    lengths = [times * here.context for times in TIMES]
    return {
        "perplexities": [perplexity(model, data, length, most=JUDGED // length) for length in lengths],
        "places": by_place(model, data, longest),
    }


def by_place(model: nn.Module, data: Data, length: int) -> list[float]:
    """Give the mean nats of POINTS runs of places in windows of this length."""
    inputs, targets = data.held_out_windows(length, JUDGED // length)
    model.eval()
    with torch.no_grad():
        each = F.cross_entropy(model(inputs).double().transpose(1, 2), targets, reduction="none")  # (n, length)
    means: list[float] = each.mean(0).reshape(POINTS, -1).mean(1).tolist()
    return means


def tokens_for(bench: Bench, ground: Ground) -> tuple[Data, list[float] | None]:
    """Give what a ground trains and judges on, and the best possible perplexity at each length where it is known."""
    if ground.on == on.EMBEDDED:
        return _language(ground.context, DOCUMENTS)
    return on.open_ground(bench, ground), None


@functools.lru_cache(maxsize=2)
def _language(context: int, documents: int) -> tuple[Data, list[float]]:
    rng = np.random.default_rng(0)
    language = SkipInduction(rng)
    longest = max(TIMES) * context
    docs = language.documents(documents, context + 1, rng)
    held = language.documents(JUDGED // context, longest + 1, rng)
    floors = [language.floor(held[: JUDGED // (n * context), : n * context + 1]) for n in TIMES]
    return Data("the embedded language", language.vocab_size, tokens(docs), tokens(held), floors[0]), floors


def run(bench: Bench) -> Report:
    """Train each kind on every ground."""
    texts = corpora.has_shakespeare(bench)
    chosen = [one for one in bench.choose(QUICK, FULL).values() if one.on == on.EMBEDDED or texts]
    plan = [{"kind": kind, **ground.settings()} for ground in chosen for kind in KINDS]
    found = bench.measure(stretched, plan, lambda s: s["steps"] * s["batch"] * s["context"] * s["width"])
    findings: list[Finding] = []
    rows: list[tuple[Any, ...]] = []
    plots: list[Plot] = []
    for i, ground in enumerate(chosen):
        runs = dict(zip(KINDS, found[i * len(KINDS) : (i + 1) * len(KINDS)], strict=True))
        worth = {kind: one["perplexities"] for kind, one in runs.items()}
        floors = tokens_for(bench, ground)[1]
        findings += judged(ground.on, worth)
        if bench.full and ground.on == on.BYTE_PAIRS:
            findings += absolute(worth["alibi"])
        rows += [(f"{ground.on}, {kind}", *each, each[-1] / each[0]) for kind, each in worth.items()]
        if floors is not None:
            rows.append((f"{ground.on}, the best possible", *floors, floors[-1] / floors[0]))
        plots += _plots(ground, runs, worth, floors)
    columns = ("positions", *("at the trained length" if n == 1 else f"at {n} x" for n in TIMES), "4 x over 1 x")
    return Report(
        findings=tuple(findings),
        grids=(Grid("Held-out perplexity", columns, tuple(rows), ("", ".2f", ".2f", ".2f", ".2f")),),
        plots=tuple(plots),
        notes=(
            *(() if texts else (on.NO_SHAKESPEARE,)),
            "A learned table must have rows for every place that is read. Here it has them for four times the trained "
            "length, and the rows past that length are as they were drawn, since no training reached them. Your "
            "LearnedPositions refuses what it has no row for, which is the honest answer.",
            "Look at the embedded language place by place: up to the trained length (the first quarter) nothing "
            "happens, and right behind it the loss jumps, with a table and with sinusoids at once, with RoPE later.",
            "More context makes the next token easier, so the best possible perplexity falls with length. A curve that "
            "stays flat has thus not broken, and has not used the longer context either.",
        ),
        data=on.data_line(chosen) + "; one block, read at 1, 2 and 4 times the trained length",
    )


def judged(name: str, worth: dict[str, list[float]]) -> list[Finding]:
    """Judge the text's claims on one ground; ``worth`` holds for each kind the perplexities at 1, 2 and 4 times."""
    ratio = {kind: each[-1] / each[0] for kind, each in worth.items()}
    best = min(worth, key=lambda kind: worth[kind][0])
    lead = worth["learned"][0] / worth[best][0] - 1
    alibi = ratio["alibi"] - 1
    return [
        judge(
            f"{name}: learned positions win at the trained length",
            "learned",
            best if best == "learned" else f"{best}, by {lead:.0%}",
            reproduced=best == "learned",
            in_direction=lead <= FLAT,
            why="it ties with the best"
            if lead <= FLAT
            else f"a table has to be learned row by row; {best} needs no training to tell places apart",
        ),
        judge(
            f"{name}: learned positions fall off a cliff past it (4 x over 1 x)",
            "a cliff",
            ratio["learned"],
            reproduced=ratio["learned"] >= CLIFF,
            in_direction=ratio["learned"] >= WORSE,
            why="worse, by less than a cliff: in this text most of what helps is near at hand, whatever the place"
            if ratio["learned"] >= WORSE
            else "no worse than at the trained length: was the table trained at all?",
            style=".2f",
        ),
        judge(
            f"{name}: sinusoids do not extrapolate either (4 x over 1 x)",
            "do not",
            ratio["sinusoidal"],
            reproduced=ratio["sinusoidal"] >= WORSE,
            why="no worse than at the trained length",
            style=".2f",
        ),
        judge(
            f"{name}: RoPE degrades, by less than a table (4 x over 1 x)",
            "degrades",
            ratio["rope"],
            reproduced=WORSE <= ratio["rope"] < ratio["learned"],
            in_direction=1 < ratio["rope"] < ratio["learned"],
            why="by next to nothing here: distances that training never showed matter little in this text",
            style=".2f",
        ),
        judge(
            f"{name}: ALiBi improves with length (change from 1 x to 4 x)",
            TEXT_ALIBI[1] / TEXT_ALIBI[0] - 1,
            alibi,
            reproduced=alibi <= -FLAT,
            in_direction=alibi < 0,
            why="it improves by less than two seeds differ"
            if alibi < 0
            else "it does not improve; it loses least of the four, and that is what is certain of it"
            if ratio["alibi"] == min(ratio.values())
            else "it gets worse, and another kind holds better",
            style="+.1%",
        ),
    ]


def absolute(alibi: list[float]) -> list[Finding]:
    """Judge ALiBi's perplexities beside the text's, where the settings are the ladder's."""
    why = "width, batch, steps and rate are the ladder's; the text does not state those of this experiment"
    return [
        judge(
            f"byte pairs: perplexity of ALiBi at {words}",
            text,
            here,
            reproduced=is_near(here, text, within=0.05),
            in_direction=is_near(here, text, within=0.2),
            why=why,
            style=".2f",
        )
        for words, text, here in zip(("64 tokens", "256 tokens"), TEXT_ALIBI, (alibi[0], alibi[-1]), strict=True)
    ]


def _plots(
    ground: Ground, runs: dict[str, dict[str, Any]], worth: dict[str, list[float]], floors: list[float] | None
) -> list[Plot]:
    lengths = [n * ground.context for n in TIMES]
    kinds = [Series(kind, lengths, each) for kind, each in worth.items()]
    if floors is not None:
        kinds.append(Series("the best possible", lengths, floors))
    run = lengths[-1] / POINTS
    places = tuple(Series(kind, [run * (i + 0.5) for i in range(POINTS)], one["places"]) for kind, one in runs.items())
    trained = f"trained on {ground.context} tokens"
    return [
        Plot(f"{ground.on}: {trained}, read longer", "tokens read", "perplexity", tuple(kinds), log_x=True),
        Plot(f"{ground.on}: {trained}, place by place", "place", "nats", places),
    ]
