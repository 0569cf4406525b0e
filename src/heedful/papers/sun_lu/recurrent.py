"""Local and global attention scores of a model with a bidirectional LSTM on SST, supplement Fig. 13 (G.1).

The paper puts L2 on the LSTM and does not say how strongly, so it is run at several strengths.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import above, above_neutral, effect, effect_of_runs, polar_types
from heedful.papers.sun_lu.measures import word_scores_both_ways
from heedful.papers.sun_lu.strengths import LSTM, alike, at_strengths
from heedful.papers.sun_lu.word_scores import draw_panels
from heedful.papers.sun_lu.words import l2_told, setting_of, settings
from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), supplement G.1, Fig. 13"
BOTH = Measure(word_scores_both_ways)


def measure(bench: Bench) -> Tables:
    """Words with both kinds of scores, at every strength of L2."""
    bench.chosen("corpora", ("sst",))
    found = at_strengths(bench, "sst", BOTH, LSTM, model="dp-l", seeds=trainings.seeds(bench))
    words = found.drop(columns=["cell", "measure", "id", "weight"])
    groups = words.groupby(["l2", "kind", "type"], sort=False)
    return {"words": words, "summary": groups[["polarity", "attention"]].mean().reset_index()}


def claims(tables: Tables) -> Iterator[Claim]:
    """Both kinds favour polar words, and the global ones more clearly."""
    for words in settings(tables["words"]):
        statistic, where = above("attention", polar_types(words), ["neutral"]), setting_of(words)
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
                within=(-1, 1),
            ),
            comparison=">",
            threshold=0,
        )
    for kind, words in tables["words"].groupby("kind", sort=False):
        yield from alike(words, "attention", f"{kind} attention", SOURCE)


def draw_local_and_global(tables: Tables) -> "Figure":
    """Attention averaged over occurrences, above that of each word fed alone, for each strength of L2."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    return draw_panels(
        [
            (l2_told(strength), str(kind), own.rename(columns={"attention": kind}))
            for (strength, kind), own in words.groupby(["l2", "kind"], sort=False)
        ]
    )


EXPERIMENT = Experiment(
    "sun-lu-s-fig13",
    "Local and global attention scores with an LSTM on SST",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-s-fig13": draw_local_and_global},
)
