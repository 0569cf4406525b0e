"""The words of the audited texts: what each says, how much it is attended to, its type and its stability."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from heedful.data.batches import plan_batches
from heedful.data.encoded import EncodedTexts
from heedful.data.vocabulary import SPECIAL
from heedful.models.building import Classifier
from heedful.models.classifier import FlatClassifier
from heedful.models.word_attention import word_attention
from heedful.study.auditing.label_words import LabelWords
from heedful.study.auditing.plan import Plan
from heedful.trials.stream import batch_of
from heedful.understanding.scores import TokenScores, local_scores

MOST = 5000


def word_table(plan: Plan, types: LabelWords | None, others: Sequence[Classifier] = ()) -> pd.DataFrame:
    """One row a word, the most frequent first, at most `MOST`.

    Columns: word, count, type, polarity (a list, one a class or one), attention (the score before it is
    normalised), weight (its average), stability (the standard deviation of that over seeds).
    """
    model = plan.audited.subject
    ours = plan.audited.run is not None  # a model handed over by itself is read as anybody's
    flat = ours and isinstance(model, FlatClassifier) and model.settings.control != "frozen"
    table = _of_flat(plan, others) if flat else _of_any(plan)
    if types is not None:
        table["type"] = [types.by_form.get(word.lower()) for word in table["word"]]
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


def _of_any(plan: Plan) -> pd.DataFrame:
    """The average weight of each word form, for subjects whose head does not read words one by one."""
    totals: dict[str, list[float]] = {}
    subject = plan.audited.subject
    texts = list(plan.audited.corpus.split(plan.settings.split).texts)
    lengths = np.array([len(texts[row].split()) + 1 for row in plan.rows])
    for part in plan_batches(lengths, token_budget=plan.places):
        batch = batch_of(subject, texts, plan.rows[part])
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
