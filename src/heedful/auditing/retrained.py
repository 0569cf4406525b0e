"""The model trained again, from other seeds and with uniform weights: the questions that need several runs.

Wiegreffe & Pinter (2019, §3.1 and §3.2). Nothing but the seed, or the weights, is changed.
Axes: B texts, T words, P pairs of models.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.models.building import Classifier
from heedful.models.trace import decisions
from heedful.study.kept_runs import trained_once
from heedful.training.callbacks import Callback
from heedful.training.evaluation import logits_of
from heedful.training.run import Run

Say = Callable[[str], None]


def train_again(
    run: Run,
    corpus: Corpus,
    *,
    seed: int | None = None,
    uniform: bool = False,
    out: Path | None = None,
    callbacks: Sequence[Callback] = (),
) -> Run:
    """The run's recipe on its corpus with another seed, or with uniform weights; kept in `out` if given."""
    model, training = run.recipe.model, run.recipe.training
    if seed is not None:
        training = replace(training, seed=seed)
    if uniform:
        model, training = replace(model, control="uniform"), replace(training, penalty=0.0)
    about = {key: value for key, value in run.recipe.corpus.items() if key not in ("name", "fingerprint")}
    return trained_once(
        corpus,
        model=model,
        training=training,
        rules=run.recipe.words,
        source=about,
        out=out,
        device=str(run.model.head.weight.device),
        callbacks=callbacks,
    )


def decisions_of(model: Classifier, texts: EncodedTexts, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """What a model decides for these rows."""
    return decisions(logits_of(model, texts))[torch.from_numpy(rows)].numpy()
