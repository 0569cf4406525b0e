"""For what share of word pairs the inequalities of supplement B.2 hold, a bar each, with the seeds' range."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, BLUE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw_inequalities(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Equations from top to bottom."""
    groups = tables["shares"].groupby(["equation", "statement", "pair"], sort=False)["share"]
    means, low, high = groups.mean()[::-1], groups.min()[::-1], groups.max()[::-1]
    figure = new_figure(7.2, 0.27 * len(means) + 0.8)
    axes = figure.subplots()
    heights = range(len(means))
    axes.barh(heights, 100 * means, color=BLUE, height=0.65)
    axes.hlines(heights, 100 * low, 100 * high, color=BLACK, linewidth=1.2)
    axes.axvline(50, color=BLACK, linewidth=0.8, linestyle=":")
    axes.set_yticks(
        heights, [f"{equation}: {statement}, {pair}" for equation, statement, pair in means.index]
    )
    axes.set_xlim(0, 100)
    figure.supxlabel("share of word pairs, % (bar: mean over seeds, line: their range)", fontsize=9)
    axes.grid(axis="y", visible=False)
    return figure
