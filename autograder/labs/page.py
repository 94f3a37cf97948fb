"""A lab's page: one HTML file that needs nothing beside it, with every text escaped."""

import base64
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from autograder.labs.plot import HOW_TO_DRAW, can_draw
from autograder.labs.report import Report, Verdict, shown
from autograder.labs.show import about_line

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5a636e; --line: #d5dae0; --paper: #fff;
  --good: #14713a; --half: #8a5a00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #a2abb6; --line: #3a424c; --paper: #15181c;
  --good: #6fd497; --half: #e8b55a; --bad: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th:first-child, td:first-child, .verdicts td:nth-child(n+4), .verdicts th:nth-child(n+4) { text-align: left; }
.number { white-space: nowrap; }
.verdicts td:nth-child(4) { white-space: nowrap; font-weight: 600; }
.verdicts td:nth-child(5) { color: var(--soft); font-size: .9em; }
.reproduced { color: var(--good); } .in-direction { color: var(--half); }
.does-not-reproduce-here { color: var(--bad); } .not-measured, footer { color: var(--soft); }
img { max-width: 100%; background: #fff; }
footer { margin-top: 2rem; font-size: .85rem; }
"""


def page(report: Report, about: Mapping[str, Any], picture: bytes | None) -> str:
    """Write the page.

    Args:
        report: What the lab found.
        about: What there is to know about the run.
        picture: A PNG, which goes into the page itself.
    """
    title = f"{about['lab']} · {about['title']}"
    body = [f"<h1>{escape(title)}</h1>"]
    if report.data:
        body.append(f"<p>{escape(report.data)}</p>")
    body += ["<h2>Beside the text</h2>", _findings(report)]
    if picture is not None:
        source = base64.b64encode(picture).decode()
        body.append(f'<p><img alt="{escape(_spoken(report))}" src="data:image/png;base64,{source}"></p>')
    elif report.plots and not can_draw():
        body.append(f"<p>{escape(HOW_TO_DRAW)}</p>")
    for grid in report.grids:
        body += [f"<h2>{escape(grid.title)}</h2>", _table("", grid.columns, grid.cells())]
    body += [f"<p>{escape(note)}</p>" for note in report.notes]
    body.append(f"<footer>{escape(about_line(about))}</footer>")
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _findings(report: Report) -> str:
    rows = []
    for one in report.findings:
        numbers = "".join(_cell(value, one.style) for value in (one.chapter, one.here))
        rows.append(
            f"<tr><td>{escape(one.claim)}</td>{numbers}"
            f'<td class="{_css(one.verdict)}">{one.verdict.value}</td><td>{escape(one.why)}</td></tr>'
        )
    head = "".join(f"<th>{name}</th>" for name in ("claim", "text", "here", "verdict", "why"))
    return f'<div class="scroll"><table class="verdicts"><tr>{head}</tr>{"".join(rows)}</table></div>'


def _cell(value: float | str | None, style: str) -> str:
    words = isinstance(value, str)
    return f"<td{'' if words else ' class=number'}>{escape(shown(value, style))}</td>"


def _table(css: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="{css}"><tr>{head}</tr>{lines}</table></div>'


def _css(verdict: Verdict) -> str:
    return verdict.value.replace(" ", "-")


def _spoken(report: Report) -> str:
    return "Plots: " + "; ".join(plot.title for plot in report.plots) + ". The tables hold their numbers."
