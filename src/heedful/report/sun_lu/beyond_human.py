"""Correlation of learnt scores with people's labels of words, by λ and model (`sun-lu-human`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

PAINT = {"dp": (BLUE, "o"), "dp-a": (ORANGE, "s"), "ad": (GREEN, "^"), "dp-l": (PURPLE, "D")}
PANELS = (
    ("polarity", "gamma", "polarity s, with human polarity"),
    ("attention", "|gamma|", "attention a, with |human polarity|"),
    ("|polarity|", "|gamma|", "|s|, with |human polarity|"),
)


def draw_human(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A panel a score: ρ over λ, a line for dp and points for other models, counting (γ) as a dashed line."""
    table = tables["correlations"]
    table = table[table["words"] == "frequent"]
    scales = sorted(table["scale"].unique())
    figure = new_figure(9.6, 3.4)
    first = None
    for place, (score, counted, title) in enumerate(PANELS):
        axes = figure.add_subplot(1, len(PANELS), place + 1, sharey=first)
        first = first or axes
        _panel(axes, table[table["score"] == score], scales)
        beside = table.loc[table["score"] == counted, "correlation"].mean()
        axes.axhline(beside, color=GREY, linestyle="--", linewidth=1.2, label="counting, γ")
        axes.axhline(0, color=GREY, linewidth=0.6)
        axes.set_title(title)
        axes.set_xlabel("λ")
        axes.set_xticks(range(len(scales)), ["10⁴" if scale == 10_000 else f"{scale:g}" for scale in scales])
        axes.set_xlim(-0.5, len(scales) - 0.5)
    assert first is not None
    first.set_ylabel("Spearman's ρ over words")
    figure.axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _panel(axes: "Axes", rows: "DataFrame", scales: list[float]) -> None:
    models = [model for model in PAINT if model in set(rows["model"])]
    for number, model in enumerate(models):
        colour, marker = PAINT[model]
        groups = rows[rows["model"] == model].groupby("scale")["correlation"]
        mean = groups.mean()
        shift = 0.12 * (number - (len(models) - 1) / 2)
        places = [scales.index(scale) + shift for scale in mean.index]
        spread = [mean - groups.min(), groups.max() - mean]
        axes.errorbar(
            places,
            mean,
            spread,
            fmt=f"{marker}-" if model == "dp" else marker,
            color=colour,
            markersize=4.5,
            capsize=2,
            linewidth=1.0,
            label=f"{model} (range over seeds)",
        )
