"""A loop, a matrix product and a softmax give the same mean of each prefix, up to rounding."""

from autograder.labs.bench import Bench
from autograder.labs.report import Finding, Grid, Heat, Plot, Report, Series, judge

PARTS = ("part1",)

LENGTHS = (6, 16, 64, 256, 1024)
T = 6  # the length that the text shows
BATCH, WIDTH = 8, 32
TEXT_GAP = 5.960464477539063e-08
TEXT_ROWS = "1; 0.5 x 2; 0.333 x 3; 0.25 x 4; 0.2 x 5; 0.167 x 6"
ROUNDING = 1e-6  # of float32, for means of standard normal numbers; the largest of twenty draws was 2.4e-7


def gaps(bench: Bench, length: int, seed: int) -> dict[str, float]:
    """Measure how far the two quick ways are from the loop."""
    import torch

    part1 = bench.part("part1")
    x = torch.randn(BATCH, length, WIDTH, generator=bench.generator(seed))
    loop = part1.prefix_mean_loop(x)
    ways = {"matmul": part1.prefix_mean_matmul, "softmax": part1.prefix_mean_softmax}
    return {name: (way(x) - loop).abs().max().item() for name, way in ways.items()}


def matrix(bench: Bench, length: int, seed: int) -> list[list[float]]:
    """Write the averaging matrix out."""
    rows: list[list[float]] = bench.part("part1").averaging_matrix(length).tolist()
    return rows


def half_precision(bench: Bench, seed: int) -> bool:
    """Try a masked softmax in float16: forbidden weights 0, rows that sum to 1."""
    import torch

    part1 = bench.part("part1")
    scores = torch.randn(T, T, generator=bench.generator(seed)).half()
    mask = part1.causal_mask(T)
    weights = part1.masked_softmax(scores, mask)
    sums_to_1 = (weights.float().sum(-1) - 1).abs().max().item() < 0.01  # float16 keeps three digits
    return bool(weights.isfinite().all()) and bool((weights[~mask] == 0).all()) and sums_to_1


def run(bench: Bench) -> Report:
    """Compare the three ways at several lengths."""
    seeds = bench.seeds(bench.choose(5, 50))
    plan = [{"length": length, "seed": seed} for length in LENGTHS for seed in seeds]
    found = bench.measure(gaps, plan, lambda s: s["length"])
    largest = {
        way: [
            max(one[way] for one, each in zip(found, plan, strict=True) if each["length"] == length)
            for length in LENGTHS
        ]
        for way in ("matmul", "softmax")
    }
    rows = bench.measure(matrix, [{"length": T}])[0]
    is_sound = bench.measure(half_precision, [{}])[0]
    findings = [
        judge(
            f"largest difference between loop and {way}, T = {T}",
            TEXT_GAP,
            gap[0],
            reproduced=gap[0] < ROUNDING,
            why=f"float32 explains differences up to about {ROUNDING:g}; this is a different mean",
            style=".3g",
        )
        for way, gap in largest.items()
    ]
    return Report(
        findings=(*findings, _rows_finding(rows), _half_finding(is_sound)),
        grids=(
            Grid(
                f"Largest difference from the loop, {len(seeds)} draws",
                ("T", "matmul", "softmax"),
                tuple(zip(LENGTHS, *largest.values(), strict=True)),
                ("d", ".3g", ".3g"),
            ),
        ),
        plots=(
            Heat(f"averaging_matrix({T})", rows, tuple(map(str, range(T))), tuple(map(str, range(T)))),
            Plot(
                "Three ways to one mean",
                "T",
                "largest difference from the loop",
                tuple(Series(way, LENGTHS, gap) for way, gap in largest.items()),
                log_x=True,
                log_y=all(value > 0 for gap in largest.values() for value in gap),
                levels={"the text, T = 6": TEXT_GAP},
            ),
        ),
        notes=("A difference of this size says that the same numbers were added in another order, and nothing else.",),
        data=f"standard normal numbers, {BATCH} sequences of width {WIDTH}, float32",
    )


def _rows_finding(rows: list[list[float]]) -> Finding:
    wanted = [[1 / (t + 1) if i <= t else 0.0 for i in range(T)] for t in range(T)]
    is_right = all(
        abs(got - due) < 1e-3
        for row, due_row in zip(rows, wanted, strict=True)
        for got, due in zip(row, due_row, strict=True)
    )
    told = "; ".join(f"{row[0]:.3g}" + (f" x {t + 1}" if t else "") for t, row in enumerate(rows))
    why = "a row holds other numbers than 1 / (t + 1) up to the diagonal and 0 after it"
    return judge(f"rows of the averaging matrix, T = {T}", TEXT_ROWS, told, reproduced=is_right, why=why)


def _half_finding(is_sound: bool) -> Finding:
    return judge(
        "minus infinity survives float16",
        "yes",
        "yes" if is_sound else "no",
        reproduced=is_sound,
        why="a forbidden weight is not 0, a weight is not finite, or a row does not sum to 1; -1e9 does not exist in "
        "float16, minus infinity does",
    )
