"""Whatever a submission does, in its file or in a call, ends as one result for each declared check."""

import sys
import time

import pytest
from suite_runs import FOUR, LIMITS, OWN, Here, check_named, outcomes, run

from autograder.checks.catalogue import NoCatalogue
from autograder.sandbox import ForkServer, choose_rung
from autograder.suite import run_part


@pytest.fixture(scope="module")
def walled():
    """Give workers behind the wall (or without one, where none holds: the suites are the same)."""
    if sys.platform != "linux":
        pytest.skip("workers are forked")
    with ForkServer(()) as server:
        rung = choose_rung(server, LIMITS, [], unsafe=True)[0]
        yield Workers(lambda: server.worker(rung, LIMITS))


class Workers:
    """Opens workers and counts them."""

    def __init__(self, open_one) -> None:
        self.open_one = open_one
        self.opened = []

    def __call__(self):
        self.opened.append(self.open_one())
        return self.opened[-1]

    def none_left(self) -> bool:
        return not any(worker.alive for worker in self.opened)


# -- outcomes ------------------------------------------------------------------------------------------------------


def test_each_outcome_is_what_it_should_be(course, walled):
    results = run(course(FOUR), OWN, walled)
    assert outcomes(results) == {"right": "passed", "wrong": "failed", "raises": "failed", "broken": "error"}
    assert results["right"].message == ""
    assert results["wrong"].message == "the result: expected 4, got 3."
    assert results["wrong"].printed == "f 2"
    assert results["raises"].message == "g() raised KeyError: 'key'"
    assert "return {}['key']" in results["raises"].traceback
    assert "autograder" not in results["raises"].traceback
    assert results["broken"].message.startswith("the grader failed, not the work: TypeError: ")
    assert "(test_public.py:" in results["broken"].message
    assert [results[name].score for name in ("right", "wrong", "broken")] == [2, 0, None]
    assert all(result.seconds > 0 for result in results.values())
    assert walled.none_left()


def test_a_suites_own_assert_is_a_property_of_the_work(course):
    part = course(
        check_named("property", 'assert student.f(1) == 3, "f(1) must be 3"') + check_named("bare", "assert 0")
    )
    results = run(part, OWN)
    assert outcomes(results) == {"property": "failed", "bare": "failed"}
    assert "f(1) must be 3" in results["property"].message


def test_hidden_and_public_suites_run_together_and_each_check_once(course):
    part = course(check_named("a", "equal(student.f(1), 2)"), check_named("b", "equal(student.f(1), 3)"))
    assert outcomes(run(part, OWN)) == {"a": "passed", "b": "failed"}


def test_a_check_draws_the_same_numbers_again_and_other_checks_draw_others(course):
    body = "equal(student.show(float(rng.normal())), None)"
    part = course(check_named("a", body) + check_named("b", body))
    text = "import random\ndef show(x):\n    print(x, random.random())\n"
    first, second = ([result.printed for result in run(part, text, recording()).values()] for _ in range(2))
    assert first == second
    assert len(set(first)) == 2


def recording():
    """Make workers in this process that remember what was printed."""
    import contextlib
    import io

    class Recording(Here):
        def request(self, message, arrays):
            with contextlib.redirect_stdout(self.text):
                return super().request(message, arrays)

        def printed(self):
            return self.text.getvalue()

        def forget_printed(self):
            self.text = io.StringIO()

        text = io.StringIO()

    return Recording


def test_a_loop_times_out_and_the_third_call_of_it_is_not_made(course, walled):
    part = course(
        check_named("one", "equal(student.slow(), 1)")
        + check_named("two", "equal(student.slow(), 1)")
        + check_named("three", "equal(student.slow(), 1)")
        + check_named("other", "equal(student.f(1), 2)")
    )
    results = run(part, OWN + "def slow():\n    while True: pass\n", walled)
    assert outcomes(results) == {"one": "timed_out", "two": "timed_out", "three": "timed_out", "other": "passed"}
    assert results["one"].message == "slow(): it ran past the time limit and was stopped"
    assert "was not run again" in results["three"].message
    assert walled.none_left()


def test_a_check_may_have_a_time_limit_of_its_own(course, walled):
    quick = '@check(points=1, exercise="f", timeout_s=0.3)'
    long = '@check(points=1, exercise="f", timeout_s=20)'
    part = course(check_named("quick", "student.nap(0.8)", quick) + check_named("long", "student.nap(1.2)", long))
    text = "import time\ndef nap(s):\n    time.sleep(s)\n"
    assert outcomes(run(part, text, walled)) == {"quick": "timed_out", "long": "passed"}


def test_the_limit_is_for_a_whole_check_and_not_for_each_call(course, walled):
    part = course(check_named("many", "for _ in range(10):\n    student.nap()"))
    start = time.monotonic()
    assert outcomes(run(part, "import time\ndef nap():\n    time.sleep(0.4)\n", walled)) == {"many": "timed_out"}
    assert time.monotonic() - start < LIMITS.check_s + 1.5


def test_the_death_of_a_worker_in_one_check_touches_no_other(course, walled):
    part = course(
        check_named("before", "equal(student.f(1), 2)")
        + check_named("dies", "equal(student.die(), 1)")
        + check_named("after", "equal(student.f(1), 2)")
    )
    results = run(part, OWN + "import os\ndef die():\n    print('last words')\n    os._exit(0)\n", walled)
    assert outcomes(results) == {"before": "passed", "dies": "failed", "after": "passed"}
    assert results["dies"].message == "die(): the code ended its process with exit status 0 before it answered"
    assert results["dies"].printed == "last words"
    assert results["after"].printed == "f 1"


def test_a_thread_that_ends_the_process_later_touches_no_other_check(course, walled):
    part = course(
        check_named("starts", "equal(student.start(), 1)\nimport time\ntime.sleep(0.3)")
        + check_named("after", "equal(student.f(1), 2)")
    )
    text = "import os, threading\ndef start():\n    threading.Timer(0.1, os._exit, (0,)).start()\n    return 1\n"
    assert outcomes(run(part, OWN + text, walled)) == {"starts": "passed", "after": "passed"}


def test_one_checks_output_is_not_another_ones(course, walled):
    part = course(check_named("flood", "student.flood()") + check_named("next", "equal(student.f(1), 2)"))
    results = run(part, OWN + "def flood():\n    for _ in range(100):\n        print('x' * 10_000)\n", walled)
    assert "more bytes were printed and not kept" in results["flood"].printed
    assert results["next"].printed == "f 1"


def test_settings_of_the_process_do_not_reach_the_next_check(course):
    part = course(
        check_named("spoil", "student.spoil()") + check_named("look", "equal(student.look(), ['torch.float32', True])")
    )
    text = """
        import torch
        def spoil():
            torch.set_default_dtype(torch.float64)
            torch.set_grad_enabled(False)
        def look():
            return [str(torch.get_default_dtype()), torch.is_grad_enabled()]
    """
    assert outcomes(run(part, text)) == {"spoil": "passed", "look": "passed"}


@pytest.mark.parametrize("place", ["a check", "the suite"])
def test_ctrl_c_goes_through_and_leaves_no_worker(course, walled, place):
    body = "equal(student.f(1), 2)\nraise KeyboardInterrupt"
    part = course(check_named("a", body if place == "a check" else "pass"))
    if place == "the suite":
        suite = part.folder / "test_public.py"
        suite.write_text(suite.read_text() + "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        run(part, OWN, walled)
    assert walled.none_left()


# -- files that cannot be imported ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise ValueError('no')", "part1_toy.py does not import: ValueError: no"),
        ("def f(:", "part1_toy.py does not import: SyntaxError: invalid syntax (part1_toy.py, line 1)"),
        ("import os; os._exit(0)", "Importing part1_toy.py: the code ended its process with exit status 0"),
        ("raise SystemExit(0)", "part1_toy.py does not import: SystemExit: 0"),
        (
            "from part0_early import x",
            "part1_toy.py does not import: ModuleNotFoundError: No module named 'part0_early' "
            "(part0_early.py was not handed in with it)",
        ),
    ],
)
def test_a_file_that_does_not_import_is_told_in_every_check_and_tried_once(course, walled, text, message):
    opened = len(walled.opened)
    results = run(course(FOUR), text, walled)
    assert outcomes(results) == dict.fromkeys(("right", "wrong", "raises", "broken"), "failed")
    assert all(result.message.startswith(message) for result in results.values())
    assert len(walled.opened) == opened + 1
    assert walled.none_left()


def test_an_import_that_does_not_end_times_out_once(course, walled):
    opened, start = len(walled.opened), time.monotonic()
    results = run(course(FOUR), "import time; time.sleep(1000)", walled)
    assert time.monotonic() - start < LIMITS.check_s + 1.5
    assert set(outcomes(results).values()) == {"timed_out"}
    assert results["right"].message == "Importing part1_toy.py did not end within 1 seconds."
    assert len(walled.opened) == opened + 1


def test_only_what_a_part_needs_crosses_the_wall_with_it(course):
    part = course(check_named("other", "equal(student.f(), 'ModuleNotFoundError')"))
    text = """
        def f():
            try:
                import part2_other
            except ImportError as error:
                return type(error).__name__
    """
    assert outcomes(run(part, text, part2_other="secret = 1")) == {"other": "passed"}


# -- training ------------------------------------------------------------------------------------------------------


BANDED = """
@check(points=1, exercise="f", trains=True)
def test_banded(student, rng, bands):
    \"\"\"The result lies in its band.\"\"\"
    low, high = bands["f"]
    expect(low <= number(student.f(1)) <= high, "outside")
"""


@pytest.mark.parametrize(("bands", "outcome"), [({"f": (1, 3)}, "passed"), ({"f": (3, 4)}, "failed"), ({}, "error")])
def test_a_training_check_is_judged_by_its_band_and_is_our_error_without_one(course, bands, outcome):
    part = course(BANDED)
    assert part.checks[0].trains
    sources = {"part1_toy": OWN}
    results = run_part(part, sources, Here, seed=3, limits=LIMITS, catalogue=NoCatalogue(), bands=bands)
    assert [result.outcome.value for result in results] == [outcome]
    assert bands or "grading.yml has no band part1.f" in results[0].message
