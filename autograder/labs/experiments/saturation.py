"""Without the division by sqrt(d) a wide head reads one token and its softmax stops learning."""

from autograder.labs.bench import Bench
from autograder.labs.report import Grid, Plot, Report, Series, judge

PARTS = ("part2",)

WIDTHS = (16, 64, 256, 1024)
ROWS, SCORES = 2_000, 64
AT_ONCE = 100  # rows: 64 keys of width 1024 for all of them would be half a gigabyte
TEXT_FROZEN, TEXT_TRACE = 0.70, 0.96
NEARLY_ONE = 1.2  # effective tokens
SEED_STEP = 1_000  # so that no two widths share their draws


def softened(bench: Bench, d: int, seed: int) -> dict[str, dict[str, float]]:
    """Draw queries and keys, and look at the softmax of their scores, plain and divided."""
    import torch

    part2 = bench.part("part2")
    generator = bench.generator(SEED_STEP * seed + d)
    weights: dict[str, list[torch.Tensor]] = {"plain": [], "divided": []}
    for begin in range(0, ROWS, AT_ONCE):
        q = torch.randn(AT_ONCE, 1, d, generator=generator)
        k = torch.randn(AT_ONCE, SCORES, d, generator=generator)
        weights["plain"].append(part2.dot_product_scores(q, k)[:, 0].softmax(dim=-1))
        weights["divided"].append(part2.scaled_scores(q, k)[:, 0].softmax(dim=-1))
        bench.tick((begin + AT_ONCE) / ROWS)
    found = {}
    for name, chunks in weights.items():
        rows = torch.cat(chunks)
        effective = part2.effective_tokens(rows)
        traces = [part2.softmax_jacobian(chunk).diagonal(dim1=-2, dim2=-1).sum(dim=-1) for chunk in chunks]
        found[name] = {
            "effective": effective.mean().item(),
            "effective_median": effective.median().item(),
            "trace": torch.cat(traces).mean().item(),
            "frozen": float(part2.frozen_fraction(rows)),
        }
    return found


def run(bench: Bench) -> Report:
    """Measure at four widths."""
    seeds = bench.seeds(bench.choose(1, 10))
    plan = [{"d": d, "seed": seed} for d in WIDTHS for seed in seeds]
    measured = bench.measure(softened, plan, lambda s: s["d"] + 100)
    found = {
        d: {
            name: {key: _mean([one[name][key] for one, each in zip(measured, plan, strict=True) if each["d"] == d])
                   for key in measured[0][name]}
            for name in ("plain", "divided")
        }
        for d in WIDTHS
    }  # fmt: skip
    wide, widest = found[256], found[1024]
    traces = [found[d]["divided"]["trace"] for d in WIDTHS]
    curves = {
        key: tuple(Series(name, WIDTHS, [found[d][name][key] for d in WIDTHS]) for name in ("plain", "divided"))
        for key in ("effective", "frozen", "trace")
    }
    return Report(
        findings=(
            judge(
                "effective tokens of a typical row at d = 256, plain",
                "about 1",
                wide["plain"]["effective_median"],
                reproduced=wide["plain"]["effective_median"] < NEARLY_ONE,
                in_direction=wide["plain"]["effective_median"] < wide["divided"]["effective_median"],
                why="half of the rows read more than that",
                style=".2f",
            ),
            judge(
                "frozen rows at d = 1024, plain",
                TEXT_FROZEN,
                widest["plain"]["frozen"],
                # two standard deviations of a share of 0.7 in 2,000 rows are 0.02
                reproduced=abs(widest["plain"]["frozen"] - TEXT_FROZEN) < 0.03,
                in_direction=widest["plain"]["frozen"] > 0.5,
                why="the share depends on what counts as frozen: here the largest weight exceeds 0.99",
                style=".1%",
            ),
            judge(
                "frozen rows at d = 1024, divided",
                0.0,
                widest["divided"]["frozen"],
                reproduced=widest["divided"]["frozen"] == 0,
                in_direction=widest["divided"]["frozen"] < widest["plain"]["frozen"],
                why="some row puts more than 0.99 on one token although the scores have a variance of 1",
                style=".1%",
            ),
            judge(
                "trace of the Jacobian, divided, lowest and highest of all widths",
                str(TEXT_TRACE),
                f"{min(traces):.3f} to {max(traces):.3f}",
                reproduced=all(abs(trace - TEXT_TRACE) < 0.005 for trace in traces),
                in_direction=max(traces) - min(traces) < 0.05,
                why="with scores of variance 1 the expected trace is 0.96 whatever the width",
            ),
        ),
        grids=(
            Grid(
                f"{ROWS:,} rows of {SCORES} scores, mean over rows",
                ("d", "reads, plain", "divided", "trace, plain", "divided", "frozen, plain", "divided"),
                tuple(
                    (d, *(found[d][name][key] for key in ("effective", "trace", "frozen") for name in found[d]))
                    for d in WIDTHS
                ),
                ("d", ".2f", ".2f", ".3f", ".3f", ".1%", ".1%"),
            ),
        ),
        plots=(
            Plot("How many tokens a row reads", "d", "effective tokens, mean", curves["effective"], log_x=True),
            Plot("Rows that are frozen", "d", "share of rows", curves["frozen"], log_x=True),
            Plot("What a softmax passes on", "d", "trace of the Jacobian, mean", curves["trace"], log_x=True),
        ),
        notes=(
            "Frozen: the largest weight of the row exceeds 0.99. The trace is the sum of w (1 - w), that is 1 minus "
            "the sum of the squared weights: near 0 no score can move its weight.",
        ),
        data="queries and keys standard normal and independent" + (f", {len(seeds)} draws" if len(seeds) > 1 else ""),
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
