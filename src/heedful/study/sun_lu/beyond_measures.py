"""What the experiments beyond the paper measure on a run: scores of every word, also of those without a type.

Columns: `id`, `word`, `count` (in the training split), `polarity`, `attention`, `type` (or none), and of two
classes `gamma`: (f⁺ − f⁻)/(f⁺ + f⁻), what mere counting says of a word.
"""

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.data.vocabulary import SPECIAL
from heedful.models.embeddings import train_word2vec
from heedful.training.from_corpus import encode_splits
from heedful.training.run import Run
from heedful.understanding.scores import TokenScores, local_scores, token_scores
from heedful.understanding.token_types import TokenTypes, find_types


def all_words(run: Run, corpus: Corpus) -> pd.DataFrame:
    """Global scores of every word of the vocabulary."""
    vocabulary, sets = encode_splits(corpus, run.recipe)
    return _with_gamma(
        token_scores(run.model), find_types(sets["train"], vocabulary, classes=run.recipe.classes)
    )


def occurring_words(run: Run, corpus: Corpus) -> pd.DataFrame:
    """Local scores: of every word of the training split, averaged over its occurrences there."""
    vocabulary, sets = encode_splits(corpus, run.recipe)
    types = find_types(sets["train"], vocabulary, classes=run.recipe.classes)
    return _with_gamma(local_scores(run.model, sets["train"]), types)


def similar_words(
    run: Run, corpus: Corpus, *, rare: tuple[int, int], frequent: int, neighbours: int, passes: int, seed: int
) -> pd.DataFrame:
    """The frequent words nearest to each rare one, by word2vec on the training texts: `word`, `neighbour`.

    Rare and frequent are by occurrences in the training split; near is a large cosine after `evened`. `run`
    gives the vocabulary only: its own vectors are not looked at.
    """
    vocabulary, sets = encode_splits(corpus, run.recipe)
    texts = map(sets["train"].row, range(len(sets["train"])))
    vectors = train_word2vec(texts, vocabulary, width=100, passes=passes, seed=seed).table.numpy()
    counts = np.asarray(vocabulary.counts)
    known = np.arange(len(SPECIAL), len(vocabulary))
    few = known[(counts[known] >= rare[0]) & (counts[known] <= rare[1])]
    many = known[counts[known] >= frequent]
    unit = evened(vectors, known)
    near = _nearest(unit[few], unit[many], min(neighbours, len(many)))
    words = np.array(vocabulary.words, dtype=object)
    return pd.DataFrame(
        {"word": np.repeat(words[few], near.shape[1]), "neighbour": words[many[near].ravel()]}
    )


def evened(vectors: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Vectors (V, E) of length 1 without what those of the `known` rows have in common; the rest stay 0.

    Word2vec gives frequent words vectors many times as long as rare ones, and all of them one direction in
    common, the more so the smaller the corpus.
    """
    found = np.zeros_like(vectors)
    directions = _of_length_one(vectors[known])
    found[known] = _of_length_one(directions - directions.mean(axis=0))
    return found


def _of_length_one(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _nearest(first: np.ndarray, second: np.ndarray, count: int, *, at_once: int = 2048) -> np.ndarray:
    """The places (n, count) of the rows of `second` with the largest products with each row of `first`."""
    parts = [
        np.argpartition(-(first[start : start + at_once] @ second.T), count - 1, axis=1)[:, :count]
        for start in range(0, len(first), at_once)
    ]
    return np.concatenate(parts) if parts else np.empty((0, count), np.int64)


def _with_gamma(scores: TokenScores, types: TokenTypes) -> pd.DataFrame:
    frame = scores.to_frame(types)
    frame = frame[frame["id"] >= len(SPECIAL)].reset_index(drop=True)
    if types.counts.shape[1] == 2:
        frame["gamma"] = types.gamma[frame["id"]]
    return frame
