"""Polarity and attention scores of the words of real corpora, by type: main Figs. 2 to 4, supplement Figs. 14
to 28 (Sun & Lu, 2020).

One kind of experiment with parameters: which corpus, model and scale, and which scores are shown.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful.drawing import BLACK, new_figure
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import above, effect
from heedful.papers.sun_lu.measures import word_scores
from heedful.papers.sun_lu.strengths import AFFINE, LSTM, TWO, alike, at_strengths
from heedful.papers.sun_lu.words import (
    apart,
    attention_claims,
    colours,
    polarity_claims,
    setting_of,
    settings,
    short,
    types_in_order,
)
from heedful.records import Claim
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORES = Measure(word_scores)
AXES = {
    "polarity": "polarity score s",
    "attention": "attention score a",
    "local": "local attention score a",
    "global": "global attention score a",
}
DOTS = 1500  # words of a type that are drawn at most: more would be one blot; boxes are of all
PANEL = 2.7, 2.7  # inches, for up to three types
WIDER = 3.5  # inches, for more


@dataclass(frozen=True)
class Shown:
    """One setting of a figure; `scores` is both, polarity, attention, or polarity CLASS.

    Without `l2` the strength is the preset's.
    """

    corpus: str
    model: str = "dp"
    scale: float = 10
    scores: str = "both"
    l2: tuple[float, ...] = ()

    def __str__(self) -> str:
        told = f"{self.corpus}, {self.model}, λ {self.scale:g}"
        return told + (f", L2 {', '.join(f'{strength:g}' for strength in self.l2)}" if self.l2 else "")


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
    seeds = trainings.seeds(bench, quick=trainings.QUICK_SEEDS if quickly else (0,))
    own: dict[str, Any] = {"scales": (one.scale,), "seeds": seeds}
    if one.l2:
        found = at_strengths(bench, one.corpus, SCORES, one.l2, model=one.model, **own)
    else:
        found = trainings.on_corpus(bench, one.corpus, SCORES, models=(one.model,), **own)
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
    groups = words.groupby([*apart(words), "type"], sort=False)
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
    if "l2" in tables["words"]:
        for column, what in (("strength", "polarity"), ("attention", "attention")):
            if _has(tables["words"], column):
                yield from alike(tables["words"], column, what, source)


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


def draw_scores(tables: Tables) -> "Figure":
    """A panel for each setting and score; of several seeds, the words of the first."""
    panels = [
        (setting_of(part), column, words[["type", column]].dropna())
        for part in settings(tables["words"])
        for words in [part[part["seed"] == part["seed"].min()]]
        for column in words
        if (column.startswith("polarity") or column == "attention") and words[column].notna().any()
    ]
    return draw_panels(panels)


def draw_panels(panels: list[tuple[str, str, pd.DataFrame]]) -> "Figure":
    """Panels of (title, column, words): settings beside each other, their scores below each other if even."""
    titles = list(dict.fromkeys(title for title, _, _ in panels))
    even = len(panels) % len(titles) == 0 and len(titles) > 1
    columns = len(titles) if even else len(panels)
    rows = len(panels) // columns
    most = max(words["type"].nunique() for _, _, words in panels)
    width = PANEL[0] if most <= 3 else WIDER
    figure = new_figure(max(columns * width, 3.6), rows * PANEL[1])
    for place, (title, column, words) in enumerate(panels):
        at = (place % rows) * columns + place // rows if even else place
        axes = figure.add_subplot(rows, columns, at + 1)
        draw_types(axes, words["type"].to_numpy(), words[column].to_numpy())
        axes.set_title(title)
        axes.set_ylabel(label_of(column))
    return figure


def label_of(column: str) -> str:
    """What the axis of a score says."""
    kind, _, name = column.partition(" ")
    return AXES[kind] + (f" for {short(name)}" if name else "")


def draw_types(axes: "Axes", types: Any, values: Any) -> None:
    """A strip of dots and a box for each type."""
    order, paint = types_in_order(types), colours(types)
    draw = np.random.default_rng(0)
    for place, kind in enumerate(order):
        own = values[types == kind]
        dots = draw.choice(own, min(DOTS, len(own)), replace=False)
        across = place + draw.uniform(-0.32, 0.32, len(dots))
        # Thousands of dots would make an SVG of megabytes: they go in as one picture.
        axes.scatter(across, dots, s=3, color=paint[kind], alpha=0.35, linewidths=0, rasterized=True)
        low, middle, high = np.quantile(own, [0.25, 0.5, 0.75])
        axes.add_patch(_box(place, low, high))
        axes.plot([place - 0.36, place + 0.36], [middle, middle], color=BLACK, linewidth=1.6)
    axes.axhline(0, color=BLACK, linewidth=0.6, zorder=0)
    axes.set_xlim(-0.6, len(order) - 0.4)
    counts = [f"{short(kind)}\n{(types == kind).sum():,}" for kind in order]
    axes.set_xticks(range(len(order)), counts)
    axes.grid(axis="x", visible=False)


def _box(place: float, low: float, high: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((place - 0.36, low), 0.72, high - low, fill=False, edgecolor=BLACK, linewidth=1.1)


def experiment(
    name: str,
    title: str,
    place: str,
    shown: tuple[Shown, ...],
    *,
    measured: Callable[..., Tables] = measure,
    judged: Callable[..., Iterable[Claim]] = claims,
) -> Experiment:
    """A figure of scores: which settings it shows, and where in the paper it stands."""
    source = f"Sun & Lu (2020), {place}"
    return Experiment(
        f"sun-lu-{name}",
        title,
        source,
        partial(measured, shown=shown),
        partial(judged, source=source),
        {f"sun-lu-{name}": draw_scores},
    )


# Supplement G.2: number, corpus, model, scale, what is shown, strengths of L2 if they are several.
SUPPLEMENT = (
    (14, "sst", "dp-a", 20, "polarity", ()),
    (15, "sst", "dp-a", 20, "attention", ()),
    (16, "sst", "dp-l", 10, "both", LSTM),
    (17, "imdb", "dp-a", 10, "polarity", TWO),
    (18, "imdb", "dp-a", 10, "attention", TWO),
    (19, "imdb", "ad", 10, "polarity", TWO),
    (20, "imdb", "ad", 10, "attention", TWO),
    (21, "20news-1", "dp-a", 1, "both", AFFINE),
    (22, "20news-1", "dp-a", 10, "both", AFFINE),
    (23, "20news-1", "dp-a", 20, "both", AFFINE),
    (24, "20news-1", "dp-a", 50, "both", AFFINE),
    (25, "20news-2", "dp-a", 10, "polarity rec.motorcycles", ()),
    (26, "20news-2", "dp-a", 10, "polarity sci.med", ()),
    (27, "20news-2", "dp-a", 10, "polarity talk.politics.guns", ()),
    (28, "20news-2", "dp-a", 10, "attention", ()),
)


def _supplement() -> Iterator[Experiment]:
    for number, corpus, model, scale, scores, l2 in SUPPLEMENT:
        shown = Shown(corpus, model, scale, scores, l2)
        what = "polarity and attention" if scores == "both" else scores
        title = f"{what[0].upper()}{what[1:]} of words by type: {shown}"
        yield experiment(f"s-fig{number}", title, f"supplement G.2, Fig. {number}", (shown,))


EXPERIMENTS = {
    one.name: one
    for one in (
        experiment(
            "fig2",
            "Polarity and attention of words by type, λ = 10",
            "§5, Fig. 2",
            (Shown("sst"), Shown("imdb"), Shown("20news-1")),
        ),
        experiment("fig4", "Additive attention on SST", "§5, Fig. 4", (Shown("sst", "ad"),)),
        *_supplement(),
    )
}
