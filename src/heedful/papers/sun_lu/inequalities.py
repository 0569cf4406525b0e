"""The inequalities of supplement B.2 (Eq. 48–55, Sun & Lu, 2020): for what share of word pairs?

The paper argues them near a minimum, for a large λ, a small VᵀW and symmetric data. They are measured there,
at the end of a training on exactly symmetric data with the penalty on VᵀW, each word beside its mirror image;
and on SST, on the weights that dev chose, for every pair of sampled words.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from heedful.data.synthetic import Synthetic, make_synthetic
from heedful.drawing import BLACK, BLUE, new_figure
from heedful.papers.names import corpus_label
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import effect_of_runs
from heedful.papers.sun_lu.measures import inequalities, mirrored_inequalities_at_end
from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), supplement B.2"
SYMMETRIC = "data-symmetric"
CORPORA = {SYMMETRIC: "symmetric data, dp, λ = 10, penalty", "sst": "SST, dp, λ = 10"}
PENALTY = 0.001
INEQUALITIES, AT_END = Measure(inequalities), Measure(mirrored_inequalities_at_end)
WHAT = ["corpus", "equation", "statement", "pair"]


def measure(bench: Bench) -> Tables:
    """Shares by equation and pair of types, of every seed."""
    seeds = trainings.seeds(bench, quick=trainings.QUICK_SEEDS)
    parts = []
    for corpus in bench.chosen("corpora", tuple(CORPORA)):
        if corpus == SYMMETRIC:
            made = SYMMETRIC, make_synthetic(Synthetic(symmetric=True), name=SYMMETRIC)
            parts.append(trainings.on_synthetic(bench, made, AT_END, seeds=seeds, penalty=PENALTY))
        else:
            parts.append(trainings.on_corpus(bench, corpus, INEQUALITIES, seeds=seeds))
    found = pd.concat(parts, ignore_index=True)
    shares = found[["model", "scale", "seed", *WHAT, "holds", "count", "share"]]
    summary = shares.groupby(WHAT, sort=False).agg({"share": "mean", "count": "first"}).reset_index()
    return {"shares": shares, "summary": summary}


def claims(tables: Tables) -> Iterator[Claim]:
    """Each inequality holds for most pairs."""
    for (corpus, equation, statement, pair), own in tables["shares"].groupby(WHAT, sort=False):
        where = "the premise" if equation == "premise" else f"Eq. {equation}"
        yield Claim.decided(
            f"{statement} for most {pair} pairs ({CORPORA[corpus]})",
            f"{SOURCE}, {where}",
            effect=effect_of_runs(
                f"share of pairs with {statement}",
                list(own["share"]),
                measured="At most 200 words of each type; A and B are those of Eq. 44, corrected. The "
                "interval is over seeds, for these words.",
                count=int(own["count"].iloc[0]),
                within=(0, 1),
            ),
            comparison=">",
            threshold=0.5,
        )


def draw_inequalities(tables: Tables) -> "Figure":
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
        axes.set_title(corpus_label(corpus))
        axes.grid(axis="y", visible=False)
    figure.supxlabel("share of word pairs, % (bar: mean over seeds, line: their range)", fontsize=9)
    return figure


def _label(one: Mapping[str, object]) -> str:
    return f"{one['equation']}: {one['statement']}, {one['pair']}"


EXPERIMENT = Experiment(
    "sun-lu-inequalities",
    "How dot-products move: the inequalities of B.2",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-inequalities": draw_inequalities},
)
