"""On your own engine, at equal seconds: counts, a window MLP and a transformer, and why the MLP can lead."""

import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.corpora import mean_nats
from autograder.labs.bench import Bench
from autograder.labs.data import Data
from autograder.labs.experiments import _engine as own
from autograder.labs.experiments import _grounds as on
from autograder.labs.experiments._grounds import Ground
from autograder.labs.lm.by_numpy import Adam
from autograder.labs.report import Finding, Grid, Plot, Report, Series, judge

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS = ("part9",)

BIGRAM, MLP, TRANSFORMER = "bigram", "window MLP", "transformer"
WINDOW, D_EMBED, D_HIDDEN, ROWS = 8, 16, 128, 128  # of the MLP; rows: examples a step
CONTEXT = {on.EMBEDDED: 32, on.CHARACTERS: 16}  # of the transformer; what followed the last time needs a long one
LOOKS = 8  # times that a model is judged while it learns
DOCUMENTS = 2_000  # whose pairs are counted: more change nothing that can be seen
MOST_STEPS = 100_000
LEAD = 0.02  # nats: less is a tie

Judge = Callable[[], float]
Step = Callable[[float, int], None]


def raced(bench: Bench, model: str, seconds: float, seed: int, **ground: Any) -> dict[str, Any]:
    """Train one model for so many of the processor's seconds, and judge it on the way.

    All models are judged on the same tokens: those of the held-out windows that have eight before them.
    """
    here = Ground(**ground)
    data = on.open_ground(bench, here)
    x, y = own.windows(data, here.context)
    if model == BIGRAM:
        return _counted(bench, data, x, y)
    step, worth = (_mlp if model == MLP else _transformer)(bench, here, data, seed, x, y)
    followed: dict[str, list[float]] = {"step": [0], "seconds": [0.0], "nats": [worth()]}
    used, n_steps, times = 0.0, 0, []
    while used < seconds and n_steps < MOST_STEPS:
        share = used / seconds
        began = time.process_time()
        step(here.lr * (here.late if share > 0.7 else 1.0), n_steps + 1)
        times.append(time.process_time() - began)
        used, n_steps = used + times[-1], n_steps + 1
        if used >= len(followed["step"]) * seconds / LOOKS or used >= seconds:
            for key, value in zip(followed, (n_steps, used, worth()), strict=True):
                followed[key].append(value)
        bench.tick(min(used / seconds, 1.0), f"{model}, step {n_steps}")
    rows = ROWS if model == MLP else here.batch * here.context
    return {
        "nats": followed["nats"][-1],
        "followed": followed,
        "steps": n_steps,
        "seconds": used,
        "ms": 1000 * median(times),
        "predictions": n_steps * rows,
        "products": multiply_adds(model, data.vocab_size, here.context),
    }


def multiply_adds(model: str, vocab_size: int, context: int) -> int:
    """Count the multiply-adds of the matrix products of one prediction, forward."""
    if model == MLP:
        return WINDOW * D_EMBED * D_HIDDEN + D_HIDDEN * vocab_size
    return 12 * own.WIDTH**2 + 2 * context * own.WIDTH + own.WIDTH * vocab_size


def _counted(bench: Bench, data: Data, x: "NDArray[np.int64]", y: "NDArray[np.int64]") -> dict[str, Any]:
    """Count pairs with the student's function, and judge the table: no step is needed."""
    began = time.process_time()
    rows = data.train.numpy().reshape(-1, data.train.shape[-1])  # documents, or one stream
    table = sum(bench.part("part9").bigram_counts(row, data.vocab_size) for row in rows[:DOCUMENTS]) + 1.0
    used = time.process_time() - began
    worth = mean_nats(np.log(table)[x[:, WINDOW - 1 :]], y[:, WINDOW - 1 :])
    return {"nats": worth, "seconds": used, "predictions": int(table.sum() - table.size)}


def _mlp(
    bench: Bench, here: Ground, data: Data, seed: int, x: "NDArray[np.int64]", y: "NDArray[np.int64]"
) -> tuple[Step, Judge]:
    mlp = bench.part("part9").WindowMLP(data.vocab_size, WINDOW, D_EMBED, D_HIDDEN, rng=np.random.default_rng(seed))
    adam, rng = Adam(mlp.params), bench.rng(seed)
    text = data.train.numpy().reshape(-1, data.train.shape[-1])  # documents, or one stream
    reach = np.arange(WINDOW + 1)

    def step(lr: float, number: int) -> None:
        row = rng.integers(0, len(text), (ROWS, 1))
        first = rng.integers(0, text.shape[1] - WINDOW, (ROWS, 1))
        taken = text[row, first + reach]
        _, grads = mlp.loss_and_grads(taken[:, :-1], taken[:, -1])
        for name, update in adam.updates(grads, lr, number).items():
            mlp.params[name] = mlp.params[name] + update

    seen = np.lib.stride_tricks.sliding_window_view(x, WINDOW, axis=1).reshape(-1, WINDOW)
    wanted = y[:, WINDOW - 1 :].reshape(-1)
    return step, lambda: float(mlp.loss_and_grads(seen, wanted)[0])


def _transformer(
    bench: Bench, here: Ground, data: Data, seed: int, x: "NDArray[np.int64]", y: "NDArray[np.int64]"
) -> tuple[Step, Judge]:
    engine = own.Engine(bench, own.Shape(), data.vocab_size, here.context, seed)
    adam = Adam({name: parameter.data for name, parameter in engine.parameters.items()})
    generator = bench.generator(seed)

    def step(lr: float, number: int) -> None:
        batch = (ids.numpy() for ids in data.batch(here.batch, here.context, generator))
        _, grads = engine.gradients(*batch)
        for name, update in adam.updates(grads, lr, number).items():
            engine.parameters[name].data = engine.parameters[name].data + update.astype(np.float32)

    return step, lambda: mean_nats(engine.logits(x).data[:, WINDOW - 1 :], y[:, WINDOW - 1 :])


def run(bench: Bench) -> Report:
    """Race on every ground."""
    seconds = bench.choose(6.0, 60.0)
    chosen = [
        Ground(one.on, own.WIDTH, CONTEXT[one.on], one.batch, one.steps, one.lr, late=one.late)
        for one in own.grounds(bench, steps=0)  # until the time is up
    ]
    plan = [
        {"model": model, "seconds": seconds, **ground.settings()}
        for ground in chosen
        for model in (BIGRAM, MLP, TRANSFORMER)
    ]
    found = bench.measure(raced, plan, lambda s: 0.01 if s["model"] == BIGRAM else 1.0)
    races = {
        ground.on: dict(zip((BIGRAM, MLP, TRANSFORMER), found[3 * i : 3 * i + 3], strict=True))
        for i, ground in enumerate(chosen)
    }
    findings = [each for name, race in races.items() for each in judged(name, race)]
    plots = [_plot(name, race, key) for name, race in races.items() for key in ("seconds", "step")]
    return Report(
        findings=tuple(findings),
        grids=(_table(races),),
        plots=tuple(plots),
        notes=(*on.notes_on(chosen), *(reason(name, race) for name, race in races.items())),
        data=f"{seconds:g} of the processor's seconds for each model, Adam at {chosen[0].lr:g}; judged on the same "
        f"tokens, those with {WINDOW} before them; MLP: window {WINDOW}, {D_EMBED} numbers a token, {D_HIDDEN} hidden, "
        f"{ROWS} examples a step; transformer: width {own.WIDTH}, one block, float32, "
        + ", ".join(f"context {ground.context} ({ground.on})" for ground in chosen),
    )


def judged(name: str, race: dict[str, dict[str, Any]]) -> list[Finding]:
    """Judge whether both learn more than counts and, on characters, whether the MLP leads at equal seconds."""
    bigram, mlp, transformer = (race[model]["nats"] for model in (BIGRAM, MLP, TRANSFORMER))
    findings = [
        judge(
            f"{name}: MLP and transformer beat the bigram",
            "both",
            " and ".join(word for word, nats in ((MLP, mlp), (TRANSFORMER, transformer)) if nats < bigram) or "none",
            reproduced=max(mlp, transformer) < bigram,
            in_direction=min(mlp, transformer) < bigram,
            why="so few seconds were not enough for one of them",
        )
    ]
    if name == on.CHARACTERS:
        lead = transformer - mlp
        why = "a tie" if abs(lead) <= LEAD else "here the transformer leads"
        findings.append(
            judge(
                f"{name}: nats by which the MLP leads at equal seconds",
                "leads (no figure)",
                lead,
                reproduced=lead > LEAD,
                why=f"{why}: with more seconds, or a faster graph, the number of updates no longer decides",
                style="+.3f",
            )
        )
    return findings


def reason(name: str, race: dict[str, dict[str, Any]]) -> str:
    """Say in words why the one that leads does."""
    mlp, transformer = race[MLP], race[TRANSFORMER]
    told = (
        f"{name}: in the same time the MLP made {mlp['steps']:,} updates and the transformer "
        f"{transformer['steps']:,}, at {mlp['ms']:.1f} and {transformer['ms']:.1f} ms each; one prediction takes the "
        f"transformer {transformer['products'] / mlp['products']:.1f} times the multiply-adds. "
    )
    if mlp["nats"] + LEAD < transformer["nats"]:
        if name == on.CHARACTERS:
            told += "Most of what can be known of a character stands in the last eight, so a window loses little. "
        return told + "Many cheap updates beat few dear ones."
    if transformer["nats"] + LEAD < mlp["nats"]:
        return told + (
            "The transformer leads all the same: what it takes stands further back than the window, or at a distance "
            "that changes, and no number of updates teaches a window to look there."
        )
    return told + "They tie, one by many cheap updates, the other by what each of its few teaches it."


def _table(races: dict[str, dict[str, dict[str, Any]]]) -> Grid:
    columns = (
        "model",
        "held out, nats",
        "seconds",
        "updates",
        "ms an update",
        "predictions seen",
        "multiply-adds each",
    )
    rows = tuple(
        (
            f"{name}, {model}",
            one["nats"],
            one["seconds"],
            one.get("steps"),
            one.get("ms"),
            one["predictions"],
            one.get("products"),
        )
        for name, race in races.items()
        for model, one in race.items()
    )
    return Grid("At equal seconds", columns, rows, ("", ".3f", ".2f", ",d", ".2f", ",d", ",d"))


def _plot(name: str, race: dict[str, dict[str, Any]], key: str) -> Plot:
    runs = {model: race[model]["followed"] for model in (MLP, TRANSFORMER)}
    series = tuple(Series(model, run[key][1:], run["nats"][1:]) for model, run in runs.items())
    by = {"seconds": "processor's seconds", "step": "updates"}[key]
    bigram = race[BIGRAM]["nats"]
    return Plot(
        f"Held out by {by}: {name}", by, "nats", series, log_x=key == "step", levels={f"bigram, {bigram:.2f}": bigram}
    )
