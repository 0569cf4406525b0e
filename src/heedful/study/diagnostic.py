"""Is the knowledge in the weights, or in the encoder behind them? (Wiegreffe & Pinter, 2019, section 3.3.)

A classifier that reads each word by itself is trained under weights that it is handed: uniform ones, its own
(learnt), those of a trained model, those of an adversary. What it reaches with each is the worth of its
guide, on one ladder. Weights that carry what a model knows of which words matter must beat uniform ones.
Axes: N texts, W words of all texts.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import torch

from heedful.data.batches import batches
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.models.trace import decisions
from heedful.study.trained_adversaries import kept_adversary
from heedful.training.attended import Flat, attention_over, places_of
from heedful.training.evaluation import EVALUATION_TOKENS, logits_of
from heedful.training.from_corpus import encode_splits, starting_vectors, train_run
from heedful.training.guided import Guided, train_guided
from heedful.training.presets import prepare
from heedful.training.run import Run
from heedful.trials.weights.adversary import exact_adversary

DIAGNOSTIC = "jain-wallace-average-tanh"  # h = tanh(M e + b) of each word by itself
EPSILON = 0.01
WORD_VECTORS = ("embedding", "embedding_source", "vectors_file", "word2vec_passes")  # settings


def diagnose(
    run: Run,
    corpus: Corpus,
    *,
    strength: float = 1e-3,
    settings: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """A measure: what the diagnostic reaches under each guide, and what it decides; one row a guide.

    `strength` is that of the trained adversary; `settings` change the diagnostic's own settings. The exact
    adversary's weights are a guide where there are two classes and a linear head. The diagnostic has the
    seed of the run, so ladders over seeds are independent.
    """
    sets = encode_splits(corpus, run.recipe)[1]
    theirs = run.recipe.model
    guides: dict[str, dict[str, Flat]] = {
        "uniform": {name: uniform_guide(encoded) for name, encoded in sets.items()},
        "trained model": {name: attention_over(run.model, encoded) for name, encoded in sets.items()},
    }
    other = kept_adversary(run, corpus, strength=strength)
    guides["adversary, trained"] = {
        name: attention_over(other.model, encoded) for name, encoded in sets.items()
    }
    if run.model.head.out_features <= 2:
        guides["adversary, exact"] = {name: exact_guide(run, encoded) for name, encoded in sets.items()}

    base = run.recipe.training
    # The diagnostic must read the words that its guides have weights for: no more, and no others.
    shared = {
        "seed": base.seed,
        "min_count": base.min_count,
        "max_words": base.max_words,
        "max_length": theirs.max_length,
    }
    if theirs.embedding_source != "uniform":  # no guide's worth may hang on who knows more words beforehand
        shared |= {name: getattr(theirs, name) for name in WORD_VECTORS}
    model, training = prepare(DIAGNOSTIC, {**(settings or {}), **shared})
    own = train_run(corpus, model=model, training=training, rules=run.recipe.words)
    learnt = {
        "guide": "learnt",
        "dev_accuracy": own.result["dev_accuracy"],
        "accuracy": own.result["test_accuracy"],
        "macro_f1": own.result["test_macro_f1"],
        "decided": decisions(logits_of(own.model, sets["test"])).tolist() if "test" in sets else None,
    }
    vectors = starting_vectors(corpus, own.recipe, run.vocabulary, sets["train"])
    rows = []
    for name, guide in guides.items():
        found = train_guided(sets, guide, recipe=own.recipe, vocabulary=run.vocabulary, vectors=vectors)
        rows.append({"guide": name, **_reached(found)})
    rows.insert(1, learnt)  # next to the weights that nobody has learnt
    return pd.DataFrame(rows).assign(texts=len(sets["test"]) if "test" in sets else 0, strength=strength)


def freeze(run: Run, corpus: Corpus) -> pd.DataFrame:
    """A measure: what a new model of the run's kind reaches under the run's weights, which stay frozen.

    The new model has another seed, so nothing but the weights comes from the run.
    """
    training = run.recipe.training
    recipe = replace(run.recipe, training=replace(training, seed=training.seed + 1000))
    sets = encode_splits(corpus, recipe)[1]
    found = train_guided(
        sets,
        {name: attention_over(run.model, encoded) for name, encoded in sets.items()},
        recipe=recipe,
        vocabulary=run.vocabulary,
        vectors=starting_vectors(corpus, recipe, run.vocabulary, sets["train"]),
    )
    row = pd.DataFrame([_reached(found)])
    return row.rename(columns={"accuracy": "test_accuracy", "macro_f1": "test_macro_f1"})


def _reached(found: Guided) -> dict[str, Any]:
    return {
        "dev_accuracy": found.dev_accuracy,
        "accuracy": found.test_accuracy,
        "macro_f1": found.test_macro_f1,
        "decided": None if found.decided is None else found.decided.tolist(),
    }


def uniform_guide(encoded: EncodedTexts) -> Flat:
    """The same weight for every word of a text."""
    lengths = np.asarray(encoded.lengths)
    return np.repeat(1 / lengths, lengths).astype(np.float32)


def exact_guide(run: Run, encoded: EncodedTexts) -> Flat:
    """The weights of the exact adversary of every text."""
    flat = np.zeros(int(encoded.offsets[-1]), np.float32)
    with torch.inference_mode():
        for batch in batches(encoded, token_budget=EVALUATION_TOKENS):
            found = exact_adversary(run.model.trace(batch), EPSILON)
            flat[places_of(encoded, batch.rows)] = found.weights[batch.mask].numpy()
    return flat
