"""The texts and word vectors that Jain & Wallace (2019) train with, as their published code has them.

Texts that are too short or too long are left out of all splits (AttentionExplanation, `Trainers/DatasetBC`),
and words start from pretrained vectors: theirs of SST are fastText's, 300 wide; ours are GloVe's, 100 wide.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from heedful.data.corpus import Corpus
from heedful.data.named import DATA_VARIABLE, data_folder, load_data
from heedful.data.words import rules_for, split_texts
from heedful.errors import UserError
from heedful.files import write_atomically
from heedful.papers.debate.trainings import Trainings
from heedful.study.workbench import Bench

# A text has more words than the first and fewer than the second; corpora that are not here are taken whole.
LENGTHS: dict[str, tuple[int, float]] = {
    "sst": (5, np.inf),
    "imdb": (6, np.inf),
    "20news-1": (6, 500),
}
VECTORS, WIDTH = "glove.6B.100d", 100


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
    """Where the vectors lie in the bench's folder, so that a run's settings name no path of this machine."""
    folder = data_folder(bench.data_dir)
    found = sorted(folder.glob(f"vectors/{VECTORS}*.txt*")) if folder else []
    if not found:
        raise UserError(
            f"Jain & Wallace start from pretrained word vectors: put vectors/{VECTORS}.txt (GloVe) into the "
            f"data folder (--data-dir, {DATA_VARIABLE}), or take --quick, which starts at random."
        )
    inside = Path("vectors") / f"{VECTORS}{'.txt.gz' if found[0].suffix == '.gz' else '.txt'}"
    if not (bench.folder / inside).exists():
        with found[0].open("rb") as theirs, write_atomically(bench.folder / inside, "wb") as ours:
            shutil.copyfileobj(theirs, ours)
    return str(inside)
