"""A model trained to decide as another does while attending elsewhere (Wiegreffe & Pinter, 2019, section 4).

    loss = TVD(ŷ, ŷ_base) − λ · KL(α ‖ α_base), averaged over the texts of the whole training split.

λ is called `strength`. Unlike weights found text by text (`exact_adversary`), such a model must have
one rule that reaches them for all texts, also unseen ones. The epoch that is kept has the least loss on dev.
Axes: B texts, T words, K classes.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from heedful.attention import masked_softmax
from heedful.data.batches import Batch, batches
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.errors import UserError
from heedful.files import locked
from heedful.models.building import Classifier
from heedful.models.classifier import FlatClassifier
from heedful.models.trace import probabilities
from heedful.training import run as files
from heedful.training.attended import Flat, attention_over, padded
from heedful.training.evaluation import EVALUATION_TOKENS, evaluate, logits_of
from heedful.training.from_corpus import encode_splits, untrained
from heedful.training.learners import Aim
from heedful.training.loop import best_epoch, fit
from heedful.training.run import Run, load_run

FLOOR = 1e-12  # of weights inside a logarithm: a sparse base weight of 0 would make KL infinite


def adversarial_loss(
    shares: Tensor, weights: Tensor, base_shares: Tensor, base_weights: Tensor, *, strength: float
) -> Tensor:
    """TVD − strength · KL of each text (B,): probabilities (B,K), weights (B,T), and the base's."""
    apart = (shares - base_shares).abs().sum(-1) / 2
    logs = weights.clamp(min=FLOOR).log() - base_weights.clamp(min=FLOOR).log()
    return apart - strength * (weights * logs).sum(-1)


def train_adversary(
    run: Run,
    corpus: Corpus,
    *,
    strength: float = 1e-3,
    seed: int | None = None,
    out: str | Path | None = None,
    **changes: Any,
) -> Run:
    """Train a model like that of `run` to agree with its decisions and differ in its attention.

    `strength` is λ; `seed` is the new model's (by default one more than the base's), and `changes` are
    training settings such as epochs. With `out` a run folder is left there, and one that this call left
    before is read again. The recipe's corpus says of which run it is the adversary, and at which strength.
    """
    _refuse(run, strength)
    base = run.recipe
    training = replace(base.training, **{"seed": base.training.seed + 1 if seed is None else seed, **changes})
    about = {**base.corpus, "adversary_of": _digest(run.model), "strength": strength}
    recipe = replace(base, training=training, corpus=about)
    if out is None:
        return _train(run, corpus, recipe, strength)
    folder = Path(out)
    with locked(folder / files.LOCK):
        if (folder / files.RESULT).exists():
            found = load_run(folder)
            if _said(found.recipe) != _said(recipe):
                raise UserError(f"{folder} holds another run: choose another place, or remove it first.")
            return found
        files.write_beginning(folder, recipe, run.vocabulary)
        return _train(run, corpus, recipe, strength).save(folder)


def _train(run: Run, corpus: Corpus, recipe: files.Recipe, strength: float) -> Run:
    begun = time.perf_counter()
    vocabulary, sets = encode_splits(corpus, recipe)
    if list(vocabulary.words) != list(run.vocabulary.words):
        raise UserError("An adversary is trained on the corpus of its base, and this one has other words.")
    model = untrained(corpus, recipe, run.vocabulary, sets["train"])
    base = {name: _answers(run.model, sets[name]) for name in ("train", "dev")}

    def loss(model: Classifier, batch: Batch) -> Tensor:
        return _loss(model, batch, sets["train"], base["train"], strength).mean()

    def judge(model: Classifier) -> float:
        total = 0.0
        with torch.inference_mode():
            for batch in batches(sets["dev"], token_budget=EVALUATION_TOKENS):
                total += float(_loss(model, batch, sets["dev"], base["dev"], strength).double().sum())
        return -total / len(sets["dev"])

    history = fit(model, sets["train"], sets["dev"], settings=recipe.training, aim=Aim(loss, judge))
    best = best_epoch(history, recipe.training)
    result = {
        "dev_accuracy": evaluate(model, sets["dev"]).accuracy,
        "dev_loss": -best["dev"],
        "epoch": best["epoch"],
        "epochs": len(history),
        **_tested(model, run.model, sets.get("test")),
        "seconds": time.perf_counter() - begun,
    }
    return Run(model, recipe, run.vocabulary, pd.DataFrame(history), result, notes=corpus.notes)


def _loss(
    model: Classifier, batch: Batch, encoded: EncodedTexts, base: tuple[Tensor, Flat], strength: float
) -> Tensor:
    assert isinstance(model, FlatClassifier)
    states, mask = model.states(model.embed(batch), batch)
    attended = model.attend(states, mask)
    shares = probabilities(model.decide(attended.context))
    return adversarial_loss(
        shares,
        attended.weights,
        base[0][torch.from_numpy(batch.rows)],
        padded(base[1], encoded, batch.rows),
        strength=strength,
    )


def _answers(model: Classifier, encoded: EncodedTexts) -> tuple[Tensor, Flat]:
    """The base's probabilities (N,K) and its attention, which stay as they are."""
    return probabilities(logits_of(model, encoded)), attention_over(model, encoded)


def _tested(model: Classifier, base: Classifier, test: EncodedTexts | None) -> Mapping[str, float | None]:
    if test is None:
        return {"test_accuracy": None, "test_macro_f1": None, "test_change": None}
    judged = evaluate(model, test)
    apart = (probabilities(judged.logits) - probabilities(logits_of(base, test))).abs().sum(-1) / 2
    return {
        "test_accuracy": judged.accuracy,
        "test_macro_f1": judged.macro_f1,
        "test_change": float(apart.double().mean()),
    }


def _refuse(run: Run, strength: float) -> None:
    settings = run.recipe.model
    if not strength >= 0:
        raise UserError(f"The strength λ of an adversary must not be negative, but it is {strength}.")
    if not isinstance(run.model, FlatClassifier) or settings.control != "none":
        kind = "two levels" if settings.hierarchical else f"{settings.control} attention"
        raise UserError(f"An adversary learns where to attend in a flat model, but this one has {kind}.")
    if run.model.words.attention.normalise is not masked_softmax:
        raise UserError(
            f"The adversary's KL divergence needs softmax weights, but this model has {settings.normaliser}."
        )
    if settings.encoder == "pretrained":
        raise UserError("An adversary is trained afresh: its base must not have a pretrained encoder.")


def _said(recipe: files.Recipe) -> str:
    """What a recipe says, without the folders of files that it names, which move."""
    return replace(recipe, model=recipe.model.unplaced()).to_toml()


def _digest(model: Classifier) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for name, value in model.state_dict().items():
        digest.update(json.dumps(name).encode())
        digest.update(np.ascontiguousarray(value.detach().cpu().numpy()).tobytes())
    return digest.hexdigest()
