"""``python -m benchmarks.calibrate``: where right and wrong models come out, beside the bands of grading.yml.

Every training check of a part is run on fresh seeds (language, first weights and batches are all others), on both right
solutions and on wrong ones; what it measures is written down in place of being judged. For each band: the right
values' range, and the wrong values that come nearest.
"""

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from autograder.checks.bands import Band
from autograder.checks.local import LocalConnection, Mistake, load_suites, mistakes_of, run_check, sources_of
from autograder.config import load_config
from autograder.parts import load_parts
from autograder.prove.trials import second_solutions
from autograder.records import Part

ROOT = Path(__file__).resolve().parents[1]
# Check -> mistakes of earlier parts (or of the part itself) that are to fall out of its bands.
# The part's own entries that name the check (``trains=``) are tried too.
WRONG = {
    "mean_forgets_the_token_and_the_residual_brings_it_back": (
        "part1_average.residual_forgotten",
        "part1_average.residual_always_added",
        "part1_average.mean_of_the_whole_text",
        "part7_training.targets_shifted_twice",
    ),
    "head_finds_what_counts_and_needs_the_token_beside_it": (
        "part3_attention.mask_one_step_too_far",
        "part3_attention.softmax_over_queries",
        "part3_attention.scores_not_normalised",
        "part5_positions.positions_returned_alone",
        "part5_positions.one_row_for_all_places",
    ),
    "block_learns_the_language": (
        "part4_block.first_residual_missing",
        "part4_block.mlp_step_missing",
        "part5_positions.attention_without_mask",
        "part5_positions.attention_one_step_ahead",
        "part5_positions.merged_without_moving_the_axes",
        "part6_gpt.learned_positions_not_added",
        "part7_training.stochastic_gradient_descent",
        "part7_training.new_optimizer_at_each_step",
        "part7_training.gradients_never_cleared",
        "part7_training.last_position_alone_trained",
        "part7_training.one_batch_for_all_steps",
    ),
    "wide_head_collapses_without_the_division": (
        "part3_attention.scores_not_scaled",
        "part2_scores.divided_by_width",
    ),
    "two_blocks_copy_and_one_cannot": (
        "part4_block.residual_never_added",
        "part5_positions.attention_without_mask",
        "part5_positions.positions_returned_alone",
        "part5_positions.one_row_for_all_places",
    ),
    "positions_beyond_the_trained_length": (
        "part5_positions.rope_not_used",
        "part5_positions.rope_on_queries_only",
        "part5_positions.alibi_not_used",
        "part5_positions.alibi_subtracted",
        "part5_positions.places_beyond_the_table_get_nothing",
        "part5_positions.attention_one_step_ahead",
    ),
}


class Open(dict[str, Band]):
    """Bands that hold for everything: what is measured is written down elsewhere."""

    def __missing__(self, name: str) -> Band:
        """Let every value pass."""
        return -math.inf, math.inf


def measure(
    check: Callable[..., None], check_id: str, module: str, texts: Mapping[str, str], seed: int
) -> dict[str, float]:
    """Run one check and return what it would have judged, by band; a check that fails for another reason ends early."""
    found: dict[str, float] = {}

    def note(bands: object, name: str, value: float, *told: object, **more: object) -> None:
        found[name] = value

    space = check.__globals__
    before, space["within"] = space["within"], note
    try:
        failure = run_check(check, check_id, LocalConnection(module, texts), seed, bands=Open())
    finally:
        space["within"] = before
    if failure is not None:
        found[f"({failure.message.splitlines()[0][:100]})"] = math.nan
    return found


def wrong_texts(own: str, check_id: str, sources: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the sources with each wrong solution that is known for a check of a part."""
    trained = [name for name, entry in _mistakes(own).items() if check_id in entry.trains]
    for place in dict.fromkeys([*WRONG.get(check_id, ()), *(f"{own}.{name}" for name in trained)]):
        module, _, name = place.partition(".")
        yield place, {**sources, module: _mistakes(module)[name].applied_to(sources[module])}


@cache
def _mistakes(module: str) -> dict[str, Mistake]:
    return mistakes_of(ROOT / "assignments" / module / "mistakes.py")


def calibrate(part: Part, only: str, seeds: range, wrong_seeds: range, bands: Mapping[str, Band]) -> None:
    """Measure and print, check by check."""
    sources = sources_of(ROOT / "assignments")
    second = {**sources, part.module: second_solutions(ROOT, sources)[part.module]}
    suite = load_suites(part.folder, hidden=True)
    for check in part.checks:
        if not check.trains or not check.hidden or only not in check.id:
            continue
        right: dict[str, list[float]] = defaultdict(list)
        wrong: dict[str, list[tuple[float, str]]] = defaultdict(list)
        started = time.process_time()
        for seed in seeds:
            # Each solution has every other seed: twice as many languages for the same time.
            for name, value in measure(
                suite[check.id], check.id, part.module, (sources, second)[seed % 2], seed
            ).items():
                right[name].append(value)
        each = (time.process_time() - started) / len(seeds)
        for place, texts in wrong_texts(part.module, check.id, sources):
            for seed in wrong_seeds:
                for name, value in measure(suite[check.id], check.id, part.module, texts, seed).items():
                    wrong[name].append((value, place))
        print(f"{check.id}: {each:.1f} s of one thread each, {len(seeds)} seeds", flush=True)
        for name in sorted({*right, *wrong}):
            _print(name, right[name], wrong[name], bands.get(name))


def _print(name: str, right: list[float], wrong: list[tuple[float, str]], band: Band | None) -> None:
    if right:
        inside = (
            "" if band is None else f" in [{band[0]:g}, {band[1]:g}]: {all(band[0] <= v <= band[1] for v in right)}"
        )
        print(f"  {name}: right {min(right):.3f} to {max(right):.3f}{inside}")
    for value, place in sorted(wrong):
        mark = " caught" if band is not None and not band[0] <= value <= band[1] else ""
        print(f"    {value:8.3f} {place}{mark}" if value == value else f"    {name} {place} caught", flush=True)


def main() -> None:
    """Read the arguments and calibrate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibrate", description=__doc__)
    parser.add_argument("part", help="such as part7")
    parser.add_argument("--only", default="", help="a piece of the checks' names")
    parser.add_argument("--seeds", type=int, default=30, help="right runs of each check (30)")
    parser.add_argument("--wrong-seeds", type=int, default=2, help="runs of each wrong solution (2)")
    parser.add_argument("--first", type=int, default=1000, help="the first seed (1000)")
    words = parser.parse_args()
    parts = load_parts(ROOT / "assignments")
    bands = load_config(ROOT / "grading.yml", parts=parts).bands.get(words.part, {})
    seeds = range(words.first, words.first + words.seeds)
    calibrate(parts[words.part], words.only, seeds, seeds[: words.wrong_seeds], bands)


if __name__ == "__main__":
    main()
