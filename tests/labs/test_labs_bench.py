"""What is measured is kept, and measured anew where its code, settings or seed are others."""

import pytest
from toy_lab import SOUND, measured, toy_bench

from autograder.errors import UsageError


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
