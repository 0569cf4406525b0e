"""A classifier trained under weights that are given, text by text: nothing of attention is learnt.

Two uses (Wiegreffe & Pinter, 2019): a model whose weights are frozen from another run (section 3.1), and the
diagnostic of section 3.3, where each word is read by itself (encoder `average`) and all that a model can know
about which words matter is in the weights it is handed. Axes: N texts, W words of all texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from heedful.data.batches import Batch, batches
from heedful.data.encoded import EncodedTexts
from heedful.data.vocabulary import Vocabulary
from heedful.errors import UserError
from heedful.models.building import Classifier, build_model
from heedful.models.classifier import FlatClassifier
from heedful.models.embeddings import WordVectors
from heedful.models.trace import decisions
from heedful.training.attended import Flat, padded
from heedful.training.evaluation import EVALUATION_TOKENS, macro_f1
from heedful.training.learners import Aim
from heedful.training.loop import fit
from heedful.training.losses import classification_loss
from heedful.training.run import Recipe


@dataclass(frozen=True)
class Guided:
    """A model trained under given weights, and what it reached: the test split was looked at once."""

    model: Classifier
    history: list[dict[str, Any]]
    dev_accuracy: float
    decided: Tensor | None  # (N,) on the test split, in its order; None where there is none
    test_accuracy: float | None
    test_macro_f1: float | None


def train_guided(
    sets: Mapping[str, EncodedTexts],
    guides: Mapping[str, Flat],
    *,
    recipe: Recipe,
    vocabulary: Vocabulary,
    vectors: WordVectors | None = None,
) -> Guided:
    """Train on `sets` ("train", "dev", and "test" if any) under the flat weights of the same names.

    The recipe's model is taken with its attention frozen; `vectors` are what its words start from.
    """
    if recipe.model.hierarchical:
        raise UserError("Given weights are one row per text: use a flat model.")
    missing = [name for name in sets if name not in guides]
    if missing:
        raise UserError(f"There are no weights for the split {missing[0]}: give some for each split.")
    frozen = replace(recipe.model, control="frozen")
    seed = recipe.training.seed
    built = build_model(frozen, vocabulary, recipe.classes, rules=recipe.words, seed=seed, vectors=vectors)
    assert isinstance(built, FlatClassifier)

    def loss(model: Classifier, batch: Batch) -> Tensor:
        assert isinstance(model, FlatClassifier)
        assert batch.labels is not None
        weights = padded(guides["train"], sets["train"], batch.rows)
        return classification_loss(model.logits(batch, weights=weights), batch.labels)

    def judge(model: Classifier) -> float:
        return _accuracy(guided_decisions(model, sets["dev"], guides["dev"]), sets["dev"])

    history = fit(built, sets["train"], sets["dev"], settings=recipe.training, aim=Aim(loss, judge))
    best = max(row["dev"] for row in history)
    if "test" not in sets:
        return Guided(built, history, best, None, None, None)
    decided = guided_decisions(built, sets["test"], guides["test"])
    labels = torch.as_tensor(sets["test"].labels)
    return Guided(built, history, best, decided, _accuracy(decided, sets["test"]), macro_f1(decided, labels))


def guided_decisions(model: Classifier, encoded: EncodedTexts, guide: Flat) -> Tensor:
    """The decided class (N,) of every text under these weights, with dropout off."""
    assert isinstance(model, FlatClassifier)
    was_training = model.training
    model.eval()
    decided = torch.empty(len(encoded), dtype=torch.long)
    try:
        with torch.inference_mode():
            for batch in batches(encoded, token_budget=EVALUATION_TOKENS):
                weights = padded(guide, encoded, batch.rows)
                decided[torch.from_numpy(batch.rows)] = decisions(model.logits(batch, weights=weights))
    finally:
        model.train(was_training)
    return decided


def _accuracy(decided: Tensor, encoded: EncodedTexts) -> float:
    return float((decided == torch.as_tensor(encoded.labels)).double().mean())
