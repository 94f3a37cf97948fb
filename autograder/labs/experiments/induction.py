"""A model that goes on copying: a head that reads the token before, and one that looks up what followed."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from autograder.corpora import Copy, Repeat
from autograder.labs.bench import Bench
from autograder.labs.data import tokens
from autograder.labs.device import device_of
from autograder.labs.experiments._peeked import NOT_COUNTED, SMALL_START, WHY_REDRAWN, WIDE_START, Determined, small_gpt
from autograder.labs.report import Finding, Grid, Heat, Plot, Report, Series, judge
from autograder.labs.training import fit

if TYPE_CHECKING:
    from torch import Tensor, nn

PARTS = ("part6", "part8")
ON_DEVICE = True

TOKENS, CONTEXT, PERIOD, HEADS = 32, 24, 12, 2
DOCUMENTS, JUDGED = 12_800, 200
EVERY = 20  # steps between two looks
SPREADS = {WIDE_START: 0.5, SMALL_START: None}
CASES = ((2, WIDE_START), (1, WIDE_START), (2, SMALL_START))
QUICK = {"width": 32, "steps": 400, "batch": 32, "lr": 5e-3}
FULL = {"width": 64, "steps": 800, "batch": 32, "lr": 3e-3}
SOLVED, UNSOLVED = 0.9, 0.6
SHARES = ("", "", ".2f", ".2f")
CLEAR, FAINT = 0.5, 0.25  # of a head's weight; one spread evenly over what it may read has about 0.15


def copied(
    bench: Bench, blocks: int, start: str, width: int, steps: int, batch: int, lr: float, seed: int
) -> dict[str, Any]:
    """Train a GPT to go on with segments of unknown length, look at its heads meanwhile, then silence some."""
    rng = np.random.default_rng(0)
    docs, scored = Copy(TOKENS).documents(DOCUMENTS, CONTEXT + 1, rng)
    held, asked = (tokens(each) for each in Copy(TOKENS).documents(JUDGED, CONTEXT + 1, rng))
    targets = tokens(np.where(scored, docs, NOT_COUNTED))[:, 1:]
    data = Determined("copy", TOKENS, tokens(docs)[:, :-1], held, targets=targets)
    sizes = {"vocab_size": TOKENS, "block_size": CONTEXT, "n_layers": blocks, "n_heads": HEADS, "d_model": width}
    model = small_gpt(bench, seed, spread=SPREADS[start], **sizes)
    probe = tokens(repeated(rng))
    followed: dict[str, list[Any]] = {"step": [], "right": [], "before": [], "follows": []}

    def on_step(step: int, loss: float) -> None:
        if (step + 1) % EVERY == 0:
            before, follows = heads_of(bench, model, probe)
            best = (step + 1, share_right(model, held, asked.bool()), max(before[0]), max(follows[-1]))
            for key, value in zip(followed, best, strict=True):
                followed[key].append(value)

    fit(
        bench,
        model,
        data,
        steps=steps,
        batch_size=batch,
        block_size=CONTEXT,
        lr=lr,
        seed=seed,
        warmup_steps=steps // 10,
        late=0.3,
        on_step=on_step,
    )
    before, follows = heads_of(bench, model, probe)
    maps = bench.part("part8").attention_maps(model, probe[:1])
    again = tokens(Repeat(TOKENS).documents(JUDGED, CONTEXT, rng))
    return {
        "right": share_right(model, held, asked.bool()),
        "repeat": share_right(model, again, torch.arange(CONTEXT).expand_as(again) > CONTEXT // 2),
        "before": before,
        "before_once": first_copy(bench, model, probe),
        "follows": follows,
        "followed": followed,
        "shown": probe[0].tolist(),
        "maps": [[head.tolist() for head in block[0]] for block in maps],
        "silenced": [silenced(model, i, held, asked.bool()) for i in range(blocks)],
    }


def repeated(rng: np.random.Generator) -> Any:
    """Draw sequences of distinct tokens that repeat after PERIOD, (n, CONTEXT)."""
    once = rng.uniform(size=(JUDGED, TOKENS)).argsort(axis=1)[:, :PERIOD]
    return np.tile(once, (1, CONTEXT // PERIOD))


def heads_of(bench: Bench, model: "nn.Module", idx: "Tensor") -> tuple[list[list[float]], list[list[float]]]:
    """Score every head by the student's functions: [block][head], previous token and induction."""
    part8 = bench.part("part8")
    maps = part8.attention_maps(model, idx.to(device_of(model)))
    return (
        [part8.previous_token_score(each).mean(0).tolist() for each in maps],
        [part8.induction_score(each, PERIOD).mean(0).tolist() for each in maps],
    )


def first_copy(bench: Bench, model: "nn.Module", idx: "Tensor") -> list[float]:
    """Score the heads of the first block on the first copy alone, where the token before is still of use."""
    first = bench.part("part8").attention_maps(model, idx[:, :PERIOD])[0]
    scores: list[float] = bench.part("part8").previous_token_score(first).mean(0).tolist()
    return scores


def first_step(found: dict[str, Any]) -> int | None:
    """Give the first step at which it copied, None where it never did."""
    seen = zip(found["followed"]["step"], found["followed"]["right"], strict=True)
    return next((step for step, right in seen if right >= SOLVED), None)


def share_right(model: "nn.Module", docs: "Tensor", counted: "Tensor") -> float:
    """Count how often the likeliest next token is right, where ``counted`` (n, T) says that it can be known."""
    mode = model.training
    model.eval()
    with torch.no_grad():
        hits = model(docs[:, :-1]).argmax(-1) == docs[:, 1:]
    model.train(mode)
    share: float = hits[counted[:, 1:]].double().mean().item()
    return share


def silenced(model: Any, block: int, docs: "Tensor", counted: "Tensor") -> float:
    """Count again while one block's attention adds nothing."""
    handle = model.blocks[block].attention.register_forward_hook(lambda module, given, out: torch.zeros_like(out))
    try:
        return share_right(model, docs, counted)
    finally:
        handle.remove()


def run(bench: Bench) -> Report:
    """Train two blocks, one block, and two with the first weights of part 6."""
    settings = bench.choose(QUICK, FULL)
    plan = [
        {"blocks": blocks, "start": start, **settings, "seed": seed}
        for blocks, start in CASES
        for seed in bench.seeds(bench.choose(2, 5))
    ]
    found = bench.measure(copied, plan, lambda s: s["steps"] * s["batch"] * s["blocks"])
    runs = {
        case: [one for one, s in zip(found, plan, strict=True) if (s["blocks"], s["start"]) == case] for case in CASES
    }
    two, one, small = (runs[case] for case in CASES)
    return Report(
        findings=tuple(findings_of(two, one, small)),
        grids=(_table(runs), _heads_table(two, one)),
        plots=(_curves(two[0]), _bars(runs), *_pictures(two[0])),
        notes=(
            "To go on, a model must find where the current token stood before and say what came after it there. No "
            "head can do that alone: a key knows its own token, and the one to look for is the token before it. So a "
            "first head writes down, at each place, what stood before it; a second asks who has the current token "
            "written down, and reads what stands there. The second can only read what a block before it has written.",
            WHY_REDRAWN
            + " The last row of the first table is your GPT with part 6's own weights, trained as long: where "
            "only tokens that can be known are trained, as here, it gets there too, later. Trained on every token, "
            "with tied tables, for 250 steps at 3e-3 it stayed at 23 %.",
            "In the second copy the head of block 1 reads here and there: what stood before a token has been written "
            "down in the first copy, and no one looks for it in the second. Its mean over all places can "
            "therefore be half of what it is in the first copy.",
            "The second number of a head is your induction score on sequences that repeat after "
            f"{PERIOD} tokens; training saw segments of 6 to 14, so counting {PERIOD - 1} back is not enough to solve "
            "it. 'Random, twice' are random tokens with repetitions among them, which training never showed: there "
            "the last occurrence of a token is not always the right one.",
        ),
        data=f"copy language, {TOKENS} tokens, {CONTEXT} of context; {HEADS} heads, width {settings['width']}, "
        f"{settings['steps']} steps of AdamW at {settings['lr']:g}, {settings['batch']} rows a step",
    )


def findings_of(
    two: list[dict[str, Any]], one: list[dict[str, Any]], small: list[dict[str, Any]]
) -> tuple[Finding, ...]:
    """Judge what two blocks can do and how they do it; each argument holds one result for each seed."""
    worst, best_single = min(each["right"] for each in two), max(each["right"] for each in one)
    before = min(max(each["before_once"]) for each in two)
    follows = min(max(each["follows"][1]) for each in two)
    single = max(max(each["follows"][0]) for each in (*two, *one))
    silent = max(max(each["silenced"]) for each in two)
    seeds = "with the worst seed" if len(two) > 1 else "with this seed"
    return (
        judge(
            "two blocks copy, one cannot",
            "two can",
            f"{worst:.0%} against {best_single:.0%}",
            reproduced=worst >= SOLVED and best_single <= UNSOLVED,
            in_direction=worst > best_single + 0.1,
            why=f"at least {SOLVED:.0%} were due with two blocks and at most {UNSOLVED:.0%} with one; train longer",
        ),
        judge(
            f"block 1 has a head that reads the token before, in the first copy ({seeds})",
            "has one",
            before,
            reproduced=before >= CLEAR,
            in_direction=before >= FAINT,
            why="two heads share the work, or it has not been learned yet: see whether it copies at all",
            style=".2f",
        ),
        judge(
            f"block 2 has an induction head ({seeds})",
            "has one",
            follows,
            reproduced=follows >= CLEAR,
            in_direction=follows >= FAINT,
            why="the work is shared by several heads, or has not been learned yet: see whether it copies at all",
            style=".2f",
        ),
        judge(
            "no head of a first block is one (most of any, with one block or two)",
            "cannot be",
            single,
            reproduced=single <= FAINT,
            in_direction=single < follows,
            why="a first block can count places back, which this score takes for induction at one period",
            style=".2f",
        ),
        judge(
            "silence either block's attention, and it cannot copy",
            "needs both",
            silent,
            reproduced=silent <= UNSOLVED and worst >= SOLVED,
            in_direction=silent < worst - 0.1,
            why="it had not learned to copy in the first place, or another path does part of the work",
            style=".0%",
        ),
        start_finding([first_step(each) for each in two], [first_step(each) for each in small]),
    )


def start_finding(wide: list[int | None], small: list[int | None]) -> Finding:
    """Judge when copying begins, from weights drawn anew and from part 6's own; None is never."""
    after, before = (max(math.inf if step is None else step for step in each) for each in (small, wide))
    told = " against ".join("never" if math.isinf(step) else f"step {step:.0f}" for step in (after, before))
    return judge(
        f"from part 6's own first weights it copies later ({SOLVED:.0%} right, slowest seed)",
        "not stated",
        told,
        reproduced=after > before,
        why="no later here, so nothing was gained by drawing the weights anew",
    )


def _table(runs: dict[tuple[int, str], list[dict[str, Any]]]) -> Grid:
    rows = []
    for (blocks, start), each in runs.items():
        shares = [sum(one[key] for one in each) / len(each) for key in ("right", "repeat")]
        silent = [sum(one["silenced"][i] for one in each) / len(each) for i in range(blocks)]
        rows.append((_words(blocks), start, *shares, *silent, *[None] * (2 - blocks)))
    columns = ("model", "first weights", "segments", "random, twice", "block 1 silent", "block 2 silent")
    title = "Right where the next token follows from earlier ones (mean of the seeds)"
    return Grid(title, columns, tuple(rows), ("", "", *[".0%"] * 4))


def _heads_table(two: list[dict[str, Any]], one: list[dict[str, Any]]) -> Grid:
    rows = tuple(
        (
            _words(blocks),
            f"block {block + 1}, head {head + 1}",
            found["before"][block][head],
            found["follows"][block][head],
        )
        for blocks, found in ((2, two[0]), (1, one[0]))
        for block in range(blocks)
        for head in range(len(found["before"][block]))
    )
    return Grid("What each head does (first seed)", ("model", "head", "previous token", "induction"), rows, SHARES)


def _curves(found: dict[str, Any]) -> Plot:
    names = (("right", "right"), ("block 1: previous token", "before"), ("block 2: induction", "follows"))
    steps = found["followed"]["step"]
    series = tuple(Series(name, steps, found["followed"][key]) for name, key in names)
    return Plot("Two blocks, while they learn: both heads come with the copying", "step", "share, best head", series)


def _bars(runs: dict[tuple[int, str], list[dict[str, Any]]]) -> Plot:
    names = [_words(blocks) + ("" if start == WIDE_START else ", weights of 0.02") for blocks, start in runs]
    shares = [sum(one["right"] for one in each) / len(each) for each in runs.values()]
    bars = (Series("here", names, shares),)
    return Plot("Going on with a segment", "", "share right, where it can be known", bars, kind="bars")


def _pictures(found: dict[str, Any]) -> list[Heat]:
    """Draw the best head of each kind on one sequence."""
    names = tuple(str(token) for token in found["shown"])
    pictures = []
    for block, key, what in ((0, "before", "reads the token before"), (1, "follows", "reads what followed last time")):
        scores = found[key][block]
        head = scores.index(max(scores))
        title = f"block {block + 1}, head {head + 1}: {what} ({scores[head]:.2f})"
        pictures.append(Heat(title, found["maps"][block][head], names, names))
    return pictures


def _words(blocks: int) -> str:
    return "1 block" if blocks == 1 else f"{blocks} blocks"
