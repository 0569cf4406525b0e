"""Two things that Sun & Lu (2020) tell without a figure: a penalty on VᵀW on real data, and Adam."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import (
    accuracy_effect,
    effect,
    effect_of_runs,
    error_over_texts,
    gap,
    share,
)
from heedful.papers.sun_lu.measures import hits, word_scores
from heedful.papers.sun_lu.trainings import of_measure
from heedful.papers.sun_lu.word_scores import draw_panels, draw_scores
from heedful.papers.sun_lu.words import attention_claims, polarity_claims
from heedful.records import Claim, Estimate
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS, HITS = Measure(word_scores), Measure(hits)
PENALTY_SOURCE = "Sun & Lu (2020), §5, on constraining VᵀW"
ADAM_SOURCE = "Sun & Lu (2020), supplement G, footnote 2"
SCALE = 100.0
PENALTIES = (0.0, 0.0001, 0.01)  # none; the authors' on SST; and one that is a hundred times stronger
GAIN = 1.0  # points of accuracy that would count as an improvement


def measure_penalty(bench: Bench) -> Tables:
    """SST, dp, λ = 100, with penalties of several strengths."""
    bench.chosen("corpora", ("sst",))
    found = pd.concat(
        [
            trainings.on_corpus(
                bench,
                "sst",
                WORDS,
                HITS,
                scales=(SCALE,),
                seeds=trainings.seeds(bench, quick=trainings.QUICK_SEEDS),
                penalty=penalty,
            )
            for penalty in PENALTIES
        ],
        ignore_index=True,
    )
    words = of_measure(found, WORDS)
    words = words[
        ["corpus", "model", "scale", "penalty", "seed", "word", "type", "polarity", "attention", "own"]
        + ["strength", "alignment"]
    ].reset_index(drop=True)
    judged = of_measure(found, HITS).astype({"texts": int})
    own = [per_run(penalty, seed, run) for (penalty, seed), run in words.groupby(["penalty", "seed"])]
    runs = judged[["penalty", "seed", "epoch", "dev_accuracy", "test_accuracy", "texts"]]
    runs = runs.merge(pd.DataFrame(own), on=["penalty", "seed"])
    free = judged[judged["penalty"] == 0]
    errors = {penalty: error_over_texts(held, free) for penalty, held in judged.groupby("penalty")}
    runs["error"] = runs["penalty"].map(errors)  # over texts, of the accuracy gained over no penalty
    summary = runs.groupby("penalty").mean().drop(columns=["seed", "texts", "error"]).reset_index()
    return {"words": words, "runs": runs, "summary": summary}


def per_run(penalty: float, seed: int, words: pd.DataFrame) -> dict[str, float]:
    """VᵀW of a run and the gap between its positive and negative words' attention."""
    between: Estimate = gap("attention", "positive", "negative")(words)
    return {
        "penalty": penalty,
        "seed": seed,
        "alignment": words["alignment"].iloc[0],
        "|alignment|": abs(words["alignment"].iloc[0]),
        "|gap|, sd": abs(between.value),
    }


def claim_penalty(tables: Tables) -> Iterator[Claim]:
    """The penalty makes attention readable at a large λ, and does not help accuracy."""
    runs, words = tables["runs"], tables["words"]
    free = runs[runs["penalty"] == 0].set_index("seed")
    for penalty, own in runs[runs["penalty"] > 0].groupby("penalty"):
        held, note = own.set_index("seed"), f"SST, dp, λ = {SCALE:g}, penalty {penalty:g}"
        yield Claim.decided(
            f"A penalty on |VᵀW| makes the gap between positive and negative words smaller ({note})",
            PENALTY_SOURCE,
            effect=effect_of_runs(
                "|gap| with the penalty − without",
                list(held["|gap|, sd"] - free["|gap|, sd"]),
                measured="Difference of mean attention in standard deviations, the same seeds on both sides.",
                count=words["word"].nunique(),
                unit="sd",
            ),
            comparison="<",
            threshold=0,
        )
        penalised = words[words["penalty"] == penalty]
        yield from attention_claims(penalised, PENALTY_SOURCE, also=f", penalty {penalty:g}")
        for kind in ("positive", "negative"):
            yield Claim.decided(
                f"With the penalty {kind} words end up with attention scores above 0 ({note})",
                PENALTY_SOURCE,
                effect=effect(
                    f"share of {kind} words with an attention score above 0",
                    penalised[penalised["type"] == kind],
                    share("attention", [kind]),
                    measured="The words typed by the training split.",
                ),
                comparison=">",
                threshold=0.5,
            )
        yield Claim.decided(
            f"The penalty brings no significant accuracy: less than {GAIN:g} point ({note})",
            PENALTY_SOURCE,
            effect=accuracy_effect(
                "test accuracy with the penalty − without",
                list(held["test_accuracy"] - free["test_accuracy"]),
                measured="The epoch that dev chose, the same seeds and texts on both sides.",
                texts=int(own["texts"].iloc[0]),
                error=float(own["error"].iloc[0]),
            ),
            comparison="<",
            threshold=GAIN,
        )


def measure_adam(bench: Bench) -> Tables:
    """SST, dp, λ = 10 with Adam at its usual rate."""
    bench.chosen("corpora", ("sst",))
    found = trainings.on_corpus(
        bench,
        "sst",
        WORDS,
        seeds=trainings.seeds(bench, quick=trainings.QUICK_SEEDS),
        optimiser="adam",
        rate=0.001,
    )
    words = found.drop(columns=["cell", "measure", "id"])
    summary = words.groupby("type", sort=False)[["polarity", "attention"]].mean().reset_index()
    return {"words": words, "summary": summary}


def claim_adam(tables: Tables) -> Iterator[Claim]:
    """The same pattern as with Adagrad."""
    yield from polarity_claims(tables["words"], ADAM_SOURCE)
    yield from attention_claims(tables["words"], ADAM_SOURCE)


def draw_penalty(tables: Tables) -> "Figure":
    """Attention scores, a panel a strength of the penalty."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    return draw_panels(
        [
            ("no penalty" if penalty == 0 else f"penalty {penalty:g} × |VᵀW|", "attention", own)
            for penalty, own in words.groupby("penalty")
        ]
    )


EXPERIMENTS = {
    one.name: one
    for one in (
        Experiment(
            "sun-lu-penalty",
            "A penalty on VᵀW at λ = 100, on SST",
            PENALTY_SOURCE,
            measure_penalty,
            claim_penalty,
            figures={"sun-lu-penalty": draw_penalty},
        ),
        Experiment(
            "sun-lu-adam",
            "Scores of words with Adam instead of Adagrad, on SST",
            ADAM_SOURCE,
            measure_adam,
            claim_adam,
            figures={"sun-lu-adam": draw_scores},
        ),
    )
}
