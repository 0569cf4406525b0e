"""Learnt scores beside people's: the labels that annotators of SST gave to single words.

Human polarity is from −2 (very negative) to 2 (very positive), the mean over the word's spellings by their
counts. It is compared with s_e, and its size with a_e; beside them stand γ, which merely counts, and |s_e|.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heedful.data.named import data_folder
from heedful.data.tables import table_rows
from heedful.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, new_figure
from heedful.errors import UserError
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import effect_of_runs, rank_correlation
from heedful.papers.sun_lu.measures import all_words
from heedful.papers.sun_lu.trainings import SCALES
from heedful.records import Claim, Estimate, Interval
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOURCE = "Beyond Sun & Lu (2020): human polarity of SST's words"
FILE = "extra/sst_word_labels.csv.gz"
LABELS = {"very negative": -2, "negative": -1, "neutral": 0, "positive": 1, "very positive": 2}
MODELS = {"dp": (BLUE, "o"), "dp-a": (ORANGE, "s"), "ad": (GREEN, "^"), "dp-l": (PURPLE, "D")}
MODERATE, LARGE = 10.0, 100.0
FREQUENT = 5
QUICK_SEEDS = (0, 1, 2)
# What is compared: name, our column, the human column.
COMPARED = (
    ("polarity", "polarity", "human"),
    ("gamma", "gamma", "human"),
    ("attention", "attention", "strength"),
    ("|polarity|", "|polarity|", "strength"),
    ("|gamma|", "|gamma|", "strength"),
)
# Statements, each about which of two scores is nearer to people.
COMPARISONS = (
    ("Learnt polarity is nearer to people than counting classes is", "polarity", "gamma"),
    (
        "Attention finds the words that people mark better than counting classes does",
        "attention",
        "|gamma|",
    ),
    (
        "The size of polarity finds the words that people mark better than attention",
        "|polarity|",
        "attention",
    ),
)


PANELS = (
    ("polarity", "gamma", "polarity s, with human polarity"),
    ("attention", "|gamma|", "attention a, with |human polarity|"),
    ("|polarity|", "|gamma|", "|s|, with |human polarity|"),
)


def human_polarity(data_dir: str | Path | None = None) -> pd.Series:
    """Human polarity by word in lower case, from the data folder."""
    folder = data_folder(data_dir)
    if folder is None or not (folder / FILE).is_file():
        raise UserError(
            f"The human labels of SST's words are read from {FILE} in the data folder: name a folder that "
            "has it with --data-dir or HEEDFUL_DATA."
        )
    rows = [cells for _, cells in table_rows(folder / FILE, ("word", "label", "count"))]
    frame = pd.DataFrame(rows, columns=["word", "label", "count"])
    known = frame["label"].map(LABELS)
    if known.isna().any():
        raise UserError(
            f"{folder / FILE} should have the labels {', '.join(LABELS)}, but has "
            f"{frame['label'][known.isna()].iloc[0]!r}."
        )
    frame = frame.assign(word=frame["word"].str.lower(), count=frame["count"].astype(int))
    total = (known * frame["count"]).groupby(frame["word"]).sum()
    polarity: pd.Series = (total / frame.groupby("word")["count"].sum()).rename("human")
    return polarity


def measure(bench: Bench) -> Tables:
    """SST, every λ of the paper for dp, λ = 10 and 100 for the others (dp-l: 10)."""
    bench.chosen("corpora", ("sst",))
    human = human_polarity(bench.data_dir)
    seeds = trainings.seeds(bench, quick=QUICK_SEEDS)
    tables, shown = [], None
    for model in trainings.some(bench, "models", tuple(MODELS), quick=("dp",)):
        scales = {"dp": SCALES, "dp-l": (MODERATE,)}.get(model, (MODERATE, LARGE))
        if bench.quick:
            scales = tuple(scale for scale in scales if scale in (1, MODERATE, LARGE))
        found = trainings.on_corpus(
            bench, "sst", Measure(all_words), models=(model,), scales=scales, seeds=seeds
        )
        words = with_human(found, human)
        tables.append(correlations(words))
        if shown is None:
            shown = words[(words["scale"] == MODERATE) & (words["seed"] == words["seed"].min())]
    assert shown is not None
    keep = ["corpus", "model", "scale", "seed", "word", "type", "count", "human"]
    keep += ["polarity", "attention", "gamma"]
    table = pd.concat(tables, ignore_index=True)
    return {"correlations": table, "words": shown[keep].reset_index(drop=True), "summary": summarise(table)}


def with_human(found: pd.DataFrame, human: pd.Series) -> pd.DataFrame:
    """The words that people labelled, with sizes of the scores beside them."""
    words = found.merge(human, left_on="word", right_index=True)
    return words.assign(
        strength=words["human"].abs(),
        **{"|polarity|": words["polarity"].abs(), "|gamma|": words["gamma"].abs()},
    )


def correlations(words: pd.DataFrame) -> pd.DataFrame:
    """ρ of each comparison, for each run, over all labelled words and over the frequent ones."""
    rows = []
    for key, run in words.groupby(["model", "scale", "seed"], sort=False):
        for kind, own in (("all", run), ("frequent", run[run["count"] >= FREQUENT])):
            for name, ours, theirs in COMPARED:
                found = rank_correlation(own[ours], own[theirs])
                assert found.interval is not None
                rows.append(
                    {
                        **dict(zip(("model", "scale", "seed"), key, strict=True)),
                        "words": kind,
                        "count": len(own),
                        "score": name,
                        "correlation": found.value,
                        "low": found.interval.low,
                        "high": found.interval.high,
                    }
                )
    return pd.DataFrame(rows)


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, a column a score, of the frequent words."""
    frequent = table[table["words"] == "frequent"]
    return (
        frequent.pivot_table(
            index=["model", "scale"], columns="score", values="correlation", aggfunc="mean", sort=False
        )
        .reset_index()
        .rename_axis(columns=None)
    )


def claims(tables: Tables) -> Iterator[Claim]:
    """Do the scores go with people's, and with more than counting does?"""
    table = tables["correlations"]
    table = table[table["words"] == "frequent"]
    for model in table["model"].unique():
        own = table[(table["model"] == model) & (table["scale"] == MODERATE)]
        where = f"SST, {model}, λ = {MODERATE:g}"
        statement = f"Learnt polarity goes with human polarity ({where})"
        yield _above_zero(statement, own, "polarity", beside="gamma")
        yield _above_zero(
            f"Attention goes with the strength of human polarity ({where})",
            own,
            "attention",
            beside="|gamma|",
        )
        for statement, first, second in COMPARISONS:
            yield _difference(f"{statement} ({where})", own, own, first, second)
        large = table[(table["model"] == model) & (table["scale"] == LARGE)]
        if len(large):
            statement = (
                f"Attention is nearer to people at λ = {MODERATE:g} than at λ = {LARGE:g} (SST, {model})"
            )
            yield _difference(statement, own, large, "attention", "attention")


def _values(rows: pd.DataFrame, score: str) -> np.ndarray:
    values: np.ndarray = rows[rows["score"] == score].sort_values("seed")["correlation"].to_numpy()
    return values


def _above_zero(statement: str, rows: pd.DataFrame, score: str, *, beside: str) -> Claim:
    own = rows[rows["score"] == score]
    first = own.iloc[0]
    over_words = Interval(first["low"], first["high"], 0.95, "Bonett & Wright, over words")
    effect = effect_of_runs(
        f"ρ of {score}",
        list(own["correlation"]),
        measured=f"Spearman's ρ over words that people labelled and that occur {FREQUENT} times or more.",
        count=int(own["count"].min()),
        within=(-1.0, 1.0),
    )
    effect = replace(
        effect,
        interval=effect.interval if len(own) > 1 else over_words,
        baselines={"counting (γ)": Estimate(float(_values(rows, beside).mean()))},
        better="higher",
        coordinates={"model": first["model"], "scale": float(first["scale"])},
    )
    return Claim.decided(statement, SOURCE, effect=effect, comparison=">", threshold=0)


def _difference(statement: str, first: pd.DataFrame, second: pd.DataFrame, one: str, other: str) -> Claim:
    gains = _values(first, one) - _values(second, other)
    effect = effect_of_runs(
        f"ρ of {one} − ρ of {other}",
        list(gains),
        measured="Spearman's ρ with people's labels, the same words and seeds on both sides.",
        count=int(first["count"].min()),
        within=(-2.0, 2.0),
    )
    return Claim.decided(statement, SOURCE, effect=effect, comparison=">", threshold=0)


def draw_human(tables: Tables) -> "Figure":
    """A panel a score: ρ over λ, a line for dp and points for other models, counting (γ) as a dashed line."""
    table = tables["correlations"]
    table = table[table["words"] == "frequent"]
    scales = sorted(table["scale"].unique())
    figure = new_figure(9.6, 3.4)
    first = None
    for place, (score, counted, title) in enumerate(PANELS):
        axes = figure.add_subplot(1, len(PANELS), place + 1, sharey=first)
        first = first or axes
        _panel(axes, table[table["score"] == score], scales)
        beside = table.loc[table["score"] == counted, "correlation"].mean()
        axes.axhline(beside, color=GREY, linestyle="--", linewidth=1.2, label="counting, γ")
        axes.axhline(0, color=GREY, linewidth=0.6)
        axes.set_title(title)
        axes.set_xlabel("λ")
        axes.set_xticks(range(len(scales)), ["10⁴" if scale == 10_000 else f"{scale:g}" for scale in scales])
        axes.set_xlim(-0.5, len(scales) - 0.5)
    assert first is not None
    first.set_ylabel("Spearman's ρ over words")
    figure.axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _panel(axes: "Axes", rows: pd.DataFrame, scales: list[float]) -> None:
    models = [model for model in MODELS if model in set(rows["model"])]
    for number, model in enumerate(models):
        colour, marker = MODELS[model]
        groups = rows[rows["model"] == model].groupby("scale")["correlation"]
        mean = groups.mean()
        shift = 0.12 * (number - (len(models) - 1) / 2)
        places = [scales.index(scale) + shift for scale in mean.index]
        spread = [mean - groups.min(), groups.max() - mean]
        axes.errorbar(
            places,
            mean,
            spread,
            fmt=f"{marker}-" if model == "dp" else marker,
            color=colour,
            markersize=4.5,
            capsize=2,
            linewidth=1.0,
            label=f"{model} (range over seeds)",
        )


EXPERIMENT = Experiment(
    "sun-lu-human",
    "Learnt polarity and attention beside human polarity of words",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-human": draw_human},
)
