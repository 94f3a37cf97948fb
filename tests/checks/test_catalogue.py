"""A part's mistakes are replayed through its own checks, and what a student gives is named by them."""

import json
import sys
import textwrap

import pytest

from autograder.checks.catalogue import PUBLIC_SEED, Compiled, NoCatalogue, Replays
from autograder.checks.local import (
    InProcessWorker,
    LocalConnection,
    load_suite,
    mistakes_of,
    run_check,
    run_suite,
    sources_of,
)
from autograder.errors import PartError
from autograder.parts import load_parts
from autograder.records import Limits, Outcome
from autograder.suite import run_part

SOLUTION = """
import torch
from torch import nn


def mean(x):
    return x.sum(0) / x.shape[0]


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return mean(x) * self.w
"""

PUBLIC = '''
import torch
from autograder.checks import agree, check, equal


@check(points=1, exercise="mean")
def test_mean(student, rng):
    """The mean over rows."""
    x = rng.normal(5, 3)
    agree(student.mean(x), x.mean(0), atol=1e-6)


@check(points=1, exercise="mean")
def test_shape(student, rng):
    """One number for each column."""
    equal(tuple(student.mean(rng.normal(5, 3)).shape), (3,))
'''

HIDDEN = '''
from autograder.checks import agree, check


@check(points=1, exercise="Layer")
def test_layer(student, rng):
    """The mean times the weights."""
    layer = student.Layer(3)
    weights = layer.load(rng.like(layer.shapes))
    x = rng.normal(5, 3)
    agree(layer(x), x.mean(0) * weights["w"], atol=1e-6)
'''

MISTAKES = '''
import math
import torch
from torch import nn
from autograder.checks import mistake
from part1_toy import mean, Layer


@mistake(of="mean")
def sum_instead(x):
    """These are sums:
    nothing was divided."""
    return x.sum(0) * math.cos(0)


@mistake(of="mean")
def divided_by_columns(x):
    """You divided by the number of columns."""
    return x.sum(0) / x.shape[1]


@mistake(of="Layer.forward")
def weights_added(self, x):
    """The weights were added."""
    return mean(x) + self.w


@mistake(of="Layer.__init__")
def half_as_wide(self, width):
    """There are too few weights."""
    nn.Module.__init__(self)
    self.w = nn.Parameter(torch.zeros(width - 1))
'''


@pytest.fixture
def part(tmp_path):
    folder = tmp_path / f"{tmp_path.name}" / "part1_toy"
    folder.mkdir(parents=True)
    for name, text in {
        "part.yml": "version: 1\ntitle: A toy\n",
        "part1_toy.py": SOLUTION,
        "test_public.py": PUBLIC,
        "test_hidden.py": HIDDEN,
        "mistakes.py": MISTAKES,
    }.items():
        (folder / name).write_text(text)
    return load_parts(folder.parent)["part1"]


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


# -- reading catalogues and suites ---------------------------------------------------------------------------------


def write(tmp_path, text):
    folder = tmp_path / "part1_toy"
    folder.mkdir(exist_ok=True)
    path = folder / "mistakes.py"
    path.write_text(textwrap.dedent(text))
    return path


def test_a_missing_catalogue_is_an_empty_one(tmp_path):
    assert mistakes_of(tmp_path / "mistakes.py") == {}


def test_a_catalogue_is_read_and_never_run(tmp_path):
    path = write(
        tmp_path,
        """
        raise SystemExit("this was run")
        @mistake(of="f")
        def wrong(x):
            '''It is wrong.'''
            return x
        """,
    )
    assert mistakes_of(path)["wrong"].of == "f"


@pytest.mark.parametrize(
    "entry",
    [
        "@mistake(of='f')\ndef wrong(x):\n    return x\n",
        "@mistake\ndef wrong(x):\n    '''Told.'''\n",
        "@other(of='f')\ndef wrong(x):\n    '''Told.'''\n",
    ],
)
def test_an_entry_without_a_sentence_or_a_place_is_refused_with_its_line(tmp_path, entry):
    with pytest.raises(PartError, match=r"mistakes\.py:2: wrong needs"):
        mistakes_of(write(tmp_path, entry))


def test_a_mistake_stands_below_the_solution_with_its_imports(part):
    text = mistakes_of(part.folder / "mistakes.py")["sum_instead"].applied_to(SOLUTION)
    assert text.startswith(SOLUTION)
    assert "import math" in text
    assert "autograder" not in text
    assert "part1_toy" not in text
    assert text.endswith("mean = sum_instead\n")


def test_the_solution_passes_its_own_suites_and_sources_are_found(part):
    sources = sources_of(part.folder.parent)
    assert sources == {"part1_toy": SOLUTION}
    for name in ("test_public.py", "test_hidden.py"):
        assert set(run_suite(load_suite(part.folder / name), "part1_toy", sources, seed=1).values()) == {None}


def test_a_solution_that_does_not_import_fails_every_check_with_its_error(part):
    suite = load_suite(part.folder / "test_public.py")
    failures = run_suite(suite, "part1_toy", {"part1_toy": "raise ValueError('no')"}, seed=1)
    assert all("ValueError: no" in failure.message for failure in failures.values())


def test_a_suite_that_does_not_import_is_a_part_error(tmp_path):
    suite = tmp_path / "test_public.py"
    suite.write_text("undefined_name")
    with pytest.raises(PartError, match=r"test_public\.py does not import: NameError"):
        load_suite(suite)
    assert not (tmp_path / "__pycache__").exists()


def test_a_suites_own_assert_is_a_failure_here_too(tmp_path):
    suite = tmp_path / "test_public.py"
    suite.write_text("def test_a(student, rng):\n    assert student.f() == 2, 'two'\n")
    failures = run_suite(load_suite(suite), "part1_toy", {"part1_toy": "def f(): return 1"}, seed=1)
    assert failures["a"].message.startswith("two")


def test_a_broken_check_of_ours_is_raised_here_for_its_author(tmp_path):
    suite = tmp_path / "test_public.py"
    suite.write_text("def test_a(student, rng):\n    undefined_name\n")
    with pytest.raises(NameError):
        run_suite(load_suite(suite), "part1_toy", {"part1_toy": "def f(): return 1"}, seed=1)


def test_every_check_draws_its_own_numbers_and_the_same_ones_each_time(part):
    connection = LocalConnection("part1_toy", {"part1_toy": SOLUTION})
    drawn = {}

    def note(name):
        def check(student, rng):
            drawn.setdefault(name, []).append(rng.normal(3).tolist())

        return check

    for _ in range(2):
        for name in ("a", "b"):
            run_check(note(name), name, connection, 5)
    run_check(note("a"), "a", connection, 6)
    assert drawn["a"][0] == drawn["a"][1]
    assert drawn["b"][0] == drawn["b"][1]
    assert len({str(drawn["a"][0]), str(drawn["b"][0]), str(drawn["a"][2])}) == 3


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
