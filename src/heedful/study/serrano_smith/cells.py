"""Which models are trained on which corpora: the paper's six architectures on what stands in for its corpora.

Yahoo Answers, Amazon and Yelp in full and IMDB with ten ratings are not to be had here. AG News (four topics)
stands in for Yahoo's ten topics, IMDB with the eight ratings that its release has for ten, and samples of
5,000 training texts for Amazon and Yelp. Whoever has Yahoo Answers can ask for it by `--corpus yahoo`.
"""

from collections.abc import Sequence

import numpy as np

from heedful.data.corpus import SPLITS, Corpus
from heedful.data.named import load_data
from heedful.study.grid import Study
from heedful.study.workbench import Bench

CORPORA = ("agnews", "imdb-ratings", "amazon", "yelp")
QUICK_CORPORA = ("agnews", "amazon")
KNOWN_CORPORA = (*CORPORA, "yahoo", "imdb", "20news")
MODELS = ("han-rnn", "flan-rnn", "han-conv", "flan-conv", "han-noenc", "flan-noenc")

# Enough that every model is far above chance, little enough for minutes.
QUICK_TEXTS = {"train": 3000, "dev": 400, "test": 800}
QUICK_SETTINGS = {"epochs": 6}
# Beyond this many test texts intervals are narrower than the differences between two trainings.
MOST_TESTED = 10_000


def cells(bench: Bench, models: Sequence[str] = MODELS) -> Study:
    """The grid of an experiment: its own models and corpora, or those that were asked for.

    A quick bench trains few epochs on samples of two corpora.
    """
    usual = QUICK_CORPORA if bench.quick else CORPORA
    corpora = bench.chosen("corpora", KNOWN_CORPORA) if bench.corpora else usual
    return Study(
        "serrano-smith",
        corpora=tuple(_sampled(name, bench) for name in corpora) if bench.quick else tuple(corpora),
        models=bench.chosen("models", MODELS) if bench.models else tuple(models),
        seeds=bench.chosen("seeds", (0,)),
        settings=dict(QUICK_SETTINGS) if bench.quick else {},
    )


def sample_corpus(corpus: Corpus, sizes: dict[str, int], *, seed: int = 0) -> Corpus:
    """So many texts of each split, drawn by the seed, in their order; all where there are fewer."""
    generator = np.random.default_rng(seed)
    drawn = [
        np.sort(generator.permutation(np.flatnonzero(corpus.splits == split))[: sizes[split]])
        for split in SPLITS
    ]
    return corpus.take(np.concatenate(drawn))


def _sampled(name: str, bench: Bench) -> str:
    corpus = load_data(name, data_dir=bench.data_dir)
    return bench.keep_corpus(f"{name}-sample", sample_corpus(corpus, QUICK_TEXTS))
