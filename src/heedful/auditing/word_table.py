"""The words of the audited texts: what each says, how much it is attended to, its type and its stability.

Types are by how words occur in the training texts: which go with one class (Sun & Lu's token types).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.auditing.audited import Audited
from heedful.auditing.plan import Plan
from heedful.auditing.reading import PLACES
from heedful.data.batches import Batch
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.vocabulary import SPECIAL, Vocabulary
from heedful.data.words import split_texts
from heedful.models.building import Classifier
from heedful.models.classifier import FlatClassifier
from heedful.models.subject import gives
from heedful.models.word_attention import word_attention
from heedful.training.evaluation import encode_for
from heedful.trials.stream import walk
from heedful.understanding.token_types import NEUTRAL, TokenTypes, find_types, type_names
from heedful.understanding.word_scoring import TokenScores, local_scores

MOST = 5000


@dataclass(frozen=True)
class LabelWords:
    """The types of words; `by_id` where a batch's ids are those of the types."""

    types: TokenTypes
    by_id: bool

    def __call__(self, batch: Batch) -> Tensor:
        """Which words (B,T) of a batch go with one class."""
        if self.by_id:
            return torch.from_numpy(self.types.polar).to(batch.ids.device)[batch.ids]
        assert batch.words is not None
        polar = {self.types.words[place] for place in np.flatnonzero(self.types.polar)}
        found = torch.zeros_like(batch.mask)
        for row, words in enumerate(batch.words):
            hits = [form.lower() in polar for form in words.forms]
            found[row, : len(hits)] = torch.tensor(hits, dtype=torch.bool, device=found.device)
        return found

    @cached_property
    def by_form(self) -> dict[str, str]:
        """The type of each word form that has one."""
        labels, typed = self.types.labels, np.flatnonzero(self.types.codes >= 0)
        return {self.types.words[place]: labels[place] for place in typed}


def label_words(audited: Audited) -> LabelWords | None:
    """The types of words of the training split; None where there is none."""
    train = audited.corpus.split("train")
    if not len(train) or len(set(train.labels.tolist())) < 2:
        return None
    classes = audited.corpus.label_names
    if audited.run is not None:
        model = audited.run.model
        types = find_types(encode_for(model, train), model.vocabulary, classes=classes)
        return LabelWords(types, by_id=model.settings.encoder != "pretrained")
    words = split_texts(train.texts)
    vocabulary = Vocabulary.build(words)
    encoded = encode_texts(train.texts, train.labels, vocabulary)
    return LabelWords(find_types(encoded, vocabulary, classes=classes), by_id=False)


def word_table(
    plan: Plan, rows: NDArray[np.int64], types: LabelWords | None, others: Sequence[Classifier] = ()
) -> pd.DataFrame:
    """One row a word, the most frequent first, at most `MOST`.

    Columns: word, count, type, polarity (a list, one a class or one), attention (the score before it is
    normalised), weight (its average), stability (the standard deviation of that over seeds).
    """
    model = plan.audited.subject
    ours = plan.audited.run is not None  # a model handed over by itself is read as anybody's
    flat = ours and isinstance(model, FlatClassifier) and model.settings.control != "frozen"
    table = _of_flat(plan, others) if flat else _of_any(plan, rows)
    if types is not None:
        # Of two classes the types are "negative" and "positive", whatever the classes are called.
        classes = plan.audited.corpus.label_names
        called = dict(zip(type_names(classes), (*classes, NEUTRAL), strict=True))
        table["type"] = [called.get(types.by_form.get(word.lower(), "")) for word in table["word"]]
    else:
        table["type"] = None
    return table.sort_values("count", ascending=False, kind="stable", ignore_index=True).head(MOST)


def _of_flat(plan: Plan, others: Sequence[Classifier]) -> pd.DataFrame:
    assert isinstance(plan.texts, EncodedTexts)
    assert plan.audited.run is not None
    own = local_scores(plan.audited.run.model, plan.texts)
    assert own.weights is not None
    seen = np.flatnonzero((own.counts > 0) & (own.ids >= len(SPECIAL)))
    spread: np.ndarray | None = None
    if others:
        every = [own, *(local_scores(model, plan.texts) for model in others)]
        spread = np.stack([_weights(scores) for scores in every]).std(0, ddof=1)
    return pd.DataFrame(
        {
            "word": [own.words[place] for place in seen],
            "count": own.counts[seen],
            "polarity": own.polarity[seen].tolist(),
            "attention": own.attention[seen],
            "weight": own.weights[seen],
            "stability": spread[seen] if spread is not None else None,
        }
    )


def _weights(scores: TokenScores) -> np.ndarray:
    assert scores.weights is not None
    return scores.weights


def _of_any(plan: Plan, rows: NDArray[np.int64]) -> pd.DataFrame:
    """The average weight of each word form, for subjects whose head does not read words one by one."""
    totals: dict[str, list[float]] = {}
    subject = plan.audited.subject
    texts = plan.audited.corpus.split(plan.settings.split).texts
    if not gives(subject, "attention"):
        rows = rows[:0]
    for batch in walk(subject, texts, rows, places=PLACES):
        weights, read = word_attention(subject, batch)
        assert batch.words is not None
        for row, words in enumerate(batch.words):
            found = zip(words.forms, weights[row].tolist(), read[row].tolist(), strict=False)
            for form, weight, there in found:
                if there:
                    entry = totals.setdefault(form.lower(), [0.0, 0.0])
                    entry[0] += 1
                    entry[1] += weight
    return pd.DataFrame(
        {
            "word": list(totals),
            "count": [int(count) for count, _ in totals.values()],
            "polarity": [[] for _ in totals],
            "attention": None,
            "weight": [total / count for count, total in totals.values()],
            "stability": None,
        }
    )


def word_entries(words: pd.DataFrame) -> list[dict[str, Any]]:
    """The table's rows in plain JSON types, rounded to four digits."""

    def short(value: Any) -> float | None:
        return None if value is None or np.isnan(value) else float(f"{value:.4g}")

    return [
        {
            "word": row.word,
            "count": int(row.count_),
            "type": row.type if isinstance(row.type, str) else None,
            "polarity": [short(value) for value in row.polarity],
            "attention": short(row.attention),
            "weight": short(row.weight),
            "stability": short(row.stability),
        }
        for row in words.rename(columns={"count": "count_"}).itertuples(index=False)
    ]
