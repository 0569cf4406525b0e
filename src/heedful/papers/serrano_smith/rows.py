"""Which models are trained on which corpora, and one row for each test text of a trained model.

Yahoo Answers, Amazon and Yelp in full and IMDB with ten ratings are not to be had here. AG News (four topics)
stands in for Yahoo's ten topics, IMDB with the eight ratings that its release has for ten, and samples of
5,000 training texts for Amazon and Yelp. Whoever has Yahoo Answers can ask for it by `--corpus yahoo`.

The rows have all that the paper's tests need, measured once: those of `trials.streamed_trials.layer_trial` at
the final attention layer: the sizes and masses at the first flip by each ranking, the smallest set, and the
top item of each ranking erased alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful.data.corpus import SPLITS, Corpus
from heedful.data.named import load_data
from heedful.study.grid import Study
from heedful.study.workbench import Bench, Measure

if TYPE_CHECKING:
    from heedful.training import Run
    from heedful.trials import Erasures, SingleErasures

CORPORA = ("agnews", "imdb-ratings", "amazon", "yelp")
QUICK_CORPORA = ("agnews", "amazon")
KNOWN_CORPORA = (*CORPORA, "yahoo", "imdb", "20news")
MODELS = ("han-rnn", "flan-rnn", "han-conv", "flan-conv", "han-noenc", "flan-noenc")

# Whose hyperparameters of appendix A.1 a corpus takes: its own, or those of what it stands in for.
SETS = {
    "agnews": "yahoo",
    "imdb-ratings": "imdb",
    "amazon": "amazon",
    "yelp": "yelp",
    "yahoo": "yahoo",
    "imdb": "imdb",
    "20news": "yahoo",
}
# What our fewer texts force: the paper's rates, 0.0001 to 0.0004, are for hundreds of thousands of texts an
# epoch. This rate was chosen on the dev split of AG News (docs/benchmarks.md). Dropouts, patience, clipping
# and batches stay the set's own.
FEWER: dict[str, Any] = {"rate": 0.003, "epochs": 15}
FEWER_TEXTS = {name: FEWER for name in SETS if name != "yahoo"}

# Enough that every model is far above chance, little enough for minutes.
QUICK_TEXTS = {"train": 3000, "dev": 400, "test": 800}
QUICK_SETTINGS = {"epochs": 6}
# Beyond this many test texts intervals are narrower than the differences between two trainings.
MOST_TESTED = 10_000
PAPER = ("random", "attention", "gradient", "product")  # in the order of the paper's legends
RANKINGS = (*PAPER, "contribution", "shuffled")
COORDINATES = ("corpus", "model", "seed")


def measured(bench: Bench, *measures: Measure, models: Sequence[str] = MODELS) -> pd.DataFrame:
    """What measures find on every cell of an experiment, models by the names of their architectures."""
    found = pd.concat([bench.measured(one, *measures) for one in cells(bench, models)], ignore_index=True)
    for row in bench.trained:
        row["model"] = architecture(row["model"])
    return found.assign(model=found["model"].map(architecture))


def cells(bench: Bench, models: Sequence[str] = MODELS) -> list[Study]:
    """The grid of an experiment, a study a corpus: its own models and corpora, or those asked for.

    Each corpus has its own hyperparameters. A quick bench trains few epochs on samples of two corpora.
    """
    usual = QUICK_CORPORA if bench.quick else CORPORA
    corpora = bench.chosen("corpora", KNOWN_CORPORA) if bench.corpora else usual
    chosen = bench.chosen("models", MODELS) if bench.models else tuple(models)
    return [
        Study(
            f"serrano-smith, {name}",
            corpora=(_sampled(name, bench) if bench.quick else name,),
            models=tuple(f"serrano-smith-{SETS[name]}-{model}" for model in chosen),
            seeds=bench.chosen("seeds", (0,)),
            settings={**FEWER_TEXTS.get(name, {}), **(QUICK_SETTINGS if bench.quick else {})},
            base=bench.folder,
        )
        for name in corpora
    ]


def architecture(preset: str) -> str:
    """han-rnn of serrano-smith-imdb-han-rnn."""
    return "-".join(preset.split("-")[-2:])


def sample_corpus(corpus: Corpus, sizes: dict[str, int]) -> Corpus:
    """So many texts of each split, drawn by chance, in their order; all where there are fewer."""
    generator = np.random.default_rng(0)
    drawn = [
        np.sort(generator.permutation(np.flatnonzero(corpus.splits == split))[: sizes[split]])
        for split in SPLITS
    ]
    return corpus.take(np.concatenate(drawn))


def _sampled(name: str, bench: Bench) -> str:
    corpus = load_data(name, data_dir=bench.data_dir)
    return bench.keep_corpus(f"{name}-sample", sample_corpus(corpus, QUICK_TEXTS))


def erasure_rows(run: "Run", corpus: Corpus, *, most: int | None = None) -> pd.DataFrame:
    """A measure: the rows of the test split, or of `most` of its texts, drawn by chance."""
    from heedful.training.evaluation import encode_for
    from heedful.trials.stream import sample_rows, tried
    from heedful.trials.streamed_trials import layer_trial

    test = corpus.split("test")
    chosen = sample_rows(len(test), most)
    return tried(layer_trial(run.model, RANKINGS), run.model, encode_for(run.model, test), chosen)


def rows_of(bench: Bench, models: tuple[str, ...] = MODELS) -> pd.DataFrame:
    """The rows of every cell of an experiment, with its corpus, model and seed."""
    return measured(bench, Measure(erasure_rows, {"most": MOST_TESTED}), models=models)


@dataclass(frozen=True, eq=False)
class CellRows:
    """The rows of one trained model as the trials know them."""

    coordinates: dict[str, Any]  # corpus, model, seed
    frame: pd.DataFrame

    @cached_property
    def erasures(self) -> "Erasures":
        from heedful.trials import Erasures

        return Erasures.from_frame(self.frame)

    @cached_property
    def rankings(self) -> list[str]:
        """Those of the paper's rankings that were tried."""
        return [name for name in PAPER if name in self.erasures.sizes]

    def single(self, ranking: str) -> "SingleErasures":
        from heedful.trials.streamed_trials import single_of

        return single_of(self.frame, ranking)


def each_cell(rows: pd.DataFrame) -> Iterator[CellRows]:
    """The trained models of a frame of rows, in their order."""
    for key, frame in rows.groupby(list(COORDINATES), sort=False):
        about = dict(zip(COORDINATES, key, strict=True))
        yield CellRows(about, frame.reset_index(drop=True))
