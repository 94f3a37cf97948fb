"""A part's mistakes are replayed through its own checks, and what a student gives is named by them."""

import json
import sys

import pytest
from part_with_mistakes import SOLUTION

from autograder.checks.catalogue import PUBLIC_SEED, Compiled, NoCatalogue, Replays
from autograder.checks.local import InProcessWorker, run_check
from autograder.parts import load_parts
from autograder.records import Limits, Outcome
from autograder.suite import run_part


@pytest.fixture
def replays(part):
    return Replays(part, {"part1_toy": SOLUTION}, seed=3, hidden=True)


def test_each_mistake_fails_the_checks_that_its_exercise_is_in_and_no_other(replays):
    assert sorted(replays.lookup("mean")) == ["divided_by_columns", "sum_instead"]
    assert sorted(replays.lookup("shape")) == []
    assert sorted(replays.lookup("layer")) == [
        "divided_by_columns", "half_as_wide", "sum_instead", "weights_added",
    ]  # fmt: skip


def test_a_mistake_is_told_in_one_line(replays):
    assert replays.told("sum_instead") == "These are sums: nothing was divided."


@pytest.fixture
def ran(monkeypatch):
    """Record (check, connection) of every run of a check."""
    from autograder.checks import catalogue

    calls = []

    def note(function, check_id, connection, *rest, **named):
        calls.append((check_id, connection))
        return run_check(function, check_id, connection, *rest, **named)

    monkeypatch.setattr(catalogue, "run_check", note)
    return calls


def test_a_check_is_replayed_once_and_only_when_it_is_asked_for(part, ran):
    replays = Replays(part, {"part1_toy": SOLUTION}, seed=3, hidden=True)
    assert ran == []
    replays.lookup("mean")
    first = len(ran)
    assert {check_id for check_id, _ in ran} == {"mean"}
    replays.lookup("mean")
    assert len(ran) == first


def test_only_mistakes_in_what_a_check_calls_are_replayed(part, ran):
    Replays(part, {"part1_toy": SOLUTION}, seed=3, hidden=True).lookup("mean")
    assert len(ran) == 3  # the right solution and the two mistakes of mean, none of Layer


def test_replaying_leaves_no_profiler_no_module_and_no_setting_behind(replays):
    before = sys.getprofile()
    replays.lookup("layer")
    assert sys.getprofile() is before
    assert not [name for name in sys.modules if name.startswith("part1_toy")]


def grade(part, text, catalogue, seed=3):
    results = run_part(part, {"part1_toy": text}, InProcessWorker, seed=seed, limits=Limits(), catalogue=catalogue)
    return {result.check.id: result for result in results}


WRONG = SOLUTION.replace("x.sum(0) / x.shape[0]", "x.mT.sum(-1)")


def test_a_students_own_version_of_a_mistake_is_named_in_every_check_that_shows_it(part, replays):
    results = grade(part, WRONG, replays)
    assert {name: result.mistake for name, result in results.items()} == {
        "mean": "sum_instead", "shape": None, "layer": "sum_instead",
    }  # fmt: skip
    assert results["mean"].diagnosis == "These are sums: nothing was divided."
    assert results["shape"].outcome is Outcome.PASSED


def test_an_unknown_mistake_is_not_named(part, replays):
    results = grade(part, SOLUTION.replace("/ x.shape[0]", "/ 7"), replays)
    assert results["mean"].outcome is Outcome.FAILED
    assert (results["mean"].mistake, results["mean"].diagnosis) == (None, "")


def test_what_was_compiled_names_the_same_without_a_line_of_code(part, tmp_path):
    compiled = Replays(part, {"part1_toy": SOLUTION}, PUBLIC_SEED, hidden=False).compiled()
    text = json.dumps(compiled)
    for secret in ("x.sum", "shape[1]", "def ", "nn.Module"):
        assert secret not in text
    (tmp_path / "diagnoses.json").write_text(text)
    public = load_parts(part.folder.parent, hidden=False)["part1"]
    results = grade(public, WRONG, Compiled(tmp_path / "diagnoses.json"), seed=PUBLIC_SEED)
    assert results["mean"].mistake == "sum_instead"
    assert results["mean"].diagnosis == "These are sums: nothing was divided."
    assert "layer" not in compiled["checks"]


def test_numbers_of_another_seed_are_not_named(part, tmp_path):
    compiled = Replays(part, {"part1_toy": SOLUTION}, PUBLIC_SEED, hidden=True).compiled()
    (tmp_path / "diagnoses.json").write_text(json.dumps(compiled))
    assert grade(part, WRONG, Compiled(tmp_path / "diagnoses.json"), seed=4)["mean"].mistake is None


def test_a_part_without_known_mistakes_is_graded_all_the_same(part, tmp_path):
    for catalogue in (NoCatalogue(), Compiled(tmp_path / "no such file")):
        results = grade(part, WRONG, catalogue)
        assert results["mean"].outcome is Outcome.FAILED
        assert results["mean"].mistake is None


TRAINING = """

@check(points=1, exercise="mean", trains=True)
def test_trained(student, rng, bands):
    \"\"\"It learns.\"\"\"
    low, high = bands["mean"]
    expect(low <= float(tensor(student.mean(torch.ones(4, 2)), shape=(2,))[0]) <= high, "outside the band")
"""


@pytest.fixture
def training_part(part):
    suite = part.folder / "test_hidden.py"
    imports = "import torch\nfrom autograder.checks import expect, tensor\n"
    suite.write_text(imports + suite.read_text() + TRAINING)
    mistakes = part.folder / "mistakes.py"
    text = mistakes.read_text()
    declared = '@mistake(of="mean", trains="trained")\ndef sum_instead'
    mistakes.write_text(text.replace('@mistake(of="mean")\ndef sum_instead', declared))
    return load_parts(part.folder.parent)["part1"]


def test_a_training_check_is_tried_on_the_mistakes_that_declare_it_and_names_none(training_part):
    sources, bands = {"part1_toy": SOLUTION}, {"mean": (0.9, 1.1)}
    replays = Replays(training_part, sources, seed=3, hidden=True, bands=bands)
    failed = {name for name, failure in replays.failures("trained").items() if failure is not None}
    assert failed == {"sum_instead"}  # divided_by_columns gives 2, outside too, but does not declare the check
    assert replays.lookup("trained") == {}
