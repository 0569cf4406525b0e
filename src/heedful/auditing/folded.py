"""Cross-validation: every text is judged by a model that has not seen it, so a small file suffices.

The texts are dealt into folds; for each a model is trained on the others and read on this one. What is judged
is then the recipe (this kind of model, trained like this, on texts like these), and not one trained model.
Questions are measured fold by fold and answered over all texts together.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.auditing.asking import Asking
from heedful.auditing.audited import Audited, open_subject
from heedful.auditing.browsing import instances
from heedful.auditing.maps import Maps, maps_trial
from heedful.auditing.plan import AuditSettings, Plan, make_plan
from heedful.auditing.questions.answer import Question
from heedful.auditing.reading import ReadSubject, clusters_of, look
from heedful.auditing.sampling import Draw
from heedful.data.corpus import Corpus
from heedful.data.dealing import deal, deal_folds
from heedful.errors import UserError
from heedful.training.run import Run
from heedful.trials.stream import sample_rows

FOLDS = "folds"
DEV = 0.1  # of the texts that a model learns from, to choose its epoch


def said(folds: int) -> str:
    """What is to be known of such a reading."""
    return (
        f"Judged by {folds} folds: each text by a model that has not seen it. This is a reading of the "
        "recipe, not of one trained model."
    )


def fold_corpora(corpus: Corpus, folds: int, *, seed: int) -> tuple[NDArray[np.int64], list[Corpus]]:
    """The fold (N,) of each text, and for each fold the corpus whose test split it is."""
    if not 2 <= folds <= len(corpus):
        raise UserError(f"Folds must be from 2 to the number of texts ({len(corpus):,}), not {folds}.")
    numbers = deal_folds(corpus.texts, corpus.labels.tolist(), folds=folds, seed=seed)
    found = []
    for fold in range(folds):
        learnt = np.flatnonzero(numbers != fold)
        splits = np.full(len(corpus), "test", dtype="<U5")
        others = corpus.take(learnt)
        splits[learnt] = deal(others.texts, others.labels.tolist(), shares=(DEV, 0.0), seed=seed)
        unseen = set(range(len(corpus.label_names))) - set(corpus.labels[splits == "train"].tolist())
        if unseen:
            raise UserError(
                f"{corpus.name} has too few texts of class {corpus.label_names[min(unseen)]!r} for {folds} "
                "folds: take fewer, or leave the class out."
            )
        found.append(replace(corpus, splits=splits))
    return numbers, found


@dataclass(frozen=True)
class FoldedAudited(Audited):
    """The recipe: known by all of its models; the first stands for them where one is needed."""

    digests: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Of the parameters of all models."""
        return hashlib.blake2b(" ".join(self.digests).encode(), digest_size=8).hexdigest()

    def texts(self, split: str) -> list[str]:
        """All texts: the models of the folds have no words in common."""
        return list(self.corpus.texts)


@dataclass(eq=False)
class FoldedAsking(Asking):
    """An audit of a recipe: its folds are asked one by one, and what they say is put together."""

    fold_of: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    folds: list[Asking] = field(default_factory=list)

    @cached_property
    def decided(self) -> NDArray[np.int64]:
        """What the model of each text's fold decides for the pool."""
        found = np.zeros(len(self.fold_of), dtype=np.int64)
        for number, fold in enumerate(self.folds):
            found[self._texts_of(number)] = fold.decided
        return found[self.plan.pool]

    @cached_property
    def read(self) -> ReadSubject:
        """The reading, from random deletions of texts of all folds."""
        plan, pool = self.plan, self.plan.pool

        def measure(stage: str, maps: Maps, rows: NDArray[np.int64]) -> pd.DataFrame:
            parts = []
            for number, fold in enumerate(self.folds):
                own = self._texts_of(number)
                mine = rows[self.fold_of[pool[rows]] == number]
                if not len(mine):
                    continue
                place = np.searchsorted(own, pool[mine])
                dear = np.searchsorted(own, np.intersect1d(pool[list(maps.dear_rows)], own))
                trial = maps_trial(
                    fold.plan.audited.subject,
                    replace(maps, dear_rows=frozenset(dear.tolist())),
                    seed=self.seed,
                )
                found = fold.stream(stage, trial, place).set_index("instance").loc[place]
                parts.append(found.reset_index(drop=True).assign(instance=mine))
            return pd.concat(parts).set_index("instance").loc[rows].reset_index()

        draw = Draw(self.decided, plan.reading.texts, seed=self.seed)
        classes = tuple(plan.audited.corpus.label_names)
        clusters = clusters_of(self.texts)[pool]
        return look(measure, plan.maps, draw, clusters, classes, plan.reading, seed=self.seed)

    def measure(self, question: Question) -> pd.DataFrame:
        """What a question measures, fold by fold; the reading itself is drawn from all of them."""
        if question.decides:
            return question.measure(self)
        parts = []
        for number, fold in enumerate(self.folds):
            rows = question.measure(fold)
            if "instance" in rows:
                rows = rows.assign(instance=self._texts_of(number)[rows["instance"].to_numpy()])
            parts.append(rows)
        return pd.concat(parts, ignore_index=True)

    def instances(self, chosen: pd.DataFrame) -> list[dict[str, Any]]:
        """The chosen texts, each as its own model reads it."""
        found = []
        for number, fold in enumerate(self.folds):
            own = self._texts_of(number)
            mine = chosen[self.fold_of[chosen["instance"].to_numpy()] == number]
            if not len(mine):
                continue
            rows = self.read.rows
            texts = self.plan.pool[rows["instance"].to_numpy()]
            inside = np.flatnonzero(self.fold_of[texts] == number)
            local = rows.iloc[inside].assign(instance=np.searchsorted(own, texts[inside]))
            fold.read = replace(self.read, rows=local)
            places = np.searchsorted(own, mine["instance"].to_numpy())
            for entry in instances(fold, mine.assign(instance=places)):
                number_of_all = int(own[entry["id"]])
                found.append({**entry, "id": number_of_all, "text_id": number_of_all})
        return found

    def _texts_of(self, fold: int) -> NDArray[np.int64]:
        return np.flatnonzero(self.fold_of == fold)


def ask_folds(
    runs: Sequence[Run],
    corpora: Sequence[Corpus],
    fold_of: NDArray[np.int64],
    settings: AuditSettings,
    folder: Path,
    **shown: Any,
) -> FoldedAsking:
    """What is needed to ask a recipe, from the models of its folds."""
    # Models of other seeds would have to be trained for every fold.
    each = replace(settings, seeds=1, limit=None, split="test")
    opened = [open_subject(run, corpus) for run, corpus in zip(runs, corpora, strict=True)]
    folds = [
        Asking(make_plan(one, each), folder / FOLDS / f"fold-{number + 1}", **shown)
        for number, one in enumerate(opened)
    ]
    first = opened[0]
    whole = replace(corpora[0], splits=np.full(len(fold_of), "test", dtype="<U5"))
    audited = FoldedAudited(
        first.subject,
        whole,
        "run",
        first.name,
        first.called,
        first.run,
        notes=(said(len(runs)),),
        digests=tuple(one.digest for one in opened),
    )
    pool = sample_rows(len(whole), settings.limit, seed=settings.seed)
    plan = Plan(audited, settings, list(whole.texts), pool)
    return FoldedAsking(plan, folder, fold_of=fold_of, folds=folds, **shown)
