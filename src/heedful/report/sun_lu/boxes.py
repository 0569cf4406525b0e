"""Dot-products at the end of training by pair of types: quartiles, median, mean (supplement Figs. 2, 11)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, new_figure
from heedful.report.sun_lu.words import pair_colours, pairs_in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw_boxes(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A box a pair of types, from the watch's last moment; means over seeds."""
    from matplotlib.patches import Rectangle

    course = tables["moments"]
    last = course[course["step"] == course.groupby(["panel", "seed"])["step"].transform("max")]
    means = last.groupby("group")[["mean", "low", "middle", "high", "count"]].mean()
    order, paint = pairs_in_order(means.index), pair_colours(means.index)
    figure = new_figure(max(4.0, 0.85 * len(order) + 0.8), 3.2)
    axes = figure.subplots()
    for place, pair in enumerate(order):
        row = means.loc[pair]
        box = Rectangle(
            (place - 0.3, row["low"]),
            0.6,
            row["high"] - row["low"],
            facecolor=paint[pair],
            edgecolor=BLACK,
            alpha=0.75,
        )
        axes.add_patch(box)
        axes.plot([place - 0.3, place + 0.3], [row["middle"]] * 2, color=BLACK, linewidth=1.6)
        axes.plot(place, row["mean"], marker="D", markersize=4, color=BLACK, markerfacecolor="white")
    axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)
    axes.set_xlim(-0.6, len(order) - 0.4)
    axes.set_xticks(range(len(order)), [pair.replace("-", "-\n" if len(pair) > 8 else "-") for pair in order])
    axes.set_ylabel("dot-product eᵀe' at the end")
    axes.set_title(f"quartiles, median and mean (◇) of {int(means['count'].min()):,} pairs or more")
    axes.grid(axis="x", visible=False)
    return figure
