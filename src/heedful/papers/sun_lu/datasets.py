"""The corpora beside those of Sun & Lu (2020): Table 1 (sizes) and supplement Table 1 (words by type)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from heedful.data.named import load_data
from heedful.data.summary import compare, summarise
from heedful.drawing import BLACK, BLUE, new_figure
from heedful.papers.names import corpus_label
from heedful.papers.sun_lu.trainings import CORPORA
from heedful.papers.sun_lu.words import short
from heedful.records import Claim, Finding
from heedful.records.interval import wilson_interval
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench
from heedful.understanding.table_one import type_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = "Sun & Lu (2020), Table 1"
TYPES = "Sun & Lu (2020), supplement Table 1"
MOST = 0.8  # of the printed sample words are of the printed type, if our corpus is theirs


def measure_sizes(bench: Bench) -> Tables:
    """Every figure of Table 1 and ours, and why they differ where they do."""
    rows = []
    for name in bench.chosen("corpora", CORPORA):
        summary = summarise(load_data(name, data_dir=bench.data_dir))
        rows += [
            {
                "corpus": name,
                "figure": row.figure,
                "ours": float(row.ours),
                "printed": float(row.theirs),
                "difference %": 100 * row.difference,
                "reason": row.reason,
            }
            for row in compare(summary)
        ]
    return {"summary": pd.DataFrame(rows)}


def claim_sizes(tables: Tables) -> Iterator[Claim]:
    """All four corpora are balanced: here, no class has more than 1.2 times an even share of a split."""
    table = tables["summary"]
    for corpus, own in table.groupby("corpus", sort=False):
        sizes = own[own["figure"].str.match("(train|dev|test) ")].set_index("figure")["ours"]
        splits = sizes.groupby(sizes.index.str.partition(" ").get_level_values(0))
        shares = splits.max() / splits.sum() * splits.size()
        yield Claim.decided(
            f"{corpus_label(corpus)} is balanced: no class has over 1.2 times an even share of a split",
            SIZES,
            effect=Finding(
                "largest class over an even share, in the split where that is most",
                float(shares.max()),
                count=int(sizes.sum()),
                measured="Counted over the texts of each split.",
                kind="exact",
            ),
            comparison="<",
            threshold=1.2,
        )


def measure_types(bench: Bench) -> Tables:
    """Words by type, ours and printed, with sample words."""
    tables = [
        type_table(load_data(name, data_dir=bench.data_dir)).to_frame().assign(corpus=name)
        for name in bench.chosen("corpora", CORPORA)
    ]
    table = pd.concat(tables, ignore_index=True)
    short = table[["corpus", "type", "count", "printed", "their words", "their words of this type"]]
    return {"summary": short, "types": table}


def claim_types(tables: Tables) -> Iterator[Claim]:
    """The printed sample words are of the printed type in our corpus."""
    for corpus, own in tables["summary"].groupby("corpus", sort=False):
        kept, words = int(own["their words of this type"].sum()), int(own["their words"].sum())
        yield Claim.decided(
            f"At least {MOST:.0%} of the sample words printed for {corpus_label(corpus)} have the printed "
            "type",
            TYPES,
            effect=Finding(
                "share of printed sample words with the printed type",
                kept / words,
                count=words,
                measured="Types by Eq. 28 (three classes: the nearest rule found) on our training split.",
                interval=wilson_interval(kept, words),
            ),
            comparison=">=",
            threshold=MOST,
        )


def draw_sizes(tables: Tables) -> "Figure":
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
        axes.set_title(corpus_label(corpus))
        axes.set_xlabel("ours − printed, %")
        axes.margins(x=0.2)
        widest = max(1.0, own["difference %"].abs().max())
        axes.set_xlim(-1.2 * widest, 1.2 * widest)
        axes.grid(axis="y", visible=False)
    return figure


def draw_types(tables: Tables) -> "Figure":
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
        axes.set_title(corpus_label(corpus))
        axes.grid(axis="x", visible=False)
        if place == 0:
            axes.set_ylabel("words")
            axes.legend()
    return figure


def _named(figure: str) -> str:
    """train hockey for train rec.sport.hockey."""
    split, _, label = figure.partition(" ")
    return f"{split} {short(label)}" if split in ("train", "dev", "test") else figure


EXPERIMENTS = {
    one.name: one
    for one in (
        Experiment(
            "sun-lu-table1",
            "Sizes of the four corpora",
            SIZES,
            measure_sizes,
            claim_sizes,
            figures={"sun-lu-table1": draw_sizes},
        ),
        Experiment(
            "sun-lu-s-table1",
            "Words of each type in the four corpora",
            TYPES,
            measure_types,
            claim_types,
            figures={"sun-lu-s-table1": draw_types},
        ),
    )
}
