"""Average attention weights on SST's test split by type, main Fig. 5 (Sun & Lu, 2020, §5).

The paper explains neutral words with large weights by short texts ("is this progress"): a weight is a share
of its own text.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from heedful.drawing import BLACK, TYPES, new_figure
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import above, effect, effect_of_runs, gap, polar_types
from heedful.papers.sun_lu.measures import text_weights, word_weights
from heedful.papers.sun_lu.trainings import of_measure
from heedful.papers.sun_lu.words import types_in_order
from heedful.records import Claim, Estimate
from heedful.records.resampling import bootstrap
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), §5, Fig. 5"
TEXT = "is this progress"
WEIGHTS, ONE_TEXT = Measure(word_weights), Measure(text_weights, {"text": TEXT})
ABOUT = ["corpus", "model", "scale", "seed"]


def measure(bench: Bench) -> Tables:
    """Words of the test split with their average weights, and the paper's short text word by word."""
    bench.chosen("corpora", ("sst",))
    found = trainings.on_corpus(
        bench, "sst", WEIGHTS, ONE_TEXT, seeds=trainings.seeds(bench, quick=trainings.QUICK_SEEDS)
    )
    words = of_measure(found, WEIGHTS)
    words = words[
        [*ABOUT, "word", "type", "count", "polarity", "attention", "weight", "text length", "alignment"]
    ]
    words = words.assign(outlier=outliers(words))
    text = of_measure(found, ONE_TEXT)[[*ABOUT, "word", "type", "polarity", "attention", "weight"]]
    groups = words.groupby("type", sort=False)
    summary = groups[["weight", "attention", "text length", "outlier"]].mean().reset_index()
    summary.insert(1, "words", list(groups["word"].nunique()))
    summary = summary.rename(columns={"outlier": "share of outliers"})
    return {"words": words.reset_index(drop=True), "text": text.reset_index(drop=True), "summary": summary}


def outliers(words: pd.DataFrame) -> pd.Series:
    """Whether a weight is over 1.5 quartile distances above the upper quartile, in its seed and type."""
    groups = words.groupby(["seed", "type"])["weight"]
    low, high = groups.transform("quantile", 0.25), groups.transform("quantile", 0.75)
    return words["weight"] > high + 1.5 * (high - low)


def claims(tables: Tables) -> Iterator[Claim]:
    """What the paper says of Fig. 5."""
    words = tables["words"]
    yield Claim.decided(
        "Polar words generally have larger average attention weights than neutral ones (SST test)",
        SOURCE,
        effect=effect(
            "share of pairs in which the polar word has the larger average weight",
            words,
            above("weight", polar_types(words), ["neutral"]),
            measured="All pairs of a polar and a neutral word of the test split.",
        ),
        comparison=">",
        threshold=0.5,
    )
    yield Claim.decided(
        "Positive words generally have smaller average attention weights than negative ones (SST test)",
        SOURCE,
        effect=effect(
            "share of pairs in which the positive word has the larger average weight",
            words,
            above("weight", ["positive"], ["negative"]),
            measured="All pairs of a positive and a negative word of the test split.",
        ),
        comparison="<",
        threshold=0.5,
    )
    yield Claim.decided(
        "Of positive and negative words, those with the larger attention scores have the larger weights",
        SOURCE,
        effect=effect(
            "(positive − negative words' mean weight) turned by the sign of their scores' difference",
            words,
            _weights_follow_scores,
            measured="In standard deviations of the words' weights.",
            unit="sd",
        ),
        comparison=">",
        threshold=0,
    )
    yield Claim.decided(
        "Neutral words that are outliers stand in shorter texts than other neutral words",
        SOURCE,
        effect=effect(
            "mean text length of outlying − of other neutral words",
            words[words["type"] == "neutral"],
            _shorter,
            measured="A word's text length is the mean over its occurrences in the test split.",
            unit="words",
        ),
        comparison="<",
        threshold=0,
    )
    largest = tables["text"].groupby("seed")["attention"].max()
    yield Claim.decided(
        f'All words of "{TEXT}" have attention scores below 0',
        SOURCE,
        effect=effect_of_runs(
            "largest attention score of the three words",
            list(largest),
            measured="The text alone, read by each run.",
            count=len(largest),
        ),
        comparison="<",
        threshold=0,
    )
    by_word = tables["text"].pivot(index="seed", columns="word", values="weight")
    rest = [word for word in by_word if word != "progress"]
    yield Claim.decided(
        f'In "{TEXT}" the word "progress" has the largest weight',
        SOURCE,
        effect=effect_of_runs(
            "weight of progress − larger weight of the other two",
            list(by_word["progress"] - by_word[rest].max(axis=1)),
            measured="The text alone, read by each run.",
            count=len(by_word),
            within=(-1, 1),
        ),
        comparison=">",
        threshold=0,
    )


def _weights_follow_scores(words: pd.DataFrame) -> Estimate:
    means = words.groupby("type")["attention"].mean()
    first, second = (
        ("positive", "negative") if means["positive"] > means["negative"] else ("negative", "positive")
    )
    return gap("weight", first, second)(words)


def _shorter(words: pd.DataFrame) -> Estimate:
    """The difference of two means, bootstrapped over words."""
    out = words["outlier"].to_numpy(float)
    length = words["text length"].to_numpy()
    columns = {"out": out, "rest": 1 - out, "long": out * length, "others": (1 - out) * length}
    return bootstrap(columns, lambda mean: mean["long"] / mean["out"] - mean["others"] / mean["rest"])


def draw_weights(tables: Tables) -> "Figure":
    """Left, weights by type; right, neutral words' weights against the length of their texts."""
    words = tables["words"]
    words = words[words["seed"] == words["seed"].min()]
    order = types_in_order(words["type"])
    figure = new_figure(7.2, 3.4)
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
    drawn = left.boxplot(
        [words.loc[words["type"] == kind, "weight"] for kind in order],
        tick_labels=[f"{kind}\n{(words['type'] == kind).sum():,}" for kind in order],
        widths=0.6,
        patch_artist=True,
        medianprops={"color": BLACK},
        flierprops={"marker": "o", "markersize": 3, "markeredgecolor": BLACK, "markeredgewidth": 0.5},
    )
    for box, kind in zip(drawn["boxes"], order, strict=True):
        box.set_facecolor(TYPES[kind])
        box.set_alpha(0.75)
    left.set_ylabel("average attention weight on the test split")
    left.grid(axis="x", visible=False)
    neutral = words[words["type"] == "neutral"]
    for name, own, mark in (
        ("outlier", neutral[neutral["outlier"]], "o"),
        ("other", neutral[~neutral["outlier"]], "."),
    ):
        colour = BLACK if name == "outlier" else TYPES["neutral"]
        face = "none" if name == "outlier" else colour
        right.plot(
            own["text length"],
            own["weight"],
            linestyle="none",
            marker=mark,
            markersize=4,
            color=colour,
            markerfacecolor=face,
            alpha=0.8,
            label=name,
            rasterized=True,
        )
    right.set_xlabel("mean length of the word's texts, words")
    right.set_ylabel("average attention weight")
    right.set_title("neutral words")
    right.legend()
    return figure


EXPERIMENT = Experiment(
    "sun-lu-fig5",
    "Average attention weights on SST's test split, by type",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-fig5": draw_weights},
)
