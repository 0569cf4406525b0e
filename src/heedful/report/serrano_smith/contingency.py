"""Flips by the top item of a ranking against those by a random other one (Table 2, Figs. 9, 12, 13)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.serrano_smith.layout import LABELS, of_panel, panel_title, say_empty
from heedful.report.style import BLUE, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

# Row 0: the top item flips the decision, 1: it does not; column 0: the random other item does, 1: not.
PLACES = {"both": (0, 0), "top_only": (0, 1), "other_only": (1, 0), "neither": (1, 1)}
COLOURS = {"both": GREY, "top_only": BLUE, "other_only": ORANGE, "neither": "#FFFFFF"}


def contingency(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A two by two table for each model and corpus, in percent of the texts tested."""
    flips = tables["flips"]
    models, corpora = list(flips["model"].unique()), list(flips["corpus"].unique())
    figure = new_figure(max(4.8, 1.75 * len(corpora) + 1.2), max(2.2, 1.15 * len(models) + 0.7))
    axes = figure.subplots(len(models), len(corpora), squeeze=False)
    for row, model in enumerate(models):
        for column, corpus in enumerate(corpora):
            _table(axes[row, column], of_panel(flips, model, corpus))
            axes[row, column].set_title(panel_title(model, corpus), fontsize=8)
    ranking = LABELS.get(str(flips["ranking"].iloc[0]), str(flips["ranking"].iloc[0]))
    figure.supylabel(f"top item by {ranking} flips it", fontsize=8.5)
    figure.supxlabel("a random other item flips the decision (% of the texts)", fontsize=8.5)
    return figure


def _table(axis: "Axes", rows: "DataFrame") -> None:
    from matplotlib.patches import Rectangle

    total = int(rows["tested"].sum())
    if not total:
        say_empty(axis)
        return
    for name, (down, across) in PLACES.items():
        share = float(rows[name].sum()) / total
        # The paper's colours: blue should be large, orange close to 0. Strength grows with the share.
        strength = 0.0 if name == "neither" else min(1.0, 0.15 + 2.5 * share)
        axis.add_patch(
            Rectangle((across, down), 1, 1, facecolor=COLOURS[name], alpha=0.6 * strength, edgecolor="none")
        )
        axis.text(across + 0.5, down + 0.5, f"{100 * share:.1f}", ha="center", va="center", fontsize=8)
    axis.set(xlim=(0, 2), ylim=(2, 0), xticks=[0.5, 1.5], yticks=[0.5, 1.5])
    axis.set_xticklabels(["yes", "no"], fontsize=7.5)
    axis.set_yticklabels(["yes", "no"], fontsize=7.5)
    axis.tick_params(length=0)
    axis.grid(False)
    axis.axhline(1, color="#B0B0B0", linewidth=0.6)
    axis.axvline(1, color="#B0B0B0", linewidth=0.6)
    for side in axis.spines.values():
        side.set_visible(True)
        side.set_color("#B0B0B0")
