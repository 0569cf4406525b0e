"""Jain & Wallace (2019), 4.2.1: the median change of output under permuted weights, by largest weight."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from heedful.report.jain_wallace.naming import class_name, grid_of, named
from heedful.report.style import BLUE, GREEN, GREY, ORANGE, empty_figure, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
LABELS = ("0–¼", "¼–½", "½–¾", "¾–1")
FEWEST = 5  # texts of which a box is drawn


def permutation_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Boxes of the median change for each quarter of the largest weight, by decided class."""
    table = tables["permutation"].dropna(subset=["change"])
    cells = list(table.groupby(["corpus", "model"], sort=False))
    if not cells:
        return empty_figure("No text has two items or more, so there is nothing to permute.")
    figure = new_figure(6.4, 0.7 + 1.9 * -(-len(cells) // 2))
    for axis, ((corpus, model), rows) in zip(grid_of(figure, len(cells), sharey=True), cells, strict=True):
        draw_boxes(axis, rows, "change")
        axis.set_title(f"{corpus}, {named(model)}")
        axis.set_xlabel("largest weight of the text")
        axis.set_ylabel("median change of output (TVD)")
        axis.set_ylim(-0.02, 1)
        axis.label_outer()
    figure.axes[0].legend(loc="upper left")
    return figure


def draw_boxes(axis, rows: "DataFrame", column: str) -> None:  # type: ignore[no-untyped-def]
    """Boxes of a column by quarter of the largest weight, side by side for the decided classes."""
    bins = np.clip(np.digitize(rows["largest"], BINS) - 1, 0, len(LABELS) - 1)
    classes = sorted(rows["decided"].unique())
    width = 0.8 / len(classes)
    colours = (BLUE, ORANGE, GREEN, GREY)
    for number, decided in enumerate(classes):
        colour = colours[number % len(colours)]
        for place in range(len(LABELS)):
            own = rows[column][(bins == place) & (rows["decided"] == decided).to_numpy()]
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
        name = class_name(rows, decided)
        axis.plot([], [], "s", color=colour, alpha=0.6, label=f"decided: {name}")
    axis.set_xticks(range(len(LABELS)), LABELS)
    axis.set_xlim(-0.6, len(LABELS) - 0.4)
