"""Table 2 as a picture: accuracy against the scale, ours with intervals and the printed one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, BLUE, new_figure
from heedful.report.sun_lu.words import CORPORA

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw_accuracies(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A row a corpus, a column a model."""
    table = tables["summary"]
    corpora, models = list(dict.fromkeys(table["corpus"])), list(dict.fromkeys(table["model"]))
    scales = sorted(set(table["scale"]))
    figure = new_figure(max(4.0, 2.5 * len(models) + 0.6), 2.2 * len(corpora) + 0.6)
    grid = figure.subplots(len(corpora), len(models), squeeze=False, sharex=True, sharey="row")
    for row, corpus in zip(grid, corpora, strict=True):
        for axes, model in zip(row, models, strict=True):
            own = table[(table["corpus"] == corpus) & (table["model"] == model)].sort_values("scale")
            places = [scales.index(scale) for scale in own["scale"]]
            spread = [(own["accuracy"] - own["low"]).fillna(0), (own["high"] - own["accuracy"]).fillna(0)]
            axes.errorbar(
                places,
                own["accuracy"],
                yerr=spread,
                color=BLUE,
                marker="o",
                markersize=4,
                capsize=2,
                label="ours",
            )
            axes.plot(
                places,
                own["printed"],
                linestyle="none",
                marker="D",
                markersize=5,
                markerfacecolor="none",
                color=BLACK,
                label="printed",
            )
            axes.set_title(f"{CORPORA[corpus]}, {model}")
            axes.set_xticks(range(len(scales)), [f"{scale:g}" for scale in scales], rotation=45)
        row[0].set_ylabel("test accuracy, %")
    for axes in grid[-1]:
        axes.set_xlabel("scale λ")
    grid[0][0].legend(loc="lower right")
    return figure
