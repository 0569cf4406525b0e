"""Is attention needed? (Wiegreffe & Pinter, 2019, section 3.1.) The same model with weights of another kind.

What a model reaches with uniform weights, or with weights frozen from another run, beside what it reaches
with its own. All runs are judged on the same texts, so intervals are over seeds and texts, crossed
(`records.crossed`); those of one seed are over texts alone, and say so. Axes: S seeds, N texts, K classes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.records import Finding
from heedful.records.finding import Scalar
from heedful.study.pooling import mean_over_seeds

if TYPE_CHECKING:
    from heedful.training import Run

TRAINED = "trained"
MEASURES = {"accuracy": "accuracy", "macro_f1": "macro F1"}
Decided = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Controls:
    """What each kind of weights decides (S,N), "trained" among them, and the labels (N,)."""

    decided: Mapping[str, Decided]
    labels: Decided
    split: str = "test"

    def __post_init__(self) -> None:
        for kind, decided in self.decided.items():
            if decided.ndim != 2 or decided.shape[1] != len(self.labels) or not len(decided):
                raise UserError(
                    f"The decisions of the {kind} models need one row per seed of {len(self.labels)} texts, "
                    f"and have shape {decided.shape}."
                )

    def table(self) -> pd.DataFrame:
        """One row for each kind and seed: accuracy and macro F1."""
        rows = [
            {"kind": kind, "run": number, **{name: scores(one, self.labels, name)[0] for name in MEASURES}}
            for kind, decided in self.decided.items()
            for number, one in enumerate(decided)
        ]
        return pd.DataFrame(rows)

    def findings(self, *, coordinates: Mapping[str, Scalar] | None = None) -> list[Finding]:
        """Accuracy and F1 of each kind, and how much the trained weights gain over each other kind."""
        others = [kind for kind in self.decided if kind != TRAINED and TRAINED in self.decided]
        rows = self.table().rename(columns={"run": "seed"}).assign(texts=len(self.labels))
        errors = text_errors(self.decided, self.labels, [(TRAINED, kind) for kind in others])
        about: dict[str, Any] = {"split": self.split, "coordinates": coordinates}
        found = []
        for measure in MEASURES:
            found += [reached(rows, errors, kind, measure=measure, **about) for kind in self.decided]
            found += [gained(rows, errors, kind, measure=measure, alone=True, **about) for kind in others]
        return found


def reached(
    rows: pd.DataFrame,
    errors: pd.DataFrame,
    kind: str,
    *,
    measure: str = "macro_f1",
    split: str = "test",
    coordinates: Mapping[str, Scalar] | None = None,
) -> Finding:
    """The mean accuracy or macro F1 of one kind of weights over seeds."""
    own, name = rows[rows["kind"] == kind], MEASURES[measure]
    return mean_over_seeds(
        own[measure],
        name=f"{name} with {kind} weights",
        measured=f"{name} on the {split} split, mean over seeds",
        count=int(own["texts"].iloc[0]),
        error=error_in(errors, kind, measure=measure),
        alone=True,
        within=(0, 1),
        better="higher",
        coordinates={**(coordinates or {}), "kind_of_weights": kind},
    )


def gained(
    rows: pd.DataFrame,
    errors: pd.DataFrame,
    kind: str,
    *,
    measure: str = "macro_f1",
    split: str = "test",
    alone: bool = False,
    coordinates: Mapping[str, Scalar] | None = None,
) -> Finding:
    """How much accuracy or macro F1 the learnt weights gain over another kind, on the seeds of both."""
    wide = rows.pivot(index="seed", columns="kind", values=measure)[[TRAINED, kind]].dropna()
    name, paired = MEASURES[measure], "seed by seed, on the same texts"
    return mean_over_seeds(
        wide[TRAINED] - wide[kind],
        name=f"{name} gained over {kind} weights",
        measured=f"{name} with learnt weights minus that with {kind} weights on the {split} split, "
        f"{paired if len(wide) > 1 else 'one seed, paired over texts'}",
        count=int(rows["texts"].iloc[0]),
        error=error_in(errors, TRAINED, than=kind, measure=measure),
        alone=alone,
        within=(-1, 1),
        better="higher",
        coordinates={**(coordinates or {}), "kind_of_weights": kind},
    )


def compare_controls(runs: "Mapping[str, Sequence[Run]]", corpus: Corpus, *, split: str = "test") -> Controls:
    """Judge runs of each kind of weights on a split: `{"trained": [...], "uniform": [...]}`."""
    labels = _labels(corpus, split)
    decided = {kind: np.stack([decided_by(run, corpus, split) for run in own]) for kind, own in runs.items()}
    return Controls(decided, labels, split)


def judge(run: "Run", corpus: Corpus) -> pd.DataFrame:
    """A measure: what a run reached, in one row, and what it decided for each text of the test split."""
    decided, labels = decided_by(run, corpus, "test"), _labels(corpus, "test")
    reached = {f"test_{name}": scores(decided, labels, name)[0] for name in MEASURES}
    return pd.DataFrame(
        [{"dev_accuracy": run.result["dev_accuracy"], **reached, "decided": decided.tolist()}]
    )


def decided_by(run: "Run", corpus: Corpus, split: str) -> Decided:
    """What a run decides for every text (N,) of a split, in its order."""
    from heedful.models import decisions
    from heedful.training import evaluate
    from heedful.training.evaluation import encode_for

    return decisions(evaluate(run.model, encode_for(run.model, corpus.split(split))).logits).numpy()


def scores(decided: Decided, labels: Decided, measure: str) -> Floats:
    """The accuracy or macro F1 of each seed (S,), of decisions (S,N) or those of one seed (N,)."""
    rows = np.atleast_2d(decided)
    if measure == "accuracy":
        return np.asarray((rows == labels).mean(1))
    return np.array(
        [np.mean([_f1(*_counts(one, labels, number)) for number in _said(one, labels)]) for one in rows]
    )


def influences(decided: Decided, labels: Decided, measure: str) -> Floats:
    """What each text (N,) adds to the mean score of these seeds (S,N), to first order; they sum to 0.

    Macro F1 is no mean over texts, but a function of means: of 2·hits and of how often a class is said or
    true. Its change with each text's weight (the influence function; Hampel, 1974) is one, as resampling
    would see it, and is paired text by text.
    """
    if measure == "accuracy":
        hits = (decided == labels).mean(0)
        return np.asarray(hits - hits.mean())
    influence: Floats = np.mean([_influence(one, labels) for one in decided], axis=0)
    return influence


def error_of(each: Floats) -> float:
    """The standard error over texts of a score, from its influences (N,)."""
    return float(each.std(ddof=1) / math.sqrt(len(each))) if len(each) > 1 else 0.0


def text_errors(
    decided: Mapping[str, Decided], labels: Decided, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """The error over texts of each kind's mean score, and of the first's lead over the second of `pairs`.

    A lead is that of as many seeds as both have.

    Columns: kind, than (empty for a score by itself), measure, error.
    """
    rows = []
    for measure in MEASURES:
        for kind, own in decided.items():
            rows.append((kind, "", measure, error_of(influences(own, labels, measure))))
        for one, two in pairs:
            both = [decided[kind][: min(len(decided[one]), len(decided[two]))] for kind in (one, two)]
            first, second = (influences(each, labels, measure) for each in both)
            rows.append((one, two, measure, error_of(first - second)))
    return pd.DataFrame(rows, columns=["kind", "than", "measure", "error"])


def error_in(errors: pd.DataFrame, kind: str, *, than: str = "", measure: str = "macro_f1") -> float | None:
    """One error of those of `text_errors`, None where it is not known."""
    own = errors[(errors["kind"] == kind) & (errors["than"] == than) & (errors["measure"] == measure)]
    return float(own["error"].iloc[0]) if len(own) else None


def _influence(decided: Decided, labels: Decided) -> Floats:
    each = []
    for number in _said(decided, labels):
        hits, total = _counts(decided, labels, number)
        each.append((2 * hits - _f1(hits, total) * total) / total.mean())
    return np.asarray(np.mean(each, axis=0))


def _said(decided: Decided, labels: Decided) -> Decided:
    """The classes that there are: said, or true."""
    return np.union1d(decided, labels)


def _counts(decided: Decided, labels: Decided, number: int) -> tuple[Floats, Floats]:
    """For each text whether it is a hit of this class, and whether it is said, plus whether it is true."""
    said, true = decided == number, labels == number
    return (said & true).astype(np.float64), said.astype(np.float64) + true


def _f1(hits: Floats, total: Floats) -> float:
    return float(2 * hits.mean() / total.mean())


def _labels(corpus: Corpus, split: str) -> Decided:
    part = corpus.split(split)
    if not len(part):
        raise UserError(f"The corpus {corpus.name} has no {split} split: choose another.")
    return np.asarray(part.labels, dtype=np.int64)
