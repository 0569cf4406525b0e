"""Jain & Wallace (2019), 4.2.2: how far other weights with the same output can be."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from heedful.report.jain_wallace.naming import class_colours, class_legend, grid_of, label_edges, named
from heedful.report.jain_wallace.permutation import LARGEST, draw_boxes
from heedful.report.style import BLACK, BLUE, empty_figure, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

MOST = math.log(2)
NONE = "No text has two items or more, so none has other weights."
HOW = {"exact": "exact", "lower bound": "ascent: at least"}


def adversary_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Histograms of the largest divergence that leaves the output as it is."""
    table = tables["adversary"].dropna(subset=["divergence"])
    cells = list(table.groupby(["corpus", "model"], sort=False))
    if not cells:
        return empty_figure(NONE)
    figure = new_figure(6.4, 0.7 + 1.7 * -(-len(cells) // 2))
    bins = np.linspace(0, MOST, 29)
    for axis, ((corpus, model), rows) in zip(
        grid_of(figure, len(cells), sharex=True, sharey=True), cells, strict=True
    ):
        axis.hist(rows["divergence"], bins, color=BLUE, alpha=0.7, weights=np.full(len(rows), 1 / len(rows)))
        mean = rows["divergence"].mean()
        axis.axvline(mean, color=BLACK, linewidth=1)
        axis.annotate(f"mean {mean:.2f} ", (mean, 0.92), xycoords=("data", "axes fraction"), ha="right")
        axis.set_title(_titled(corpus, model, rows))
        axis.set_xlabel("ε-max JSD, nats (at most log 2)")
        axis.set_ylabel("share of texts")
    label_edges(figure.axes)
    return figure


def adversary_weights_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """The same divergence for each quarter of the largest weight, by decided class."""
    table = tables["adversary"].dropna(subset=["divergence"])
    cells, colours = list(table.groupby(["corpus", "model"], sort=False)), class_colours(table)
    if not cells:
        return empty_figure(NONE)
    figure = new_figure(6.4, 0.7 + 1.9 * -(-len(cells) // 2))
    for axis, ((corpus, model), rows) in zip(grid_of(figure, len(cells), sharey=True), cells, strict=True):
        draw_boxes(axis, rows, "divergence", colours)
        axis.axhline(MOST, color=BLACK, linewidth=0.8, linestyle=":")
        axis.set_title(_titled(corpus, model, rows))
        axis.set_xlabel(LARGEST)
        axis.set_ylabel("ε-max JSD, nats")
        axis.set_ylim(0, 0.75)
    label_edges(figure.axes)
    class_legend(figure, colours)
    return figure


def _titled(corpus: str, model: str, rows: "DataFrame") -> str:
    """The cell, and whether its numbers are maxima or what an ascent reached."""
    return f"{corpus}, {named(model)} ({HOW[rows['kind'].iloc[0]]})"
