"""How many words each ranking erases until the decision flips, beside the fewest that flip it at all.

Serrano & Smith (2019, 5.1) compare rankings with each other, and call the smallest sets prohibitive. With a
linear head they can be had (docs/erasure.md). A ranking that never flips a text is charged with all words.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.papers.exactness import trainings
from heedful.papers.names import corpus_label
from heedful.papers.serrano_smith.rows import PAPER, erasure_rows
from heedful.papers.serrano_smith.smallest_sets import NEAR_OPTIMAL, optimality
from heedful.records import Claim, Finding
from heedful.study.experiment import Experiment, Tables
from heedful.study.pooling import cells, defined, findings_table, mean_over_texts, share_of_texts, shown
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from heedful.training import Run

SOURCE = "Beyond Serrano & Smith (2019), 5.1: the exact smallest sets"
RANKINGS = (*PAPER, "contribution")
GAP, OPTIMAL = "optimality gap", "top set is a smallest set"
WORDS = {"product": "gradient × attention"}


def sets_rows(run: "Run", corpus: Corpus, *, limit: int | None = None) -> pd.DataFrame:
    """A measure: a row per text of two words or more that can be flipped, with the size of each set.

    `never` counts the texts that nothing flips, the same in every row.
    """
    from heedful.trials import Erasures
    from heedful.trials.erasure.comparisons import sizes_of

    found = Erasures.from_frame(erasure_rows(run, corpus, most=limit))
    assert found.smallest is not None
    sizes = {name: sizes_of(found, name).mean(1) for name in RANKINGS if name in found.sizes}
    table = pd.DataFrame(
        {"instance": found.instance, "items": found.items, "smallest": found.smallest, **sizes}
    )
    several = table[table["items"] > 1]
    kept = several[several["smallest"] > 0]
    return kept.assign(never=len(several) - len(kept)).reset_index(drop=True)


def measure(bench: Bench) -> Tables:
    """The sizes on every cell, and how far each ranking is from the smallest."""
    study = trainings.study(bench, "exact sets", (*trainings.TWO_CLASSES, *trainings.MORE_CLASSES))
    rows = bench.measured(study, Measure(sets_rows, {"limit": trainings.limit(bench)}))
    rows = rows.drop(columns=["cell", "measure"])
    return {"summary": summary(rows), "findings": findings_table(all_findings(rows)), "sets": rows}


def gap(rows: pd.DataFrame, ranking: str, **where: str) -> Finding | None:
    """The mean of a ranking's words over the fewest: 1 is optimal."""
    return mean_over_texts(
        rows.assign(gap=rows[ranking] / rows["smallest"]),
        "gap",
        name=GAP,
        measured="words that the ranking erases until the decision flips ÷ the fewest that flip it; mean",
        within=(1.0, np.inf),
        better="lower",
        coordinates={**where, "ranking": ranking},
    )


def optimal(rows: pd.DataFrame, ranking: str, **where: str) -> Finding | None:
    """The share of texts where a ranking needs no more words than needed."""
    return share_of_texts(
        rows.assign(optimal=rows[ranking] <= rows["smallest"]),
        "optimal",
        name=OPTIMAL,
        measured="share of the texts that can be flipped where the ranking needs no more words than needed",
        better="higher",
        coordinates={**where, "ranking": ranking},
    )


def all_findings(rows: pd.DataFrame) -> list[Finding]:
    """Gap and share of every ranking in every cell."""
    return [
        finding
        for where, own in cells(rows)
        for ranking in tried(own)
        for finding in defined(
            gap(own, ranking, **where),
            None if ranking == "random" else optimal(own, ranking, **where),  # the mean of several draws
        )
    ]


def tried(rows: pd.DataFrame) -> list[str]:
    """The rankings of a cell."""
    return [name for name in RANKINGS if name in rows and rows[name].notna().any()]


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """A line a cell: the smallest sets, and each ranking's gap."""
    lines = []
    for where, own in cells(rows):
        gaps = {WORDS.get(name, name): shown(gap(own, name)) for name in tried(own)}
        sizes = {"words": own["items"].mean(), "fewest": own["smallest"].mean()}
        about = {"texts": own["instance"].nunique(), "seeds": own["seed"].nunique()}
        never = own.groupby("seed")["never"].first().mean()
        rounded = {name: f"{value:.1f}" for name, value in {**sizes, "never": never}.items()}
        lines.append({**where, **about, **rounded, **gaps})
    return pd.DataFrame(lines)


def claims(tables: Tables) -> Iterator[Claim]:
    """In each model: attention is far from the smallest sets, products are near, and gradients between."""
    for where, rows in cells(tables["sets"]):
        on = f"({corpus_label(where['corpus'])}, {where['model']})"
        far = gap(rows, "attention", **where)
        if far is not None:
            yield Claim.decided(
                f"Ranking by attention erases over 25 % more words than needed, on average {on}",
                SOURCE,
                effect=far,
                comparison=">",
                threshold=NEAR_OPTIMAL,
            )
        near = gap(rows, "product", **where)
        if near is not None:
            yield Claim.decided(
                f"Ranking by gradient × attention is within 25 % of the fewest words, on average {on}",
                SOURCE,
                effect=near,
                comparison="<=",
                threshold=NEAR_OPTIMAL,
            )
        better = lead(rows, "random", "attention", **where)
        if better is not None:
            yield Claim.decided(
                f"Attention is nearer to the fewest words than a random ranking {on}",
                SOURCE,
                effect=better,
                comparison=">",
                threshold=0,
            )


def lead(rows: pd.DataFrame, worse: str, better: str, **where: str) -> Finding | None:
    """How much larger one ranking's gap is than another's, on the same texts."""
    return mean_over_texts(
        rows.assign(lead=(rows[worse] - rows[better]) / rows["smallest"]),
        "lead",
        name=f"{GAP} of {worse} − of {better}",
        measured="difference of the two rankings' words, over the fewest; mean over texts",
        coordinates=where,
    )


EXPERIMENT = Experiment(
    "exactness-sets",
    "How far each ranking is from the fewest words that flip the decision",
    SOURCE,
    measure,
    claims,
    {"exactness-sets": optimality},
)
