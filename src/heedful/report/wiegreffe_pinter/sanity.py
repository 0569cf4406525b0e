"""Sanity checks: what randomised parameters, permuted labels and harmless noise do to attention."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heedful.records import bootstrap_interval
from heedful.records.crossed import crossed_interval
from heedful.report.jain_wallace.naming import named
from heedful.report.style import BLACK, BLUE, GREEN, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

CHECKS = {"random parameters": ORANGE, "permuted labels": BLUE, "noise": GREEN}
COLUMNS = {"divergence": "JSD from the run's, nats", "size": "|τ-b| with the run's"}


def sanity_figure(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Divergence from the run's own attention under each check, and |τ| with it beside a random ranking's.

    Intervals are over texts for noise, and over draws crossed with texts for what is drawn; each draw is a
    stroke.
    """
    table = tables["sanity"]
    table = table.assign(size=table["tau"].abs(), random_size=table["random_tau"].abs())
    cells = list(table.groupby(["corpus", "model"], sort=False))
    checks = list(dict.fromkeys(zip(table["check"], table["what"], strict=True)))
    figure = new_figure(6.4, 0.6 + (0.5 + 0.25 * len(checks)) * len(cells))
    panels = figure.subplots(len(cells), len(COLUMNS), squeeze=False, sharey=True, sharex="col")
    for axes, ((corpus, model), rows) in zip(panels, cells, strict=True):
        for axis, (column, label) in zip(axes, COLUMNS.items(), strict=True):
            for place, (check, what) in enumerate(checks):
                own = rows[(rows["check"] == check) & (rows["what"] == what)].dropna(subset=[column])
                if len(own):
                    _draw(axis, place, own, column, CHECKS[check])
            axis.set_xlabel(label)
            axis.set_title(f"{corpus}, {named(model)}")
        axes[0].set_xlim(left=-0.005)
        axes[1].set_xlim(0, 1.05)
        axes[1].axvline(rows["random_size"].mean(), color=BLACK, linestyle=":", linewidth=1)
        axes[0].set_yticks(range(len(checks)), [f"{check}: {what}" for check, what in checks])
        axes[0].set_ylim(len(checks) - 0.5, -0.5)
    _legend(figure)
    return figure


def _draw(axis: Any, place: int, own: "DataFrame", column: str, colour: str) -> None:
    draws, texts = own.groupby(["seed", "draw"])[column].mean(), own.groupby("instance")[column].mean()
    if len(draws) == 1:
        ends = bootstrap_interval(texts)
    else:
        error = float(texts.std(ddof=1) / len(texts) ** 0.5) if len(texts) > 1 else 0.0
        ends = crossed_interval(draws, count=len(texts), error=error, within=(0, 1))
    axis.plot([ends.low, ends.high], [place, place], color=colour, linewidth=2)
    if len(draws) > 1:
        axis.plot(draws, [place] * len(draws), "|", color=BLACK, markersize=8, markeredgewidth=0.8)
    axis.plot(draws.mean(), place, "o", color=colour, markersize=5)


def _legend(figure: "Figure") -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=BLACK, marker="o", markersize=5, linewidth=2, label="mean, 95 % interval"),
        Line2D([], [], color=BLACK, marker="|", markersize=8, linestyle="", label="single draw"),
        Line2D([], [], color=BLACK, linestyle=":", linewidth=1, label="random ranking"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
