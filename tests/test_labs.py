"""Labs: what is measured is kept, what is said is true, and a student's fault is told as a student's."""

import json
import math
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.cli.labs import read_work
from autograder.errors import UsageError
from autograder.labs import Lab, Settings, StudentCodeError, Work, all_labs, find_lab, plot, run_lab, save_report
from autograder.labs.bench import Bench
from autograder.labs.document import document
from autograder.labs.meter import Meter
from autograder.labs.page import page
from autograder.labs.report import (
    Finding,
    Grid,
    Plot,
    Report,
    Series,
    Verdict,
    is_near,
    judge,
    not_measured,
    report_json,
    shown,
)

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 120  # of one command on a busy machine
ABOUT = {
    "lab": "toy",
    "title": "A <b>toy</b>",
    "code": "yours",
    "settings": "quick",
    "seed": 0,
    "seconds": 1.0,
    "reused": 0,
    "machine": {
        "processor": "<script>alert(1)</script>",
        "threads": 1,
        "torch": "2",
        "date": "2020-01-01",
        "device": "cpu",
    },
}
STUB = 'def mean(x):\n    raise NotImplementedError("part1: mean is not written yet")\n'
SOUND = "def mean(x):\n    return sum(x) / len(x)\n"


@pytest.fixture(scope="module")
def solutions():
    return read_work(ROOT, solutions=True)


def toy_bench(folder: Path, text: str = SOUND, **sources: str) -> Bench:
    """Make a bench for a lab that needs a part1 with one function."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "toy.py"
    path.write_text("the lab's own text")
    lab = Lab("toy", "A toy", ("part1",), path)
    work = Work({"part1_toy": text, **sources})
    return Bench(lab, work, folder / "measurements", full=False, seed=0, data=None, meter=Meter(None, "toy"))


# --- which labs there are


def test_every_lab_has_a_title_and_names_parts():
    for lab in all_labs().values():
        assert lab.title.endswith(".")
        assert lab.parts
        assert all(re.fullmatch(r"part[1-9]", part) for part in lab.parts)


def test_an_unknown_lab_is_answered_with_the_closest():
    with pytest.raises(UsageError, match="varianz") as error:
        find_lab("varianz")
    assert "variance" in error.value.remedy


# --- measurements


def measured(bench, n, seed):
    return {"mean": bench.part("part1").mean([n, seed])}


def test_a_measurement_that_is_there_is_not_made_again(tmp_path):
    plan = [{"n": n} for n in (1, 2, 3)]
    first = toy_bench(tmp_path)
    found = first.measure(measured, plan)
    again = toy_bench(tmp_path)
    assert again.measure(measured, plan) == found == [{"mean": 0.5}, {"mean": 1.0}, {"mean": 1.5}]
    assert (first.reused, again.reused) == (0, 3)


def test_after_an_interrupt_only_what_is_missing_is_measured(tmp_path):
    made = []

    def slow(bench, n, seed):
        if n == 3 and len(made) == 2:
            raise KeyboardInterrupt
        made.append(n)
        return n

    plan = [{"n": n} for n in (1, 2, 3, 4)]
    with pytest.raises(KeyboardInterrupt):
        toy_bench(tmp_path).measure(slow, plan)
    made.append("again")
    assert toy_bench(tmp_path).measure(slow, plan) == [1, 2, 3, 4]
    assert made == [1, 2, "again", 3, 4]


@pytest.mark.parametrize(
    ("text", "settings"), [(SOUND + "# changed\n", {"n": 1}), (SOUND, {"n": 2}), (SOUND, {"n": 1, "seed": 1})]
)
def test_other_code_settings_or_seed_are_measured_anew(tmp_path, text, settings):
    toy_bench(tmp_path).measure(measured, [{"n": 1}])
    bench = toy_bench(tmp_path, text)
    bench.measure(measured, [settings])
    assert bench.reused == 0


def test_a_change_in_a_part_that_a_part_imports_counts(tmp_path):
    imports = "import part2_more\n" + SOUND
    toy_bench(tmp_path, imports, part2_more="a = 1\n").measure(measured, [{"n": 1}])
    bench = toy_bench(tmp_path, imports, part2_more="a = 2\n")
    bench.measure(measured, [{"n": 1}])
    assert bench.reused == 0


def test_a_change_in_a_module_that_the_lab_imports_counts(tmp_path):
    def bench(text):
        made = toy_bench(tmp_path)
        (tmp_path / "toy.py").write_text("from autograder.labs.experiments._beside import x\n")
        (tmp_path / "_beside.py").write_text(text)
        return made

    bench("x = 1\n").measure(measured, [{"n": 1}])
    other = bench("x = 2\n")
    other.measure(measured, [{"n": 1}])
    assert other.reused == 0


def test_what_one_run_asks_for_twice_is_of_no_earlier_run(tmp_path):
    bench = toy_bench(tmp_path)
    for _ in range(2):
        bench.measure(measured, [{"n": 1}, {"n": 1}])
    assert bench.reused == 0


def test_half_a_measurement_counts_as_none(tmp_path):
    toy_bench(tmp_path).measure(measured, [{"n": 1}])
    (file,) = (tmp_path / "measurements").glob("*.json")
    file.write_bytes(file.read_bytes()[:20])
    bench = toy_bench(tmp_path)
    assert bench.measure(measured, [{"n": 1}]) == [{"mean": 0.5}]
    assert bench.reused == 0


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    bench = toy_bench(tmp_path)
    (tmp_path / "measurements").write_text("a file where a folder should be")
    with pytest.raises(UsageError, match="cannot write") as error:
        bench.measure(measured, [{"n": 1}])
    assert "--out" in error.value.remedy


def test_the_global_generator_is_seeded_for_each_measurement(tmp_path):
    import torch

    def drawn(bench, n, seed):
        return torch.rand(()).item()

    found = toy_bench(tmp_path).measure(drawn, [{"n": 1}, {"n": 2}, {"n": 1, "seed": 5}])
    assert found[0] == found[1] != found[2]


# --- the student's code


def told(text: str, tmp_path: Path, **sources: str) -> StudentCodeError:
    with pytest.raises(StudentCodeError) as error:
        toy_bench(tmp_path, text, **sources).measure(measured, [{"n": 1}])
    return error.value


def test_what_is_not_written_yet_is_named(tmp_path):
    error = told(STUB, tmp_path)
    assert error.message == "this needs mean of part1, which is not written yet"
    assert "gpt-hw hint part1" in error.remedy


def test_a_missing_name_is_named(tmp_path):
    assert told("x = 1\n", tmp_path).message == "part1_toy.py defines no 'mean'"


def test_a_failure_shows_the_students_frames_and_none_of_ours(tmp_path):
    message = told("def mean(x):\n    return x / missing\n", tmp_path).message
    assert 'File "part1_toy.py", line 2, in mean' in message
    assert "return x / missing" in message
    assert "autograder" not in message


def test_a_slip_of_syntax_is_shown_with_its_line(tmp_path):
    assert 'File "part1_toy.py", line 1' in told("def mean(x)\n", tmp_path).message


def test_a_value_that_the_lab_cannot_use_is_the_students(tmp_path):
    def wants_number(bench, seed):
        return bench.part("part1").mean([1]) + 1

    with pytest.raises(StudentCodeError, match=r"what your code gave cannot be used \(part1\): TypeError"):
        toy_bench(tmp_path, "def mean(x):\n    return None\n").measure(wants_number, [{}])


def test_a_missing_file_is_told_before_anything_runs(tmp_path):
    with pytest.raises(StudentCodeError, match="needs part2"):
        run_lab(find_lab("variance"), Work({"part1_average": SOUND}), Settings(tmp_path))


def test_our_own_failure_stays_ours(tmp_path):
    work = Work({"part1_toy": "def mean(x):\n    return x / missing\n"}, is_ours=True)
    with pytest.raises(NameError), work.guarded(("part1",)):
        work.part("part1").mean(1)


def test_two_works_do_not_see_each_other():
    one, other = Work({"part1_toy": "a = 1\n"}), Work({"part1_toy": "a = 2\n"})
    assert (one.part("part1").a, other.part("part1").a, one.part("part1").a) == (1, 2, 1)


def test_a_works_modules_are_there_to_the_end_of_the_outer_block_and_no_longer():
    work, finders = Work({"part1_average": SOUND, "part2_scores": "import part1_average\n"}), sys.meta_path[:]
    with work.active():
        work.part("part2")  # enters and leaves a block of its own
        import part1_average

        assert part1_average.mean([1, 3]) == 2
    assert sys.meta_path == finders
    assert "part1_average" not in sys.modules


# --- verdicts


@pytest.mark.parametrize(
    ("reproduced", "in_direction", "verdict"),
    [
        (True, False, Verdict.REPRODUCED),
        (True, True, Verdict.REPRODUCED),
        (False, True, Verdict.IN_DIRECTION),
        (False, False, Verdict.NOT_HERE),
    ],
)
def test_verdict(reproduced, in_direction, verdict):
    found = judge("a claim", 1.0, 2.0, reproduced=reproduced, in_direction=in_direction, why="because")
    assert found.verdict is verdict
    assert found.why == ("" if verdict is Verdict.REPRODUCED else "because")


def test_a_verdict_short_of_reproduced_says_why():
    with pytest.raises(ValueError, match="needs a why"):
        Finding("a claim", 1.0, 2.0, Verdict.NOT_HERE)
    assert not_measured("a claim", 1.0, "too long").here is None


def test_nearness_is_relative_and_nan_is_near_nothing():
    assert is_near(104.0, 100.0, within=0.05)
    assert not is_near(106.0, 100.0, within=0.05)
    assert not is_near(math.nan, 100.0, within=0.05)


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [
        (None, ".2f", "-"),
        (124439808, ".4g", "124,439,808"),
        (0.5, ".1%", "50.0%"),
        (math.inf, ".2f", "inf"),
        ("x", "", "x"),
    ],
)
def test_a_cell_is_shown(value, style, text):
    assert shown(value, style) == text


# --- pages and files


def toy_report() -> Report:
    return Report(
        findings=(judge("<i>claim</i>", 1.0, math.nan, reproduced=False, why="<script>no</script>"),),
        grids=(Grid("<u>grid</u>", ("a", "b"), (("<td>", None),)),),
        plots=(Plot("<plot>", "x", "y", (Series("s", [1, 2], [1.0, None]),)),),
        notes=("a & b",),
    )


def test_page_escapes_every_text_and_needs_nothing_beside_it():
    text = page(toy_report(), ABOUT, picture=b"png")
    for tag in ("<i>", "<script", "<u>", "<b>toy", "<plot>", "a & b"):
        assert tag not in text
    assert "&lt;script&gt;no&lt;/script&gt;" in text
    assert not re.search(r"(src|href)=\"(?!data:)|https?://|@import|url\(", text)


def test_without_matplotlib_the_tables_are_there_and_the_way_to_a_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(plot, "can_draw", lambda: False)
    monkeypatch.setattr("autograder.labs.page.can_draw", lambda: False)
    written = save_report(toy_report(), ABOUT, tmp_path)
    assert sorted(path.name for path in written) == ["toy.html", "toy.json"]
    assert "pip install" in (tmp_path / "toy.html").read_text()


def test_json_holds_no_number_that_json_does_not_know():
    text = json.dumps(report_json(toy_report(), ABOUT), allow_nan=False)
    assert json.loads(text)["findings"][0]["here"] == "nan"


# --- the labs themselves, on the solutions

TINY = {
    "averages": {"LENGTHS": (6, 16)},
    "order": {},
    "params": {},
    "quadratic": {"QUICK": (128, 512, 1024), "LAST": 2, "TIMED_S": 0.0},
    "saturation": {"WIDTHS": (256, 1024), "ROWS": 1000},
    "variance": {},
}


@pytest.mark.parametrize("name", TINY)
def test_lab_reproduces_on_the_solutions(name, solutions, tmp_path, monkeypatch):
    for constant, value in TINY[name].items():
        monkeypatch.setattr(f"autograder.labs.experiments.{name}.{constant}", value)
    report, about = run_lab(find_lab(name), solutions, Settings(tmp_path))
    bad = [one for one in report.findings if one.verdict is Verdict.NOT_HERE]
    assert bad == []
    files = {path.name for path in save_report(report, about, tmp_path)}
    assert {f"{name}.json", f"{name}.html"} <= files
    assert json.loads((tmp_path / f"{name}.json").read_text())["seed"] == 0
    assert run_lab(find_lab(name), solutions, Settings(tmp_path))[1]["reused"] > 0


# --- the command


def command(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "autograder", *map(str, words)]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.slow
def test_command_lists_labs_and_prints_one_as_json(tmp_path):
    listed = command("lab", "--json", cwd=tmp_path)
    assert {one["lab"] for one in json.loads(listed.stdout)["labs"]} == set(all_labs())
    ran = command("lab", "order", "--solutions", "--json", "--seed", 3, "--out", tmp_path / "out", cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert (found["seed"], found["code"], found["version"]) == (3, "solutions", 1)


@pytest.mark.slow
def test_command_names_the_exercise_that_is_missing(tmp_path):
    (tmp_path / "part2_scores.py").write_text((ROOT / "student_template" / "part2_scores.py").read_text())
    ran = command("lab", "variance", cwd=tmp_path)
    assert ran.returncode == 2
    assert "dot_product_variance of part2, which is not written yet" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured_and_exits_130(tmp_path):
    line = [sys.executable, "-m", "autograder", "lab", "quadratic", "--solutions", "--full", "--out", str(tmp_path)]
    process = subprocess.Popen(line, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + LIMIT_S
    while not list(tmp_path.glob("measurements/*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, errors
    assert "the same command goes on" in errors
    kept = list(tmp_path.glob("measurements/*.json"))
    assert kept
    assert all(json.loads(path.read_text())["value"] for path in kept)


# --- the page in docs/


def test_document_writes_a_section_a_lab_and_keeps_the_others(tmp_path):
    (tmp_path / "solutions").mkdir()
    for path in (ROOT / "solutions").glob("part*.py"):
        (tmp_path / "solutions" / path.name).write_bytes(path.read_bytes())
    document(tmp_path, [find_lab("order")])
    page = document(tmp_path, [find_lab("params")])
    again = page.read_text()
    assert re.findall(r"^## (\w+)$", again, flags=re.MULTILINE) == ["order", "params"]
    assert re.findall(r"^\| \[(\w+)\]", again, flags=re.MULTILINE) == ["order", "params"]
    assert again.count("124,439,808 | 124,439,808 | reproduced") == 1
    assert (tmp_path / "docs" / "labs" / "params.png").is_file()
    assert document(tmp_path, [find_lab("params")]).read_text() == again


def test_document_outside_of_a_checkout_is_told(tmp_path):
    with pytest.raises(UsageError, match="no solutions"):
        document(tmp_path, [find_lab("order")])
