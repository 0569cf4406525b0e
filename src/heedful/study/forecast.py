"""About how long trainings take, said before they begin: each kind of cell is tried on a few of its texts.

A few hundred training texts are trained on for two epochs, and the time of the second is scaled to all words
and epochs. A training that stops early takes less. Measures are tried on a few test texts, and scaled to all.
"""

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import torch

from heedful.data.corpus import Corpus
from heedful.data.words import rules_for
from heedful.errors import UserError
from heedful.models.building import build_model
from heedful.models.settings import ModelSettings
from heedful.records.wording import lasting
from heedful.study.grid import Cell, Study
from heedful.study.text_measures import MEASURES
from heedful.training.devices import one_thread
from heedful.training.evaluation import encode_as
from heedful.training.from_corpus import encode_splits
from heedful.training.loop import fit
from heedful.training.run import Recipe, Run
from heedful.training.settings import TrainingSettings
from heedful.trials.stream import sample_rows

PROBE = 256  # texts of the short training
TRIED = 16  # test texts on which measures are tried
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
        self.texts = encode_as(model, self.vocabulary, self.rules, few.texts, few.labels)

    def seconds(self, model: ModelSettings, training: TrainingSettings, *, threads: int | None = 1) -> float:
        """About what one training takes on the whole corpus.

        Processes of a study have one thread; without a number there are as many as torch has here.
        """
        drawn = replace(model, embedding_source="uniform")  # where vectors start costs no time
        built = build_model(drawn, self.vocabulary, self.corpus.label_names, rules=self.rules)
        before = torch.get_num_threads()
        torch.set_num_threads(threads or before)
        try:
            # The first epoch warms up: memory is fetched, and a kernel perhaps compiled.
            # A rate at which the loss explodes is the cell's own failure, and costs no other time.
            tried = replace(training, epochs=2, patience=None, rate=min(training.rate, 1e-3))
            history = fit(built, self.texts, self.texts, settings=tried)
        finally:
            torch.set_num_threads(before)
        return float(history[-1]["seconds"]) * self.words / len(self.texts.ids) * training.epochs


def one_training(
    corpus: Corpus, model: ModelSettings, training: TrainingSettings, *, threads: int | None = 1
) -> float:
    """About how many seconds one training takes."""
    return Probe(corpus, model, training).seconds(model, training, threads=threads)


def training_seconds(study: Study, cells: Sequence[Cell], corpora: Mapping[str, Corpus]) -> list[float]:
    """About what the training of each of these cells takes, by itself; NaN for one that cannot be tried.

    What is wrong with that is said when the cell itself fails, which need not stop the others.
    """
    known: dict[tuple[object, ...], float] = {}
    found = []
    for cell in cells:
        model, training = cell.prepared
        kind = _kind(cell)
        if kind not in known:
            placed = study.place(model)
            known[kind] = math.nan
            with suppress(UserError):
                known[kind] = one_training(corpora[cell.corpus], placed, training)
        found.append(known[kind])
    return found


def measuring_seconds(
    study: Study, cells: Sequence[Cell], corpora: Mapping[str, Corpus], names: Sequence[str]
) -> list[dict[str, float]]:
    """About what each of these measures takes on each cell, tried on a few test texts with a new model.

    NaN where it cannot be tried; the measure itself says why, in its turn.
    """
    known: dict[tuple[object, ...], dict[str, float]] = {}
    for cell in cells:
        if _kind(cell) not in known:
            known[_kind(cell)] = dict.fromkeys(names, math.nan)
            with suppress(UserError):
                known[_kind(cell)] = _measured(study, cell, corpora[cell.corpus], names)
    return [known[_kind(cell)] for cell in cells]


def _measured(study: Study, cell: Cell, corpus: Corpus, names: Sequence[str]) -> dict[str, float]:
    model, training = cell.prepared
    probe = Probe(corpus, study.place(model), training)
    drawn = replace(probe.model, embedding_source="uniform")
    built = build_model(drawn, probe.vocabulary, corpus.label_names, rules=probe.rules).eval()
    recipe = Recipe(drawn, training, probe.rules, {}, corpus.label_names)
    run = Run(built, recipe, probe.vocabulary, pd.DataFrame(), {})
    test = corpus.split("test")
    few = test.take(sample_rows(len(test), TRIED))
    found = {}
    with one_thread():
        for name in names:
            asked = MEASURES[name]
            times = (len(test) if asked.whole else min(study.texts, len(test))) / max(1, len(few))
            begun = time.perf_counter()
            asked.measure(TRIED)(run, few)
            found[name] = times * (time.perf_counter() - begun)
    return found


def _kind(cell: Cell) -> tuple[object, ...]:
    """What the time of an epoch depends on."""
    model, training = cell.prepared
    settings = {**asdict(model), **asdict(training)}
    return (cell.corpus, *(str(value) for name, value in settings.items() if name not in FREE))


def foretold(seconds: Sequence[float], workers: int, *, what: str = "training") -> str:
    """What so many trainings take with so many at a time, as a sentence."""
    several = f"{len(seconds)} {what}s" if len(seconds) > 1 else f"One {what}"
    known = [one for one in seconds if not math.isnan(one)]
    if not known:
        return f"{several} to do."
    turns = max(max(known), sum(known) / workers)
    at_once = f" with {workers} at a time" if workers > 1 and len(seconds) > 1 else ""
    return f"{several} to do: about {lasting(turns)}{at_once}, tried on a few texts."
