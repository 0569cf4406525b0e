"""ΔJS against Δα (Figs. 3 and 7), and where it is negative (Figs. 4 and 8). JS in nats."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.serrano_smith.layout import of_panel, panels, say_empty
from heedful.report.style import BLACK, BLUE, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

TENTHS = (0, 0.2, 0.4, 0.6, 0.8)  # not 1: it would touch the next panel's 0


def js_against_weight(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A dot for each (sampled) test text, with the mean of each tenth of Δα; orange where ΔJS is negative."""
    points, bins = tables["points"], tables["bins"]
    figure, axes, models, corpora = panels(points, sharex=True, sharey=True)
    for row, model in enumerate(models):
        for column, corpus in enumerate(corpora):
            axis = axes[row, column]
            dots = of_panel(points, model, corpus)
            if dots.empty:
                say_empty(axis)
                continue
            for kept, colour in ((dots["delta_js"] >= 0, BLUE), (dots["delta_js"] < 0, ORANGE)):
                axis.scatter(
                    dots["delta_weight"][kept],
                    dots["delta_js"][kept],
                    s=4,
                    alpha=0.35,
                    color=colour,
                    linewidths=0,
                    rasterized=True,
                )
            for _, means in of_panel(bins, model, corpus).groupby("seed"):
                known = means[means["instances"] > 0]
                middle = (known["from"] + known["to"]) / 2
                axis.plot(
                    middle, known["mean_delta_js"], color=BLACK, marker="o", markersize=2.5, linewidth=1
                )
            axis.axhline(0, color=BLACK, linewidth=0.6)
            axis.set_xlim(-0.02, 1.02)
            axis.set_xticks(TENTHS)
    figure.supxlabel("Δα: attention of the top item − of a random other item", fontsize=9)
    figure.supylabel("ΔJS (nats)", fontsize=9)
    figure.suptitle("Dots: test texts (a sample); line: mean by tenth of Δα", fontsize=8)
    return figure


def negatives_by_weight(tables: "Mapping[str, DataFrame]") -> "Figure":
    """How many texts have a negative ΔJS, by tenths of Δα, and of how many."""
    bins = tables["bins"]
    figure, axes, models, corpora = panels(bins, sharex=True)
    for row, model in enumerate(models):
        for column, corpus in enumerate(corpora):
            axis = axes[row, column]
            if not of_panel(bins, model, corpus)["instances"].sum():
                say_empty(axis)
                continue
            counted = of_panel(bins, model, corpus).groupby("from", as_index=False)
            counted = counted[["negatives", "instances"]].sum()
            axis.bar(counted["from"] + 0.05, counted["negatives"], width=0.09, color=ORANGE)
            total, negative = int(counted["instances"].sum()), int(counted["negatives"].sum())
            axis.text(
                0.97,
                0.93,
                f"{negative:,} of {total:,} texts",
                transform=axis.transAxes,
                ha="right",
                va="top",
                fontsize=7.5,
            )
            axis.set_xlim(0, 1)
            axis.set_xticks(TENTHS)
            axis.margins(y=0.25)
            axis.yaxis.get_major_locator().set_params(integer=True)
    figure.supxlabel("Δα: attention of the top item − of a random other item", fontsize=9)
    figure.supylabel("texts with a negative ΔJS", fontsize=9)
    return figure
