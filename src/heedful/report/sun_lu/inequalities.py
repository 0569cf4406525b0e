"""For what share of word pairs the inequalities of supplement B.2 hold: a bar each, a column a corpus."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, BLUE, new_figure
from heedful.report.sun_lu.words import CORPORA

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

NAMES = {**CORPORA, "data-symmetric": "symmetric data"}


def draw_inequalities(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Equations from top to bottom, with the seeds' range on each bar."""
    shares = tables["shares"]
    corpora = list(dict.fromkeys(shares["corpus"]))
    labels = list(dict.fromkeys(map(_label, shares.to_dict("records"))))[::-1]
    figure = new_figure(4.6 + 2.6 * len(corpora), 0.27 * len(labels) + 0.9)
    row = figure.subplots(1, len(corpora), sharey=True, squeeze=False)[0]
    for axes, corpus in zip(row, corpora, strict=True):
        own = shares[shares["corpus"] == corpus]
        groups = own.assign(label=[_label(one) for one in own.to_dict("records")]).groupby("label")["share"]
        means, low, high = (
            100 * part.reindex(labels) for part in (groups.mean(), groups.min(), groups.max())
        )
        heights = range(len(labels))
        axes.barh(heights, means, color=BLUE, height=0.65)
        axes.hlines(heights, low, high, color=BLACK, linewidth=1.2)
        axes.axvline(50, color=BLACK, linewidth=0.8, linestyle=":")
        axes.set_yticks(heights, labels)
        axes.set_xlim(0, 100)
        axes.set_title(NAMES[corpus])
        axes.grid(axis="y", visible=False)
    figure.supxlabel("share of word pairs, % (bar: mean over seeds, line: their range)", fontsize=9)
    return figure


def _label(one: "Mapping[str, object]") -> str:
    return f"{one['equation']}: {one['statement']}, {one['pair']}"
