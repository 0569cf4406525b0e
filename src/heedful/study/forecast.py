"""About how long trainings take, said before they begin: each kind of cell is tried on a few of its texts.

A few hundred training texts are trained on for two epochs, and the time of the second is scaled to all words
and epochs. A training that stops early takes less; what is measured on runs is not counted.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace

import numpy as np
import torch

from heedful.data.corpus import Corpus
from heedful.data.encoded import encode_texts
from heedful.data.words import rules_for
from heedful.errors import UserError
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.records.wording import lasting
from heedful.study.grid import Cell, Study
from heedful.training.from_corpus import encode_splits
from heedful.training.loop import fit
from heedful.training.run import Recipe
from heedful.training.settings import TrainingSettings
from heedful.trials.stream import sample_rows

PROBE = 256  # texts of the short training
# Settings on which the time of an epoch does not depend: cells that differ in nothing else are tried once.
FREE = {
    "scale",
    "penalty",
    "seed",
    "rate",
    "rate_decay",
    "l2",
    "l2_encoder",
    "vectors_file",
    "embedding_range",
}


class Probe:
    """Some training texts of a corpus, on which models that read them alike are timed."""

    def __init__(self, corpus: Corpus, model: ModelSettings, training: TrainingSettings) -> None:
        self.corpus, self.model, self.rules = corpus, model, rules_for(corpus.texts)
        recipe = Recipe(model, training, self.rules, {}, corpus.label_names)
        self.vocabulary, sets = encode_splits(corpus, recipe)
        self.lengths = {name: np.asarray(encoded.lengths) for name, encoded in sets.items()}
        self.words = int(self.lengths["train"].sum())
        part = corpus.split("train")
        few = part.take(sample_rows(len(part), PROBE))
        self.texts = encode_texts(
            few.texts,
            few.labels,
            self.vocabulary,
            rules=self.rules,
            sentences=model.hierarchical,
            max_length=model.max_length,
            keep_texts=model.encoder == "pretrained",
        )

    def seconds(self, model: ModelSettings, training: TrainingSettings) -> float:
        """About what one training takes on the whole corpus."""
        drawn = replace(model, embedding_source="uniform")  # where vectors start costs no time
        built = build_model(drawn, self.vocabulary, self.corpus.label_names, rules=self.rules)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # as the processes have that will train
        try:
            # The first epoch warms up: memory is fetched, and a kernel perhaps compiled.
            # A rate at which the loss explodes is the cell's own failure, and costs no other time.
            tried = replace(training, epochs=2, patience=None, rate=min(training.rate, 1e-3))
            history = fit(built, self.texts, self.texts, settings=tried)
        finally:
            torch.set_num_threads(threads)
        return float(history[-1]["seconds"]) * self.words / len(self.texts.ids) * training.epochs


def training_seconds(study: Study, cells: Sequence[Cell], corpora: Mapping[str, Corpus]) -> list[float]:
    """About what the training of each of these cells takes, by itself; NaN for one that cannot be tried.

    What is wrong with that is said when the cell itself fails, which need not stop the others.
    """
    known: dict[tuple[object, ...], float] = {}
    found = []
    for cell in cells:
        model, training = cell.prepared
        settings = {**asdict(model), **asdict(training)}
        kind = (cell.corpus, *(str(value) for name, value in settings.items() if name not in FREE))
        if kind not in known:
            placed = study.place(model)
            known[kind] = math.nan
            with suppress(UserError):
                known[kind] = Probe(corpora[cell.corpus], placed, training).seconds(placed, training)
        found.append(known[kind])
    return found


def foretold(seconds: Sequence[float], workers: int) -> str:
    """What so many trainings take with so many at a time, as a sentence."""
    several = f"{len(seconds)} trainings" if len(seconds) > 1 else "One training"
    known = [one for one in seconds if not math.isnan(one)]
    if not known:
        return f"{several} to do."
    turns = max(max(known), sum(known) / workers)
    at_once = f" with {workers} at a time" if workers > 1 and len(seconds) > 1 else ""
    return f"{several} to do: about {lasting(turns)}{at_once}, tried on a few texts."
