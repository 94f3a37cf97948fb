"""Twelve blocks, the norm before or after: gradients at the start, and training with and without warm-up."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from autograder.corpora import perplexity_of
from autograder.labs import data as corpora
from autograder.labs.bench import Bench
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.experiments._peeked import spread_of
from autograder.labs.report import Finding, Grid, Plot, Report, Series, is_near, judge
from autograder.labs.rungs import LanguageModel

if TYPE_CHECKING:
    from torch import nn

PARTS = ("part4", "part5", "part6")
ON_DEVICE = True

DEEP, HEADS = 12, 4
NORMS = ("pre", "post")
BY_TORCH, BY_PART6 = "as torch draws them", "as part 6 draws them"
STARTS = (BY_TORCH, BY_PART6)
TEXT_RATIO = {"pre": 1.32, "post": 1.65}
TEXT_ENDS = {"pre": (0.0498, 0.0657), "post": (0.0977, 0.1613)}
TEXT = {("pre", False): 37.82, ("pre", True): 37.62, ("post", False): 308.05, ("post", True): 37.88}
QUICK = Ground(on.CHARACTERS, 64, 32, 16, 150, 3e-3, warmup=30)
FULL = Ground(on.BYTE_PAIRS, 128, 128, 64, 1000, 3e-3, warmup=200)
EVERY = 5  # steps that one point of a curve is the mean of
AS_GOOD = 0.05  # of a perplexity
FAILED = 0.9  # of the perplexity of letter frequencies: the model has learned no more than those
RATIO = 0.1  # how near a ratio of gradients must come


def stack(bench: Bench, norm: str, vocab_size: int, width: int, context: int) -> "tuple[nn.Module, list[nn.Module]]":
    """Stack twelve blocks of part 4 around part 5's attention, with torch's own first weights."""
    part4, part5 = bench.part("part4"), bench.part("part5")
    layers = [
        part4.Block(width, attention=part5.CausalSelfAttention(width, HEADS), mlp=part4.MLP(width), norm=norm)
        for _ in range(DEEP)
    ]
    places, last = part5.LearnedPositions(context, width), part4.LayerNorm(width)
    return LanguageModel(vocab_size, width, layers, positions=places, ln_f=last), layers


def gradients(bench: Bench, norm: str, start: str, seed: int, **ground: Any) -> list[float]:
    """Take the gradient norm of each block before any step, by the student's function."""
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    if start == BY_TORCH:
        model, layers = stack(bench, norm, data.vocab_size, here.width, here.context)
    else:
        part6 = bench.part("part6")
        plan = {"vocab_size": data.vocab_size, "block_size": here.context, "d_model": here.width, "norm": norm}
        model = part6.GPT(part6.GPTConfig(**plan, n_layers=DEEP, n_heads=HEADS))
        layers = list(model.blocks)
    inputs, targets = data.batch(here.batch, here.context, bench.generator(seed))
    torch.autograd.backward(F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()))
    return [float(one) for one in bench.part("part4").block_gradient_norms(layers)]


def trained(bench: Bench, norm: str, warm: bool, seed: int, **ground: Any) -> dict[str, Any]:
    """Train one stack, and judge it on what is held out."""
    here = Ground(**ground)
    model, _ = stack(bench, norm, on.open_ground(bench, here).vocab_size, here.width, here.context)
    losses = on.trained(bench, here if warm else replace(here, warmup=0), model, seed)
    means = [sum(losses[i : i + EVERY]) / len(losses[i : i + EVERY]) for i in range(0, len(losses), EVERY)]
    return {"held_out": on.held_out(bench, here, model), "losses": means}


def frequencies(bench: Bench, seed: int, **ground: Any) -> float:
    """Give the perplexity of knowing how often each token comes, and nothing else."""
    data = on.open_ground(bench, Ground(**ground))
    counts = torch.bincount(data.train.flatten(), minlength=data.vocab_size) + 1
    _, targets = data.held_out_windows(ground["context"])
    logits = counts.double().log().expand(*targets.shape, data.vocab_size)
    return perplexity_of(logits.numpy(), targets.numpy())


def run(bench: Bench) -> Report:
    """Look at the gradients of fresh stacks, then train with and without warm-up."""
    texts = corpora.has_shakespeare(bench)
    ground = bench.choose(QUICK, FULL)
    if not texts:
        ground = replace(QUICK, on=on.EMBEDDED)
    settings = ground.settings()
    few = replace(ground, batch=min(ground.batch, 16)).settings()
    seeds = bench.seeds(bench.choose(3, 5))
    plan = [{"norm": norm, "start": start, "seed": seed, **few} for start in STARTS for norm in NORMS for seed in seeds]
    taken = bench.measure(gradients, plan, lambda s: s["batch"] * s["context"] * s["width"])
    norms = {
        (start, norm): [one for one, s in zip(taken, plan, strict=True) if (s["start"], s["norm"]) == (start, norm)]
        for start in STARTS
        for norm in NORMS
    }
    level = bench.measure(frequencies, [settings])[0]
    runs = bench.measure(
        trained, [{"norm": n, "warm": w, **settings} for n, w in TEXT], lambda s: s["steps"] * s["batch"] * s["context"]
    )
    found = dict(zip(TEXT, runs, strict=True))
    worth = {key: one["held_out"] for key, one in found.items()}
    ratios = {key: [one[-1] / one[0] for one in each] for key, each in norms.items()}
    return Report(
        findings=(
            *(ratio_finding(norm, {start: ratios[start, norm] for start in STARTS}) for norm in NORMS),
            grows_finding(ratios[BY_TORCH, "pre"], ratios[BY_TORCH, "post"]),
            *training_findings(worth, level),
        ),
        grids=(_gradient_table(norms, ratios), _table(worth, level)),
        plots=(*(_gradient_plot(start, norms) for start in STARTS), _curves(found), _bars(worth, level)),
        notes=(
            *(() if texts else (on.NO_SHAKESPEARE,)),
            "What separates the two norms for certain is their structure, and that is what part 4 is graded by: with "
            "sublayers that return zero a pre-norm block hands on its input, and a post-norm block hands on a norm of "
            "a norm. What that does to a training depends on depth, learning rate, seed and luck.",
            "The ratio of the last block's gradient to the first's is no constant of a norm: the first two pictures "
            "differ in nothing but the first weights. With part 6's, embeddings are of size 0.02, and the first norm "
            "of a post-norm stack blows them up to size 1. What block 1 adds before it is blown up as well, and "
            "so is the gradient that reaches it; the blocks behind it work at size 1 and get a small one.",
            "No setting as small as this one makes training without warm-up fail with every seed and with warm-up "
            "succeed with every seed; of four seeds tried on characters, three failed without (try --seed 1, 2 and "
            "3), and on the embedded language post-norm learned either way.",
        ),
        data=f"{DEEP} blocks; {on.data_line([ground])}; warm-up over {ground.warmup} steps",
    )


def ratio_finding(norm: str, ratios: dict[str, list[float]]) -> Finding:
    """Judge the last block's gradient as a multiple of the first's, for both ways to draw first weights."""
    text = TEXT_RATIO[norm]
    told = "; ".join(f"{spread_of(each, '.2f')} {start}" for start, each in ratios.items())
    near = [all(is_near(one, text, within=RATIO) for one in each) for each in ratios.values()]
    same_side = [min(each) > 1 for each in ratios.values()]
    return judge(
        f"{norm}-norm: gradient of block {DEEP} over block 1, before any step",
        text,
        told,
        reproduced=all(near),
        in_direction=any(near) or all(same_side),
        why="how the first weights are drawn and how wide the model is decides this ratio, and the text states "
        "neither; its 1.32 and 1.65 do not come out of either way tried here",
        style=".2f",
    )


def grows_finding(pre: list[float], post: list[float]) -> Finding:
    """Judge whether the gradients grow more towards the end behind a norm that stands after the addition."""
    told = f"{spread_of(post, '.2f')} against {spread_of(pre, '.2f')}"
    return judge(
        f"weights {BY_TORCH}: gradients grow more towards the last block post-norm than pre-norm",
        "1.65 against 1.32",
        told,
        reproduced=min(post) > 1 and min(pre) > 1 and min(post) > max(pre),
        in_direction=min(post) > max(pre),
        why="the order of the two is the text's and its sizes are not: pre-norm, the "
        "last block's gradient is no larger than the first's, or hardly"
        if min(post) > max(pre)
        else "the two overlap from seed to seed, so a ratio at the start does not tell the norms apart",
    )


def training_findings(worth: dict[tuple[str, bool], float], level: float) -> tuple[Finding, ...]:
    """Judge the four trainings against each other; ``level`` is the perplexity of token frequencies."""
    bare, warm = worth["post", False], worth["post", True]
    pre_bare, pre_warm = worth["pre", False], worth["pre", True]
    change = pre_bare / pre_warm - 1
    learns_late = "it learns, later than the others; with this seed the first steps did not throw it off for good"
    return (
        judge(
            "pre-norm does as well without warm-up as with it",
            "37.82 and 37.62",
            f"{pre_bare:.2f} and {pre_warm:.2f}",
            reproduced=abs(change) <= AS_GOOD,
            in_direction=max(pre_bare, pre_warm) < FAILED * level,
            why=f"both learn; they differ by {abs(change):.0%} after so few steps, of which warm-up itself takes some",
        ),
        judge(
            "post-norm without warm-up does not learn",
            "308.05",
            f"{bare:.2f} (token frequencies alone: {level:.2f})",
            reproduced=bare >= FAILED * level,
            in_direction=bare > (1 + 2 * AS_GOOD) * warm,
            why=learns_late,
        ),
        judge(
            "warm-up brings post-norm to where pre-norm is",
            "37.88 and 37.62",
            f"{warm:.2f} and {pre_warm:.2f}",
            reproduced=warm <= (1 + AS_GOOD) * pre_warm and bare > (1 + AS_GOOD) * warm,
            in_direction=warm < FAILED * bare,
            why="warm-up helps, and at this size not all the way"
            if warm < FAILED * bare
            else "with this seed warm-up made no difference: there was nothing to save it from, or it was too short",
        ),
    )


def _gradient_table(
    norms: dict[tuple[str, str], list[list[float]]], ratios: dict[tuple[str, str], list[float]]
) -> Grid:
    rows = [("text (weights not stated)", norm, *TEXT_ENDS[norm], f"{TEXT_RATIO[norm]:.2f}") for norm in NORMS]
    for (start, norm), each in norms.items():
        first, last = (sum(one[at] for one in each) / len(each) for at in (0, -1))
        rows.append((start, norm, first, last, spread_of(ratios[start, norm], ".2f")))
    columns = ("first weights", "norm", "block 1", f"block {DEEP}", "last / first, over seeds")
    return Grid("Gradient norms before any step", columns, tuple(rows), ("", "", ".4f", ".4f", ""))


def _table(worth: dict[tuple[str, bool], float], level: float) -> Grid:
    rows = tuple((_words(*key), TEXT[key], worth[key]) for key in TEXT)
    columns = ("stack", "text, byte pairs", "here")
    return Grid("Held-out perplexity", columns, (*rows, ("token frequencies alone", None, level)), ("", ".2f", ".2f"))


def _gradient_plot(start: str, norms: dict[tuple[str, str], list[list[float]]]) -> Plot:
    series = tuple(
        Series(
            f"{norm}-norm",
            range(1, DEEP + 1),
            [sum(each) / len(each) for each in zip(*norms[start, norm], strict=True)],
        )
        for norm in NORMS
    )
    return Plot(
        f"Gradients before any step, weights {start}", "block", "norm of the gradient", series, log_y=start == BY_PART6
    )


def _curves(found: dict[tuple[str, bool], dict[str, Any]]) -> Plot:
    series = tuple(
        Series(_words(*key), [EVERY * (i + 1) for i in range(len(one["losses"]))], one["losses"])
        for key, one in found.items()
    )
    return Plot("Training loss", "step", "nats", series)


def _bars(worth: dict[tuple[str, bool], float], level: float) -> Plot:
    names = [_words(*key) for key in worth]
    named = {f"token frequencies alone, {level:.1f}": level}
    bars = (Series("here", names, list(worth.values())),)
    return Plot("After training", "", "held-out perplexity", bars, kind="bars", levels=named)


def _words(norm: str, warm: bool) -> str:
    return f"{norm}-norm, {'warm-up' if warm else 'no warm-up'}"
