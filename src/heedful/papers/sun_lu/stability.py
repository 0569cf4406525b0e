"""Scores with uncertainty over seeds: which words' attention is stable, and which is luck.

The paper shows one initialisation. Here `dp` is trained with several seeds, and each word gets the mean,
standard deviation and Student's t interval of its polarity and attention over them. `reading` calls a
word's attention stable, high or low, if that interval lies on one side of the average word's, and unsure
otherwise: with more seeds, fewer words are. What is claimed does not depend on the number of seeds.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.drawing import BLUE, GREY, ORANGE, new_figure
from heedful.errors import UserError
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.measures import all_words
from heedful.papers.sun_lu.repeats import (
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
from heedful.records import Claim, Estimate, Finding
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOURCE = "Beyond Sun & Lu (2020): scores over seeds"
SCORES = {"polarity": (ORANGE, "s"), "attention": (BLUE, "o")}
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
EACH = 12  # words that the figure shows of the most stable, and of the luckiest


def measure(bench: Bench) -> Tables:
    """dp at λ = 10, over seeds."""
    (corpus,) = trainings.some(bench, "corpora", ("sst", "imdb", "20news-1"), quick=("sst",))[:1]
    seeds = trainings.seeds(bench, SEEDS, quick=QUICK_SEEDS)
    if len(seeds) < 2:
        raise UserError("Stability is over seeds: give --seeds 2 or more.")
    found = trainings.on_corpus(bench, corpus, Measure(all_words), seeds=seeds)
    words = word_table(found)
    bands = by_band(words)
    short = {"occurrences": "occurs", "words": "words", "score": "score", "icc": "icc", "icc low": "low"}
    short |= {"icc high": "high", "sign again": "sign again", "top again": "top again"}
    return {"words": words, "bands": bands, "summary": bands[list(short)].rename(columns=short).round(3)}


def word_table(found: pd.DataFrame) -> pd.DataFrame:
    """One row per word from one row per word and seed."""
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
    return Finding.of(
        name,
        found,
        count=len(words),
        seeds=int(first["seeds"]),
        baselines={"chance": Estimate(chance)},
        measured="Scores of each run from their mean over words; interval over words, for these seeds.",
        coordinates={name: first[name] for name in ("corpus", "model", "scale")},
    )


def draw_stability(tables: Tables) -> "Figure":
    """Intraclass correlation and the top tenth by frequency; then words with their intervals."""
    bands, words = tables["bands"], tables["words"]
    figure = new_figure(10.2, 4.4)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.0, 1.35))
    upper, lower = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    _by_band(upper, bands, "icc", "intraclass correlation")
    _by_band(lower, bands, "top again", "in the top tenth again")
    lower.axhline(float(bands["top again by chance"].iloc[0]), color=GREY, linestyle="--", linewidth=1)
    upper.legend(loc="lower right")
    lower.set_xlabel("occurrences in the training split")
    _draw_words(figure.add_subplot(grid[:, 1]), words)
    return figure


def _by_band(axes: "Axes", table: pd.DataFrame, column: str, label: str) -> None:
    bands = list(dict.fromkeys(table["occurrences"]))
    for shift, (score, (colour, marker)) in zip((-0.1, 0.1), SCORES.items(), strict=True):
        rows = table[table["score"] == score].set_index("occurrences").loc[bands]
        down, up = rows[column] - rows[f"{column} low"], rows[f"{column} high"] - rows[column]
        places = [place + shift for place in range(len(bands))]
        axes.errorbar(
            places, rows[column], [down, up], fmt=marker, color=colour, markersize=5, capsize=2, label=score
        )
    axes.set_xticks(range(len(bands)), [band.replace(" or more", "+") for band in bands])
    axes.set_ylim(min(-0.02, axes.get_ylim()[0]), 1.02)
    axes.set_ylabel(label)


def _draw_words(axes: "Axes", words: pd.DataFrame) -> None:
    """The words with the highest stable attention, and those whose side the seed decides."""
    often = words[words["count"] >= FREQUENT]
    stable = often[often["reading"] == "stable high"].nlargest(EACH, "attention low")
    unsure = often[often["reading"] == "unsure"].nlargest(EACH, "attention sd")
    rows = [
        *(("stable", BLUE, row) for _, row in stable.iterrows()),
        *(("unsure", GREY, row) for _, row in unsure.iterrows()),
    ]
    labelled = set()
    for place, (kind, colour, row) in enumerate(rows):
        name = {"stable": "stable: above average", "unsure": "the seed decides which side"}[kind]
        axes.errorbar(
            row["attention"],
            place,
            xerr=[
                [row["attention"] - row["attention low"]],
                [row["attention high"] - row["attention"]],
            ],
            fmt="o",
            color=colour,
            markersize=4,
            capsize=2,
            label=None if kind in labelled else name,
        )
        labelled.add(kind)
    axes.set_yticks(range(len(rows)), [str(row["word"]) for _, _, row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.axvline(0, color=GREY, linewidth=0.8)
    first = words.iloc[0]
    axes.set_xlabel(
        f"attention score above the average word (mean and 95 % interval, {first['seeds']} seeds)"
    )
    axes.set_title(f"Words that occur {FREQUENT} times or more")
    axes.legend(loc="lower right")
    axes.grid(axis="y", visible=False)


EXPERIMENT = Experiment(
    "sun-lu-stability",
    "Which words' attention is stable over seeds, and which is luck",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-stability": draw_stability},
)
