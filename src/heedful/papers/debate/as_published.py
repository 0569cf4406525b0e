"""The texts and word vectors that Jain & Wallace (2019) train with, as their published code has them.

Wiegreffe & Pinter (2019) build on that code.

Texts that are too short or too long are left out of all splits (AttentionExplanation, `Trainers/DatasetBC`),
and words start from pretrained vectors: theirs of SST are fastText's, 300 wide; ours are GloVe's, 100 wide.
"""

from dataclasses import replace

import numpy as np

from heedful.data.corpus import Corpus
from heedful.data.named import DATA_VARIABLE, load_data
from heedful.data.words import rules_for, split_texts
from heedful.errors import UserError
from heedful.papers.debate.trainings import Trainings
from heedful.papers.glove import PLACE, WIDTH, glove
from heedful.study.workbench import Bench

# A text has more words than the first and fewer than the second; corpora that are not here are taken whole.
LENGTHS: dict[str, tuple[int, float]] = {
    "sst": (5, np.inf),
    "imdb": (6, np.inf),
    "20news-1": (6, 500),
}


def as_published(bench: Bench, trainings: Trainings) -> Trainings:
    """The same trainings on texts of their lengths, from pretrained vectors; both are kept in the bench."""
    return replace(
        trainings,
        corpora=tuple(_kept(bench, name) for name in trainings.corpora),
        settings={
            **trainings.settings,
            "embedding": WIDTH,
            "embedding_source": "file",
            "vectors_file": _vectors(bench),
        },
        base=bench.folder,
    )


def within(corpus: Corpus, least: float, most: float) -> Corpus:
    """The texts of more than `least` and fewer than `most` words."""
    lengths = split_texts(corpus.texts, rules_for(corpus.texts)).lengths
    return corpus.take(np.flatnonzero((lengths > least) & (lengths < most)))


def _kept(bench: Bench, name: str) -> str:
    if name not in LENGTHS:
        return name
    texts = load_data(name, data_dir=bench.data_dir)
    return bench.keep_corpus(f"jain-wallace/{name}", within(texts, *LENGTHS[name]))


def _vectors(bench: Bench) -> str:
    found = glove(bench)
    if found is None:
        raise UserError(
            f"Both papers start from pretrained word vectors: put {PLACE} (GloVe) into the "
            f"data folder (--data-dir, {DATA_VARIABLE}), or take --quick, which starts at random."
        )
    return found
