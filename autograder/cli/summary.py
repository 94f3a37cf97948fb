"""What a run of ``grade`` leaves on the terminal, or as JSON: the gradebook, what moved, what a person must look at."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autograder.gradebook import Move, gradebook_rows, phrases, split_flag
from autograder.records import Outcome

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.pipeline import Summary

SHOWN_MOVES = 40  # what fits on a screen or two; --json has all
_OUTCOMES = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "out of time",
    Outcome.ERROR: "not scored through our fault",
}


def summary_json(summary: "Summary") -> str:
    """Give a run to programs: one object."""
    rows = gradebook_rows(summary.results, summary.part_names)
    told = {
        "version": 1,
        "rows": rows,
        "graded": summary.graded,
        "kept": summary.skipped,
        "moved": phrases([*summary.moved, *(summary.moves if summary.accepted else ())]),
        "waiting": phrases(summary.moves) if summary.waits else {},
        "moves": [_move_json(move) for move in (*summary.moved, *summary.moves)],
        "checks": _outcomes(summary),
        "flagged": _flagged(rows),
        "unresolved": summary.unresolved,
        "by_hand": summary.by_hand,
        "slowest": summary.slowest and {"submission": summary.slowest[0], "seconds": round(summary.slowest[1], 3)},
        "warnings": summary.warnings,
        "interrupted": summary.interrupted,
        "out": str(summary.out),
    }
    return json.dumps(told, ensure_ascii=False, indent=2)


def print_summary(console: "Console", summary: "Summary") -> None:
    """Print the gradebook and what there is to know about the run."""
    from autograder.report.clean import clean_line
    from autograder.report.terminal import print_gradebook

    def say(text: str, style: str = "") -> None:
        console.print(text, style=style, markup=False, soft_wrap=True)

    rows = gradebook_rows(summary.results, summary.part_names)
    print_gradebook(console, rows, summary.part_names, [split_flag(row["flag"]) for row in rows])
    if summary.moved:
        print_moves(
            console, summary.moved, "scores that moved since the last run: something new was handed in or scored"
        )
    if summary.warnings:
        console.print()
    for warning in summary.warnings:
        say(clean_line(warning), "yellow")
    kept = f", {summary.skipped} kept from before" if summary.skipped else ""
    console.print(f"\n{summary.graded} graded{kept}, sandbox rung {summary.rung}.")
    say(_sentence(summary, rows))
    say(f"gradebook: {summary.out / 'gradebook.csv'}")
    say(f"feedback:  {summary.out}/<submission>/feedback.html")
    for name, parts in summary.unresolved.items():
        say(f"unscored through our fault: {clean_line(name)}, {', '.join(parts)}", "magenta")
    if summary.interrupted:
        say("Stopped. What was done is kept; the same command goes on from here.", "yellow")


def print_moves(console: "Console", moves: Sequence[Move], title: str) -> None:
    """Print whose scores move and by how much, the largest moves first where there are many."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from autograder.report.clean import clean_line

    console.print(f"\n{title}", style="bold", markup=False)
    shown = list(moves)
    if len(shown) > SHOWN_MOVES:
        for line in _by_part(moves):
            console.print(f"  {line}", markup=False)
        shown = sorted(shown, key=lambda move: -_size(move))[:SHOWN_MOVES]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for move in shown:
        cells = (clean_line(move.submission), move.phrase, "" if move.change is None else f"{move.change:+g}")
        table.add_row(*(Text(cell) for cell in cells))
    console.print(Padding(table, (0, 0, 0, 2), expand=False), highlight=False)
    if len(shown) < len(moves):
        console.print(f"  and {len(moves) - len(shown)} smaller ones: --json has all", markup=False)


def _by_part(moves: Sequence[Move]) -> list[str]:
    lines = []
    for part in dict.fromkeys(move.part for move in moves):
        changes = [move.change for move in moves if move.part == part and move.change is not None]
        count = sum(move.part == part for move in moves)
        span = f", by {min(changes):+g} to {max(changes):+g}" if changes else ""
        lines.append(f"{part}: {count} submissions{span}")
    return lines


def _size(move: Move) -> float:
    return float("inf") if move.change is None else abs(move.change)  # a score that would vanish is the largest


def _move_json(move: Move) -> dict[str, Any]:
    before, after = (side or (None, None) for side in (move.before, move.after))
    return {
        "submission": move.submission,
        "part": move.part,
        "before": before[0],
        "after": after[0],
        "most_before": before[1],
        "most_after": after[1],
        "change": move.change,
        "needs_yes": move.takes_the_place_of_a_score,
    }


def _outcomes(summary: "Summary") -> dict[str, int]:
    counts: Counter[str] = Counter()
    for result in summary.results:
        for part in result["parts"].values():
            counts.update(part["outcomes"])
    return {outcome.value: counts[outcome.value] for outcome in Outcome}


def _flagged(rows: Sequence[dict[str, str]]) -> int:
    return sum(bool(split_flag(row["flag"])[0]) for row in rows)


def _sentence(summary: "Summary", rows: Sequence[dict[str, str]]) -> str:
    counts = _outcomes(summary)
    told = [
        f"{counts[outcome]} {word}" for outcome, word in _OUTCOMES.items() if counts[outcome] or outcome == "passed"
    ]
    line = f"checks: {', '.join(told)}; submissions to look at: {_flagged(rows)} of {len(rows)}"
    if summary.by_hand:
        line += f"; scores by hand: {summary.by_hand}"
    if summary.slowest:
        from autograder.report.clean import clean_line

        line += f"; slowest: {clean_line(summary.slowest[0])}, {summary.slowest[1]:.1f} s"
    return line + "."
