"""The labs that look into a model: each runs on the solutions at a tiny size, and judges figures by what they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.corpora import Referent
from autograder.labs import Settings, Work, find_lab, run_lab, save_report
from autograder.labs.bench import Bench
from autograder.labs.data import tokens
from autograder.labs.experiments import _peeked, _referents, induction, norms, positions, referent
from autograder.labs.meter import Meter
from autograder.labs.report import Heat, Verdict

ROOT = Path(__file__).resolve().parents[2]
REPRODUCED, IN_DIRECTION, NOT_HERE = Verdict.REPRODUCED, Verdict.IN_DIRECTION, Verdict.NOT_HERE
PLAN = {"block_size": 15, "n_layers": 2, "n_heads": 4, "d_model": 16}


@pytest.fixture(scope="module")
def solutions():
    """Give the parts as they are written, so that nothing has to be built first."""
    paths = (ROOT / "assignments").glob("part*/part*_*.py")
    return Work({path.stem: path.read_text(encoding="utf-8") for path in paths}, is_ours=True)


@pytest.fixture
def tiny(monkeypatch):
    """Shrink every setting until a lab takes a moment; tiny Shakespeare is not looked for."""
    monkeypatch.setattr("autograder.labs.data.has_shakespeare", lambda bench: False)
    small = {"width": 16, "context": 8, "batch": 2, "steps": 3, "warmup": 1}
    monkeypatch.setattr(norms, "QUICK", replace(norms.QUICK, **small))
    monkeypatch.setattr(norms, "DEEP", 3)
    quick = {on: replace(ground, **small) for on, ground in positions.QUICK.items()}
    monkeypatch.setattr(positions, "QUICK", quick)
    monkeypatch.setattr(positions, "JUDGED", 64)
    monkeypatch.setattr(positions, "DOCUMENTS", 20)
    monkeypatch.setattr(referent, "SIZES", {"width": 16, "batch": 4})
    monkeypatch.setattr(referent, "STEPS", dict.fromkeys(referent.STEPS, (2, 2)))
    monkeypatch.setattr(induction, "DOCUMENTS", 20)
    monkeypatch.setattr(induction, "JUDGED", 8)
    monkeypatch.setattr(induction, "EVERY", 2)
    monkeypatch.setattr(induction, "QUICK", {"width": 16, "steps": 4, "batch": 4, "lr": 5e-3})


def bench_for(name: str, work: Work, folder: Path, *, full: bool = False) -> Bench:
    return Bench(find_lab(name), work, folder, full=full, seed=0, data=None, meter=Meter(None, name))


@pytest.mark.parametrize("name", ["norms", "positions", "referent", "induction"])
def test_lab_runs_on_the_solutions_and_goes_on(name, solutions, tiny, tmp_path):
    report, about = run_lab(find_lab(name), solutions, Settings(tmp_path))
    assert report.findings
    assert report.grids
    assert report.plots
    assert len({one.claim for one in report.findings}) == len(report.findings)
    files = {path.name for path in save_report(report, about, tmp_path)}
    assert {f"{name}.json", f"{name}.html"} <= files
    assert "the chapter" not in (tmp_path / f"{name}.json").read_text()
    again, about = run_lab(find_lab(name), solutions, Settings(tmp_path))
    assert again.grids == report.grids
    assert about["reused"] > 0


def test_both_sentences_of_a_pair_are_drawn(solutions, tiny, tmp_path):
    report, _ = run_lab(find_lab("referent"), solutions, Settings(tmp_path))
    maps = [one for one in report.plots if isinstance(one, Heat)]
    assert [sum(f"'{word}'" in one.title for one in maps) for word in ("tired", "wet")] == [4, 4]
    assert {len(one.column_labels) for one in maps} == {15}
    assert all(len(one.values) == len(one.row_labels) for one in maps)


# --- what is measured is what it is called


def test_only_what_is_determined_is_trained(solutions, tmp_path):
    language = Referent()
    trained, _ = language.split(np.random.default_rng(0), 40)
    data = referent.questions(language, trained)
    x, y = data.batch(5, 15, torch.Generator().manual_seed(0))
    assert x.shape == y.shape == (5, 15)
    assert (y[:, :-1] == _peeked.NOT_COUNTED).all()
    nouns = x[:, [language.crosser_at, language.crossed_at]]
    assert (nouns == y[:, -1:]).sum(1).eq(1).all()


def test_scores_of_blocks_give_the_maps(solutions, tmp_path):
    bench = bench_for("referent", solutions, tmp_path)
    model = _peeked.small_gpt(bench, 0, spread=1.0, vocab_size=11, **PLAN)
    idx = torch.randint(11, (3, 15))
    scores = _peeked.scores_of_blocks(model, idx)
    maps = bench.part("part8").attention_maps(model, idx)
    future = torch.ones(15, 15, dtype=torch.bool).triu(1)
    for each, weights in zip(scores, maps, strict=True):
        torch.testing.assert_close(each.masked_fill(future, -torch.inf).softmax(-1), weights, atol=1e-5, rtol=0)


def test_redrawing_changes_matrices_alone_and_follows_its_seed(solutions, tmp_path):
    bench = bench_for("referent", solutions, tmp_path)
    torch.manual_seed(0)
    one, same = (_peeked.small_gpt(bench, 3, spread=1.0, vocab_size=11, **PLAN).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    own = _peeked.small_gpt(bench, 3, spread=None, vocab_size=11, **PLAN).state_dict()
    assert all(torch.equal(one[name], own[name]) == (one[name].ndim < 2) for name in one)


def test_untrained_the_scores_beside_the_adjective_are_equal_in_the_first_block_alone(solutions, tmp_path):
    bench = bench_for("referent", solutions, tmp_path)
    language = Referent()
    model = referent.build(bench, referent.TWO, language.vocab_size, 16, seed=0)
    first, second = referent.looked_at(bench, model, language)["equal"]
    assert first["scores beside the adjective"] < 1e-6 < first["scores on the adjective"]
    assert first["weights, adjective's column left out"] < 1e-6 < first["weights"]
    assert second["scores beside the adjective"] > 1e-3


def test_silenced_attention_comes_back(solutions, tmp_path):
    bench = bench_for("induction", solutions, tmp_path)
    model = _peeked.small_gpt(bench, 0, spread=1.0, vocab_size=32, **PLAN)
    docs = tokens(np.random.default_rng(0).integers(0, 32, (4, 9)))
    before = model(docs)
    induction.silenced(model, 0, docs, torch.ones_like(docs, dtype=torch.bool))
    assert torch.equal(model(docs), before)


@pytest.mark.parametrize("kind", positions.KINDS)
def test_each_kind_reads_four_times_the_trained_length(kind, solutions, tmp_path):
    bench = bench_for("positions", solutions, tmp_path)
    model = positions.build(bench, kind, 11, 16, 32)
    idx = torch.randint(11, (1, 32))
    logits = model(idx)
    assert logits.shape == (1, 32, 11)
    swapped = model(idx[:, [1, 0, *range(2, 32)]])
    assert not torch.allclose(swapped[:, -1], logits[:, -1], atol=1e-6)  # it knows where a token stands


def test_full_takes_the_texts_settings():
    text = norms.FULL
    assert (text.width, text.context, text.batch, text.steps, text.lr, text.warmup) == (128, 128, 64, 1000, 3e-3, 200)
    assert norms.DEEP == 12
    assert positions.FULL["byte pairs"].context == 64


# --- verdicts


def test_the_texts_own_figures_are_reproduced():
    assert [one.verdict for one in norms.training_findings(norms.TEXT, 310.0)] == [REPRODUCED] * 3
    assert norms.ratio_finding("post", {"a": [1.6, 1.7], "b": [1.65]}).verdict is REPRODUCED
    assert norms.grows_finding([1.3, 1.34], [1.6, 1.7]).verdict is REPRODUCED


@pytest.mark.parametrize(
    ("bare", "warm", "verdicts"),
    [
        (29.0, 12.5, [REPRODUCED, REPRODUCED, IN_DIRECTION]),
        (14.7, 12.0, [REPRODUCED, IN_DIRECTION, REPRODUCED]),
        (12.8, 12.6, [REPRODUCED, NOT_HERE, NOT_HERE]),
        (29.0, 28.9, [REPRODUCED, REPRODUCED, NOT_HERE]),
    ],
)
def test_warm_up_is_judged_by_who_learned(bare, warm, verdicts):
    worth = {("pre", False): 11.5, ("pre", True): 11.6, ("post", False): bare, ("post", True): warm}
    found = norms.training_findings(worth, 28.5)
    assert [one.verdict for one in found] == verdicts
    assert "does not learn" in found[1].claim
    assert "12" not in found[1].why  # no figure of one seed stands in a sentence for all of them


def test_measured_ratios_are_not_called_the_texts():
    found = norms.ratio_finding("pre", {norms.BY_TORCH: [0.8, 0.87], norms.BY_PART6: [0.73, 0.84]})
    assert found.verdict is NOT_HERE
    assert norms.grows_finding([0.8, 0.87], [0.91, 1.05]).verdict is IN_DIRECTION
    assert "overlap" in norms.grows_finding([0.8, 0.95], [0.91, 1.05]).why


def test_positions_are_judged_as_measured():
    worth = {"learned": [6.3, 13.0, 20.8], "sinusoidal": [6.6, 12.4, 20.1], "rope": [6.1, 8.0, 13.0]}
    found = positions.judged("here", {**worth, "alibi": [7.6, 7.7, 8.8]})
    assert [one.verdict for one in found] == [NOT_HERE, REPRODUCED, REPRODUCED, REPRODUCED, NOT_HERE]
    assert "it loses least of the four" in found[4].why
    byte_pairs = {"learned": [81, 99, 117], "sinusoidal": [82, 99, 117], "rope": [66, 65, 66.5]}
    found = positions.judged("here", {**byte_pairs, "alibi": [67.0, 64.6, 65.4]})
    assert [one.verdict for one in found] == [NOT_HERE, IN_DIRECTION, REPRODUCED, IN_DIRECTION, REPRODUCED]
    text = positions.absolute([44.95, 43.0, 42.49])
    assert [one.verdict for one in text] == [REPRODUCED, REPRODUCED]


def referents(mean, one, two, leaky_mean, leaky_one, other=0.5):
    shares = dict(zip(referent.CASES, (mean, one, two, leaky_mean, leaky_one), strict=True))
    return {case: [{"right": right, "other": other} for right in each] for case, each in shares.items()}


def test_referents_are_judged_over_all_seeds():
    text = referents([0.279], [0.927], [1.0], [1.0], [0.917])
    assert [one.verdict for one in _referents.right_findings(text)] == [REPRODUCED] * 6
    here = referents([0.47, 0.35], [0.5, 1.0], [1.0, 0.92], [0.91, 1.0], [0.98, 1.0], other=0.59)
    verdicts = [one.verdict for one in _referents.right_findings(here)]
    assert verdicts == [IN_DIRECTION, IN_DIRECTION, IN_DIRECTION, IN_DIRECTION, IN_DIRECTION, NOT_HERE]


def test_equal_scores_are_exact_and_equal_rows_are_a_mistake():
    first = {"scores beside the adjective": 0.0, "weights": 0.26}
    found = _referents.equal_findings([first, {"scores beside the adjective": 0.9, "weights": 0.9}])
    assert [one.verdict for one in found] == [NOT_HERE, REPRODUCED, REPRODUCED]
    assert "false" in found[0].why
    ahead = _referents.equal_findings([{**first, "scores beside the adjective": 1e-3}, first])
    assert [one.verdict for one in ahead[1:]] == [NOT_HERE, NOT_HERE]


def copier(right, before, follows, silent):
    return {
        "right": right,
        "before": [[before / 2], [0.1]],
        "before_once": [before],
        "follows": [[0.1], [follows]],
        "silenced": [silent, 0.0],
        "followed": {"step": [20, 40], "right": [0.2, right]},
    }


SINGLE = {**copier(0.27, 0.1, 0.0, 0.0), "follows": [[0.17]]}


def test_two_blocks_need_both_heads():
    two, slow = copier(1.0, 0.9, 0.98, 0.1), copier(0.3, 0.2, 0.1, 0.1)
    assert [one.verdict for one in induction.findings_of([two], [SINGLE], [slow])] == [REPRODUCED] * 6
    found = induction.findings_of([two, slow], [SINGLE], [two])
    assert [one.verdict for one in found] == [NOT_HERE, NOT_HERE, NOT_HERE, REPRODUCED, IN_DIRECTION, NOT_HERE]
    assert induction.start_finding([140], [200]).here == "step 200 against step 140"
    assert induction.start_finding([140, 160], [None, 200]).here == "never against step 160"
    assert induction.start_finding([None], [200]).verdict is NOT_HERE
