"""What a model decides on a set of texts: dropout off, no gradients, and every text counted once.

Axes: N texts, K classes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Tensor

from heedful.data.batches import batches
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts, encode_texts
from heedful.data.vocabulary import Vocabulary
from heedful.data.words import WordRules
from heedful.models.building import Classifier
from heedful.models.settings import ModelSettings
from heedful.models.trace import decisions, probabilities
from heedful.training.losses import classification_loss

# Large enough to keep the processor busy, small enough to stay in its cache.
EVALUATION_TOKENS = 16_384


@dataclass(frozen=True)
class Evaluation:
    """Logits (N, K or 1) in the texts' own order, and what follows from them."""

    logits: Tensor
    labels: Tensor
    loss: float
    accuracy: float
    macro_f1: float


def evaluate(model: Classifier, encoded: EncodedTexts) -> Evaluation:
    """Run the model, where it is, over all texts and compare its decisions with the labels."""
    logits = logits_of(model, encoded)
    labels = torch.from_numpy(np.asarray(encoded.labels, dtype=np.int64))
    decided = decisions(logits)
    return Evaluation(
        logits=logits,
        labels=labels,
        loss=float(classification_loss(logits, labels)),
        accuracy=float((decided == labels).double().mean()),
        macro_f1=macro_f1(decided, labels),
    )


def predict(model: Classifier, texts: Sequence[str]) -> Tensor:
    """The logits (N, K or 1) of texts, in their order."""
    return logits_of(model, encode_as(model.settings, model.vocabulary, model.rules, texts))


def encode_as(
    settings: ModelSettings,
    vocabulary: Vocabulary,
    rules: WordRules | None,
    texts: Sequence[str],
    labels: Iterable[int] | None = None,
) -> EncodedTexts:
    """Texts as a model of these settings reads them."""
    return encode_texts(
        texts,
        labels,
        vocabulary,
        rules=rules,
        sentences=settings.hierarchical,
        max_length=settings.max_length,
        keep_texts=settings.encoder == "pretrained",
    )


def logits_of(model: Classifier, encoded: EncodedTexts) -> Tensor:
    """The logits (N, K or 1) of all texts, in their own order, with dropout off."""
    was_training, device = model.training, model.head.weight.device
    model.eval()
    parts: list[Tensor] = []
    rows: list[np.ndarray] = []
    try:
        with torch.inference_mode():
            for batch in batches(encoded, token_budget=EVALUATION_TOKENS):
                parts.append(model.logits(batch.to(device)).cpu())
                rows.append(batch.rows)
    finally:
        model.train(was_training)
    logits = torch.empty(len(encoded), parts[0].shape[1], dtype=parts[0].dtype)
    logits[torch.from_numpy(np.concatenate(rows))] = torch.cat(parts)
    return logits


def roc_auc(logits: Tensor, labels: Tensor) -> float:
    """How often a text of a class has a higher probability of it than one of another class, ties half.

    The mean over classes, which for two is either's; NaN where all texts are of one class.
    """
    likely = probabilities(logits.double()).numpy()
    found = []
    for place in np.unique(labels.numpy()):
        own = labels.numpy() == place
        ranks, count = rankdata(likely[:, place])[own], int(own.sum())
        pairs = count * (len(own) - count)
        found.append((ranks.sum() - count * (count + 1) / 2) / pairs if pairs else float("nan"))
    return float(np.mean(found))


def macro_f1(decided: Tensor, labels: Tensor) -> float:
    """F1 of each class that occurs among labels or decisions, averaged."""
    classes = int(max(decided.max(), labels.max())) + 1
    hits = torch.bincount(labels[decided == labels], minlength=classes).double()
    total = torch.bincount(labels, minlength=classes) + torch.bincount(decided, minlength=classes)
    present = total > 0
    return float((2 * hits[present] / total[present]).mean())


def encode_for(model: Classifier, corpus: Corpus) -> EncodedTexts:
    """The texts of a corpus as this model reads them, with their labels."""
    return encode_as(model.settings, model.vocabulary, model.rules, corpus.texts, corpus.labels)
