"""VᵀW during training on data with different ratios of positive to negative texts (supplement Fig. 7)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

STYLES = ((BLUE, ":"), (PURPLE, "--"), (BLACK, "-"), (GREEN, "--"), (ORANGE, ":"))


def draw_skew(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Two panels: VᵀW and |VᵀW|, each the mean over initialisations."""
    course = tables["moments"].assign(size=tables["moments"]["mean"].abs())
    seeds = course["seed"].nunique()
    figure = new_figure(7.0, 3.2)
    left, right = figure.subplots(1, 2)
    for (ratio, own), (colour, line) in zip(course.groupby("ratio"), STYLES, strict=True):
        over = own.groupby("step")[["mean", "size"]].mean()
        for axes, column in ((left, "mean"), (right, "size")):
            axes.plot(over.index, over[column], color=colour, linestyle=line, label=f"{ratio:g}")
    for axes, name in ((left, "VᵀW"), (right, "|VᵀW|")):
        axes.set_xlabel("training step")
        axes.set_ylabel(f"{name}, mean of {seeds} starts")
        axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(
        handles, labels, title="positive texts to one negative", loc="outside lower center", ncols=5
    )
    return figure
