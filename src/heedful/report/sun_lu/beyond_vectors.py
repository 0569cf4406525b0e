"""Whether rare words' scores go with their neighbours', by where vectors start (`sun-lu-vectors`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLUE, GREY, ORANGE, new_figure
from heedful.report.sun_lu.words import CORPORA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

EVENED = "word2vec, evened"
SHOWN = (
    ("polarity near", "polarity, with neighbours'", BLUE, "o"),
    ("attention near", "attention, with neighbours'", ORANGE, "s"),
    ("human", "polarity, with human polarity", "#222222", "D"),
    ("polarity other", "polarity, with another word's neighbours'", GREY, "x"),
)


def draw_vectors(tables: "Mapping[str, DataFrame]") -> "Figure":
    """A panel a corpus with ρ by start, and its rare words beside their neighbours, from word2vec."""
    lifts, pairs = tables["lifts"], tables["pairs"]
    corpora = list(dict.fromkeys(lifts["corpus"]))
    figure = new_figure(8.6, 3.3 * len(corpora))
    grid = figure.add_gridspec(len(corpora), 2, width_ratios=(1.5, 1))
    for row, corpus in enumerate(corpora):
        left = figure.add_subplot(grid[row, 0])
        _starts(left, lifts[lifts["corpus"] == corpus])
        left.set_title(f"{CORPORA.get(corpus, corpus)}: rare words, dp, λ = 10 (mean and range over seeds)")
        own = pairs[(pairs["corpus"] == corpus) & (pairs["start"] == EVENED)]
        right = figure.add_subplot(grid[row, 1])
        right.scatter(
            own["polarity near"],
            own["polarity"],
            s=4,
            color=BLUE,
            alpha=0.35,
            linewidths=0,
            rasterized=True,
        )
        right.set_title(f"{EVENED}; one seed, {len(own):,} words")
        right.set_xlabel("mean polarity of its neighbours")
        right.set_ylabel("polarity of the rare word")
    figure.axes[0].legend(loc="upper left", fontsize=7)
    return figure


def _starts(axes: "Axes", lifts: "DataFrame") -> None:
    starts = list(dict.fromkeys(lifts["start"]))
    shown = [one for one in SHOWN if one[0] in lifts and lifts[one[0]].notna().any()]
    for number, (column, label, colour, marker) in enumerate(shown):
        groups = lifts.groupby("start", sort=False)[column]
        mean = groups.mean()
        shift = 0.15 * (number - (len(shown) - 1) / 2)
        axes.errorbar(
            [starts.index(start) + shift for start in mean.index],
            mean,
            [mean - groups.min(), groups.max() - mean],
            fmt=marker,
            color=colour,
            markersize=5,
            capsize=2,
            label=label,
        )
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xticks(range(len(starts)), [start.replace(", ", ",\n") for start in starts])
    axes.set_xlim(-0.5, len(starts) - 0.5)
    axes.set_ylabel("Spearman's ρ over rare words")
