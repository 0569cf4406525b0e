"""The trainings behind the figures of Sun & Lu (2020), and how much of them a quick look takes.

Experiments that need the same training name it in the same words, so that the workbench makes it once. Full
is as in the paper, with five seeds where the paper has one initialisation. Quick has few epochs, and three
seeds, or one where a training takes longer than seconds. On synthetic data quick has a tenth of the epochs at
ten times the rate: as much gradient flow.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from heedful.data.corpus import Corpus
from heedful.data.synthetic import data_k, data_one, data_two
from heedful.study.grid import Study
from heedful.study.workbench import Bench, Measure, watch_rows

if TYPE_CHECKING:
    from heedful.understanding import WatchSettings

# The paper's, in the order of its Table 2.
CORPORA = ("sst", "imdb", "20news-1", "20news-2")
MODELS = ("dp", "dp-l", "dp-a", "ad")
SCALES = (0.001, 1.0, 10.0, 20.0, 50.0, 100.0, 10000.0)
SEEDS = tuple(range(5))
QUICK_SEEDS = (0, 1, 2)  # where a training takes seconds
QUICK_EPOCHS = {"sst": 10, "imdb": 2, "20news-1": 8, "20news-2": 8}
QUICKER = 10  # a quick training on synthetic data has so many times fewer epochs, at so many times the rate
SYNTHETIC = {"data-1": data_one, "data-2": data_two, "data-k": data_k}
WATCHED = Measure(watch_rows)


def seeds(bench: Bench, own: Sequence[int] = SEEDS, *, quick: Sequence[int] = (0,)) -> tuple[int, ...]:
    """The user's seeds, or five; a quick look takes `quick`."""
    return bench.chosen("seeds", quick if bench.quick else own)


def some(bench: Bench, what: str, own: Sequence[str], *, quick: Sequence[str]) -> tuple[str, ...]:
    """The user's choice out of `own`; without one all of them, or `quick` of them."""
    return bench.chosen(what, own) if getattr(bench, what) or not bench.quick else tuple(quick)


def on_corpus(
    bench: Bench,
    corpus: str,
    *measures: Measure,
    models: Sequence[str] = ("dp",),
    scales: Sequence[float] = (10,),
    seeds: Sequence[int] = SEEDS,
    watch: "WatchSettings | None" = None,
    **settings: Any,
) -> pd.DataFrame:
    """What the measures find on trainings with the paper's settings for real corpora."""
    own = {"epochs": QUICK_EPOCHS[corpus]} if bench.quick else {}
    study = Study(
        f"Sun & Lu, {corpus}",
        (corpus,),
        tuple(models),
        seeds=tuple(seeds),
        settings={**own, **settings},
        grid={"scale": list(map(float, scales))},
        base=bench.folder,
    )
    return bench.measured(study, *measures, watch=watch).assign(**settings)


def on_synthetic(
    bench: Bench,
    corpus: str | tuple[str, Corpus],
    *measures: Measure,
    model: str = "dp",
    scales: Sequence[float] = (10,),
    seeds: Sequence[int] = SEEDS,
    **settings: Any,
) -> pd.DataFrame:
    """The same on synthetic data, watched: data-1, data-2, data-k, or a name and a corpus made elsewhere."""
    from heedful.understanding import WatchSettings

    name, made = corpus if isinstance(corpus, tuple) else (corpus, SYNTHETIC[corpus]())
    own = {"epochs": 500 // QUICKER, "rate": 0.015 * QUICKER} if bench.quick else {}
    study = Study(
        f"Sun & Lu, {name}",
        (bench.keep_corpus(name, made),),
        (f"sun-lu-synthetic-{model}",),
        seeds=tuple(seeds),
        settings={**own, **settings},
        grid={"scale": list(map(float, scales))},
        base=bench.folder,
    )
    found = bench.measured(study, *(measures or (WATCHED,)), watch=WatchSettings(records=100))
    return found.assign(model=model, **settings)


def of_measure(found: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """The rows of one of several measures."""
    return found[found["measure"] == measure.name]
