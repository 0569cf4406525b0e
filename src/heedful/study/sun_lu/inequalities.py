"""The inequalities of supplement B.2 (Eq. 48–55, Sun & Lu, 2020) on SST: for what share of word pairs?

The paper argues them near a minimum, for a large λ and symmetric data; here they are measured on the weights
that dev chose, for every pair of sampled words.
"""

from collections.abc import Iterator

from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.sun_lu import trainings
from heedful.study.sun_lu.effects import effect_of_runs
from heedful.study.workbench import Bench, Measure

SOURCE = "Sun & Lu (2020), supplement B.2"
INEQUALITIES = Measure("heedful.study.sun_lu.measures:inequalities")
WHAT = ["equation", "statement", "pair"]


def measure(bench: Bench) -> Tables:
    """Shares by equation and pair of types, of every seed."""
    bench.chosen("corpora", ("sst",))
    seeds = trainings.seeds(bench, quick=trainings.QUICK_SEEDS)
    found = trainings.on_corpus(bench, "sst", INEQUALITIES, seeds=seeds)
    shares = found[["corpus", "model", "scale", "seed", *WHAT, "holds", "count", "share"]]
    summary = shares.groupby(WHAT, sort=False).agg({"share": "mean", "count": "first"}).reset_index()
    return {"shares": shares, "summary": summary}


def claims(tables: Tables) -> Iterator[Claim]:
    """Each inequality holds for most pairs."""
    for (equation, statement, pair), own in tables["shares"].groupby(WHAT, sort=False):
        where = "the premise" if equation == "premise" else f"Eq. {equation}"
        yield Claim.decided(
            f"{statement} for most {pair} pairs (SST, dp, λ = 10)",
            f"{SOURCE}, {where}",
            effect=effect_of_runs(
                f"share of pairs with {statement}",
                list(own["share"]),
                measured="At most 200 words of each type; A and B are those of Eq. 44, corrected.",
                count=int(own["count"].iloc[0]),
            ),
            comparison=">",
            threshold=0.5,
        )


B_TWO = Experiment(
    "sun-lu-inequalities",
    "How dot-products move: the inequalities of B.2 on SST",
    SOURCE,
    measure,
    lambda tables: tuple(claims(tables)),
    figures=("sun-lu-inequalities",),
    minutes=(1, 2),
)
