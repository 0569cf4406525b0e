"""`Asking`: what a question may use while it is measured, and the stages' records in the audit's folder.

    plan.json         what is asked; a folder made for something else is refused
    rows/STAGE        one row per text, as Parquet (see `trials.stream`)
    runs/seed-N, runs/uniform    the models trained again (not with keep_texts=False: a vocabulary is texts)
    records/*.json    what took no stream: decisions, times of stages

A restart skips what is there.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.auditing.maps import Maps, maps_trial
from heedful.auditing.plan import AuditSettings, Plan
from heedful.auditing.questions.answer import NotAsked, Question
from heedful.auditing.reading import ReadSubject, clusters_of, decide_all, look
from heedful.auditing.sampling import Draw
from heedful.auditing.word_table import LabelWords, label_words
from heedful.data.batches import Batch
from heedful.data.encoded import EncodedTexts
from heedful.models.building import Classifier
from heedful.models.subject import Subject, What, why_not
from heedful.store import Stage
from heedful.study.kept_runs import train_again
from heedful.training.run import RESULT, Run
from heedful.trials.stream import Trial, sample_rows, stream

if TYPE_CHECKING:
    pass


ROWS, RECORDS, RUNS = "rows", "records", "runs"
NOT_OURS = "Somebody's model is not ours to train again, so this was not asked."
PLACES = {"run": 16_384, "huggingface": 2048, "module": 4096}  # B × T of one batch
DOING = {
    "hidden": "hiding words",
    "top": "erasing the highest words",
    "agreement": "comparing with leave-one-out",
    "adversary": "looking for other weights",
    "stable": "comparing seeds",
    "labels": "counting words of each class",
    "head": "taking this attention away",
    "noise": "writing texts otherwise",
    "dropout": "dropping parts of the model",
}

Advance = Callable[[int], None]
Progress = Callable[[str, int], AbstractContextManager[Advance]]
Say = Callable[[str], None]


@dataclass(eq=False)
class Asking:
    """One audit under way."""

    plan: Plan
    folder: Path
    progress: Progress | None = None
    say: Say = lambda sentence: None
    seconds: dict[str, float] = field(default_factory=dict)

    def measure(self, question: Question) -> pd.DataFrame:
        """What a question measures."""
        return question.measure(self)

    @property
    def settings(self) -> AuditSettings:
        return self.plan.settings

    @property
    def seed(self) -> int:
        return self.settings.seed

    @property
    def texts(self) -> "EncodedTexts | list[str]":
        """All texts of the split, as `stream` takes them."""
        return self.plan.texts

    @property
    def labels(self) -> NDArray[np.int64]:
        """The labels of the pool."""
        return self.plan.labels

    @cached_property
    def about(self) -> dict[str, Any]:
        """What every finding is about."""
        audited = self.plan.audited
        return {"corpus": audited.corpus.name, "model": audited.name, "split": self.settings.split}

    @cached_property
    def decided(self) -> NDArray[np.int64]:
        """What the subject decides for the pool."""
        known = self.records.value("decided")
        if known is None:
            with self.timed("deciding"):
                known = decide_all(self.plan.audited.subject, self.texts, self.plan.pool).tolist()
            self.records.keep_value("decided", known)
        return np.asarray(known, dtype=np.int64)

    @cached_property
    def read(self) -> ReadSubject:
        """The reading, from random deletions of texts drawn from the pool."""
        plan, pool = self.plan, self.plan.pool
        subject = plan.audited.subject

        def measure(stage: str, maps: Maps, rows: NDArray[np.int64]) -> pd.DataFrame:
            # A batch numbers its texts by the split, the draw by the pool.
            tried = replace(maps, dear_rows=frozenset(pool[list(maps.dear_rows)].tolist()))
            found = self.stream(stage, maps_trial(subject, tried, seed=self.seed), pool[rows])
            return found.set_index("instance").loc[pool[rows]].reset_index(drop=True).assign(instance=rows)

        draw = Draw(self.decided, plan.reading.texts, seed=self.seed)
        clusters = clusters_of(self.texts, pool)
        return look(measure, plan.maps, draw, clusters, tuple(subject.classes), plan.reading, seed=self.seed)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The texts of the other questions: the pool of a model of ours, else those that were read.

        Texts that are too long for their attention to be looked at are left out.
        """
        if self.plan.audited.run is not None:
            return self.plan.pool
        return self.plan.looked_at(np.sort(self.plan.pool[self.read.rows["instance"].to_numpy()]))

    def some(self, most: int) -> NDArray[np.int64]:
        """At most so many of the texts, drawn by the seed."""
        return self.rows[sample_rows(len(self.rows), most, seed=self.seed)]

    def with_trace(self) -> Subject:
        """The subject, if it shows what an attention layer saw and gave."""
        return self._giving("trace")

    def with_attention(self) -> Subject:
        """The subject, if it has attention to words."""
        return self._giving("attention")

    def _giving(self, what: What) -> Subject:
        why = why_not(self.plan.audited.subject, what)
        if why is not None:
            raise NotAsked(f"This cannot be asked of this model: {why.rstrip('.')}.")
        return self.plan.audited.subject

    def shown_map(self, batch: Batch) -> Tensor:
        """The sizes (B,T) of the map that is judged, as they were kept of texts that were read."""
        if not self.settings.keep_texts:
            raise NotAsked("This needs the map of each text, and none was to be kept.")
        rows = self.read.rows
        by_text = dict(
            zip(self.plan.pool[rows["instance"]].tolist(), rows[f"map_{self.read.shown}"], strict=True)
        )
        found = torch.zeros(batch.mask.shape, dtype=torch.float64)
        for place, number in enumerate(batch.rows):
            own = np.abs(np.asarray(by_text[int(number)], dtype=np.float64))
            found[place, : len(own)] = torch.from_numpy(own)
        return found.to(batch.mask.device)

    @cached_property
    def label_words(self) -> LabelWords | None:
        """Which words go with one class, by the training texts."""
        with self.timed("token types"):
            return label_words(self.plan.audited)

    def steps(self, count: int) -> int:
        """How many of so many equal steps a question takes: all, unless it is only tried."""
        return count

    # Training again

    def trainable(self) -> Run:
        """The run, if it is ours and its training texts are here."""
        run = self.plan.audited.run
        if run is None:
            raise NotAsked(NOT_OURS)
        if not len(self.plan.audited.corpus.split("train")):
            raise NotAsked(
                "These texts are not those the model was trained on: it could not be trained again."
            )
        return run

    def train_again(self, name: str, **change: Any) -> Classifier:
        """The model trained again with a change, kept under this name."""
        out = self.folder / RUNS / name
        if not (out / RESULT).exists():
            self.say(f"Training again: {name.replace('-', ' ')} …")
        with self.timed(f"training {name}"):
            kept = out if self.settings.keep_texts else None
            return train_again(self.trainable(), self.plan.audited.corpus, out=kept, **change).model

    def other_seeds(self) -> list[Classifier]:
        """The model, and those of other seeds."""
        return [self.trainable().model, *self._others]

    @cached_property
    def _others(self) -> list[Classifier]:
        seeds = other_seeds(self.trainable().recipe.training.seed, self.settings.seeds)
        return [self.train_again(f"seed-{other}", seed=other) for other in seeds]

    def decisions_of(self, model: Classifier) -> NDArray[np.int64]:
        """What another model decides for the pool."""
        return decide_all(model, self.texts, self.plan.pool)

    # Records

    def stream(self, name: str, trial: Trial, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The rows of a trial over these texts, by the text's number (`instance`)."""
        plan = self.plan
        with self.timed(name), self._shown(f"{in_words(name)}, texts", len(rows)) as advance:
            done = stream(
                trial,
                plan.audited.subject,
                self.texts,
                self.folder / ROWS / name,
                recipe={**plan.recipe, "stage": name},
                rows=rows,
                places=PLACES[plan.audited.kind],
                progress=advance,
            )
        return done.rows()

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Keep how long this took; a stage that was there from before is not measured anew by reading it."""
        begun = time.perf_counter()
        yield
        taken = time.perf_counter() - begun
        known = self.records.value("seconds") or {}
        self.seconds[name] = max(taken, known.get(name, 0.0))
        self.records.keep_value("seconds", {**known, name: self.seconds[name]})

    def _shown(self, what: str, total: int) -> AbstractContextManager[Advance | None]:
        return self.progress(what, total) if self.progress is not None else nullcontext()

    @property
    def records(self) -> Stage:
        """What was found before and is no table, by name."""
        return Stage(self.folder / RECORDS)


def in_words(stage: str) -> str:
    """What a stage does, for whoever watches; one of somebody's own question has its own name."""
    name, _, part = stage.partition("-")
    if name == "deletions" and part.isdecimal():
        return f"deleting words, part {part}"
    return DOING.get(stage, stage)


def other_seeds(seed: int, models: int) -> list[int]:
    """The seeds of the other models, the next ones; after the last seed comes 0."""
    return [(seed + step) % 2**63 for step in range(1, models)]


def pool_table(asking: Asking) -> pd.DataFrame:
    """One row a text of the pool: its number, label and decision, so that two audits can be compared.

    The same text is known again by a digest of it, which an audit without texts leaves out: a short text
    could be guessed from one.
    """
    plan, settings = asking.plan, asking.settings
    columns: dict[str, Any] = {"row": plan.pool, "label": asking.labels, "decided": asking.decided}
    if settings.keep_texts:
        texts = plan.audited.corpus.split(settings.split).texts
        columns["text"] = [digest_of_text(texts[row]) for row in plan.pool]
    return pd.DataFrame(columns)


def digest_of_text(text: str) -> str:
    """Sixteen hexadecimal digits; white space does not matter."""
    plain = " ".join(text.split()).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(plain, digest_size=8).hexdigest()
