"""Wiegreffe & Pinter (2019), 4: change of output against divergence of attention."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.jain_wallace.naming import grid_of, named
from heedful.report.style import BLACK, BLUE, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def adversarial_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Adversaries over λ as a line, seeds as a cloud, the uniform control and the post-hoc adversary.

    "≥" beside the last says that it was climbed for: its divergence is a lower bound.
    """
    cells = list(tables["curve"].groupby(["corpus", "model"], sort=False))
    figure = new_figure(2.6 + 2.1 * min(len(cells), 2), 0.9 + 2.3 * -(-len(cells) // 2))
    for axis, ((corpus, model), rows) in zip(grid_of(figure, len(cells), sharex=True), cells, strict=True):
        _draw(axis, rows)
        axis.set_title(f"{corpus}, {named(model)}")
        axis.set_xlabel("JSD of attention from the base, nats")
        axis.set_ylabel("change of output (TVD)")
        axis.set_xlim(-0.02, 0.74)
        axis.label_outer()
        axis.tick_params(labelbottom=True)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def _draw(axis, rows: "DataFrame") -> None:  # type: ignore[no-untyped-def]
    means = rows.groupby(["kind", "strength", "other"], dropna=False)[["divergence", "change"]].mean()
    means = means.reset_index()
    curve = means[means["kind"] == "adversary"].sort_values("strength")
    axis.plot(curve["divergence"], curve["change"], "o-", color=BLUE, label="trained adversary, by λ")
    for _, point in curve.iterrows():
        axis.annotate(
            f"{point['strength']:g}",
            (point["divergence"], point["change"]),
            textcoords="offset points",
            xytext=(5, -10),  # below: the curve rises, and its points lie closer together to the right
            fontsize=7,
            color=BLUE,
        )
    seeds = means[means["kind"] == "seed"]
    axis.plot(seeds["divergence"], seeds["change"], "+", color=GREY, markersize=8, label="other seeds")
    even = means[means["kind"] == "uniform"]
    axis.plot(even["divergence"], even["change"], "^", color=ORANGE, label="uniform weights, trained")
    found = means[means["kind"] == "post-hoc adversary"]
    axis.plot(
        found["divergence"], found["change"], "*", color=BLACK, markersize=10, label="post-hoc adversary"
    )
    climbed = rows[(rows["kind"] == "post-hoc adversary") & (rows["how"] != "exact")]
    if len(climbed):
        place = climbed[["divergence", "change"]].mean()
        axis.annotate(
            "≥",
            (place["divergence"], place["change"]),
            textcoords="offset points",
            xytext=(-8, 6),
            ha="center",
            fontsize=8,
        )
    axis.axvline(math.log(2), color=GREY, linestyle=":", linewidth=0.8, label="log 2, the largest JSD")
    axis.set_ylim(bottom=-0.01)
