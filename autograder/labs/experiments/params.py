"""Where a GPT's parameters live, by arithmetic and counted in a model that was built."""

from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.report import Finding, Grid, Plot, Report, Series, judge

PARTS = ("part4", "part6")

SIZES: dict[str, dict[str, int]] = {
    "small": {"n_layers": 12, "n_heads": 12, "d_model": 768},
    "medium": {"n_layers": 24, "n_heads": 16, "d_model": 1024},
    "large": {"n_layers": 36, "n_heads": 20, "d_model": 1280},
    "XL": {"n_layers": 48, "n_heads": 25, "d_model": 1600},
}
TEXT_SMALL = {
    "token_embeddings": 38_597_376,
    "position_embeddings": 786_432,
    "block": 7_087_872,
    "blocks": 85_054_464,
    "final_layernorm": 1_536,
    "total": 124_439_808,
}
PUBLISHED = {"medium": 354_823_168, "large": 774_030_080, "XL": 1_557_611_200}
TEXT_BLOCKS = {64: 49_984, 128: 198_272, 768: 7_087_872, 1024: 12_596_224}
TEXT_BIASES = 2_304  # of q, k and v at d = 768
TINY: dict[str, Any] = {"vocab_size": 65, "block_size": 32, "n_layers": 2, "n_heads": 4, "d_model": 64}
PLACES = ("token_embeddings", "position_embeddings", "blocks", "final_layernorm")


def counted(bench: Bench, config: dict[str, Any], seed: int) -> dict[str, int]:
    """Count by the student's arithmetic."""
    part6 = bench.part("part6")
    return {name: int(number) for name, number in part6.count_parameters(part6.GPTConfig(**config)).items()}


def built(bench: Bench, config: dict[str, Any], seed: int) -> int:
    """Build the student's model and count what it learns."""
    part6 = bench.part("part6")
    return sum(parameter.numel() for parameter in part6.GPT(part6.GPTConfig(**config)).parameters())


def mlp_size(bench: Bench, d: int, seed: int) -> int:
    """Build the student's MLP and count what it learns."""
    return sum(parameter.numel() for parameter in bench.part("part4").MLP(d).parameters())


def run(bench: Bench) -> Report:
    """Count GPT-2's four sizes, and blocks of four widths."""
    sizes = dict(zip(SIZES, bench.measure(counted, [{"config": size} for size in SIZES.values()]), strict=True))
    without = bench.measure(counted, [{"config": {**SIZES["small"], "qkv_bias": False}}])[0]
    widths = list(TEXT_BLOCKS)
    configs = [{"config": {"d_model": d, "n_heads": 4, "n_layers": 1}} for d in widths]
    blocks = [one["block"] for one in bench.measure(counted, configs)]
    mlps = bench.measure(mlp_size, [{"d": d} for d in widths])
    real = bench.choose(TINY, SIZES["small"])
    model, arithmetic = bench.measure(built, [{"config": real}])[0], bench.measure(counted, [{"config": real}])[0]
    small = sizes["small"]
    shares = [mlp / block for mlp, block in zip(mlps, blocks, strict=True)]
    share = small["token_embeddings"] / small["total"]
    name = bench.choose("a GPT of width 64", "GPT-2 small")
    return Report(
        findings=(
            *(_exact(f"GPT-2 small, {part.replace('_', ' ')}", due, small[part]) for part, due in TEXT_SMALL.items()),
            *(_exact(f"GPT-2 {size}, total", due, sizes[size]["total"]) for size, due in PUBLISHED.items()),
            *(
                _exact(f"one block, 12d² + 13d at d = {d}", due, block)
                for (d, due), block in zip(TEXT_BLOCKS.items(), blocks, strict=True)
            ),
            _exact("fewer without biases on q, k, v", TEXT_BIASES, small["block"] - without["block"]),
            judge(
                "the table of tokens, share of GPT-2 small",
                "nearly a third",
                share,
                reproduced=0.30 < share < 1 / 3,
                why="38,597,376 of 124,439,808 is 31.0 %",
                style=".1%",
            ),
            judge(
                "the MLP's share of a block, d = 64 to 1024",
                "two thirds",
                f"{min(shares):.2%} to {max(shares):.2%}",
                reproduced=all(0.66 < one < 2 / 3 for one in shares),
                why="its 8d² + 5d of 12d² + 13d come to 66.2 % at d = 64 and near two thirds from below",
            ),
            judge(
                f"{name}: arithmetic and a model that was built agree",
                model,
                arithmetic["total"],
                reproduced=model == arithmetic["total"],
                why="the two differ: one of them counts what the other does not have (the first number is the model's)",
            ),
        ),
        grids=(
            Grid(
                "GPT-2, where the parameters live",
                ("size", *(place.replace("_", " ") for place in PLACES), "total"),
                tuple((size, *(one[place] for place in (*PLACES, "total"))) for size, one in sizes.items()),
            ),
        ),
        plots=(
            Plot(
                "Where GPT-2's parameters live",
                "",
                "share of all parameters",
                tuple(
                    Series(place.replace("_", " "), tuple(SIZES), [one[place] / one["total"] for one in sizes.values()])
                    for place in PLACES[:-1]
                ),
                kind="bars",
            ),
            Plot(
                "The MLP is two thirds of a block",
                "d",
                "share of a block",
                (Series("MLP", widths, shares),),
                log_x=True,
                levels={"two thirds": 2 / 3},
            ),
        ),
        data="arithmetic; nothing is trained",
    )


def _exact(claim: str, due: int, got: int) -> Finding:
    return judge(claim, due, got, reproduced=due == got, why=f"off by {got - due:,}; these are whole numbers and exact")
