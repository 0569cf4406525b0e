"""About how long an audit takes, said before it begins: one trial of a few texts, and of a short training."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.auditing.asking import RUNS, Asking, other_seeds
from heedful.auditing.maps import maps_trial
from heedful.auditing.plan import AuditSettings, begun_in
from heedful.auditing.questions import QUESTIONS, NotAsked
from heedful.auditing.reading import ReadSubject, evenly
from heedful.auditing.result import PAGE
from heedful.data.corpus import Corpus
from heedful.models.building import Classifier
from heedful.models.settings import ModelSettings
from heedful.records.wording import lasting
from heedful.training.from_corpus import train_run
from heedful.training.presets import prepare
from heedful.training.run import RESULT
from heedful.training.settings import TrainingSettings
from heedful.trials.stream import Trial, batch_of, lengths_of

FEW = {"train": 256, "dev": 64, "test": 64}  # texts of a short training
TRIED, TRIED_CLOSED = 3, 24  # texts that are read many times to see how long it takes
TRIED_OTHERS = 64  # texts of our own models that the other questions are tried on


def promise(
    corpus: Corpus, asked: AuditSettings, *, model: str, folder: Path, out: Path | None, **changes: Any
) -> list[str]:
    """What training and audit will do, and about how long the trainings take; before either begins."""
    begun_in(folder, asdict(asked))
    texts, audited = (len(corpus.split(name)) for name in ("train", asked.split))
    steps = f"train {model} on {texts:,} texts, audit it on {audited:,} {asked.split} texts"
    line = f"{corpus.name}: {steps}, write "
    if out is not None and (out / RESULT).exists():
        return [f"{line}{folder / PAGE}. It is trained already: {out}."]
    settings, training = prepare(model, {"seed": asked.seed, **changes})
    seconds = training_seconds(corpus, settings, training)
    again = len(_trainings(folder, asked, training.seed, settings.control))
    more = (
        f", and {again} more trainings for questions about it about {lasting(again * seconds)}"
        if again
        else ""
    )
    lines = [
        f"{line}{folder / PAGE}.",
        f"Training takes about {lasting(seconds)}{more} (tried on a few texts).",
    ]
    if out is None:
        lines.append(
            "The trained model holds words of the texts, so it is not kept: a restart trains it again."
        )
    return lines


def announce(asking: Asking) -> list[str]:
    """What the audit will do beyond what its folder holds already, and about how long that takes."""
    plan = asking.plan
    audited, settings = plan.audited, plan.settings
    of = len(plan.texts)
    taken = f"all {of:,}" if len(plan.pool) == of else f"{len(plan.pool):,} of {of:,} (drawn by the seed)"
    lines = [f"Auditing {audited.name} on {audited.corpus.name}: {taken} {settings.split} texts."]
    if asking.records.value("seconds"):
        return [*lines, "What was measured before is taken from the folder."]
    parts = {"reading": reading_seconds(asking), "other questions": question_seconds(asking)}
    run = audited.run
    if run is not None and audited.can_train:
        left = _trainings(asking.folder, settings, run.recipe.training.seed, run.recipe.model.control)
        parts["training again"] = len(left) * float(run.result.get("seconds", 0.0))
    told = ", ".join(f"{name} {lasting(value)}" for name, value in parts.items() if value >= 1)
    total = lasting(sum(parts.values()))
    return [
        *lines,
        f"At most about {total}{f' ({told})' if told else ''}: it stops as soon as the reading is settled.",
    ]


def reading_seconds(asking: Asking) -> float:
    """Of reading all texts that may be read many times: a few of middle length are tried.

    A text has as many deletions as it has words, so it takes as long as its length squared, up to the most.
    """
    plan = asking.plan
    lengths = lengths_of(plan.texts)[plan.pool]
    tried = TRIED_CLOSED if plan.audited.closed else TRIED
    middle = plan.pool[np.argsort(np.abs(lengths - np.median(lengths)), kind="stable")[:tried]]
    subject = plan.audited.subject
    batch = batch_of(subject, plan.texts, middle)
    maps = replace(plan.maps, dear_rows=frozenset(middle.tolist()))
    trial = maps_trial(subject, maps, seed=plan.settings.seed)
    if plan.audited.closed:
        trial(batch, 0)  # the first one compiles and allocates, and would be most of it
    begun = time.perf_counter()
    trial(batch, 0)
    taken = time.perf_counter() - begun
    asked = min(plan.reading.texts or len(lengths), len(lengths))
    work = _work(lengths, plan.maps.per_word, plan.maps.most)
    own = _work(lengths_of(plan.texts)[middle], plan.maps.per_word, plan.maps.most)
    return float(taken / own.sum() * work.mean() * asked)


def question_seconds(asking: Asking) -> float:
    """Of all questions but those that train again: each is tried on a few texts."""
    trying = Trying(asking.plan, asking.folder)
    trying.label_words = asking.label_words  # of the training texts: found once
    ours = asking.plan.audited.run is not None
    for question in QUESTIONS:
        with suppress(NotAsked):
            if not (ours and question.of_others):
                question.measure(trying)
    return sum(trying.seconds.values())


class Trying(Asking):
    """An asking that reads a few texts of each question, and keeps how long all of them would take."""

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """As many texts as will be asked about."""
        pool, asked = self.plan.pool, self.plan.reading.texts
        return pool if self.plan.audited.run is not None or asked is None else pool[:asked]

    @cached_property
    def read(self) -> ReadSubject:
        raise NotAsked("This is timed by itself.")

    def train_again(self, name: str, **change: Any) -> Classifier:
        raise NotAsked("This is timed by itself.")

    def stream(self, name: str, trial: Trial, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Nothing: the trial is timed on a few of the texts."""
        lengths = lengths_of(self.texts)
        ours = self.plan.audited.run is not None
        few = evenly(rows, TRIED_OTHERS if ours else TRIED)
        batch = batch_of(self.plan.audited.subject, self.texts, few)
        if ours:
            trial(batch, 0)  # the first one compiles and allocates, and would be most of it
        begun = time.perf_counter()
        trial(batch, 0)
        taken = time.perf_counter() - begun
        self.seconds[name] = taken * float(lengths[rows].sum() / max(1, lengths[few].sum()))
        raise NotAsked("It was tried.")

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        yield  # what is tried is no part of the audit's own times


def training_seconds(corpus: Corpus, model: ModelSettings, training: TrainingSettings) -> float:
    """Of the training: two epochs on a few texts (the first one compiles and allocates), scaled by length.

    A training that stops early takes less.
    """
    chosen = {name: _some(corpus, name, count) for name, count in FEW.items()}
    sample = corpus.take(np.concatenate(list(chosen.values())))
    run = train_run(sample, model=model, training=replace(training, epochs=2, min_count=1))
    epochs = run.history[run.history["kind"] == "epoch"]["seconds"]
    tried = sum(len(corpus.texts[row]) for row in chosen["train"])
    longer = sum(len(text) for text in corpus.split("train").texts) / max(1, tried)
    return training.epochs * float(epochs.iloc[-1]) * longer


def _trainings(folder: Path, settings: AuditSettings, seed: int, control: str) -> list[str]:
    """The models that must still be trained again, as their runs are named."""
    names = ["uniform"] if settings.uniform and control == "none" else []
    if settings.seeds > 2:
        names += [f"seed-{other}" for other in other_seeds(seed, settings.seeds)]
    return [name for name in names if not (folder / RUNS / name / RESULT).exists()]


def _work(lengths: NDArray[np.int64], deletions: int, most: int) -> NDArray[np.float64]:
    return lengths.astype(np.float64) * np.minimum(deletions * lengths, most)


def _some(corpus: Corpus, split: str, count: int) -> NDArray[np.int64]:
    """Rows of a split, evenly over its classes."""
    rows = np.flatnonzero(corpus.splits == split)
    ordered = rows[np.argsort(corpus.labels[rows], kind="stable")]
    places = np.linspace(0, len(rows) - 1, min(count, len(rows))).round().astype(np.int64)
    return ordered[np.unique(places)] if len(rows) else rows
