"""Local and global attention scores of a model with a bidirectional LSTM on SST, supplement Fig. 13 (G.1).

The paper puts L2 on the LSTM and does not say how strongly. That strength decides whether attention takes
sides, so there are two: the preset's, which dev accuracy chose, and a weak one.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import above, above_neutral, effect, effect_of_runs, polar_types
from heedful.papers.sun_lu.measures import word_scores_both_ways
from heedful.papers.sun_lu.word_scores import draw_panels
from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), supplement G.1, Fig. 13"
STRENGTHS = (0.01, 0.0001)
BOTH = Measure(word_scores_both_ways)


def measure(bench: Bench) -> Tables:
    """Words with both kinds of scores, at both strengths of L2."""
    bench.chosen("corpora", ("sst",))
    seeds = trainings.seeds(bench)
    found = pd.concat(
        [
            trainings.on_corpus(bench, "sst", BOTH, models=("dp-l",), seeds=seeds, l2_encoder=strength)
            for strength in STRENGTHS
        ],
        ignore_index=True,
    )
    words = found.drop(columns=["cell", "measure", "id", "weight"])
    groups = words.groupby(["l2_encoder", "kind", "type"], sort=False)
    return {"words": words, "summary": groups[["polarity", "attention"]].mean().reset_index()}


def claims(tables: Tables) -> Iterator[Claim]:
    """Both kinds favour polar words, and the global ones more clearly."""
    for strength, words in tables["words"].groupby("l2_encoder", sort=False):
        statistic = above("attention", polar_types(words), ["neutral"])
        where = f"SST, dp-l, λ = 10, L2 {strength:g}"
        for kind in ("local", "global"):
            yield Claim.decided(
                f"Polar words generally have larger {kind} attention scores than neutral ones ({where})",
                SOURCE,
                effect=effect(
                    f"share of pairs in which the polar word has the larger {kind} attention score",
                    words[words["kind"] == kind],
                    statistic,
                    measured="All pairs of a polar and a neutral word.",
                ),
                comparison=">",
                threshold=0.5,
            )
        single, whole = (above_neutral(words[words["kind"] == kind]) for kind in ("local", "global"))
        yield Claim.decided(
            f"The pattern is more apparent for global than for local attention scores ({where})",
            SOURCE,
            effect=effect_of_runs(
                "that share for global − for local scores",
                list(whole - single),
                measured="All pairs of a polar and a neutral word, both kinds of scores of one run.",
                count=words["word"].nunique(),
            ),
            comparison=">",
            threshold=0,
        )


def draw_local_and_global(tables: Tables) -> "Figure":
    """Attention averaged over occurrences, and of each word fed alone; a pair for each strength of L2."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    return draw_panels(
        [
            (f"{kind}, L2 {strength:g}", "attention", own)
            for (strength, kind), own in words.groupby(["l2_encoder", "kind"], sort=False)
        ]
    )


EXPERIMENT = Experiment(
    "sun-lu-s-fig13",
    "Local and global attention scores with an LSTM on SST",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-s-fig13": draw_local_and_global},
    minutes=(3, 25),
)
