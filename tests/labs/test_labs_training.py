"""The labs that train: each runs on the solutions at a tiny size, and says of a figure what is true of it."""

import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from autograder.cli.labs import read_work
from autograder.labs import Lab, Settings, Work, data, find_lab, run_lab, save_report
from autograder.labs.bench import Bench
from autograder.labs.experiments import (
    _contexts,
    _depths,
    _engine,
    _grounds,
    _leaks,
    blocks,
    context,
    engine_blocks,
    engine_context,
    engine_heads,
    engine_leak,
    engine_seconds,
    heads,
    ladder,
    leak,
    scale,
)
from autograder.labs.meter import Meter
from autograder.labs.report import Verdict

ROOT = Path(__file__).resolve().parents[2]
LABS = ("scale", "ladder", "heads", "context", "leak", "blocks")
ENGINE_LABS = ("engine_heads", "engine_context", "engine_leak", "engine_blocks", "engine_seconds")
REPRODUCED, IN_DIRECTION, NOT_HERE = Verdict.REPRODUCED, Verdict.IN_DIRECTION, Verdict.NOT_HERE


@pytest.fixture(scope="module")
def solutions():
    return read_work(ROOT, solutions=True)


@pytest.fixture
def tiny(monkeypatch):
    """Shrink every setting until a lab takes a moment; tiny Shakespeare is not looked for."""
    monkeypatch.setattr("autograder.labs.data.has_shakespeare", lambda bench: False)
    monkeypatch.setattr(_engine, "has_shakespeare", lambda bench: False)
    few = partial(data.skip_induction, train=50, held_out=20)
    monkeypatch.setattr(data, "skip_induction", few)
    ground = replace(_grounds.QUICK[_grounds.EMBEDDED], width=16, context=8, batch=4, steps=4, warmup=2)
    monkeypatch.setattr(_grounds, "QUICK", {_grounds.EMBEDDED: ground})
    monkeypatch.setattr(_grounds, "_JUDGED", 8)
    monkeypatch.setattr(_engine, "WIDTH", 16)
    monkeypatch.setattr(_engine, "JUDGED", 64)
    monkeypatch.setattr(_engine, "QUICK", replace(_engine.QUICK, width=16, context=8, batch=2, steps=4))
    monkeypatch.setattr(scale, "WIDTHS", (32, 1024))
    monkeypatch.setattr(scale, "EVERY", 2)
    monkeypatch.setattr(scale, "QUICK_STEPS", 4)
    monkeypatch.setattr(leak, "LOOKED_AT", 2)
    monkeypatch.setattr(leak, "IN_THE_END", 2)
    monkeypatch.setattr(context, "CONTEXTS", (8, 16))
    monkeypatch.setattr(context, "TOKENS", 32)
    monkeypatch.setattr(context, "LOOKED_AT", 64)
    monkeypatch.setattr(heads, "LOOKED_AT", 4)
    monkeypatch.setattr(blocks, "COPY", replace(blocks.COPY, width=16, context=16, batch=4, steps=4))
    monkeypatch.setattr(blocks, "QUICK_STEPS", {_grounds.EMBEDDED: 4})
    monkeypatch.setattr(engine_context, "LONG", 32)
    for experiment in (engine_context, engine_blocks):
        monkeypatch.setattr(experiment, "QUICK", {"batch": 2, "steps": 4})
    for experiment in (leak, engine_leak):
        monkeypatch.setattr(experiment, "STEPS", 21)
    monkeypatch.setattr(engine_seconds, "DOCUMENTS", 10)
    monkeypatch.setattr(engine_seconds, "MOST_STEPS", 3)
    monkeypatch.setattr(engine_seconds, "CONTEXT", {_grounds.EMBEDDED: 16})
    _grounds._opened.cache_clear()
    yield
    _grounds._opened.cache_clear()


@pytest.mark.parametrize("name", [*LABS, *ENGINE_LABS])
def test_lab_runs_on_the_solutions_and_goes_on(name, solutions, tiny, tmp_path):
    report, about = run_lab(find_lab(name), solutions, Settings(tmp_path))
    assert report.findings
    assert report.grids
    assert report.plots
    assert any("tinyshakespeare.txt" in note for note in report.notes)
    assert len({one.claim for one in report.findings}) == len(report.findings)
    files = {path.name for path in save_report(report, about, tmp_path)}
    assert {f"{name}.json", f"{name}.html"} <= files
    text = (tmp_path / f"{name}.json").read_text()
    assert "the chapter" not in text
    again, _ = run_lab(find_lab(name), solutions, Settings(tmp_path))
    assert again.grids == report.grids


def test_full_takes_the_texts_settings_where_tiny_shakespeare_is(monkeypatch, tmp_path):
    monkeypatch.setattr("autograder.labs.data.has_shakespeare", lambda bench: True)
    chosen = _grounds.grounds(bench_for("ladder", Work({}), tmp_path, full=True))
    assert [one.on for one in chosen] == [_grounds.EMBEDDED, _grounds.BYTE_PAIRS]
    text = chosen[1]
    assert (text.width, text.context, text.batch, text.steps, text.lr) == (128, 128, 64, 3000, 1e-3)
    assert not text.positions


def bench_for(name: str, work: Work, folder: Path, *, full: bool = False) -> Bench:
    lab: Lab = find_lab(name)
    return Bench(lab, work, folder, full=full, seed=0, data=None, meter=Meter(None, name))


# --- what is changed for an experiment is changed, and nothing else


def test_undivided_scores_are_the_divided_ones_times_the_root(solutions, tmp_path):
    import torch

    bench = bench_for("scale", solutions, tmp_path)
    torch.manual_seed(0)
    divided = scale.WideHead(bench, 8, 64, 6, True)
    bare = scale.WideHead(bench, 8, 64, 6, False)
    bare.load_state_dict(divided.state_dict())
    x = torch.randn(2, 6, 8)
    torch.testing.assert_close(bare.look(x)[0], divided.look(x)[0] * 8)
    shares = (divided.look(x)[0] * 8).masked_fill(~bare.mask, -math.inf).softmax(-1)
    torch.testing.assert_close(bare.look(x)[1], shares)


def test_the_leaks_heads_with_a_mask_see_no_later_token_and_without_one_do(solutions, tmp_path):
    import torch

    bench = bench_for("leak", solutions, tmp_path)
    x = torch.randn(1, 6, 8)
    later = x.clone()
    later[:, 4:] += 1
    for masked in (True, False):
        layer = leak.Heads(bench, 8, 6, masked)
        moved = (layer(later) - layer(x))[:, :4].abs().max().item()
        assert (moved == 0) is masked


def test_the_engines_pass_is_the_students_where_nothing_is_left_out(solutions, tmp_path):
    bench = bench_for("engine_heads", solutions, tmp_path)
    idx = np.random.default_rng(0).integers(0, 11, (3, 5))
    whole = _engine.Engine(bench, _engine.Shape(heads=4, blocks=2), 11, 8, 0)
    assert whole.difference(idx) < 1e-4  # float32, logits of size about 1
    for left_out in ({"masked": False}, {"residual": False}):
        engine = _engine.Engine(bench, _engine.Shape(blocks=2, **left_out), 11, 8, 0)
        assert engine.difference(idx) > 1e-4


def test_an_honest_look_gives_a_masked_model_what_it_is_worth_anyway(solutions, tmp_path):
    bench = bench_for("engine_leak", solutions, tmp_path)
    docs = np.random.default_rng(0).integers(0, 11, (4, 9))
    for masked in (True, False):
        engine = _engine.Engine(bench, _engine.Shape(masked=masked), 11, 8, 0)
        engine.parameters["blocks.0.v"].data *= 50  # as drawn it is too small to tell
        engine.parameters["blocks.0.proj"].data *= 50
        same, honest = engine.nats(docs[:, :-1], docs[:, 1:]), engine.honest_nats(docs[:, :-1], docs[:, 1:])
        assert (abs(same - honest) < 1e-5) is masked


# --- verdicts


@pytest.mark.parametrize(
    ("text", "after", "verdict"),
    [
        (-0.23, 77.0, REPRODUCED),
        (-0.23, 90.0, IN_DIRECTION),
        (-0.23, 99.0, NOT_HERE),  # a tie
        (-0.23, 110.0, NOT_HERE),
        (-0.045, 101.0, NOT_HERE),  # within three points, but the other way
        (-0.045, 97.0, REPRODUCED),
    ],
)
def test_a_change_is_judged_by_sign_and_size(text, after, verdict):
    assert _grounds.change("a claim", text, 100.0, after, "because").verdict is verdict


@pytest.mark.parametrize(
    ("one", "four", "verdict"),
    [
        ([10.0, 10.2], [9.4, 9.5], REPRODUCED),
        ([10.0, 10.2], [8.0, 8.1], IN_DIRECTION),
        ([10.0, 10.2], [9.5, 10.1], NOT_HERE),
        ([10.0, 10.2], [11.0, 11.1], NOT_HERE),
    ],
)
def test_four_heads_are_better_only_where_no_seed_says_otherwise(one, four, verdict):
    found = heads.compared("here", one, four)
    assert found.verdict is verdict
    if max(four) > min(one):
        assert ("a tie" in found.why) is (min(four) < max(one))


def test_the_ladder_says_of_measured_perplexities_what_is_known_of_them():
    worth = dict(zip(ladder.RUNGS_HERE, (12.3, 25.0, 25.1, 12.6, 13.7, 12.5, 11.1, 11.1, 9.66, 9.74, 9.3), strict=True))
    found = ladder.judged("here", {rung: {"held_out": nats, "seen": nats} for rung, nats in worth.items()}, 0.5)
    verdicts = {one.claim.partition(": ")[2]: one.verdict for one in found}
    assert verdicts["the mean beside the token adds nothing"] is REPRODUCED
    assert verdicts["learned weights instead of uniform ones"] is IN_DIRECTION
    assert verdicts["four heads instead of one"] is NOT_HERE
    assert verdicts["LayerNorm in the block"] is NOT_HERE
    assert verdicts["two blocks instead of one, on what was not"] is NOT_HERE


def test_two_blocks_of_the_text_are_reproduced_by_its_own_figures():
    one, two = {"seen": 18.77, "held_out": 38.07}, {"seen": 14.49, "held_out": 40.57}
    assert [found.verdict for found in _grounds.two_blocks("text", one, two, 60)] == [REPRODUCED, REPRODUCED]


MASKED = {"train": 2.35, "same": 2.35, "honest": 2.36}


@pytest.mark.parametrize(
    ("bare", "verdicts"),
    [
        ({"train": 0.1, "same": 0.1, "honest": 6.0}, [REPRODUCED, NOT_HERE, REPRODUCED, REPRODUCED]),
        ({"train": 0.1, "same": 0.1, "honest": 3.0}, [REPRODUCED, NOT_HERE, IN_DIRECTION, REPRODUCED]),
        ({"train": 2.4, "same": 2.4, "honest": 2.4}, [NOT_HERE, REPRODUCED, NOT_HERE, REPRODUCED]),
    ],
)
def test_the_leak_is_told_truthfully(bare, verdicts):
    found = _leaks.findings_of("here", MASKED, bare, uniform=4.17, floor=None)
    assert [one.verdict for one in found] == verdicts
    if bare["same"] < 1:
        assert "false" in found[1].why
        assert "falls" in str(found[1].here)


def test_a_masked_model_that_looks_ahead_is_found_out():
    leaky = {"train": 0.1, "same": 0.1, "honest": 6.0}
    found = _leaks.findings_of("here", leaky, leaky, uniform=4.17, floor=1.48)
    assert "looks ahead" in found[3].why
    assert found[4].verdict is NOT_HERE  # both are below what is possible: the mask makes no difference


def test_a_longer_context_that_does_not_pay_is_a_tie():
    runs = {
        16: {"nats": 2.16, "seconds": 0.016, "sequences": 16},
        64: {"nats": 2.15, "seconds": 0.018, "sequences": 4},
    }
    gain, price = _contexts.findings_of("here", runs)
    assert gain.verdict is NOT_HERE
    assert "a tie" in gain.why
    assert price.verdict is REPRODUCED
    assert price.here == pytest.approx(4.5)


@pytest.mark.parametrize(("replaced", "verdict"), [(11.0, REPRODUCED), (10.1, NOT_HERE), (9.0, NOT_HERE)])
def test_without_the_residual_it_must_be_worse_by_more_than_a_seed(replaced, verdict):
    found = _depths.residual_finding("here", 10.0, replaced)
    assert found.verdict is verdict
    assert ("better without" in found.why) is (replaced < 9.5)


def test_the_copy_language_wants_both_numbers():
    right = {(1, True): 0.26, (2, True): 1.0, (2, False): 0.34}
    assert [one.verdict for one in blocks.copy_findings(right)] == [REPRODUCED, REPRODUCED]
    assert blocks.copy_findings({**right, (1, True): 0.95})[0].verdict is NOT_HERE
    assert blocks.copy_findings({**right, (2, True): 0.7})[0].verdict is IN_DIRECTION


@pytest.mark.parametrize(
    ("mlp", "transformer", "verdict", "word"),
    [
        (2.04, 2.3, REPRODUCED, "cheap updates beat"),
        (2.3, 2.0, NOT_HERE, "all the same"),
        (2.1, 2.11, NOT_HERE, "They tie"),
    ],
)
def test_the_race_names_who_leads_and_why(mlp, transformer, verdict, word):
    facts = {"steps": 1000, "ms": 1.0, "products": 10}
    race = {
        engine_seconds.BIGRAM: {"nats": 2.48},
        engine_seconds.MLP: {"nats": mlp, **facts},
        engine_seconds.TRANSFORMER: {"nats": transformer, **facts, "steps": 90},
    }
    found = engine_seconds.judged("characters", race)
    assert [one.verdict for one in found] == [REPRODUCED, verdict]
    assert word in engine_seconds.reason("characters", race)


def test_one_head_ahead_is_not_called_a_tie():
    assert "ahead" in engine_heads.compared("here", [2.0], [2.3]).why
    assert "a tie" in engine_heads.compared("here", [2.0], [2.01]).why
    assert "a tie" in engine_heads.compared("here", [2.0, 2.3], [1.8, 2.1]).why
    assert engine_heads.compared("here", [2.6], [2.5]).verdict is REPRODUCED


def test_multiply_adds_are_those_of_the_matrices():
    assert engine_seconds.multiply_adds(engine_seconds.MLP, 65, 16) == 8 * 16 * 128 + 128 * 65
    assert json.dumps(engine_seconds.multiply_adds(engine_seconds.TRANSFORMER, 65, 16))
