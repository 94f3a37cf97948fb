"""What ``gpt-hw prove`` prints."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.prove import Proof


def proof_rows(proof: "Proof") -> list[dict[str, Any]]:
    """Sum each part up."""
    rows = []
    for one in proof.parts:
        silent, confused = one.naming()
        rows.append(
            {
                "part": one.part.name,
                "checks": len(one.part.checks),
                "runs_of_right_work": one.right.runs,
                "failures_of_right_work": sum(map(len, one.right.failures.values())),
                "equivalents": one.equivalents,
                "mistakes": len(one.mistakes),
                "killed": sum(bool(one.killed_on(mistake)) for mistake in one.mistakes),
                "named": len(one.mistakes) - len(silent) - len(confused),
                "named_through_the_wall": proof.wall.named.get(one.part.name, 0),
                "named_wrong": len(confused),
            }
        )
    return rows


def proof_json(proof: "Proof") -> str:
    """Return it for programs."""
    found = {
        "version": 1,
        "holds": proof.holds,
        "seeds": proof.seeds,
        "sandbox": proof.wall.rung,
        "submissions_through_the_wall": proof.wall.submissions,
        "parts": proof_rows(proof),
        "shortcomings": proof.shortcomings,
    }
    return json.dumps(found, ensure_ascii=False, indent=2)


def print_proof(console: "Console", proof: "Proof") -> None:
    """Print it for a person."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    rows = proof_rows(proof)
    for column in rows[0] if rows else ():
        table.add_column(column.replace("_", " "), justify="left" if column == "part" else "right")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console.print(table)
    console.print(f"\n{proof.wall.submissions} submissions through the wall, sandbox rung {proof.wall.rung}.")
    for shortcoming in proof.shortcomings:
        console.print(f"falls short: {shortcoming}", style="red", markup=False)
    console.print("Everything holds." if proof.holds else f"{len(proof.shortcomings)} things fall short.", style="bold")
