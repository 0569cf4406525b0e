"""Our corpora beside the printed ones: sizes (Table 1) and words by type (supplement Table 1)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from heedful.report.style import BLACK, BLUE, new_figure
from heedful.report.sun_lu.words import CORPORA, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def draw_sizes(tables: "Mapping[str, DataFrame]") -> "Figure":
    """The difference of each figure from the printed one, in percent."""
    table = tables["summary"]
    corpora = list(dict.fromkeys(table["corpus"]))
    figure = new_figure(2.3 * len(corpora) + 0.6, 3.0)
    for place, corpus in enumerate(corpora):
        own = table[table["corpus"] == corpus].iloc[::-1]
        axes = figure.add_subplot(1, len(corpora), place + 1)
        heights = range(len(own))
        axes.barh(heights, own["difference %"], color=BLUE, height=0.6)
        axes.axvline(0, color=BLACK, linewidth=0.8)
        axes.set_yticks(heights, [_named(figure) for figure in own["figure"]])
        axes.set_title(CORPORA[corpus])
        axes.set_xlabel("ours − printed, %")
        axes.margins(x=0.2)
        widest = max(1.0, own["difference %"].abs().max())
        axes.set_xlim(-1.2 * widest, 1.2 * widest)
        axes.grid(axis="y", visible=False)
    return figure


def draw_types(tables: "Mapping[str, DataFrame]") -> "Figure":
    """Words of each type, ours as bars and the printed count as a mark."""
    table = tables["summary"]
    corpora = list(dict.fromkeys(table["corpus"]))
    figure = new_figure(2.2 * len(corpora) + 0.4, 3.0)
    for place, corpus in enumerate(corpora):
        own = table[table["corpus"] == corpus]
        axes = figure.add_subplot(1, len(corpora), place + 1)
        across = range(len(own))
        axes.bar(across, own["count"], color=BLUE, width=0.6, label="ours")
        axes.plot(
            across,
            own["printed"],
            linestyle="none",
            marker="D",
            markersize=6,
            color=BLACK,
            markerfacecolor="white",
            label="printed",
        )
        axes.set_xticks(across, [short(kind) for kind in own["type"]], rotation=30, ha="right")
        axes.set_title(CORPORA[corpus])
        axes.grid(axis="x", visible=False)
        if place == 0:
            axes.set_ylabel("words")
            axes.legend()
    return figure


def _named(figure: str) -> str:
    """train hockey for train rec.sport.hockey."""
    split, _, label = figure.partition(" ")
    return f"{split} {short(label)}" if split in ("train", "dev", "test") else figure
