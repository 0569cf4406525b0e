"""Jain & Wallace (2019), 4.2.1: the median change of output under permuted weights, by largest weight."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful.report.jain_wallace.naming import class_colours, class_legend, grid_of, label_edges, named
from heedful.report.style import empty_figure, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABELS = ("0–¼", "¼–½", "½–¾", "¾–1")
FEWEST = 5  # texts of which a box is drawn
LARGEST = "largest weight of the text"


def permutation_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Boxes of the median change for each quarter of the largest weight, by decided class."""
    table = tables["permutation"].dropna(subset=["change"])
    cells = list(table.groupby(["corpus", "model"], sort=False))
    if not cells:
        return empty_figure("No text has two items or more, so there is nothing to permute.")
    colours = class_colours(table)
    figure = new_figure(6.4, 0.7 + 1.9 * -(-len(cells) // 2))
    for axis, ((corpus, model), rows) in zip(grid_of(figure, len(cells), sharey=True), cells, strict=True):
        draw_boxes(axis, rows, "change", colours)
        axis.set_title(f"{corpus}, {named(model)}")
        axis.set_xlabel(LARGEST)
        axis.set_ylabel("median TVD of output")
        axis.set_ylim(-0.02, 1)
    label_edges(figure.axes)
    class_legend(figure, colours)
    return figure


def draw_boxes(axis: Any, rows: "DataFrame", column: str, colours: dict[str, str]) -> None:
    """Boxes of a column by quarter of the largest weight, side by side for the decided classes.

    A box is from quartile to quartile, its whiskers from 5 to 95 %; of fewer than five texts none is drawn.
    """
    bins = np.clip(np.digitize(rows["largest"], BINS) - 1, 0, len(LABELS) - 1)
    classes = [name for name in colours if name in set(rows["decided_class"])]
    width = 0.8 / len(classes)
    for number, name in enumerate(classes):
        colour = colours[name]
        for place in range(len(LABELS)):
            own = rows[column][(bins == place) & (rows["decided_class"] == name).to_numpy()]
            if len(own) < FEWEST:
                continue
            axis.boxplot(
                own,
                positions=[place + width * (number - (len(classes) - 1) / 2)],
                widths=0.85 * width,
                patch_artist=True,
                showfliers=False,
                whis=(5, 95),
                manage_ticks=False,
                boxprops={"facecolor": colour, "alpha": 0.5, "edgecolor": colour},
                medianprops={"color": "black"},
                whiskerprops={"color": colour},
                capprops={"color": colour},
            )
    axis.set_xticks(range(len(LABELS)), LABELS)
    axis.set_xlim(-0.6, len(LABELS) - 0.4)
