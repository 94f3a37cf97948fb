"""From a token alone to two blocks: what each piece of the transformer is worth."""

from typing import Any

from autograder.labs.bench import Bench
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.report import Finding, Grid, Plot, Report, Series, is_near, judge
from autograder.labs.rungs import RUNGS, build_rung, count

PARTS = ("part1", "part3", "part4", "part5")
ON_DEVICE = True

MEAN_PLACES = "mean, positions"
RUNGS_HERE = ("token", "mean", MEAN_PLACES, *RUNGS[2:-1])
# The text states some perplexities and some differences; "head" to "4 heads + token" follow from its differences.
TEXT = {
    "token": 59.71,
    "mean": 248.4,
    MEAN_PLACES: 246.3,
    "mean + token": 60.45,
    "head": 55.0,
    "head + token": 46.0,
    "4 heads + token": 43.0,
    "block without LayerNorm": 39.87,
    "block": 38.07,
    "2 blocks": 40.57,
}
WORK = {"head": 0.4, "4 heads": 0.5, "head + token": 0.4, "4 heads + token": 0.5, "2 blocks": 2.0}  # of a block's
TEXT_SIZE = {"vocab_size": 1024, "d_model": 128, "block_size": 128}
NOTHING = 0.03  # a change of a perplexity that counts as none
NEXT_TO_NOTHING = 0.05  # of the points that a mean loses
ABSOLUTE = 0.05  # how near a perplexity must come to the text's, where the settings are the text's


def climbed(bench: Bench, rung: str, seed: int, **ground: Any) -> dict[str, float]:
    """Train one rung, and judge it on what it has seen and on what it has not."""
    here = Ground(**ground)
    model = _build(bench, rung, here.positions, on.open_ground(bench, here).vocab_size, here.width, here.context)
    on.trained(bench, here, model, seed)
    return {"seen": on.seen(bench, here, model), "held_out": on.held_out(bench, here, model)}


def sizes(bench: Bench, seed: int) -> dict[str, int]:
    """Count the parameters of each rung at the text's width."""
    return {rung: count(_build(bench, rung, False, *TEXT_SIZE.values())) for rung in RUNGS_HERE}


def run(bench: Bench) -> Report:
    """Train every rung on every ground."""
    chosen = on.grounds(bench)
    parameters: dict[str, int] = bench.measure(sizes, [{}])[0]
    plan = [{"rung": rung, **ground.settings()} for ground in chosen for rung in RUNGS_HERE]
    found = bench.measure(climbed, plan, lambda s: _cost(s))
    by_ground = {
        ground: {each["rung"]: one for each, one in zip(plan, found, strict=True) if each["on"] == ground.on}
        for ground in chosen
    }
    findings = list(_counted(parameters))
    for ground, rungs in by_ground.items():
        findings += judged(ground.on, rungs, on.passes(bench, ground))
        if ground.on == on.BYTE_PAIRS:
            findings += _absolute(rungs)
    return Report(
        findings=tuple(findings),
        grids=(_table(parameters, by_ground),),
        plots=tuple(_plot(bench, ground, rungs) for ground, rungs in by_ground.items()),
        notes=(
            *on.notes_on(chosen),
            "Quick runs are not the text's: read the order and the signs. A perplexity of one seed moves by 1 to 2 %, "
            "with a single head by up to 8 %; what four heads and LayerNorm gain is smaller than that, so a run of "
            "this size cannot show it either way.",
        ),
        data=on.data_line(chosen),
    )


def judged(name: str, rungs: dict[str, dict[str, float]], often: float) -> list[Finding]:
    """Judge the text's claims about neighbouring rungs on one ground."""
    worth = {rung: each["held_out"] for rung, each in rungs.items()}
    size = "the effect is there, of another size: the text trains a wider model for longer on other tokens"
    gap = (worth["mean"] - worth[MEAN_PLACES]) / (worth["mean"] - worth["mean + token"])
    added = worth["mean + token"] / worth["token"] - 1
    return [
        on.change(f"{name}: the mean instead of the token", 248.4 / 59.71 - 1, worth["token"], worth["mean"], size),
        judge(
            f"{name}: share of the points lost by the mean that positions win back",
            2.14 / 188,
            gap,
            reproduced=abs(gap) <= NEXT_TO_NOTHING,
            in_direction=0 < gap < 0.5,
            why="the text's is 1 %: next to nothing, for a mean of positions says how long the prefix is and no more",
            style=".1%",
        ),
        judge(
            f"{name}: the mean beside the token adds nothing",
            60.45 / 59.71 - 1,
            added,
            reproduced=abs(added) <= NOTHING,
            in_direction=abs(added) <= 2 * NOTHING,
            why="it changes the perplexity by more than seeds explain",
            style="+.1%",
        ),
        on.change(
            f"{name}: learned weights instead of uniform ones",
            -14 / 60.45,
            worth["mean + token"],
            worth["head + token"],
            size,
        ),
        on.change(f"{name}: a head is added instead of replacing", -9 / 55, worth["head"], worth["head + token"], size),
        on.change(
            f"{name}: four heads instead of one",
            -3 / 46,
            worth["head + token"],
            worth["4 heads + token"],
            "one seed cannot settle so small an effect; the lab called heads trains several",
        ),
        on.change(
            f"{name}: LayerNorm in the block",
            -1.8 / 39.87,
            worth["block without LayerNorm"],
            worth["block"],
            "a single block is shallow enough to be trained without a norm; twelve are not",
        ),
        *on.two_blocks(name, rungs["block"], rungs["2 blocks"], often),
    ]


def _counted(parameters: dict[str, int]) -> tuple[Finding, Finding]:
    def exact(claim: str, text: int, more: str, less: str) -> Finding:
        got = parameters[more] - parameters[less]
        why = "this is counted and not measured: a piece has parameters too many or too few"
        return judge(claim, text, got, reproduced=got == text, why=why)

    return (
        exact("parameters that four heads have more than one", 16_512, "4 heads + token", "head + token"),
        exact("parameters of the three LayerNorms", 768, "block", "block without LayerNorm"),
    )


def _absolute(rungs: dict[str, dict[str, float]]) -> list[Finding]:
    return [
        judge(
            f"perplexity: {rung}",
            TEXT[rung],
            rungs[rung]["held_out"],
            reproduced=is_near(rungs[rung]["held_out"], TEXT[rung], within=ABSOLUTE),
            in_direction=is_near(rungs[rung]["held_out"], TEXT[rung], within=4 * ABSOLUTE),
            why="width, context, batch, steps and learning rate are the text's; initial weights, order of batches, "
            "and details that it does not state are not",
            style=".2f",
        )
        for rung in ("token", "mean + token", "block", "2 blocks")
    ]


def _table(parameters: dict[str, int], by_ground: dict[Ground, dict[str, dict[str, float]]]) -> Grid:
    rows = tuple(
        (rung, parameters[rung], TEXT.get(rung), *(rungs[rung]["held_out"] for rungs in by_ground.values()))
        for rung in RUNGS_HERE
    )
    names = tuple(ground.on for ground in by_ground)
    styles = ("", ",d", ".2f", *[".2f"] * len(names))
    columns = ("rung", "parameters at the text's width", "text, byte pairs", *names)
    return Grid("Held-out perplexity, rung by rung", columns, rows, styles)


def _plot(bench: Bench, ground: Ground, rungs: dict[str, dict[str, float]]) -> Plot:
    series = [Series("here", RUNGS_HERE, [rungs[rung]["held_out"] for rung in RUNGS_HERE])]
    if ground.on == on.BYTE_PAIRS:
        series.insert(0, Series("text", RUNGS_HERE, [TEXT.get(rung) for rung in RUNGS_HERE], of_text=True))
    floor = on.open_ground(bench, ground).floor
    levels = {} if floor is None else {f"the best possible, {floor:.2f}": floor}
    return Plot(f"The ladder: {ground.on}", "", "held-out perplexity", tuple(series), kind="bars", levels=levels)


def _build(bench: Bench, rung: str, positions: bool, vocab_size: int, d_model: int, block_size: int) -> Any:
    is_mean = rung.startswith("mean")  # the mean's positions are a rung of their own
    return build_rung(
        bench,
        "mean" if rung == MEAN_PLACES else rung,
        vocab_size=vocab_size,
        d_model=d_model,
        block_size=block_size,
        positions=rung == MEAN_PLACES if is_mean else positions,
    )


def _cost(settings: Any) -> float:
    rung = settings["rung"]
    ground = Ground(**{key: value for key, value in settings.items() if key not in ("rung", "seed")})
    return ground.cost * (0.15 if rung == "token" or rung.startswith("mean") else WORK.get(rung, 1.0))
