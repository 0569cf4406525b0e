"""The course of a training as the watch saw it: a line a type of words (or pair of types), quartiles shaded
(supplement Figs. 1, 3 to 6, 8 to 10, 12, and the terms of §4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, new_figure
from heedful.report.sun_lu.words import LETTERS, colours, pair_colours, pairs_in_order, types_in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

AXES = {
    "polarity": "mean polarity score s",
    "attention": "mean attention score a",
    "alignment": "VᵀW",
    "omega": "mean dot-product eᵀe'",
    "omega of one pair": "dot-product eᵀe'",
    "states": "mean dot-product hᵀh'",
}
PANEL = 3.1, 2.7  # inches
STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


def draw_courses(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A column for each panel of the table and a row for each quantity; lines are means over seeds."""
    course = tables["moments"]
    panels = list(dict.fromkeys(course["panel"]))
    quantities = [name for name in dict.fromkeys(course["quantity"]) if name != "alignment"]
    stacked = len(panels) > 1 or len(quantities) == 1
    rows, columns = (len(quantities), len(panels)) if stacked else (1, len(quantities))
    figure = new_figure(max(columns * PANEL[0], 4.4) + 0.2, rows * PANEL[1] + 0.4)
    grid = figure.subplots(rows, columns, squeeze=False)
    for place, (quantity, panel) in enumerate((q, p) for q in quantities for p in panels):
        axes = grid.flat[place]
        own = course[(course["panel"] == panel) & (course["quantity"] == quantity)]
        draw_lines(axes, own)
        axes.set_title(panel)
        axes.set_ylabel(AXES.get(quantity, f"mean term {quantity}"))
    label_grid(figure, grid)
    return figure


def draw_terms(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Terms A to F at λ = 10, by type."""
    course = tables["moments"]
    course = course[course["panel"] == "λ = 10"]
    figure = new_figure(8.2, 4.8)
    grid = figure.subplots(2, 3)
    for axes, letter in zip(grid.flat, LETTERS, strict=True):
        # The beginning is left out: vectors are drawn by chance there, and the terms are not yet about words.
        draw_lines(axes, course[(course["quantity"] == letter) & (course["step"] > 0)])
        axes.set_title(f"term {letter} {'of ds/dτ' if letter in 'ABC' else 'of da/dτ'}")
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2))
    grid[0][0].set_ylabel("mean over words")
    grid[1][0].set_ylabel("mean over words")
    label_grid(figure, grid)
    return figure


def draw_lines(axes: "Axes", course: "DataFrame") -> None:
    """A line for each group: the mean over seeds of a mean over words, and of the quartiles if there are."""
    groups = set(course["group"])
    paired = any("-" in name for name in groups)
    order = pairs_in_order(groups) if paired else types_in_order(groups)
    paint = pair_colours(groups) if paired else colours(groups)
    for place, group in enumerate(order):
        over = course[course["group"] == group].groupby("step")[["mean", "low", "high"]].mean()
        axes.plot(
            over.index, over["mean"], color=paint[group], linestyle=STYLES[place % len(STYLES)], label=group
        )
        # Quartiles of dot-products tell how the vectors were drawn, and would hide the lines.
        if not paired and over["low"].notna().all():
            axes.fill_between(
                over.index, over["low"], over["high"], color=paint[group], alpha=0.12, linewidth=0
            )
    axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)


def label_grid(figure: "Figure", grid: "object") -> None:
    """Steps below, and one legend for all panels."""
    for axes in figure.axes[-grid.shape[1] :]:  # type: ignore[attr-defined]  # an array of axes
        axes.set_xlabel("training step")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3 if len(labels) > 4 else len(labels))
