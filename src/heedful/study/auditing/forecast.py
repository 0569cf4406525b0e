"""About how long it takes to train a model on these texts and to audit it: tried on a few of them first."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.data.corpus import Corpus
from heedful.models.settings import ModelSettings
from heedful.study.auditing.at_hand import models_left, share_left
from heedful.study.auditing.plan import WEIGHTS_TEXTS, AuditSettings, make_plan, text_limit
from heedful.study.auditing.subjects import open_subject
from heedful.training.from_corpus import train_run
from heedful.training.settings import TrainingSettings

FEW = {"train": 256, "dev": 64, "test": 64}  # texts that are tried


def forecast(
    corpus: Corpus,
    *,
    model: ModelSettings,
    training: TrainingSettings,
    settings: AuditSettings,
    folder: Path,
) -> dict[str, float]:
    """Seconds of the training and of each stage of the audit, by name.

    A model is trained for two epochs on a few texts (the first one compiles and allocates), and its audit is
    estimated. Both are scaled by the length of the texts. A training that stops early takes less.
    What the audit's `folder` holds already is not counted.
    """
    chosen = {name: _some(corpus, name, count) for name, count in FEW.items()}
    sample = corpus.take(np.concatenate(list(chosen.values())))
    run = train_run(sample, model=model, training=replace(training, epochs=2, min_count=1))
    epochs = run.history[run.history["kind"] == "epoch"]["seconds"]
    learnt = training.epochs * float(epochs.iloc[-1]) * _times(corpus, "train", chosen["train"])
    plan = make_plan(open_subject(run, sample), replace(settings, limit=None, seeds=1, uniform=False))
    texts = len(corpus.split(settings.split))
    part = min(1.0, (text_limit(plan.audited, settings) or texts) / max(1, texts))
    longer = part * _times(corpus, settings.split, chosen[settings.split])
    found = {"training": learnt}
    for name, seconds in plan.estimate().items():
        asked = min(round(part * texts), WEIGHTS_TEXTS if name == "weights" else texts)
        found[name] = seconds * longer * share_left(folder, name, texts=asked)
    more = models_left(folder, settings, seed=training.seed, control=model.control)
    found["training again"] = learnt * len(more)
    return found


def _some(corpus: Corpus, split: str, count: int) -> NDArray[np.int64]:
    """Rows of a split, evenly over its classes."""
    rows = np.flatnonzero(corpus.splits == split)
    ordered = rows[np.argsort(corpus.labels[rows], kind="stable")]
    places = np.linspace(0, len(rows) - 1, min(count, len(rows))).round().astype(np.int64)
    return ordered[np.unique(places)] if len(rows) else rows


def _times(corpus: Corpus, split: str, rows: NDArray[np.int64]) -> float:
    """How many times as long as these rows a whole split is."""
    tried = sum(len(corpus.texts[row]) for row in rows)
    return sum(len(text) for text in corpus.split(split).texts) / max(1, tried)
