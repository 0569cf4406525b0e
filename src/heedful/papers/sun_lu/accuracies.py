"""Table 2: test accuracy by corpus, model and scale, ours beside the printed one (Sun & Lu, 2020, §5).

Intervals are over seeds, crossed with the test texts (`records.crossed`). A printed number is of one run, and
is taken as it stands: what chance it holds is not known.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful.drawing import BLACK, BLUE, GREY, new_figure
from heedful.papers.names import corpus_label
from heedful.papers.sun_lu import trainings
from heedful.papers.sun_lu.effects import accuracy_effect, error_over_texts
from heedful.papers.sun_lu.measures import hits
from heedful.papers.sun_lu.trainings import CORPORA, MODELS, SCALES
from heedful.records import Claim, Finding, Interval
from heedful.study.experiment import Experiment, Tables
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOURCE = "Sun & Lu (2020), §5, Table 2"
QUICK_SCALES = (0.001, 1.0, 10.0, 10000.0)
NEAR = 2.0  # points: what counts as the printed accuracy
SIMILAR = 3.0  # points: what counts as no significant impact (the paper's own λ 10 and 10,000 differ by 2.6)
COMPARED = ((10.0, 0.001), (10.0, 1.0), (10000.0, 10.0))  # scales, the first against the second
CELL = ["corpus", "model"]
OURS = "Test accuracy of the epoch that dev chose"
# Fewer than 40 where a training takes half an hour: as many steps as 40 epochs are on SST, where dev chose
# the fourth epoch at the latest.
FEWER_EPOCHS = {("imdb", "dp-l"): 15}
# In %: rows are scales, columns models.
PRINTED = {
    "sst": (
        (55.3, 79.8, 67.9, 62.8),
        (74.4, 81.2, 73.4, 73.4),
        (82.2, 81.7, 80.8, 80.3),
        (81.4, 80.9, 81.0, 81.2),
        (80.8, 82.0, 81.5, 79.9),
        (81.2, 81.1, 80.7, 80.8),
        (79.6, 81.4, 79.3, 80.8),
    ),
    "imdb": (
        (55.5, 87.7, 73.3, 69.8),
        (79.5, 88.2, 85.4, 83.7),
        (89.2, 87.8, 89.6, 88.2),
        (89.6, 88.1, 89.6, 89.6),
        (89.8, 87.2, 89.1, 88.5),
        (89.3, 88.3, 89.2, 88.8),
        (89.3, 88.4, 88.9, 88.9),
    ),
    "20news-1": (
        (54.8, 88.6, 78.6, 49.4),
        (88.4, 93.0, 85.3, 87.6),
        (92.8, 91.2, 92.8, 92.0),
        (93.5, 92.2, 93.5, 91.2),
        (93.3, 92.3, 92.2, 91.7),
        (92.8, 91.2, 92.8, 93.3),
        (92.8, 92.0, 93.0, 92.0),
    ),
    "20news-2": (
        (31.8, 90.1, 64.6, 59.2),
        (85.4, 92.3, 88.3, 86.7),
        (93.4, 93.4, 91.7, 90.0),
        (94.9, 94.2, 93.3, 92.1),
        (94.9, 92.3, 92.9, 93.8),
        (94.9, 93.1, 92.9, 92.9),
        (94.5, 93.8, 92.5, 92.9),
    ),
}


def measure(bench: Bench) -> Tables:
    """Train every cell and put the means over seeds beside the printed accuracies."""
    corpora = trainings.some(bench, "corpora", CORPORA, quick=("sst",))
    models = trainings.some(bench, "models", MODELS, quick=("dp",))
    seeds = trainings.seeds(bench, quick=trainings.QUICK_SEEDS)
    judged = pd.concat(
        [
            trainings.on_corpus(
                bench,
                corpus,
                Measure(hits),
                models=(model,),
                scales=QUICK_SCALES if bench.quick else SCALES,
                seeds=seeds,
                **_fewer_epochs(bench, corpus, model),
            )
            for corpus in corpora
            for model in models
        ],
        ignore_index=True,
    )
    kept = [*CELL, "scale", "seed", "epoch", "epochs", "dev_accuracy", "test_accuracy", "texts", "seconds"]
    runs, errors = judged[kept], errors_of(judged)
    return {"summary": compared(runs, errors), "runs": runs, "errors": errors}


def _fewer_epochs(bench: Bench, corpus: str, model: str) -> dict[str, Any]:
    capped = (corpus, model) in FEWER_EPOCHS and not bench.quick
    return {"epochs": FEWER_EPOCHS[corpus, model]} if capped else {}


def errors_of(judged: pd.DataFrame) -> pd.DataFrame:
    """The errors over texts of each setting's accuracy (`than` empty), and of those that are compared."""
    rows = []
    for (corpus, model), own in judged.groupby(CELL, sort=False):
        by_scale = dict(list(own.groupby("scale", sort=False)))
        pairs = [(one, two) for one, two in COMPARED if {one, two} <= set(by_scale)]
        found = [(scale, math.nan, error_over_texts(runs)) for scale, runs in by_scale.items()]
        found += [(one, two, error_over_texts(by_scale[one], by_scale[two])) for one, two in pairs]
        rows += [(corpus, model, *row) for row in found]
    return pd.DataFrame(rows, columns=[*CELL, "scale", "than", "error"])


def compared(runs: pd.DataFrame, errors: pd.DataFrame) -> pd.DataFrame:
    """One row a setting, in %: our mean with its interval, the printed number, the difference."""
    rows = []
    for (corpus, model, scale), own in runs.groupby([*CELL, "scale"], sort=False):
        known = errors[(errors["corpus"] == corpus) & (errors["model"] == model)]
        about = {"corpus": corpus, "model": model, "scale": scale}
        rows.append({**about, **with_ends(own, _error(known, scale)), "seeds": len(own)})
    table = pd.DataFrame(rows).merge(printed_accuracies(), on=[*CELL, "scale"], how="left")
    return table.assign(difference=table["accuracy"] - table["printed"])


def with_ends(own: pd.DataFrame, error: float) -> dict[str, float]:
    """The mean accuracy of a setting over its seeds, in %, and its interval."""
    found = accuracy_from("accuracy", own["test_accuracy"], own, error, f"{OURS}.", alone=True)
    assert found.interval is not None
    return {"accuracy": found.value, "low": found.interval.low, "high": found.interval.high}


def claims(tables: Tables) -> Iterator[Claim]:
    """What §5 reads from the table, and whether the numbers themselves are had again."""
    errors = tables["errors"]
    for (corpus, model), runs in tables["runs"].groupby(CELL, sort=False):
        where = f"{corpus_label(corpus)}, {model}"
        table = runs.pivot(index="seed", columns="scale", values="test_accuracy")
        own = errors[(errors["corpus"] == corpus) & (errors["model"] == model)]
        for small in (0.001, 1.0):
            if {small, 10.0} <= set(table):
                yield Claim.decided(
                    f"λ = {small:g} makes accuracy worse than λ = 10 ({where})",
                    SOURCE,
                    effect=_gain(runs, own, 10.0, small),
                    comparison=">",
                    threshold=0,
                )
        if {10.0, 10000.0} <= set(table):
            yield Claim.decided(
                f"A very large λ has no significant impact on accuracy: within {SIMILAR:g} points ({where})",
                SOURCE,
                effect=_gain(runs, own, 10000.0, 10.0),
                comparison="within",
                threshold=SIMILAR,
            )
        printed = printed_accuracies().query("corpus == @corpus and model == @model").set_index("scale")
        beside = {
            scale: accuracy_from(
                "accuracy − printed",
                table[scale] - printed.loc[scale, "printed"] / 100,
                runs,
                _error(own, scale),
                f"{OURS}; the printed one is taken as it stands.",
            )
            for scale in table
            if scale >= 10
        }
        yield Claim.decided(
            f"Accuracy at every λ ≥ 10 is that of Table 2, within {NEAR:g} points ({where})",
            SOURCE,
            effect=farthest(beside),
            comparison="<=",
            threshold=NEAR,
        )


def farthest(beside: dict[float, Finding]) -> Finding:
    """The largest size of a difference over the scales, with the largest of either end of those sizes.

    What is said of every scale is said of the worst end of all, whichever scale's mean is farthest off.
    """
    spans = [found.interval for found in beside.values() if found.interval is not None]
    low = max(max(0.0, span.low, -span.high) for span in spans)
    high = max(max(-span.low, span.high) for span in spans)
    worst = max(beside, key=lambda scale: abs(beside[scale].value))
    one = beside[worst]
    return Finding(
        f"largest size of accuracy − printed over {len(beside)} λ, reached at λ {worst:g}",
        abs(one.value),
        interval=Interval(low, high, spans[0].level, f"the extreme ends over all λ: {spans[0].method}"),
        count=one.count,
        seeds=one.seeds,
        measured=f"{one.measured} Of the sizes at all λ the largest value, and the largest of each end.",
        unit=one.unit,
    )


def _gain(runs: pd.DataFrame, errors: pd.DataFrame, one: float, two: float) -> Finding:
    table = runs.pivot(index="seed", columns="scale", values="test_accuracy")
    name = f"accuracy at λ {one:,g} − at λ {two:g}"
    measured = f"{OURS}, the same seeds and texts on both sides."
    return accuracy_from(name, table[one] - table[two], runs, _error(errors, one, two), measured)


def accuracy_from(
    name: str, values: pd.Series, runs: pd.DataFrame, error: float, measured: str, *, alone: bool = False
) -> Finding:
    """The mean of these values, one a seed, of runs on the same texts; `error` is theirs over texts."""
    return accuracy_effect(
        name,
        list(values),
        measured=measured,
        texts=int(runs["texts"].iloc[0]),
        error=error,
        alone=alone,
    )


def _error(errors: pd.DataFrame, scale: float, than: float | None = None) -> float:
    other = errors["than"].isna() if than is None else np.isclose(errors["than"], than)
    return float(errors.loc[np.isclose(errors["scale"], scale) & other, "error"].item())


def printed_accuracies() -> pd.DataFrame:
    """Table 2, one row per number: corpus, model, scale, printed (%)."""
    return pd.DataFrame(
        [
            {"corpus": corpus, "model": model, "scale": scale, "printed": value}
            for corpus, rows in PRINTED.items()
            for scale, row in zip(SCALES, rows, strict=True)
            for model, value in zip(MODELS, row, strict=True)
        ]
    )


def draw_accuracies(tables: Tables) -> "Figure":
    """A row per corpus, a column per model."""
    table = tables["summary"]
    corpora, models = list(dict.fromkeys(table["corpus"])), list(dict.fromkeys(table["model"]))
    scales = sorted(set(table["scale"]))
    figure = new_figure(max(4.0, 2.5 * len(models) + 0.6), 2.2 * len(corpora) + 0.6)
    grid = figure.subplots(len(corpora), len(models), squeeze=False, sharex=True, sharey="row")
    for row, corpus in zip(grid, corpora, strict=True):
        for axes, model in zip(row, models, strict=True):
            own = table[(table["corpus"] == corpus) & (table["model"] == model)].sort_values("scale")
            if own.empty:
                axes.text(0.5, 0.5, "not run", transform=axes.transAxes, ha="center", va="center", color=GREY)
            places = [scales.index(scale) for scale in own["scale"]]
            draw_ours(axes, places, own, colour=BLUE, label="ours")
            draw_printed(axes, places, own)
            axes.set_title(f"{corpus_label(corpus)}, {model}")
            axes.set_xticks(range(len(scales)), [f"{scale:g}" for scale in scales], rotation=45)
        row[0].set_ylabel("test accuracy, %")
    for axes in grid[-1]:
        axes.set_xlabel("scale λ")
    grid[0][0].legend(loc="lower right")
    return figure


def draw_ours(axes: "Axes", places: Sequence[float], rows: pd.DataFrame, *, colour: str, label: str) -> None:
    """Accuracies with their intervals, where there are any."""
    spread = [(rows["accuracy"] - rows["low"]).fillna(0), (rows["high"] - rows["accuracy"]).fillna(0)]
    shape: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 4, "capsize": 2}
    axes.errorbar(places, rows["accuracy"], yerr=spread, label=label, **shape)


def draw_printed(axes: "Axes", places: Sequence[float], rows: pd.DataFrame) -> None:
    """The printed accuracies."""
    shape: dict[str, Any] = {"marker": "D", "markersize": 5, "markerfacecolor": "none", "color": BLACK}
    axes.plot(places, rows["printed"], linestyle="none", label="printed", **shape)


EXPERIMENT = Experiment(
    "sun-lu-table2",
    "Test accuracy by corpus, model and λ",
    SOURCE,
    measure,
    claims,
    figures={"sun-lu-table2": draw_accuracies},
)
