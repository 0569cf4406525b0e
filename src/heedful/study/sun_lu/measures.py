"""What is measured on a trained run for the figures of Sun & Lu (2020): each a table of words that have a
type, but for those of inequalities.

Columns that words share: `word`, `type`, `count`, the scores, and, from them,

    own         polarity for the word's own class (−s of a negative word); none for neutral words
    strength    |s|, or for K classes the largest |s_k − mean s|: only differences of logits count
    alignment   VᵀW of the run, of two classes
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.synthetic import Synthetic, paired_words
from heedful.models.classifier import FlatClassifier
from heedful.training.callbacks import Callback, Training
from heedful.training.from_corpus import encode_splits, train_run
from heedful.training.run import Run
from heedful.understanding.flow import Flow, flow_terms
from heedful.understanding.inequalities import measure_inequalities
from heedful.understanding.scores import TokenScores, local_scores, token_scores
from heedful.understanding.token_types import TokenTypes, find_types


def word_scores(run: Run, corpus: Corpus) -> pd.DataFrame:
    """Global scores: polarity and attention of each word fed alone."""
    _, types = _texts_and_types(run, corpus)
    return _typed(token_scores(run.model), types, run)


def word_scores_both_ways(run: Run, corpus: Corpus) -> pd.DataFrame:
    """Global scores, and local ones averaged over the training texts (supplement G.1); `kind` says which."""
    sets, types = _texts_and_types(run, corpus)
    both = (local_scores(run.model, sets["train"]), token_scores(run.model))
    return pd.concat([_typed(scores, types, run).assign(kind=scores.kind) for scores in both])


def word_weights(run: Run, corpus: Corpus) -> pd.DataFrame:
    """Average attention weight of each word on the test split, and the average length of its texts there."""
    sets, types = _texts_and_types(run, corpus)
    frame = _typed(local_scores(run.model, sets["test"]), types, run)
    return frame.merge(_lengths(sets["test"]), on="id")


def text_weights(run: Run, corpus: Corpus, *, text: str) -> pd.DataFrame:
    """Attention scores and weights of the words of one text."""
    _, types = _texts_and_types(run, corpus)
    encoded = encode_texts([text], None, run.vocabulary, rules=run.recipe.words)
    return local_scores(run.model, encoded).to_frame(types).assign(text=text)


def inequalities(run: Run, corpus: Corpus) -> pd.DataFrame:
    """For what share of word pairs each inequality of supplement B.2 holds, on the training split."""
    sets, types = _texts_and_types(run, corpus)
    flow = flow_terms(run.model, sets["train"])
    return measure_inequalities(flow, types, seed=0).to_frame()


def mirrored_inequalities_at_end(run: Run, corpus: Corpus) -> pd.DataFrame:
    """The same on symmetric data, each word beside its mirror image, on the last weights of the training.

    A run keeps the weights of its best dev epoch, which comes early here, and the paper speaks of a minimum:
    so it is trained once more, and looked at when the last epoch ends.
    """
    look = _LastEpoch()
    train_run(corpus, model=run.recipe.model, training=run.recipe.training, callbacks=[look])
    assert look.flow is not None
    _, types = _texts_and_types(run, corpus)
    partners = paired_words(Synthetic(symmetric=True))
    return measure_inequalities(look.flow, types, partners=partners, seed=0).to_frame()


class _LastEpoch(Callback):
    """Keeps the flow terms of the last epoch's end."""

    flow: Flow | None = None

    def epoch_ends(self, training: Training, row: Mapping[str, Any]) -> None:
        if training.epoch == training.settings.epochs:
            self.flow = flow_terms(training.model, training.train)


def _texts_and_types(run: Run, corpus: Corpus) -> tuple[dict[str, EncodedTexts], TokenTypes]:
    vocabulary, sets = encode_splits(corpus, run.recipe)
    return sets, find_types(sets["train"], vocabulary, classes=run.recipe.classes)


def _typed(scores: TokenScores, types: TokenTypes, run: Run) -> pd.DataFrame:
    frame = scores.to_frame(types)
    frame = frame[frame["type"].notna()].reset_index(drop=True)
    names = [f"polarity {name}".strip() for name in scores.scores]
    polarity = frame[names].to_numpy()
    if len(names) == 1:
        sign = frame["type"].map({"positive": 1.0, "negative": -1.0})
        frame["own"] = sign * polarity[:, 0]
        frame["strength"] = np.abs(polarity[:, 0])
        assert isinstance(run.model, FlatClassifier)  # a hierarchical one has no token scores
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
