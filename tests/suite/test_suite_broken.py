"""A suite that is broken is an error of ours in its own checks, never a zero, and no run of a suite touches another."""

import sys

import pytest
from suite_runs import FOUR, LIMITS, OWN, Here, check_named, outcomes, run

from autograder.records import Outcome
from autograder.suite import run_part


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("undefined_name", "test_hidden.py does not load: NameError: name 'undefined_name' is not defined"),
        ("import no_such_module", "test_hidden.py does not load: ModuleNotFoundError"),
        ("def f(:", "SyntaxError"),
    ],
)
def test_a_suite_that_does_not_load_is_our_error_and_leaves_the_other_suite_alone(course, monkeypatch, line, reason):
    part = course(check_named("public", "equal(student.f(1), 2)"), check_named("hidden", "equal(student.f(1), 2)"))
    hidden = part.folder / "test_hidden.py"
    hidden.write_text(hidden.read_text() + line + "\n")
    results = run(part, OWN)
    assert outcomes(results) == {"public": "passed", "hidden": "error"}
    assert reason in results["hidden"].message
    assert results["hidden"].score is None


@pytest.mark.parametrize(
    "body",
    [
        "undefined_name",
        "raise RuntimeError('ours')",
        "raise SystemExit(0)",
        "import pytest\npytest.skip('not today')",
        "import pytest\npytest.xfail('known')",
        "agree(student.f(1), 'two', atol=1)",
        "student.f(object())",
        # a slip of the suite's on data of its own, of a kind that the work did not answer with
        "equal(student.f(1), 2)\n[1].size",
        "equal(student.f(1), 2)\nNone.shape",
        "student.zeros()\nNone.shape",  # an answer that is gone is no answer of None
        "equal(student.f(1), 2)\ntext = 'text'\ntext()",
    ],
)
def test_a_check_that_is_broken_is_our_error_and_never_a_zero(course, body):
    part = course(check_named("broken", body) + check_named("fine", "equal(student.f(1), 2)"))
    text = OWN + "def zeros():\n    import torch\n    return torch.zeros(2)\n"
    assert outcomes(run(part, text)) == {"broken": "error", "fine": "passed"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("student.f(1).load({})", "int 2 came back where an object with 'load' is expected."),
        ("student.f(1)(3)", "int came back where something to call is expected."),
        ("student.pair()[0].load({})", "int 5 came back where an object with 'load' is expected."),
        ("student.nothing().load({})", "None came back where an object with 'load' is expected."),
    ],
)
def test_plain_data_that_came_where_an_object_is_due_is_the_works_failure(course, body, message):
    text = OWN + "def pair(): return [5, 6]\ndef nothing(): return None\n"
    results = run(course(check_named("one", body)), text)
    assert outcomes(results) == {"one": "failed"}
    assert results["one"].message == message


def test_a_suite_is_loaded_once_and_again_when_its_file_changes_or_did_not_load(course):
    import builtins

    count = "import builtins\nbuiltins.times_loaded = getattr(builtins, 'times_loaded', 0) + 1\n"
    part = course(count + check_named("one", "equal(student.f(1), 2)"))
    suite = part.folder / "test_public.py"
    right, changed = suite.read_text(), suite.read_text().replace("student.f(1), 2", "student.f(1), 33")
    try:
        for text, outcome, times in [
            (right, "passed", 1),
            (right, "passed", 1),
            (changed, "failed", 2),
            (changed, "failed", 2),
            (right + "undefined_name\n", "error", 3),
            (right + "undefined_name\n", "error", 4),
            (right, "passed", 5),
        ]:
            if suite.read_text() != text:
                suite.write_text(text)
            assert outcomes(run(part, OWN)) == {"one": outcome}
            assert builtins.times_loaded == times
            assert "test_public" not in sys.modules
    finally:
        del builtins.times_loaded


def test_runs_of_two_parts_that_take_turns_share_nothing(course):
    first = course(check_named("one", "equal(student.f(1), 2)"))
    second = course(
        check_named("one", "equal(student.f(1), 5)") + check_named("two", "equal(rng.integers(0, 9, 1), 9)")
    )
    four_more = OWN.replace("x + 1", "x + 4")
    for _ in range(3):
        assert outcomes(run(first, OWN)) == {"one": "passed"}
        assert outcomes(run(second, OWN)) == {"one": "failed", "two": "failed"}
        assert outcomes(run(second, four_more)) == {"one": "passed", "two": "failed"}
        assert outcomes(run(first, four_more)) == {"one": "failed"}
    shown = {run(second, OWN)["two"].message for _ in range(3)}
    assert len(shown) == 1  # the same inputs in every run


def test_a_run_after_ctrl_c_is_a_run_like_any_other(course):
    part = course(check_named("a", "if student.f(1) == 9: raise KeyboardInterrupt") + check_named("b", "student.f(1)"))
    for _ in range(2):
        assert outcomes(run(part, OWN)) == {"a": "passed", "b": "passed"}
        with pytest.raises(KeyboardInterrupt):
            run(part, OWN.replace("x + 1", "x + 8"))


def test_what_a_suite_prints_is_not_shown(course, capfd):
    noisy = 'import sys\nprint("loud")\n'
    part = course(noisy + check_named("one", 'print("loud")\nprint("louder", file=sys.stderr)'))
    for _ in range(2):
        assert outcomes(run(part, OWN)) == {"one": "passed"}
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("ending", ["returncode=0", "returncode=2", ""])
def test_a_suite_that_stops_pytest_leaves_no_check_without_a_result(course, ending):
    body = f"import pytest\npytest.exit('enough', {ending})"
    part = course(check_named("first", "equal(student.f(1), 2)") + check_named("stops", body))
    results = run(part, OWN)
    assert outcomes(results) == {"first": "passed", "stops": "error"}
    assert "the suite did not run this check" in results["stops"].message


def test_a_worker_that_cannot_be_started_is_our_error(course):
    from autograder.errors import SandboxError

    def fail():
        raise SandboxError("no worker today")

    results = run(course(FOUR), OWN, fail)
    assert set(outcomes(results).values()) == {"error"}
    assert "no worker today" in results["right"].message


def test_a_broken_catalogue_costs_the_diagnosis_and_no_result(course):
    class Broken:
        def lookup(self, check_id):
            raise RuntimeError

        def told(self, mistake):
            raise RuntimeError

    part = course(check_named("wrong", "equal(student.f(2), 4)"))
    results = run_part(part, {"part1_toy": OWN}, Here, seed=1, limits=LIMITS, catalogue=Broken())
    assert [result.outcome for result in results] == [Outcome.FAILED]
