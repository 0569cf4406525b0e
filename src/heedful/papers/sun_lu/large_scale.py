"""A large λ makes attention take sides: main Fig. 3 of Sun & Lu (2020), and its panel on three classes.

Term D has a factor λ over the other terms of da/dτ: positive and negative words part with the sign of VᵀW.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heedful.papers.sun_lu import word_scores
from heedful.papers.sun_lu.effects import above, effect, effect_of_runs, gap, polar_types
from heedful.papers.sun_lu.word_scores import Shown
from heedful.papers.sun_lu.words import attention_claims, polarity_claims, setting_of, settings
from heedful.records import Claim, Estimate
from heedful.study.experiment import Tables
from heedful.study.workbench import Bench


def measure(bench: Bench, *, shown: tuple[Shown, ...]) -> Tables:
    """Fig. 3, and the words of SST at λ = 10 to compare sizes with."""
    tables = dict(word_scores.measure(bench, shown=shown))
    if "sst" in set(tables["words"]["corpus"]):
        tables["beside"] = word_scores.words_of(bench, Shown("sst"))
    return tables


def claims(tables: Tables, *, source: str) -> Iterator[Claim]:
    """§5 on λ = 100: attention takes sides and becomes small; and K classes."""
    for words in settings(tables["words"]):
        if words["corpus"].iloc[0] == "sst":
            yield from polarity_claims(words, source)
            yield from side_claims(words, source)
            yield _smaller(words, tables["beside"], source)
            yield _as_strong(words, tables["beside"], source)
        else:
            yield from attention_claims(words, source)


def side_claims(words: pd.DataFrame, source: str) -> Iterator[Claim]:
    """At a large λ the classes' words part with the sign of VᵀW, and one class falls below neutral words."""
    where = setting_of(words)
    yield Claim.decided(
        f"Attention of positive and negative words parts with the sign of VᵀW ({where})",
        source,
        effect=effect(
            "sign of VᵀW × (mean attention of positive − of negative words)",
            words,
            signed_gap,
            measured="In standard deviations of the words' attention scores.",
            unit="sd",
        ),
        comparison=">",
        threshold=0,
    )
    yield Claim.decided(
        f"Words of the class that VᵀW is against have less attention than neutral ones ({where})",
        source,
        effect=effect(
            "share of pairs in which the word that VᵀW is against has more attention than the neutral one",
            words,
            against_neutral,
            measured="VᵀW > 0 is against negative words, VᵀW < 0 against positive ones.",
        ),
        comparison="<",
        threshold=0.5,
    )


def signed_gap(words: pd.DataFrame) -> Estimate:
    """Positive minus negative words' attention, turned by the sign of VᵀW."""
    first, second = polar_types(words)
    if words["alignment"].iloc[0] < 0:
        first, second = second, first
    return gap("attention", first, second)(words)


def against_neutral(words: pd.DataFrame) -> Estimate:
    """The words of the class that VᵀW turns down, against neutral ones."""
    kind = "negative" if words["alignment"].iloc[0] > 0 else "positive"
    return above("attention", [kind], ["neutral"])(words)


def _smaller(words: pd.DataFrame, beside: pd.DataFrame, source: str) -> Claim:
    sizes = [
        frame.assign(size=frame["attention"].abs()).groupby("seed")["size"].mean()
        for frame in (words, beside)
    ]
    return Claim.decided(
        "Attention scores at λ = 100 are much smaller than at λ = 10: less than half (SST, dp)",
        source,
        effect=effect_of_runs(
            "log₂ of mean |a| at λ 100 over mean |a| at λ 10",
            list(np.log2(sizes[0] / sizes[1])),
            measured="Over the words that have a type, the same seeds on both sides.",
            count=words["word"].nunique(),
        ),
        comparison="<",
        threshold=-1,
    )


def _as_strong(words: pd.DataFrame, beside: pd.DataFrame, source: str) -> Claim:
    """The polarity scores that let a model with such attention still decide well (Fig. 3a)."""
    sizes = [
        frame[frame["type"] != "neutral"].groupby("seed")["strength"].mean() for frame in (words, beside)
    ]
    return Claim.decided(
        "Polarity of polar words at λ = 100 is as large as at λ = 10: at least half (SST, dp)",
        source,
        effect=effect_of_runs(
            "log₂ of mean |s| at λ 100 over mean |s| at λ 10",
            list(np.log2(sizes[0] / sizes[1])),
            measured="Over the positive and negative words, the same seeds on both sides.",
            count=words.loc[words["type"] != "neutral", "word"].nunique(),
        ),
        comparison=">",
        threshold=-1,
    )


EXPERIMENT = word_scores.experiment(
    "fig3",
    "A large λ on SST, and three classes",
    "§5, Fig. 3",
    (Shown("sst", scale=100), Shown("20news-2", scores="attention")),
    measured=measure,
    judged=claims,
)
