"""How blocks without the way around them are judged, whichever engine trained them."""

from statistics import fmean

from autograder.labs.experiments._grounds import TIE
from autograder.labs.report import Finding, judge

EVERY = 10  # losses that a curve's point is the mean of


def thinned(losses: list[float]) -> list[float]:
    """Take the mean of every ten losses."""
    return [fmean(losses[i : i + EVERY]) for i in range(0, len(losses), EVERY)]


def residual_finding(name: str, added: float, replaced: float) -> Finding:
    """Judge three blocks without the residual, by perplexities; the text asks for a thought and gives no figure."""
    here = replaced / added - 1
    if here <= -TIE:
        why = "they came out better without it: with norms before each sublayer three blocks are not deep yet"
    else:
        why = "a tie: with norms before each sublayer three blocks are not deep yet; the picture of twelve shows more"
    return judge(
        f"{name}: three blocks without the residual",
        "worse (a thought)",
        here,
        reproduced=here > TIE,
        why=why,
        style="+.1%",
    )
