"""The model trained again, from other seeds and with uniform weights: the questions that need several runs.

Wiegreffe & Pinter (2019, §3.1 and §3.2). Nothing but the seed, or the weights, is changed.
Axes: B texts, T words, P pairs of models.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import Batch
from heedful.data.corpus import Corpus
from heedful.data.encoded import EncodedTexts
from heedful.models.building import Classifier
from heedful.models.trace import decisions
from heedful.models.word_attention import word_attention
from heedful.training.callbacks import Callback
from heedful.training.evaluation import logits_of
from heedful.training.from_corpus import train_run
from heedful.training.run import RESULT, Run, load_run
from heedful.trials.divergence import js_divergence
from heedful.trials.overlap import random_overlap, top_overlap
from heedful.trials.stream import Trial
from heedful.trials.word_chance import chance_of

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
    if out is not None and (out / RESULT).exists():
        return load_run(out, device=str(run.model.head.weight.device))
    model, training = run.recipe.model, run.recipe.training
    if seed is not None:
        training = replace(training, seed=seed)
    if uniform:
        model, training = replace(model, control="uniform"), replace(training, penalty=0.0)
    about = {key: value for key, value in run.recipe.corpus.items() if key not in ("name", "fingerprint")}
    return train_run(
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


def seeds_trial(models: Sequence[Classifier], *, seed: int = 0) -> Trial:
    """How far models that differ in their seed alone attend to the same words: means over all pairs."""

    def trial(batch: Batch, first: int) -> pd.DataFrame:
        weights = [word_attention(model, batch)[0].double().cpu() for model in models]
        mask = batch.mask.cpu()
        shuffled = [_dealt(own, batch, seed=seed, model=place) for place, own in enumerate(weights)]
        columns = {
            "overlap": _over_pairs(weights, lambda a, b: top_overlap(a, b, mask, k=1)),
            "overlap_shuffled": _over_pairs(shuffled, lambda a, b: top_overlap(a, b, mask, k=1)),
            "overlap_random": random_overlap(mask, k=1),
            "divergence": _over_pairs(weights, lambda a, b: js_divergence(a, b, mask)),
            "divergence_shuffled": _over_pairs(shuffled, lambda a, b: js_divergence(a, b, mask)),
        }
        return pd.DataFrame({name: values.numpy() for name, values in columns.items()})

    return trial


def _over_pairs(weights: Sequence[Tensor], measure: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    return torch.stack([measure(one, two) for one, two in combinations(weights, 2)]).mean(0)


def _dealt(weights: Tensor, batch: Batch, *, seed: int, model: int) -> Tensor:
    """The weights dealt out anew among the words of each text, differently for each model."""
    lots = torch.from_numpy(chance_of(batch, seed, sample=2**23 + model))
    order = lots.masked_fill(~batch.mask.cpu(), 2).argsort(1)
    return torch.zeros_like(weights).scatter_(1, order, weights)
