"""The variance of q·k grows with the width, and the division by sqrt(d) takes it back to 1."""

from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.report import Grid, Plot, Report, Series, is_near, judge

PARTS = ("part2",)

PAIRS = 20_000
TEXT = {4: 3.975, 16: 16.071, 64: 64.249, 256: 253.065, 1024: 1015.562}
WITHIN = 0.06  # of d: over 20,000 pairs no draw of twenty strayed further than 3.2 %


def variance_at(bench: Bench, d: int, seed: int) -> dict[str, float]:
    """Measure the variance of q·k at one width, by the student's function, and of the divided score."""
    import torch

    part2 = bench.part("part2")
    measured = part2.dot_product_variance(d, n_pairs=PAIRS, generator=bench.generator(seed))
    q, k = torch.randn(2, PAIRS // 10, 1, d, generator=bench.generator(seed + 1))
    return {"plain": float(measured), "divided": part2.scaled_scores(q, k).var().item()}


def run(bench: Bench) -> Report:
    """Measure at the text's five widths."""
    widths = list(TEXT)
    seeds = bench.seeds(bench.choose(1, 20))
    found = bench.measure(variance_at, [{"d": d, "seed": seed} for d in widths for seed in seeds], lambda s: s["d"])
    by_width: dict[int, list[dict[str, Any]]] = {
        d: found[i * len(seeds) : (i + 1) * len(seeds)] for i, d in enumerate(widths)
    }
    means = {d: sum(each["plain"] for each in all_) / len(seeds) for d, all_ in by_width.items()}
    divided = {d: sum(each["divided"] for each in all_) / len(seeds) for d, all_ in by_width.items()}
    findings = [
        judge(
            f"variance of q·k at d = {d}",
            TEXT[d],
            means[d],
            reproduced=is_near(means[d], d, within=WITHIN),
            in_direction=means[d] > means[widths[0]],
            why=f"independent standard normal q and k have a variance of exactly d = {d}; this is further off than "
            f"{WITHIN:.0%}, which {PAIRS:,} pairs do not explain",
            style=".3f",
        )
        for d in widths
    ]
    rows = tuple((d, means[d], means[d] ** 0.5, divided[d]) for d in widths)
    columns = ("d", "variance of q·k", "standard deviation", "variance after the division")
    return Report(
        findings=tuple(findings),
        grids=(Grid("Scores by width", columns, rows, ("d", ".3f", ".3f", ".3f")),),
        plots=(
            Plot(
                "A score's variance is the width",
                "d",
                "variance",
                (
                    Series("text", widths, list(TEXT.values()), of_text=True),
                    Series("here", widths, list(means.values())),
                    Series("here, divided by sqrt(d)", widths, list(divided.values())),
                ),
                log_x=True,
                log_y=True,
            ),
        ),
        notes=(
            "The text's draws are others than these, so the figures agree as two samples do and not digit by digit.",
        ),
        data=f"{PAIRS:,} pairs of independent standard normal vectors"
        + (f", {len(seeds)} draws" if len(seeds) > 1 else ""),
    )
