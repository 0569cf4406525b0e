"""Scores with uncertainty over seeds: which words' attention is stable, and which is luck.

The paper shows one initialisation. Here `dp` is trained with several seeds, and each word gets the mean,
standard deviation and Student's t interval of its polarity and attention over them. `reading` calls a
word's attention stable, high or low, if that interval lies on one side of the average word's, and unsure
otherwise: with more seeds, fewer words are. What is claimed does not depend on the number of seeds.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heedful.errors import UserError
from heedful.records import Claim, Estimate, Finding
from heedful.study.experiment import Experiment, Tables
from heedful.study.sun_lu import trainings
from heedful.study.sun_lu.beyond_repeats import (
    GOOD,
    POOR,
    TOP,
    consistency,
    consistency_gain,
    repeated,
    sign_again,
    sign_by_chance,
    top_again,
)
from heedful.study.workbench import Bench, Measure

SOURCE = "Beyond Sun & Lu (2020): scores over seeds"
SCORES = ("polarity", "attention")
WORDS = Measure("heedful.study.sun_lu.beyond_measures:all_words")
SEEDS, QUICK_SEEDS = tuple(range(10)), tuple(range(3))
# Bands of words by occurrences in the training split: name, least, most.
BANDS = (
    ("once", 1, 1),
    ("2 to 4", 2, 4),
    ("5 to 19", 5, 19),
    ("20 to 99", 20, 99),
    ("100 or more", 100, 10**9),
)
FREQUENT = 20


def measure(bench: Bench) -> Tables:
    """dp at λ = 10, over seeds."""
    (corpus,) = trainings.some(bench, "corpora", ("sst", "imdb", "20news-1"), quick=("sst",))[:1]
    seeds = trainings.seeds(bench, SEEDS, quick=QUICK_SEEDS)
    if len(seeds) < 2:
        raise UserError("Stability is over seeds: give --seeds 2 or more.")
    found = trainings.on_corpus(bench, corpus, WORDS, seeds=seeds)
    words = word_table(found)
    bands = by_band(words)
    short = {"occurrences": "occurs", "words": "words", "score": "score", "icc": "icc", "icc low": "low"}
    short |= {"icc high": "high", "sign again": "sign again", "top again": "top again"}
    return {"words": words, "bands": bands, "summary": bands[list(short)].rename(columns=short).round(3)}


def word_table(found: pd.DataFrame) -> pd.DataFrame:
    """One row a word from one row a word and seed."""
    first = found[found["seed"] == found["seed"].min()].set_index("word")
    about = first[["corpus", "model", "scale", "count", "type"]]
    columns, bands = [about.reset_index()], _bands(about["count"])
    for name in SCORES:
        scores = found.pivot(index="word", columns="seed", values=name).loc[about.index].to_numpy()
        columns.append(repeated(scores, name, groups=bands, strong=name == "polarity"))
    words = pd.concat(columns, axis=1).assign(seeds=found["seed"].nunique(), band=bands)
    apart = (words["attention low"] > 0) | (words["attention high"] < 0)
    side = np.where(words["attention"] > 0, "high", "low")
    return words.assign(reading=np.where(apart, np.char.add("stable ", side), "unsure"))


def _bands(counts: pd.Series) -> list[str]:
    return [next(name for name, least, most in BANDS if least <= count <= most) for count in counts]


def by_band(words: pd.DataFrame) -> pd.DataFrame:
    """How well each score repeats, of words of each frequency, and of all."""
    seeds = int(words["seeds"].iloc[0])
    parts = [("all", words), *((name, words[words["band"] == name]) for name, _, _ in BANDS)]
    rows = []
    for band, own in parts:
        for name in SCORES if len(own) > 1 else ():
            icc, again = consistency(own, name, seeds=seeds), top_again(own, name, seeds=seeds)
            rows.append(
                {
                    "occurrences": band,
                    "words": len(own),
                    "score": name,
                    **_ends("icc", icc),
                    **_ends("sign again", sign_again(own, name, seeds=seeds)),
                    "sign again by chance": sign_by_chance(own, name, seeds=seeds),
                    **_ends("top again", again),
                    "top again by chance": TOP,
                }
            )
    return pd.DataFrame(rows)


def _ends(name: str, found: Estimate) -> dict[str, float]:
    ends = found.interval
    assert ends is not None
    return {name: found.value, f"{name} low": ends.low, f"{name} high": ends.high}


def claims(tables: Tables) -> Iterator[Claim]:
    """What repeats, and what does not."""
    words = tables["words"]
    seeds = int(words["seeds"].iloc[0])
    frequent, once = words[words["count"] >= FREQUENT], words[words["count"] == 1]
    often = f"words that occur {FREQUENT} times or more"
    for name in SCORES:
        yield Claim.decided(
            f"{name.capitalize()} of {often} repeats well from seed to seed",
            SOURCE,
            effect=_finding(
                f"intraclass correlation of {name}", consistency(frequent, name, seeds=seeds), frequent
            ),
            comparison=">=",
            threshold=GOOD,
        )
    yield Claim.decided(
        "Attention of words that occur once is mostly luck",
        SOURCE,
        effect=_finding(
            "intraclass correlation of attention", consistency(once, "attention", seeds=seeds), once
        ),
        comparison="<",
        threshold=POOR,
    )
    yield Claim.decided(
        "Polarity repeats better than attention",
        SOURCE,
        effect=_finding(
            "intraclass correlation of polarity − of attention",
            consistency_gain(words, "polarity", "attention", seeds=seeds),
            words,
        ),
        comparison=">",
        threshold=0,
    )
    again = _finding(
        "chance that a word of the top tenth of its frequency in one run is there in another",
        top_again(frequent, "attention", seeds=seeds),
        frequent,
        chance=TOP,
    )
    yield Claim.decided(
        f"A word among the tenth with the most attention of its frequency mostly is so again ({often})",
        SOURCE,
        effect=again,
        comparison=">",
        threshold=0.5,
    )
    side = _finding(
        "chance that two trainings put a word on the same side of the average word",
        sign_again(words, "attention", seeds=seeds),
        words,
        chance=sign_by_chance(words, "attention", seeds=seeds),
    )
    yield Claim.decided(
        "Three of four pairs of trainings agree whether a word has more attention than the average word",
        SOURCE,
        effect=side,
        comparison=">=",
        threshold=0.75,
    )


def _finding(name: str, found: Estimate, words: pd.DataFrame, *, chance: float = 0.0) -> Finding:
    first = words.iloc[0]
    return Finding(
        name,
        found.value,
        count=len(words),
        seeds=int(first["seeds"]),
        interval=found.interval,
        baselines={"chance": Estimate(chance)},
        measured="Scores of each run from their mean over words; interval over words, for these seeds.",
        coordinates={name: first[name] for name in ("corpus", "model", "scale")},
    )


STABILITY = Experiment(
    "sun-lu-stability",
    "Which words' attention is stable over seeds, and which is luck",
    SOURCE,
    measure,
    lambda tables: tuple(claims(tables)),
    figures=("sun-lu-stability",),
    minutes=(1, 3),
)
