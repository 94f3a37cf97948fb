"""Which noun waited? One adjective decides, and maps of attention show who asks it."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from autograder.corpora import Referent
from autograder.labs.bench import Bench
from autograder.labs.data import tokens
from autograder.labs.experiments._peeked import NOT_COUNTED, WHY_REDRAWN, Determined, scores_of_blocks, small_gpt
from autograder.labs.experiments._referents import (
    equal_findings,
    equal_table,
    map_findings,
    reading_table,
    right_findings,
    right_table,
)
from autograder.labs.report import Heat, Plot, Report, Series
from autograder.labs.training import fit

if TYPE_CHECKING:
    from torch import Tensor, nn

PARTS = ("part1", "part6", "part8")
ON_DEVICE = True

MEAN, ONE, TWO = "mean", "1 block", "2 blocks"
CASES = ((False, MEAN), (False, ONE), (False, TWO), (True, MEAN), (True, ONE))
BLOCKS = {ONE: 1, TWO: 2}
HEADS = 4
LONGEST = 15  # words that a question has
SIZES = {"width": 32, "batch": 32}
TEXT_SIZES = {"width": 64, "batch": 64}
STEPS = {MEAN: (600, 1500), ONE: (300, 1000), TWO: (300, 1000)}  # quick, full
RATES = {MEAN: (2e-2, 1e-2), ONE: (1e-2, 1e-3), TWO: (1e-2, 1e-3)}
SHOWN = "the dog did not cross the street because it was too {} , so the"
TWINS = ("tired", "wet")


def answered(
    bench: Bench, leaky: bool, reader: str, steps: int, lr: float, width: int, batch: int, seed: int
) -> dict[str, Any]:
    """Train one reader to name the referent, count on pairs that it never saw, and look into it."""
    language = Referent(leaky)
    trained, held_out = language.split(bench.rng(seed))
    model = build(bench, reader, language.vocab_size, width, seed)
    fit(
        bench,
        model,
        questions(language, trained),
        steps=steps,
        batch_size=batch,
        block_size=LONGEST,
        lr=lr,
        seed=seed,
        warmup_steps=steps // 10,
        late=0.3,
    )
    asked = language.sentences(held_out)
    share = bench.part("part8").referent_accuracy
    idx = tokens(asked.questions)
    found: dict[str, Any] = {
        "right": float(share(model, idx, tokens(asked.answers))),
        "other": float(share(model, idx, tokens(asked.others))),
    }
    if reader == TWO:
        found |= looked_at(bench, model, language)
        found["fresh"] = looked_at(bench, build(bench, reader, language.vocab_size, width, seed + 1), language)["equal"]
    return found


def build(bench: Bench, reader: str, vocab_size: int, width: int, seed: int) -> "nn.Module":
    """Build a reader: part 1's mean beside the token, or part 6's GPT with one block or two."""
    if reader == MEAN:
        mean: nn.Module = bench.part("part1").MeanLM(vocab_size, width, LONGEST, positions=True, residual=True)
        return mean
    sizes = {"block_size": LONGEST, "d_model": width, "n_heads": HEADS}
    return small_gpt(bench, seed, spread=1.0, n_layers=BLOCKS[reader], vocab_size=vocab_size, **sizes)


def questions(language: Referent, pairs: Any) -> Determined:
    """Write the sentences up to the word that is asked for; nothing but that word counts."""
    told = language.sentences(pairs)
    targets = np.full(told.questions.shape, NOT_COUNTED)
    targets[:, -1] = told.answers
    idx = tokens(told.questions)
    return Determined("referents", language.vocab_size, idx, idx, targets=tokens(targets))


def looked_at(bench: Bench, model: "nn.Module", language: Referent) -> dict[str, Any]:
    """Compare both sentences of a pair: maps, answers, and what is equal between them.

    Returns:
        ``maps`` [sentence][block][head] (T, T), ``answers`` (words), and ``equal``: for each block, how much the last
        rows of the two differ.
    """
    idx = tokens(np.stack([language.encode(SHOWN.format(adjective)) for adjective in TWINS]))
    maps = [bench.part("part8").attention_maps(model, row) for row in torch.split(idx, 1)]  # each sentence alone
    at = language.adjective_at
    beside = [i for i in range(idx.shape[1]) if i != at]
    equal = []
    for block, scores in enumerate(scores_of_blocks(model, idx)):
        tired, wet = scores[:, :, -1]  # (h, T) each
        weights = torch.stack([each[block][0, :, -1] for each in maps])  # (2, h, T)
        rest = weights[..., beside] / weights[..., beside].sum(-1, keepdim=True)
        equal.append(
            {
                "scores beside the adjective": _apart(tired[:, beside], wet[:, beside]),
                "scores on the adjective": _apart(tired[:, at], wet[:, at]),
                "weights": _apart(*weights),
                "weights, adjective's column left out": _apart(*rest),
            }
        )
    with torch.no_grad():
        said = [language.words[int(model(row)[0, -1].argmax())] for row in torch.split(idx, 1)]
    return {"maps": [[block[0].tolist() for block in each] for each in maps], "answers": said, "equal": equal}


def _apart(a: "Tensor", b: "Tensor") -> float:
    return (a - b).abs().max().item()


def run(bench: Bench) -> Report:
    """Train the readers on the fair and on the leaky language, and draw one pair's maps."""
    which = bench.choose(0, 1)
    sizes = bench.choose(SIZES, TEXT_SIZES)
    plan = [
        {
            "leaky": leaky,
            "reader": reader,
            "steps": STEPS[reader][which],
            "lr": RATES[reader][which],
            **sizes,
            "seed": s,
        }
        for leaky, reader in CASES
        for s in bench.seeds(bench.choose(3, 5))
    ]
    found = bench.measure(answered, plan, lambda s: s["steps"] * s["batch"] * (0.15, 1, 2)[BLOCKS.get(s["reader"], 0)])
    by_case = {
        case: [one for one, s in zip(found, plan, strict=True) if (s["leaky"], s["reader"]) == case] for case in CASES
    }
    shown = max(by_case[False, TWO], key=lambda one: one["right"])  # the first of those that learned it best
    return Report(
        findings=(*right_findings(by_case), *map_findings(shown), *equal_findings(shown["equal"])),
        grids=(right_table(by_case), reading_table(shown), equal_table(shown["equal"], shown["fresh"])),
        plots=(*_pictures(shown), _bars(by_case)),
        notes=(
            "Only the last word of a question is trained and judged: with a loss at every position, as for text, most "
            "of what a model learns here is the frame, which no one asks about. Two blocks trained so for 500 steps at "
            "1e-3, 64 wide, were right with ten seeds of ten; the shorter training of a quick run is 32 wide, at 1e-2.",
            WHY_REDRAWN + " Left as they are, two blocks stay between 30 and 55 % in a quick run.",
            "What is equal in both sentences of a pair, exactly: in the first block, the scores of the last position "
            "at every column but the adjective's. The question (the last 'the') and all other keys are made of the "
            "same words at the same places. The weights are not equal: the adjective is a key too, and what it "
            "takes, the others lose. Leave its column out, share the rest out anew, and they are equal again, up to "
            "rounding. In the second block nothing is equal any more: its input has read the adjective.",
            "How much of that is to be seen differs by seed, since heads divide the work as they please: the text's "
            "0.70 and 1.00 belong to its own model. The pair that is drawn is the text's, whether or not this draw has "
            "trained it.",
        ),
        data=f"the referent language, 16 nouns, {'; '.join(sorted({_words(s) for s in plan}))}",
    )


def _words(settings: dict[str, Any]) -> str:
    return f"{settings['reader']}: width {settings['width']}, {settings['steps']} steps of AdamW at {settings['lr']:g}"


def _pictures(shown: dict[str, Any]) -> list[Heat]:
    """Draw each block's mean map of both sentences, and what each head reads at the last position."""
    pictures = []
    for draw_heads in (False, True):
        for block in (0, 1):
            for adjective, maps, answer in zip(TWINS, shown["maps"], shown["answers"], strict=True):
                words = tuple(SHOWN.format(adjective).split())
                heads = torch.tensor(maps[block])  # (h, T, T)
                values = heads[:, -1] if draw_heads else heads.mean(0)
                rows = tuple(f"head {i + 1}" for i in range(len(heads))) if draw_heads else words
                what = f"at the last word, which names the {answer}" if draw_heads else "mean of the heads"
                pictures.append(Heat(f"block {block + 1}, '{adjective}': {what}", values.tolist(), rows, words))
    return pictures


def _bars(by_case: dict[tuple[bool, str], list[dict[str, Any]]]) -> Plot:
    names = [f"{reader}, {'leaky' if leaky else 'fair'}" for leaky, reader in by_case]
    series = tuple(
        Series(word, names, [sum(one[key] for one in each) / len(each) for each in by_case.values()])
        for word, key in (("right", "right"), ("the other noun", "other"))
    )
    return Plot("Held-out pairs, mean of the seeds", "", "share of the sentences", series, kind="bars")
