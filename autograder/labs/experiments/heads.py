"""Four heads against one: what the split is worth, and what the projection after it."""

from statistics import median
from typing import Any

import torch

from autograder.labs.bench import Bench
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, Plot, Report, Series, judge
from autograder.labs.rungs import LanguageModel, build_rung, count

PARTS = ("part3", "part5")
ON_DEVICE = True

ONE, PROJECTED, FOUR = "1 head", "1 head, projected", "4 heads"
CASES = {ONE: 0, PROJECTED: 1, FOUR: 4}  # how many heads; the bare head has no projection after it
TEXT_CHANGE = -3 / 46  # three points of the perplexity with one head
TEXT_MORE = 16_512
TEXT_SIZE = (1024, 128, 128)  # vocabulary, width, context
SEEDS = {on.EMBEDDED: (3, 5), on.CHARACTERS: (3, 3), on.BYTE_PAIRS: (2, 3)}  # quick and full
BACK = 12  # tokens back that the picture shows
LOOKED_AT = 128  # held-out windows


def read(bench: Bench, case: str, seed: int, **ground: Any) -> dict[str, Any]:
    """Train a token with heads beside it, and measure how far back each head looks."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    model = _build(bench, case, here.positions, data.vocab_size, here.width, here.context)
    on.trained(bench, here, model, seed)
    with torch.no_grad():
        x = model.embed(data.held_out_windows(here.context, LOOKED_AT)[0])
        x = x if model.places is None else model.places(x)
        weights = model.layers[0].attention_weights(x)  # (B, h, T, T), or (B, T, T) of a bare head
    weights = (weights if weights.ndim == 4 else weights[:, None]).mean(0)  # (h, T, T)
    far = min(BACK, here.context - 1)
    looks = [
        [weights[j].diagonal(-back)[far - back :].mean().item() for back in range(far)] for j in range(len(weights))
    ]
    return {"held_out": on.held_out(bench, here, model), "looks": looks}


def sizes(bench: Bench, seed: int) -> dict[str, int]:
    """Count the parameters of each case at the text's width."""
    return {case: count(_build(bench, case, False, *TEXT_SIZE)) for case in CASES}


def run(bench: Bench) -> Report:
    """Train each case with several seeds."""
    chosen = on.grounds(bench)
    seeds = {ground: bench.seeds(bench.choose(*SEEDS[ground.on])) for ground in chosen}
    parameters: dict[str, int] = bench.measure(sizes, [{}])[0]
    plan = [
        {"case": case, "seed": seed, **ground.settings()}
        for ground in chosen
        for case in CASES
        for seed in seeds[ground]
    ]
    found = bench.measure(read, plan, lambda s: s["steps"] * s["batch"] * s["context"] * s["width"])
    by_ground: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for each, one in zip(plan, found, strict=True):
        by_ground.setdefault(each["on"], {}).setdefault(each["case"], []).append(one)
    findings = list(_counted(parameters))
    for name, cases in by_ground.items():
        findings.append(compared(name, *([one["held_out"] for one in cases[case]] for case in (ONE, FOUR))))
    return Report(
        findings=tuple(findings),
        grids=tuple(_table(name, cases, parameters) for name, cases in by_ground.items()),
        plots=tuple(_plot(name, cases) for name, cases in by_ground.items())
        + tuple(_looks(name, cases) for name, cases in by_ground.items()),
        notes=(
            *on.notes_on(chosen),
            "One head has one row of weights for each position: it can look at one place, or blur over several. Four "
            "can look at four places, each through a quarter of the width. The second picture shows whether they do.",
        ),
        data=f"{on.data_line(chosen)}; seeds: {', '.join(f'{one.on} {len(seeds[one])}' for one in chosen)}",
    )


def compared(name: str, one: list[float], four: list[float]) -> Finding:
    """Judge four heads against one over several seeds: an effect is there where the two do not overlap."""
    here = median(four) / median(one) - 1
    is_apart = max(four) < min(one)
    if max(one) < min(four):
        why = (
            "here one head is the better one, whatever the seed: where one place is worth looking at, a split "
            "makes each view of it narrower"
        )
    elif is_apart:
        why = "no seed with one head comes near; the text trains a wider model for longer, on other tokens"
    else:
        why = (
            f"a tie: one head gives {min(one):.2f} to {max(one):.2f}, four {min(four):.2f} to {max(four):.2f}, and "
            "ranges that overlap show nothing; at this width and length of training the split is worth less than a seed"
        )
    return judge(
        f"{name}: four heads instead of one",
        TEXT_CHANGE,
        here,
        reproduced=is_apart and abs(here - TEXT_CHANGE) <= on.SAME,
        in_direction=is_apart,
        why=why,
        style="+.1%",
    )


def _counted(parameters: dict[str, int]) -> tuple[Finding, Finding]:
    more, split = parameters[FOUR] - parameters[ONE], parameters[FOUR] - parameters[PROJECTED]
    why = "this is counted and not measured: a piece has parameters too many or too few"
    return (
        judge("parameters that four heads have more than one", TEXT_MORE, more, reproduced=more == TEXT_MORE, why=why),
        judge("the same, where the one head is projected too", 0, split, reproduced=split == 0, why=why),
    )


def _table(name: str, cases: dict[str, list[dict[str, Any]]], parameters: dict[str, int]) -> Grid:
    rows = []
    for case, runs in cases.items():
        worth = [one["held_out"] for one in runs]
        rows.append((case, parameters[case], min(worth), median(worth), max(worth)))
    columns = ("case", "parameters at the text's width", "least", "median", "largest")
    title = f"Held-out perplexity over {len(worth)} seeds: {name}"
    return Grid(title, columns, tuple(rows), ("", ",d", ".2f", ".2f", ".2f"))


def _plot(name: str, cases: dict[str, list[dict[str, Any]]]) -> Plot:
    n_seeds = len(next(iter(cases.values())))
    series = tuple(
        Series(f"seed {i + 1} of {n_seeds}", list(cases), [runs[i]["held_out"] for runs in cases.values()])
        for i in range(n_seeds)
    )
    return Plot(f"One head or several: {name}", "", "held-out perplexity", series, kind="points")


def _looks(name: str, cases: dict[str, list[dict[str, Any]]]) -> Plot:
    (one,), four = cases[ONE][0]["looks"], cases[FOUR][0]["looks"]
    series = [Series("the one head", range(len(one)), one)]
    series += [Series(f"head {j + 1} of 4", range(len(looks)), looks) for j, looks in enumerate(four)]
    return Plot(f"How far back a head looks: {name}", "tokens back", "mean weight", tuple(series))


def _build(bench: Bench, case: str, positions: bool, vocab_size: int, width: int, context: int) -> Any:
    if case == ONE:
        rung, n_heads = "head + token", 1
    else:
        rung, n_heads = "4 heads + token", CASES[case]
    model = build_rung(
        bench,
        rung,
        vocab_size=vocab_size,
        d_model=width,
        block_size=context,
        n_heads=n_heads,
        positions=positions,
    )
    assert isinstance(model, LanguageModel)
    return model
