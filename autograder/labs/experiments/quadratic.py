"""Attention's time and memory grow with the square of the length; the fused kernel's memory does not."""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.labs.bench import Bench
from autograder.labs.memory import peak_bytes
from autograder.labs.report import Finding, Grid, Plot, Report, Series, is_near, judge
from autograder.machine import free_memory_gib

PARTS = ("part3", "part6")

WIDTH, HEADS = 512, 8
MIB = 2**20
QUICK, FULL = (128, 256, 512, 1024, 2048), (128, 256, 512, 1024, 2048, 4096, 8192)
TEXT_MS = {128: 2.246, 256: 2.855, 512: 5.761, 1024: 16.414, 2048: 51.573, 4096: 225.432, 8192: 832.838}
TEXT_MIB = {128: 14.6, 256: 19.2, 512: 34.4, 1024: 89.1, 2048: 296.1, 4096: 1100.1, 8192: 4300.1}
TEXT_MATRIX = {128: 0.5, 256: 2.0, 512: 8.0, 1024: 32.0, 2048: 128.0, 4096: 512.0, 8192: 2048.0, 16384: 8192.0}
TEXT_TIME_EXPONENT, TEXT_MEMORY_EXPONENT = 1.91, 1.87
TEXT_GAP = 1.7881393432617188e-07
MATRICES = 4  # of scores that a written-out pass may hold at once, at the most
LAST = 4  # rows that an exponent is read off
WITHIN = 0.1  # of an exponent: timings on a shared machine move by 10 to 20 %
TIMED_S = 1.0  # for the repetitions of one length
FEWEST, MOST = 3, 30  # repetitions
WRITTEN, FUSED, NOTHING = "written out", "fused", "no attention"
WAYS = (WRITTEN, FUSED, NOTHING)


def cost_of(bench: Bench, n: int, way: str, seed: int) -> dict[str, float]:
    """Run one forward pass of self-attention over n tokens, and take its time and its memory.

    Memory is everything that is alive at the peak: weights, input, mask and what the pass allocates.
    """
    generator = bench.generator(seed)
    maps = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))
    x = torch.randn(1, n, WIDTH, generator=generator)
    mask = torch.ones(n, n, dtype=torch.bool).tril() if way == WRITTEN else None
    attention = bench.part("part3").attention

    def step() -> Tensor:
        q, k, v = (layer(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for layer in maps[:3])  # (1, h, n, d_head)
        if way == WRITTEN:
            read = attention(q, k, v, mask)[0]
        else:
            read = F.scaled_dot_product_attention(q, k, v, is_causal=True) if way == FUSED else v
        out: Tensor = maps[3](read.transpose(1, 2).flatten(-2))
        return out

    with torch.no_grad():
        lasting = sum(tensor.nbytes for tensor in (x, *maps.parameters(), *([] if mask is None else [mask])))
        return {"ms": _milliseconds(step), "mib": (lasting + peak_bytes(step)) / MIB}


def gap(bench: Bench, n: int, seed: int) -> float:
    """Measure the largest difference between the student's attention and the fused kernel."""
    q, k, v = torch.randn(3, 1, HEADS, n, WIDTH // HEADS, generator=bench.generator(seed))
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    output = bench.part("part3").attention(q, k, v, mask)[0]
    return float((output - F.scaled_dot_product_attention(q, k, v, is_causal=True)).abs().max())


def matrix_bytes(bench: Bench, n: int, seed: int) -> int:
    """Ask the student's arithmetic for the bytes of all heads' scores."""
    return int(bench.part("part6").attention_matrix_bytes(n, HEADS))


def exponent(xs: list[int], ys: list[float]) -> float:
    """Fit a power law through the last rows: the slope of log y over log x, by least squares."""
    points = [(math.log(x), math.log(y)) for x, y in zip(xs[-LAST:], ys[-LAST:], strict=True)]
    mean_x, mean_y = (statistics.fmean(point[axis] for point in points) for axis in (0, 1))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def run(bench: Bench) -> Report:
    """Measure at doubling lengths."""
    wanted = bench.choose(QUICK, FULL)
    free = free_memory_gib()
    room = math.inf if free is None else free * 1024 * MIB
    lengths = [n for n in wanted if n == wanted[0] or MATRICES * TEXT_MATRIX[n] * MIB < room]
    plan = [{"n": n, "way": way} for n in lengths for way in WAYS]
    found = bench.measure(cost_of, plan, lambda s: s["n"] ** (2 if s["way"] == WRITTEN else 1.4) + 1e5)
    cost: dict[str, dict[str, list[float]]] = {
        way: {
            key: [one[key] for one, each in zip(found, plan, strict=True) if each["way"] == way]
            for key in ("ms", "mib")
        }
        for way in WAYS
    }
    matrices = dict(
        zip(
            TEXT_MATRIX,
            [size / MIB for size in bench.measure(matrix_bytes, [{"n": n} for n in TEXT_MATRIX])],
            strict=True,
        )
    )
    slopes = {way: {key: exponent(lengths, values) for key, values in each.items()} for way, each in cost.items()}
    difference = bench.measure(gap, [{"n": 64}])[0]
    longest = lengths[-1]
    return Report(
        findings=(
            _slope("time", TEXT_TIME_EXPONENT, slopes[WRITTEN]["ms"], lengths),
            _slope("memory", TEXT_MEMORY_EXPONENT, slopes[WRITTEN]["mib"], lengths),
            *_matrices(matrices),
            _peak(longest, cost[WRITTEN]["mib"][-1]),
            judge(
                "written out and fused give the same numbers",
                TEXT_GAP,
                difference,
                reproduced=difference < 1e-6,  # what float32 explains up to 64 tokens of standard normal numbers
                why="float32 explains differences up to 1e-6 here; these are other numbers",
                style=".3g",
            ),
        ),
        grids=(
            _table(lengths, cost, matrices),
            Grid(
                "Exponents over the last four lengths: 1 is linear, 2 quadratic",
                ("way", "time", "memory"),
                tuple((way, slopes[way]["ms"], slopes[way]["mib"]) for way in WAYS),
                ("", ".2f", ".2f"),
            ),
        ),
        plots=tuple(_plot(lengths, cost, key) for key in ("ms", "mib")),
        notes=(
            "Read milliseconds by their ratios: the text's come from a graphics card, these are of one core's time.",
            f"16,384 tokens are not run: the scores of {HEADS} heads alone are {matrices[16384] / 1024:g} GiB, "
            "and a softmax needs them twice. The fused kernel never holds that matrix: it goes through the keys in "
            "pieces and keeps a running maximum and sum for each query.",
        ),
        data=("" if lengths == list(wanted) else f"{wanted[-1]:,} tokens do not fit this machine's free memory; ")
        + f"one sequence, width {WIDTH}, {HEADS} heads, float32, forward only, {longest:,} tokens at most",
    )


def _milliseconds(step: Callable[[], Any]) -> float:
    step()  # the first pass asks the system for memory
    times: list[float] = []
    began = time.perf_counter()
    while len(times) < FEWEST or (len(times) < MOST and time.perf_counter() - began < TIMED_S):
        start = time.process_time()  # of one thread: what a busy machine gives to others does not count
        step()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def _slope(what: str, due: float, got: float, lengths: list[int]) -> Finding:
    return judge(
        f"exponent of {what}, written out",
        due,
        got,
        reproduced=abs(got - due) < WITHIN,
        in_direction=got > 1.5,  # nearer to quadratic than to linear
        why=f"the text reads it off 1,024 to 8,192 tokens, this run off {lengths[-LAST:][0]:,} to {lengths[-1]:,}, "
        "where what grows linearly still counts; --full goes further",
        style=".2f",
    )


def _matrices(matrices: dict[int, float]) -> list[Finding]:
    return [
        judge(
            f"MiB of scores at {n:,} tokens, by arithmetic",
            TEXT_MATRIX[n],
            matrices[n],
            reproduced=matrices[n] == TEXT_MATRIX[n],
            why="one n x n matrix a head, four bytes a number",
            style=",.1f",
        )
        for n in (128, 2048, 16384)
    ]


def _peak(n: int, got: float) -> Finding:
    return judge(
        f"MiB at the peak, {n:,} tokens, written out",
        TEXT_MIB[n],
        got,
        reproduced=is_near(got, TEXT_MIB[n], within=0.05),  # a library's own workspace is a few MiB
        in_direction=is_near(got, TEXT_MIB[n], within=0.5),
        why=f"here some {got // TEXT_MATRIX[n]:.0f} matrices of scores live at once, in the text "
        f"{TEXT_MIB[n] // TEXT_MATRIX[n]:.0f}: it depends on how attention is written",
        style=",.1f",
    )


def _table(lengths: list[int], cost: dict[str, dict[str, list[float]]], matrices: dict[int, float]) -> Grid:
    rows: list[tuple[Any, ...]] = []
    for i, n in enumerate(lengths):
        ms, mib = cost[WRITTEN]["ms"], cost[WRITTEN]["mib"]
        growth = (ms[i] / ms[i - 1], mib[i] / mib[i - 1]) if i else (None, None)
        text_growth = TEXT_MS[n] / TEXT_MS[lengths[i - 1]] if i else None
        rows.append(
            (
                n,
                ms[i],
                growth[0],
                text_growth,
                cost[NOTHING]["ms"][i],
                cost[FUSED]["ms"][i],
                matrices[n],
                mib[i],
                TEXT_MIB[n],
                growth[1],
                cost[FUSED]["mib"][i],
            )
        )
    rows.append((16384, None, None, None, None, None, matrices[16384], None, None, None, None))
    columns = (
        "tokens",
        "ms",
        "x",
        "x text",
        "ms without",
        "ms fused",
        "MiB of scores",
        "MiB at peak",
        "text",
        "x",
        "MiB fused",
    )
    styles = (",d", ",.0f", ".1f", ".1f", ",.0f", ",.0f", ",g", ",.0f", ",.0f", ".1f", ",.0f")
    return Grid(
        "One forward pass; x: how many times the row above; without: projections, no attention",
        columns,
        tuple(rows),
        styles,
    )


def _plot(lengths: list[int], cost: dict[str, dict[str, list[float]]], key: str) -> Plot:
    text = TEXT_MS if key == "ms" else TEXT_MIB
    series = [Series(way, lengths, cost[way][key]) for way in WAYS]
    series.append(Series("text", lengths, [text[n] for n in lengths], of_text=True))
    titles = {"ms": ("Time of one forward pass", "ms"), "mib": ("Memory at the peak", "MiB")}
    return Plot(titles[key][0], "tokens", titles[key][1], tuple(series), log_x=True, log_y=True)
