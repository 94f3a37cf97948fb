"""A part's suites run as real pytest, and whatever happens in them ends as one result for each declared check."""

import os
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.checks.catalogue import NoCatalogue
from autograder.checks.local import InProcessWorker
from autograder.parts import load_parts
from autograder.records import CheckResult, Limits, Outcome
from autograder.sandbox import UNSAFE, ForkServer, choose_rung
from autograder.suite import run as run_module
from autograder.suite import run_part
from autograder.worker import Session

LIMITS = Limits(check_s=1.0, memory_mib=256)
HEAD = "from autograder.checks import agree, check, equal, expect, number, raises_value_error\n\n"


@pytest.fixture(scope="module")
def walled():
    """Give workers behind the wall (or without one, where none holds: the suites are the same)."""
    if sys.platform != "linux":
        pytest.skip("workers are forked")
    with ForkServer(()) as server:
        rung = choose_rung(server, LIMITS, [], unsafe=True)[0]
        yield Workers(lambda: server.worker(rung, LIMITS))


class Here(InProcessWorker):
    """A worker in this process that answers as one behind the wall does, where ``InProcessWorker`` lets errors out."""

    def __init__(self) -> None:
        super().__init__()
        self._session = Session()


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


@pytest.fixture
def course(tmp_path):
    """Write a part of these suites and return it."""

    def write(public: str, hidden: str = "", needs: str = ""):
        # A name of its own, since pytest remembers a suite that it has imported.
        folder = tmp_path / f"assignments{len(list(tmp_path.iterdir()))}" / "part1_toy"
        folder.mkdir(parents=True)
        (folder / "part.yml").write_text(f"version: 1\ntitle: A toy\nneeds: [{needs}]\n")
        (folder / "part1_toy.py").write_text('"""The part."""\n')
        (folder / "test_public.py").write_text(HEAD + textwrap.dedent(public))
        if hidden:
            (folder / "test_hidden.py").write_text(HEAD + textwrap.dedent(hidden))
        return load_parts(folder.parent)["part1"]

    return write


def check_named(name: str, body: str, decorator: str = '@check(points=2, exercise="f")') -> str:
    lines = "\n".join(f"    {line}" for line in textwrap.dedent(body).strip().splitlines())
    return f'{decorator}\ndef test_{name}(student, rng):\n    """It holds."""\n{lines}\n\n'


def run(part, text: str, workers=Here, **sources: str) -> dict[str, CheckResult]:
    """Run a part's suites against a text."""
    results = run_part(
        part,
        {"part1_toy": textwrap.dedent(text), **sources},
        workers,
        seed=3,
        limits=LIMITS,
        catalogue=NoCatalogue(),
    )
    assert sorted(result.check.id for result in results) == sorted(check.id for check in part.checks)
    return {result.check.id: result for result in results}


def outcomes(results) -> dict[str, str]:
    return {name: result.outcome.value for name, result in results.items()}


FOUR = (
    check_named("right", "equal(student.f(1), 2)")
    + check_named("wrong", "equal(student.f(2), 4)")
    + check_named("raises", "equal(student.g(), 1)")
    + check_named("broken", "student.f(1) + None")
)
OWN = "def f(x):\n    print('f', x)\n    return x + 1\ndef g():\n    return {}['key']\n"


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


# -- suites that are broken ----------------------------------------------------------------------------------------


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


# -- what lies about on the machine --------------------------------------------------------------------------------

PLANTED = {
    "conftest.py": "raise SystemExit('the conftest ran')",
    "pytest.ini": "[pytest]\naddopts = -p evil_plugin --maxfail=1\npython_functions = nothing_*\n",
    "tox.ini": "[pytest]\naddopts = -p evil_plugin\n",
    "setup.cfg": "[tool:pytest]\naddopts = -p evil_plugin\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p evil_plugin'\n",
    "evil_plugin.py": "raise SystemExit('the plugin ran')",
    "sitecustomize.py": "raise SystemExit('sitecustomize ran')",
}


def test_files_around_a_suite_and_in_the_current_folder_do_not_matter(course, tmp_path, monkeypatch):
    part = course(FOUR)
    for folder in (part.folder, part.folder.parent, tmp_path, tmp_path / "elsewhere"):
        folder.mkdir(exist_ok=True)
        for name, text in PLANTED.items():
            (folder / name).write_text(text)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert outcomes(run(part, OWN))["right"] == "passed"
    assert outcomes(run(part, OWN))["wrong"] == "failed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYTEST_ADDOPTS", "-k nothing_at_all"),
        ("PYTEST_ADDOPTS", "--deselect=x -x -p no_such_plugin"),
        ("PYTEST_ADDOPTS", "--collect-only"),
        ("PYTEST_ADDOPTS", "--no-such-option"),
        ("PYTEST_PLUGINS", "no_such_plugin"),
        ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", ""),
    ],
)
def test_pytests_variables_do_not_matter_and_are_left_as_they_were(course, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    before = dict(os.environ)
    results = run(course(FOUR), OWN)
    assert outcomes(results) == {"right": "passed", "wrong": "failed", "raises": "failed", "broken": "error"}
    assert dict(os.environ) == before


def test_a_broken_plugin_that_is_installed_does_not_matter(course, tmp_path, monkeypatch):
    info = tmp_path / "site" / "broken_plugin-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pytest11]\nbroken = broken_plugin_module\n")
    (tmp_path / "site" / "broken_plugin_module.py").write_text("raise RuntimeError('the installed plugin is broken')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    from importlib.metadata import entry_points

    assert "broken" in [point.name for point in entry_points(group="pytest11")]
    assert outcomes(run(course(FOUR), OWN))["right"] == "passed"


def test_nothing_is_written_beside_a_suite(course, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    part = course(FOUR)
    before = sorted(tmp_path.rglob("*"))
    run(part, OWN)
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_printed_by_a_run(course, capfd):
    run(course(FOUR), "x = 1\ndef f(x): return x + 1\ndef g(): return 1\n")
    assert capfd.readouterr() == ("", "")


FRESH = """
import os, sys
from pathlib import Path
from autograder.checks.catalogue import NoCatalogue
from autograder.checks.local import InProcessWorker
from autograder.parts import load_parts
from autograder.records import Limits
from autograder.suite import run_part
part = load_parts(Path(sys.argv[1]))["part1"]
source = {"part1_toy": "def f(x):\\n    return x + 1\\ndef g():\\n    return 1\\n"}
results = run_part(part, source, InProcessWorker, seed=1, limits=Limits(), catalogue=NoCatalogue())
print(*(f"{result.check.id}={result.outcome}" for result in results))
"""


def test_pythons_variables_do_not_change_a_result(course, tmp_path):
    part = course(check_named("own", "assert student.f(1) == 3") + check_named("right", "equal(student.f(1), 2)"))
    for name, text in PLANTED.items():
        (tmp_path / name).write_text(text)
    variables = {
        "PYTHONOPTIMIZE": "2",  # Python itself would drop every assert
        "PYTHONHASHSEED": "17",
        "PYTHONDEVMODE": "",
        "PYTEST_ADDOPTS": "-p evil_plugin",
        "PYTHONSAFEPATH": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", FRESH, str(part.folder.parent)],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **variables},
    )  # fmt: skip
    assert (done.stdout.split(), done.returncode) == (["own=failed", "right=passed"], 0), done.stderr


def test_python_m_autograder_imports_nothing_from_the_current_folder(tmp_path):
    for name in ("typer.py", "torch.py", "yaml.py", "numpy.py", "pytest.py"):
        (tmp_path / name).write_text(f"raise SystemExit('{name} was planted')\n")
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "--version"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("gpt-hw ")


def test_what_python_m_autograder_starts_in_a_checkout_finds_the_package():
    code = """
import sys
sys.path[:] = [".", *(path for path in sys.path if path != "")]  # as python -m begins
import autograder.__main__
from autograder.wire import encode
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
print(ProcessPoolExecutor(1, get_context("spawn")).submit(encode, 3, [], None).result())
"""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_pytest_is_told_to_look_nowhere_else(course):
    part = replace(course(FOUR), folder=Path("part"))
    options = " ".join(run_module.options(part))
    for needed in ("--noconftest", f"-c {os.devnull}", "--rootdir part", "--confcutdir part", "-p no:cacheprovider"):
        assert needed in options
    assert Path(os.devnull).exists()
    assert UNSAFE == 3


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
