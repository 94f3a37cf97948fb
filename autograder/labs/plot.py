"""Draw a report's plots with matplotlib, which is an extra: where it is missing, everything else still works."""

import io
import itertools
import math
from typing import TYPE_CHECKING, Any

from autograder.labs.report import Heat, Plot, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOW_TO_DRAW = "no picture: matplotlib is not installed; pip install 'gpt-hw[labs]' brings it"

# Told apart without colour vision, and by their markers without any colour (Okabe and Ito 2008).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_LEVEL_LINES = (":", "-.", "--")
_PANEL_INCHES = (5.6, 4.2)
_ACROSS = 2  # panels beside each other
_DPI = 110
_NUMBERED_BARS = 10  # more numbers run into each other
_FEW_POWERS = 3  # of ten
_WORDS_ACROSS = 26  # characters of all bars' names that still fit beside each other


def can_draw() -> bool:
    """Say whether matplotlib is there."""
    import importlib.util

    return importlib.util.find_spec("matplotlib") is not None


def draw(report: Report) -> bytes | None:
    """Draw all plots of a report into one PNG.

    Returns:
        The PNG, or None where there is nothing to draw or nothing to draw with.
    """
    if not report.plots or not can_draw():
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = min(_ACROSS, len(report.plots))
    down = math.ceil(len(report.plots) / across)
    figure = Figure(figsize=(across * _PANEL_INCHES[0], down * _PANEL_INCHES[1]), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    for i, plot in enumerate(report.plots):
        axes = figure.add_subplot(down, across, i + 1)
        axes.set_title(plot.title, fontsize=10)
        if isinstance(plot, Heat):
            _draw_heat(axes, plot)
        else:
            _draw_plot(axes, plot)
    png = io.BytesIO()
    figure.savefig(png, format="png")
    return png.getvalue()


def _draw_plot(axes: "Axes", plot: Plot) -> None:
    if plot.kind == "bars":
        _draw_bars(axes, plot)
    else:
        for i, each in enumerate(plot.series):
            y = [math.nan if value is None else value for value in each.y]
            line = {"line": "--" if each.of_text else "-", "points": ""}[plot.kind]
            # of two curves that coincide both are seen: every other one is smaller, and the text's numbers, which often
            # lie under ours, are larger, hollow and in front
            small = 4.5 if i % 2 else 6.5
            size, fill, height = (9, "none", 3) if each.of_text else (small, _COLOURS[i % len(_COLOURS)], 2)
            axes.plot(
                each.x,
                y,
                linestyle=line,
                marker=_MARKERS[i % len(_MARKERS)] if len(y) <= 30 else "",  # more of them hide the curve
                markersize=size,
                markerfacecolor=fill,
                zorder=height,
                color=_COLOURS[i % len(_COLOURS)],
                linewidth=1.4,
                label=each.name,
            )
        if plot.log_x:
            axes.set_xscale("log", base=2)
            _plain_ticks(axes, [x for each in plot.series for x in each.x])
    if plot.log_y:
        axes.set_yscale("log")
        _plain_powers(axes)
    for line, (name, level) in zip(itertools.cycle(_LEVEL_LINES), plot.levels.items(), strict=False):
        axes.axhline(level, color="#666666", linewidth=1, linestyle=line, label=name)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.grid(True, alpha=0.25, axis="y" if plot.kind == "bars" else "both")
    axes.spines[["top", "right"]].set_visible(False)
    if len(plot.series) + len(plot.levels) > 1:
        axes.legend(fontsize=8, framealpha=0.85, edgecolor="none")  # what runs behind it does not strike its words out


def _draw_bars(axes: "Axes", plot: Plot) -> None:
    names = [str(x) for x in plot.series[0].x]
    width = 0.8 / len(plot.series)
    for i, each in enumerate(plot.series):
        places = [place + (i - (len(plot.series) - 1) / 2) * width for place in range(len(names))]
        heights = [math.nan if value is None else value for value in each.y]
        colour = _COLOURS[i % len(_COLOURS)]
        look: dict[str, Any] = (
            {"color": "none", "edgecolor": colour, "hatch": "///"} if each.of_text else {"color": colour}
        )
        bars = axes.bar(places, heights, width=width * 0.95, label=each.name, **look)
        if len(names) * len(plot.series) <= _NUMBERED_BARS:
            axes.bar_label(bars, fmt="%.3g", fontsize=7, padding=1)
    leaning = sum(map(len, names)) > _WORDS_ACROSS
    axes.set_xticks(range(len(names)), names, rotation=35 if leaning else 0, ha="right" if leaning else "center")
    axes.tick_params(axis="x", labelsize=8)


def _plain_ticks(axes: "Axes", values: list[Any]) -> None:
    """Write 16 and not 2 to the power of 4, and at the values that were measured where these are few."""
    axes.xaxis.set_major_formatter(lambda value, place: f"{value:g}")
    ticks = sorted(set(values))
    if len(ticks) <= 10:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)


def _plain_powers(axes: "Axes") -> None:
    """Write 0.2 and 1000 up the side, not 2 x 10 to the power of -1; between powers of ten only where these are few."""
    from matplotlib.ticker import LogLocator

    low, high = axes.get_ylim()
    few = math.log10(high / low) < _FEW_POWERS
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    axes.yaxis.set_major_formatter(lambda value, place: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, place: "")


def _draw_heat(axes: "Axes", plot: Heat) -> None:
    image = axes.imshow(plot.values, cmap="viridis", aspect="auto", vmin=0)
    if plot.column_labels:
        leaning: dict[str, Any] = {"rotation": 60, "ha": "right"} if max(map(len, plot.column_labels)) > 2 else {}
        axes.set_xticks(range(len(plot.column_labels)), plot.column_labels, fontsize=7, **leaning)
    if plot.row_labels:
        axes.set_yticks(range(len(plot.row_labels)), plot.row_labels, fontsize=7)
    axes.set_xlabel("what is read")
    axes.set_ylabel("who reads")
    axes.figure.colorbar(image, ax=axes, shrink=0.8)
