"""Mistakes are read and never run, and suites are loaded and run here as for a grading, without a wall."""

import textwrap

import pytest
from part_with_mistakes import SOLUTION

from autograder.checks.local import LocalConnection, load_suite, mistakes_of, run_check, run_suite, sources_of
from autograder.errors import PartError


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
