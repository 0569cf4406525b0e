"""What must go before the first flip, by ranking (Figs. 5, 6, 10, 11), and the smallest set beside."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.serrano_smith.layout import COLOUR, LABELS, of_panel, panels, say_empty
from heedful.report.style import BLACK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame


def fractions(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Boxes of the fraction of items removed; whiskers reach 1.5 IQR, the diamond is the mean."""
    return _boxes(tables["boxes"], "fraction of items removed before the first flip")


def masses(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Boxes of the attention mass removed."""
    return _boxes(tables["boxes"], "attention mass removed before the first flip")


def _boxes(boxes: "DataFrame", label: str) -> "Figure":
    from matplotlib.patches import Patch

    names = [name for name in LABELS if name in set(boxes["ranking"])]
    figure, axes, models, corpora = panels(boxes, height=0.26 * len(names) + 0.55, extra=1.0, sharex=True)
    for row, model in enumerate(models):
        for column, corpus in enumerate(corpora):
            _panel(axes[row, column], of_panel(boxes, model, corpus), names)
    figure.supxlabel(label, fontsize=9)
    handles = [Patch(color=COLOUR[name], alpha=0.75, label=LABELS[name]) for name in names]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=3 if len(corpora) < 3 else 5, fontsize=7.5
    )
    return figure


def _panel(axis: "Axes", rows: "DataFrame", names: list[str]) -> None:
    if rows.empty:
        say_empty(axis)
        return
    for place, name in enumerate(names):
        found = rows[rows["ranking"] == name].to_dict("records")
        wide = 0.62 / max(1, len(found))  # seeds stand side by side
        for seed, box in enumerate(found):
            stats = {
                "med": box["median"],
                "q1": box["lower_quartile"],
                "q3": box["upper_quartile"],
                "whislo": box["low"],
                "whishi": box["high"],
                "mean": box["mean"],
            }
            # In white where it lies inside its box; at its end, or in a box without width, it would vanish.
            inside = box["lower_quartile"] + 0.005 < box["median"] < box["upper_quartile"] - 0.005
            axis.bxp(
                [stats],
                positions=[place + (seed - (len(found) - 1) / 2) * wide],
                widths=0.95 * wide,
                orientation="horizontal",
                showfliers=False,
                showmeans=True,
                patch_artist=True,
                boxprops={"facecolor": COLOUR[name], "alpha": 0.75, "linewidth": 0.6},
                medianprops={"color": "white" if inside else BLACK, "linewidth": 1.8},
                whiskerprops={"linewidth": 0.8},
                capprops={"linewidth": 0.8},
                meanprops={
                    "marker": "D",
                    "markersize": 3,
                    "markerfacecolor": "white",
                    "markeredgecolor": "black",
                    "markeredgewidth": 0.6,
                },
                manage_ticks=False,
            )
    axis.set_yticks([])
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xlim(-0.02, 1.02)
