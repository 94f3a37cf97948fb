"""docs/kill-table.md: which check kills which mistake, and how far right and wrong are from each tolerance."""

from autograder.prove.verdict import PartProof, Proof


def kill_table(proof: Proof) -> str:
    """Write the table as Markdown, the same for the same proof.

    Args:
        proof: What was tried.
    """
    lines = [
        "# Kill table",
        "",
        "Written by `gpt-hw prove`. A row is a mistake of a part's `mistakes.py`, a column one of its checks, in the",
        "order of the list below it; `x` is a kill on every seed, `o` on some. Margins are shares of a check's",
        "tolerance: the worst that a right solution used, and the least with which a mistake went over it.",
        "",
    ]
    for one in proof.parts:
        lines += _part(one)
    return "\n".join(lines).rstrip() + "\n"


def _part(one: PartProof) -> list[str]:
    checks = [check.id for check in one.part.checks]
    silent, _ = one.naming()
    lines = [f"## {one.part.name} · {one.part.title}", ""]
    lines += ["| mistake | " + " | ".join(str(i + 1) for i in range(len(checks))) + " | named |"]
    lines += ["|---|" + "---|" * len(checks) + "---|"]
    for mistake in one.mistakes:
        killers = one.killers(mistake)
        cells = [_cell(killers.get(check_id, 0), len(one.wrong)) for check_id in checks]
        lines.append(f"| {mistake} | " + " | ".join(cells) + f" | {'no' if mistake in silent else 'yes'} |")
    lines += ["", "| # | check | kills | worst right | best wrong |", "|---|---|---|---|---|"]
    for number, check in enumerate(one.part.checks, start=1):
        kills = sum(check.id in one.killers(mistake) for mistake in one.mistakes)
        right = one.right.margins.get(check.id)
        wrong = min((trial.margins[check.id] for trial in one.wrong if check.id in trial.margins), default=None)
        suite = " (hidden)" if check.hidden else ""
        lines.append(f"| {number} | {check.id}{suite} | {kills} | {_share(right)} | {_share(wrong)} |")
    return [*lines, ""]


def _cell(seeds: int, of: int) -> str:
    return "x" if seeds == of else "o" if seeds else ""


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"
