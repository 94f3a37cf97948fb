"""Shuffle the prefix: a mean does not notice, attention without positions does not either."""

from autograder.labs.bench import Bench
from autograder.labs.report import Finding, Grid, Plot, Report, Series, judge

PARTS = ("part1", "part3")

T, WIDTH, HEADS, VOCABULARY = 16, 64, 4, 65
TEXT_GAP = 2.9802322387695312e-08
ROUNDING = 1e-6  # of float32, for outputs of size about 1; the largest of twenty draws was 1.6e-7

MEAN = "mean"
MEAN_MODEL = "mean model"
MEAN_MODEL_PLACES = "mean model, positions"
HEADS_BLIND = "4 heads"
HEADS_PLACES = "4 heads, positions"
HEADS_OPEN = "4 heads, no mask"
CASES = (MEAN, MEAN_MODEL, MEAN_MODEL_PLACES, HEADS_BLIND, HEADS_PLACES)


def moved(bench: Bench, seed: int) -> dict[str, float]:
    """Shuffle all but the last token, and measure how far the last output moves, in each case.

    Where the whole sequence is permuted and nothing is masked, measure how far the outputs are from permuted ones.
    """
    import torch

    generator = bench.generator(seed)
    part1, part3 = bench.part("part1"), bench.part("part3")
    order = torch.cat([torch.randperm(T - 1, generator=generator), torch.tensor([T - 1])])
    x = torch.randn(1, T, WIDTH, generator=generator)
    places = torch.randn(T, WIDTH, generator=generator)  # learned vectors are as good as random ones to tell places
    idx = torch.randint(VOCABULARY, (1, T), generator=generator)
    heads = part3.MultiHeadAttention(WIDTH, HEADS, T)
    plain = part1.MeanLM(VOCABULARY, WIDTH, T)
    placed = part1.MeanLM(VOCABULARY, WIDTH, T, positions=True)
    with torch.no_grad():
        pairs = {
            MEAN: (part1.prefix_mean_matmul(x), part1.prefix_mean_matmul(x[:, order])),
            MEAN_MODEL: (plain(idx), plain(idx[:, order])),
            MEAN_MODEL_PLACES: (placed(idx), placed(idx[:, order])),
            HEADS_BLIND: (heads(x), heads(x[:, order])),
            HEADS_PLACES: (heads(x + places), heads(x[:, order] + places)),
        }
        found = {case: (after - before)[:, -1].abs().max().item() for case, (before, after) in pairs.items()}
        found[f"{MEAN}, rows before the last"] = (pairs[MEAN][1] - pairs[MEAN][0])[:, :-1].abs().max().item()
        q, k, v = (layer(x) for layer in (heads.heads[0].q, heads.heads[0].k, heads.heads[0].v))
        straight, _ = part3.attention(q, k, v)
        shuffled, _ = part3.attention(q[:, order], k[:, order], v[:, order])
        found[HEADS_OPEN] = (shuffled - straight[:, order]).abs().max().item()
    return found


def run(bench: Bench) -> Report:
    """Shuffle with several draws, and keep the largest move of each case."""
    draws = bench.choose(20, 200)
    found = bench.measure(moved, [{"seed": seed} for seed in bench.seeds(draws)])
    largest = {case: max(one[case] for one in found) for case in found[0]}
    rest = f"{MEAN}, rows before the last"
    return Report(
        findings=(
            _blind("the mean's last row does not move", TEXT_GAP, largest[MEAN]),
            _sees("rows before the last do move", largest[rest]),
            _blind("a head without positions reads a set", "rounding", largest[HEADS_BLIND]),
            _sees("a head with positions reads an order", largest[HEADS_PLACES]),
            _blind("without a mask, permuted inputs give permuted outputs", "rounding", largest[HEADS_OPEN]),
        ),
        grids=(
            Grid(
                f"How far the output moves when the prefix is shuffled (largest of {draws} draws)",
                ("what", "moves by"),
                tuple(largest.items()),
                ("", ".3g"),
            ),
        ),
        plots=(
            Plot(
                "How far the last output moves when the prefix is shuffled",
                "",
                "largest move",
                (Series("here", CASES, [max(largest[case], 1e-9) for case in CASES]),),
                kind="bars",
                log_y=True,
                levels={"rounding of float32": ROUNDING},
            ),
        ),
        notes=(
            "Positions that are added before a plain mean change nothing at its last row: the mean of token and "
            "position is the mean of the tokens plus the mean of the positions, and both ignore the order. Only "
            "weights that depend on what is read can tell places apart.",
        ),
        data=f"{T} tokens of width {WIDTH}, weights as they are drawn, nothing trained",
    )


def _blind(claim: str, text: float | str, here: float) -> Finding:
    why = f"float32 explains up to about {ROUNDING:g}; something here depends on the order"
    return judge(claim, text, here, reproduced=here < ROUNDING, why=why, style=".3g")


def _sees(claim: str, here: float) -> Finding:
    why = "nothing moved by more than rounding, so the order cannot be read off"
    return judge(claim, "moves", here, reproduced=here > 100 * ROUNDING, why=why, style=".3g")
