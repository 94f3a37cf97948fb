"""On your own engine: one head of 128 against four of 32, with the same parameters."""

from statistics import median
from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.experiments import _engine as own
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._depths import EVERY, thinned
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, Plot, Report, Series, judge

PARTS = ("part9",)

HEADS = (1, 4)
TIE = 0.02  # nats: two seeds differ by as much


def split(bench: Bench, heads: int, seed: int, **ground: Any) -> dict[str, Any]:
    """Train one transformer, and judge it."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    engine = own.Engine(bench, own.Shape(heads=heads), data.vocab_size, here.context, seed)
    x, y = own.windows(data, here.context)
    difference = engine.difference(x[:2])
    losses, seconds = own.train(bench, engine, here, seed)
    return {
        "nats": engine.nats(x, y),
        "losses": thinned(losses),
        "seconds": median(seconds),
        "parameters": sum(parameter.data.size for parameter in engine.parameters.values()),
        "difference": difference,
    }


def run(bench: Bench) -> Report:
    """Train both on every ground."""
    chosen = own.grounds(bench)
    seeds = bench.seeds(bench.choose(2, 3))
    plan = [
        {"heads": heads, "seed": seed, **ground.settings()} for ground in chosen for heads in HEADS for seed in seeds
    ]
    found = bench.measure(split, plan, lambda s: s["steps"])
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for each, one in zip(plan, found, strict=True):
        runs.setdefault((each["on"], each["heads"]), []).append(one)
    findings = [_same_count(*(runs[chosen[0].on, heads][0]["parameters"] for heads in HEADS))]
    for ground in chosen:
        findings.append(compared(ground.on, *([one["nats"] for one in runs[ground.on, heads]] for heads in HEADS)))
    return Report(
        findings=tuple(findings),
        grids=(
            Grid(
                f"Four heads and one, {len(seeds)} seed{'s' if len(seeds) > 1 else ''}",
                ("model", "parameters", "held out, nats", "ms a step"),
                tuple(
                    (
                        f"{name}, {heads} head{'s' if heads > 1 else ''}",
                        all_[0]["parameters"],
                        median(one["nats"] for one in all_),
                        1000 * median(one["seconds"] for one in all_),
                    )
                    for (name, heads), all_ in runs.items()
                ),
                ("", ",d", ".3f", ".1f"),
            ),
        ),
        plots=tuple(
            Plot(
                f"Training loss on your engine: {ground.on}",
                "step",
                "nats",
                tuple(
                    Series(
                        f"{heads} head{'s' if heads > 1 else ''}",
                        [EVERY * (i + 1) for i in range(len(runs[ground.on, heads][0]["losses"]))],
                        runs[ground.on, heads][0]["losses"],
                    )
                    for heads in HEADS
                ),
            )
            for ground in chosen
        ),
        notes=(
            *on.notes_on(chosen),
            "One head of 128 and four of 32 have the same matrices; only where the columns are cut differs. One "
            "head spends one unit of attention for each position, four spend four.",
            f"The lab's forward pass is composed of your operations; it is within "
            f"{max(one['difference'] for one in found):.0e} of your own logits, float32.",
        ),
        data=own.data_line(chosen),
    )


def compared(name: str, one: list[float], four: list[float]) -> Finding:
    """Judge four heads against one; the text asks for the comparison and gives no figure."""
    gain = median(one) - median(four)
    is_apart = max(four) < min(one)
    if abs(gain) <= TIE or not (is_apart or max(one) < min(four)):
        why = "a tie: after so few steps they differ by no more than two seeds of one model do"
    else:
        why = "with so few steps one wide head is ahead"
    return judge(
        f"{name}: nats that four heads gain on one",
        "gains (no figure)",
        gain,
        reproduced=is_apart and gain > TIE,
        why=why,
        style="+.3f",
    )


def _same_count(one: int, four: int) -> Finding:
    why = "the number of heads must not change any parameter's shape"
    return judge(
        "one head and four have the same number of parameters", "the same", four - one, reproduced=one == four, why=why
    )
