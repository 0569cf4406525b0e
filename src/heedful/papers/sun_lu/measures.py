"""What is measured on a trained run for the figures of Sun & Lu (2020): mostly tables of words.

Columns that words share: `id`, `word`, `type`, `count` (in the training split) and the scores. Words that
have a type also have

    own         polarity for the word's own class (−s of a negative word); none for neutral words
    strength    |s|, or for K classes the largest |s_k − mean s|: only differences of logits count
    alignment   VᵀW of the run, of two classes

and tables of all words, of two classes, `gamma`: (f⁺ − f⁻)/(f⁺ + f⁻), what mere counting says of a word.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from heedful import models, understanding
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.synthetic import Synthetic, paired_words
from heedful.data.vocabulary import SPECIAL
from heedful.study.controls import decided_by
from heedful.training.callbacks import Callback, Training

if TYPE_CHECKING:
    from heedful.training import Run
    from heedful.understanding import Flow, TokenScores, TokenTypes


def word_scores(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """Global scores: polarity and attention of each word fed alone."""
    _, types = _texts_and_types(run, corpus)
    return _typed(understanding.token_scores(run.model), types, run)


def word_scores_both_ways(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """Global scores, and local ones averaged over the training texts (supplement G.1); `kind` says which."""
    sets, types = _texts_and_types(run, corpus)
    both = (understanding.local_scores(run.model, sets["train"]), understanding.token_scores(run.model))
    return pd.concat([_typed(scores, types, run).assign(kind=scores.kind) for scores in both])


def all_words(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """Global scores of every word of the vocabulary."""
    _, types = _texts_and_types(run, corpus)
    return _with_gamma(understanding.token_scores(run.model), types)


def occurring_words(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """Local scores: of every word of the training split, averaged over its occurrences there."""
    sets, types = _texts_and_types(run, corpus)
    return _with_gamma(understanding.local_scores(run.model, sets["train"]), types)


def word_weights(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """Average attention weight of each word on the test split, and the average length of its texts there."""
    sets, types = _texts_and_types(run, corpus)
    frame = _typed(understanding.local_scores(run.model, sets["test"]), types, run)
    return frame.merge(_lengths(sets["test"]), on="id")


def text_weights(run: "Run", corpus: Corpus, *, text: str) -> pd.DataFrame:
    """Attention scores and weights of the words of one text."""
    _, types = _texts_and_types(run, corpus)
    encoded = encode_texts([text], None, run.vocabulary, rules=run.recipe.words)
    return understanding.local_scores(run.model, encoded).to_frame(types).assign(text=text)


def inequalities(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """For what share of word pairs each inequality of supplement B.2 holds, on the training split."""
    sets, types = _texts_and_types(run, corpus)
    flow = understanding.flow_terms(run.model, sets["train"])
    return understanding.measure_inequalities(flow, types, seed=0).to_frame()


def mirrored_inequalities_at_end(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """The same on symmetric data, each word beside its mirror image, on the last weights of the training.

    A run keeps the weights of its best dev epoch, which comes early here, and the paper speaks of a minimum:
    so it is trained once more, and looked at when the last epoch ends.
    """
    from heedful.training.from_corpus import train_run

    look = _LastEpoch()
    train_run(corpus, model=run.recipe.model, training=run.recipe.training, callbacks=[look])
    assert look.flow is not None
    _, types = _texts_and_types(run, corpus)
    partners = paired_words(Synthetic(symmetric=True))
    return understanding.measure_inequalities(look.flow, types, partners=partners, seed=0).to_frame()


class _LastEpoch(Callback):
    """Keeps the flow terms of the last epoch's end."""

    flow: "Flow | None" = None

    def epoch_ends(self, training: Training, row: Mapping[str, Any]) -> None:
        if training.epoch == training.settings.epochs:
            self.flow = understanding.flow_terms(training.model, training.train)


def hits(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """A measure: what a training came to, and whether it decides each test text (N,) rightly, in one row."""
    right = decided_by(run, corpus, "test") == np.asarray(corpus.split("test").labels)
    return pd.DataFrame([{**run.result, "texts": len(right), "hits": right.tolist()}])


def similar_words(
    run: "Run",
    corpus: Corpus,
    *,
    rare: tuple[int, int],
    frequent: int,
    neighbours: int,
    passes: int,
    seed: int,
) -> pd.DataFrame:
    """The frequent words nearest to each rare one, by word2vec on the training texts: `word`, `neighbour`.

    Rare and frequent are by occurrences in the training split; near is a large cosine after `evened`. `run`
    gives the vocabulary only: its own vectors are not looked at.
    """
    from heedful.models import train_word2vec
    from heedful.training.from_corpus import encode_splits

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
    unit: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def _nearest(first: np.ndarray, second: np.ndarray, count: int, *, at_once: int = 2048) -> np.ndarray:
    """The places (n, count) of the rows of `second` with the largest products with each row of `first`."""
    parts = [
        np.argpartition(-(first[start : start + at_once] @ second.T), count - 1, axis=1)[:, :count]
        for start in range(0, len(first), at_once)
    ]
    return np.concatenate(parts) if parts else np.empty((0, count), np.int64)


def _texts_and_types(run: "Run", corpus: Corpus) -> "tuple[dict[str, EncodedTexts], TokenTypes]":
    from heedful.training.from_corpus import encode_splits

    vocabulary, sets = encode_splits(corpus, run.recipe)
    return sets, understanding.find_types(sets["train"], vocabulary, classes=run.recipe.classes)


def _typed(scores: "TokenScores", types: "TokenTypes", run: "Run") -> pd.DataFrame:
    frame = scores.to_frame(types)
    frame = frame[frame["type"].notna()].reset_index(drop=True)
    names = [f"polarity {name}".strip() for name in scores.scores]
    polarity = frame[names].to_numpy()
    if len(names) == 1:
        sign = frame["type"].map({"positive": 1.0, "negative": -1.0})
        frame["own"] = sign * polarity[:, 0]
        frame["strength"] = np.abs(polarity[:, 0])
        assert isinstance(run.model, models.FlatClassifier)  # a hierarchical one has no token scores
        frame["alignment"] = float(run.model.alignment()[0].detach())
    else:
        place = frame["type"].map({name: k for k, name in enumerate(scores.scores)})
        own = polarity[np.arange(len(frame)), place.fillna(0).astype(int)]
        frame["own"] = np.where(place.isna(), np.nan, own)
        frame["strength"] = np.abs(polarity - polarity.mean(1, keepdims=True)).max(1)
    return frame


def _lengths(encoded: EncodedTexts) -> pd.DataFrame:
    """The mean length of the texts a word occurs in, one count an occurrence."""
    lengths = np.asarray(encoded.lengths)
    each = pd.DataFrame({"id": np.asarray(encoded.ids), "text length": np.repeat(lengths, lengths)})
    return each.groupby("id", as_index=False)["text length"].mean()


def _with_gamma(scores: "TokenScores", types: "TokenTypes") -> pd.DataFrame:
    frame = scores.to_frame(types)
    frame = frame[frame["id"] >= len(SPECIAL)].reset_index(drop=True)
    if types.counts.shape[1] == 2:
        frame["gamma"] = types.gamma[frame["id"]]
    return frame
