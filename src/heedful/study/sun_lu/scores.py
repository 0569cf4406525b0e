"""Polarity and attention scores of the words of real corpora, by type: main Figs. 2 to 4, supplement Figs. 14
to 28 (Sun & Lu, 2020).

One kind of experiment with parameters: which corpus, model and scale, and which scores are shown.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import pandas as pd

from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.sun_lu import trainings
from heedful.study.sun_lu.effects import above, effect
from heedful.study.sun_lu.patterns import attention_claims, polarity_claims, setting_of, settings
from heedful.study.workbench import Bench, Measure

SCORES = Measure("heedful.study.sun_lu.measures:word_scores")


@dataclass(frozen=True)
class Shown:
    """One setting of a figure; `scores` is both, polarity, attention, or polarity CLASS."""

    corpus: str
    model: str = "dp"
    scale: float = 10
    scores: str = "both"

    def __str__(self) -> str:
        return f"{self.corpus}, {self.model}, λ {self.scale:g}"


def measure(bench: Bench, *, shown: tuple[Shown, ...]) -> Tables:
    """The words of every setting that the user did not leave out."""
    corpora = bench.chosen("corpora", tuple(dict.fromkeys(one.corpus for one in shown)))
    models = bench.chosen("models", tuple(dict.fromkeys(one.model for one in shown)))
    words = pd.concat(
        [words_of(bench, one) for one in shown if one.corpus in corpora and one.model in models],
        ignore_index=True,
    )
    return {"words": words, "summary": by_type(words)}


def words_of(bench: Bench, one: Shown) -> pd.DataFrame:
    """The words of one setting with the scores that are shown, of every seed."""
    quickly = one.model == "dp" and one.corpus != "imdb"
    found = trainings.on_corpus(
        bench,
        one.corpus,
        SCORES,
        models=(one.model,),
        scales=(one.scale,),
        seeds=trainings.seeds(bench, quick=trainings.QUICK_SEEDS if quickly else (0,)),
    )
    found = found.drop(columns=["cell", "measure", "id"])
    polarities = [name for name in found if name.startswith("polarity")]
    if one.scores == "attention":
        return found.drop(columns=[*polarities, "own", "strength"])
    if one.scores == "polarity":
        return found.drop(columns="attention")
    if one.scores.startswith("polarity "):
        others = [name for name in polarities if name != one.scores]
        return found.drop(columns=[*others, "attention", "own", "strength"])
    return found


def by_type(words: pd.DataFrame) -> pd.DataFrame:
    """Means of every score over a type's words and the seeds, and how many words these are."""
    scores = [name for name in words if name.startswith("polarity") or name == "attention"]
    groups = words.groupby(["corpus", "model", "scale", "type"], sort=False)
    counts = groups["word"].nunique().rename("words")
    return pd.concat(
        [counts, groups["seed"].nunique().rename("seeds"), groups[scores].mean()], axis=1
    ).reset_index()


def claims(tables: Tables, *, source: str) -> Iterator[Claim]:
    """The pattern, of whatever is shown."""
    for words in settings(tables["words"]):
        if _has(words, "own"):
            yield from polarity_claims(words, source)
        if _has(words, "attention"):
            yield from attention_claims(words, source)
        for column in words:
            if column.startswith("polarity ") and not _has(words, "own") and _has(words, column):
                yield _class_claim(words, column, source)


def _has(words: pd.DataFrame, column: str) -> bool:
    return column in words and bool(words[column].notna().any())


def _class_claim(words: pd.DataFrame, column: str, source: str) -> Claim:
    kind = column.removeprefix("polarity ")
    others = sorted(set(words["type"]) - {kind})
    return Claim.decided(
        f"Words of {kind} generally have larger polarity for {kind} than other words ({setting_of(words)})",
        source,
        effect=effect(
            f"share of pairs in which the word of {kind} has the larger polarity for it",
            words,
            above(column, [kind], others),
            measured="All pairs of a word of that type and a word of another type.",
        ),
        comparison=">",
        threshold=0.5,
    )


@dataclass(frozen=True)
class Figure:
    """A figure of scores, and the experiment that makes it."""

    name: str
    title: str
    place: str  # in the paper
    shown: tuple[Shown, ...]
    minutes: tuple[float, float]
    measure: Callable[..., Tables] = measure
    claims: Callable[..., Iterator[Claim]] = claims

    def experiment(self) -> Experiment:
        source = f"Sun & Lu (2020), {self.place}"
        judge = self.claims
        return Experiment(
            f"sun-lu-{self.name}",
            self.title,
            source,
            partial(self.measure, shown=self.shown),
            lambda tables: tuple(judge(tables, source=source)),
            figures=(f"sun-lu-{self.name}",),
            minutes=self.minutes,
        )


FIG_TWO = Figure(
    "fig2",
    "Polarity and attention of words by type, λ = 10",
    "§5, Fig. 2",
    (Shown("sst"), Shown("imdb"), Shown("20news-1")),
    (2, 12),
).experiment()
FIG_FOUR = Figure(
    "fig4", "Additive attention on SST", "§5, Fig. 4", (Shown("sst", "ad"),), (1, 4)
).experiment()

# Supplement G.2: number, corpus, model, scale, what is shown, minutes quick and full.
_MORE = (
    (14, "sst", "dp-a", 20, "polarity", (1, 4)),
    (15, "sst", "dp-a", 20, "attention", (1, 4)),
    (16, "sst", "dp-l", 10, "both", (2, 12)),
    (17, "imdb", "dp-a", 10, "polarity", (4, 70)),
    (18, "imdb", "dp-a", 10, "attention", (4, 70)),
    (19, "imdb", "ad", 10, "polarity", (4, 70)),
    (20, "imdb", "ad", 10, "attention", (4, 70)),
    (21, "20news-1", "dp-a", 1, "both", (1, 9)),
    (22, "20news-1", "dp-a", 10, "both", (1, 9)),
    (23, "20news-1", "dp-a", 20, "both", (1, 9)),
    (24, "20news-1", "dp-a", 50, "both", (1, 9)),
    (25, "20news-2", "dp-a", 10, "polarity rec.motorcycles", (1, 10)),
    (26, "20news-2", "dp-a", 10, "polarity sci.med", (1, 10)),
    (27, "20news-2", "dp-a", 10, "polarity talk.politics.guns", (1, 10)),
    (28, "20news-2", "dp-a", 10, "attention", (1, 10)),
)


def _more() -> Iterator[Figure]:
    for number, corpus, model, scale, scores, minutes in _MORE:
        shown = Shown(corpus, model, scale, scores)
        what = "polarity and attention" if scores == "both" else scores
        yield Figure(
            f"s-fig{number}",
            f"{what[0].upper()}{what[1:]} of words by type: {shown}",
            f"supplement G.2, Fig. {number}",
            (shown,),
            minutes,
        )


MORE = tuple(figure.experiment() for figure in _more())
