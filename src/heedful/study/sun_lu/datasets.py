"""The corpora beside those of Sun & Lu (2020): Table 1 (sizes) and supplement Table 1 (words by type)."""

from collections.abc import Iterator

import pandas as pd

from heedful.data.named import load_data
from heedful.data.summary import compare, summarise
from heedful.records import Claim, Finding
from heedful.records.closed_form import wilson_interval
from heedful.study.experiment import Experiment, Tables
from heedful.study.sun_lu.patterns import NAMES
from heedful.study.sun_lu.printed import CORPORA
from heedful.study.workbench import Bench
from heedful.understanding.table_one import type_table

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
            f"{NAMES[corpus]} is balanced: no class has over 1.2 times an even share of a split",
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
            f"At least {MOST:.0%} of the sample words printed for {NAMES[corpus]} have the printed type",
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


TABLE_ONE = Experiment(
    "sun-lu-table1",
    "Sizes of the four corpora",
    SIZES,
    measure_sizes,
    lambda tables: tuple(claim_sizes(tables)),
    figures=("sun-lu-table1",),
    minutes=(1, 1),
)
TYPE_TABLE = Experiment(
    "sun-lu-s-table1",
    "Words of each type in the four corpora",
    TYPES,
    measure_types,
    lambda tables: tuple(claim_types(tables)),
    figures=("sun-lu-s-table1",),
    minutes=(1, 1),
)
