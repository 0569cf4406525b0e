"""Is attention needed? (Wiegreffe & Pinter, 2019, section 3.1.) The same model with weights of another kind.

What a model reaches with uniform weights, or with weights frozen from another run, beside what it reaches
with its own. Over several seeds intervals are Student's t over seeds, on the same texts; with one seed they
are paired bootstraps over the texts. Axes: S seeds, N texts, K classes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from heedful.data.corpus import Corpus
from heedful.errors import UserError
from heedful.models.trace import decisions
from heedful.records import Estimate, Finding, bootstrap, seeds_interval
from heedful.records.finding import Scalar
from heedful.training.evaluation import evaluate
from heedful.training.reopening import encode_for
from heedful.training.run import Run

TRAINED = "trained"
MEASURES = {"accuracy": "accuracy", "macro_f1": "macro F1"}


@dataclass(frozen=True, eq=False)
class Controls:
    """What each kind of weights decides (S,N), "trained" among them, and the labels (N,)."""

    decided: Mapping[str, NDArray[np.int64]]
    labels: NDArray[np.int64]
    split: str = "test"

    def __post_init__(self) -> None:
        for kind, decided in self.decided.items():
            if decided.ndim != 2 or decided.shape[1] != len(self.labels) or not len(decided):
                raise UserError(
                    f"The decisions of the {kind} models need one row a seed of {len(self.labels)} texts, "
                    f"and have shape {decided.shape}."
                )

    def table(self) -> pd.DataFrame:
        """One row for each kind and seed: accuracy and macro F1."""
        rows = [
            {"kind": kind, "run": number, **_scores(one, self.labels)}
            for kind, decided in self.decided.items()
            for number, one in enumerate(decided)
        ]
        return pd.DataFrame(rows)

    def findings(self, *, coordinates: Mapping[str, Scalar] | None = None) -> list[Finding]:
        """Accuracy and F1 of each kind, and how much the trained weights gain over each other kind."""
        found = []
        for measure, name in MEASURES.items():
            for kind in self.decided:
                found.append(self._reached(kind, measure, name, coordinates or {}))
            for kind in self.decided:
                if kind != TRAINED and TRAINED in self.decided:
                    found.append(self._gained(kind, measure, name, coordinates or {}))
        return found

    def _reached(self, kind: str, measure: str, name: str, where: Mapping[str, Scalar]) -> Finding:
        runs = self._by_seed(kind, measure)
        one = self.decided[kind][0]
        interval = (
            seeds_interval(runs)
            if len(runs) > 1
            else bootstrap(_columns(one, self.labels), STATISTICS[measure]).interval
        )
        return Finding(
            f"{name} with {kind} weights",
            float(runs.mean()),
            interval=interval,
            count=len(self.labels),
            seeds=len(runs),
            measured=f"{name} on the {self.split} split, mean over seeds",
            better="higher",
            coordinates={**where, "kind_of_weights": kind},
        )

    def _gained(self, kind: str, measure: str, name: str, where: Mapping[str, Scalar]) -> Finding:
        own, other = self._by_seed(TRAINED, measure), self._by_seed(kind, measure)
        seeds = min(len(own), len(other))
        if seeds > 1:
            gain = own[:seeds] - other[:seeds]
            estimate = Estimate(float(gain.mean()), seeds_interval(gain))
            how = "seed by seed, on the same texts"
        else:
            first = _columns(self.decided[TRAINED][0], self.labels)
            second = {f"other_{key}": v for key, v in _columns(self.decided[kind][0], self.labels).items()}
            estimate = bootstrap({**first, **second}, _difference(STATISTICS[measure]))
            how = "one seed, paired over texts"
        return Finding(
            f"{name} gained over {kind} weights",
            estimate.value,
            interval=estimate.interval,
            count=len(self.labels),
            seeds=max(seeds, 1),
            measured=f"{name} with learnt weights minus that with {kind} weights on the {self.split} split, "
            f"{how}",
            better="higher",
            coordinates={**where, "kind_of_weights": kind},
        )

    def _by_seed(self, kind: str, measure: str) -> NDArray[np.float64]:
        return np.array([_scores(one, self.labels)[measure] for one in self.decided[kind]])


def compare_controls(runs: Mapping[str, Sequence[Run]], corpus: Corpus, *, split: str = "test") -> Controls:
    """Judge runs of each kind of weights on a split: `{"trained": [...], "uniform": [...]}`."""
    part = corpus.split(split)
    if not len(part):
        raise UserError(f"The corpus {corpus.name} has no {split} split: choose another.")
    decided = {
        kind: np.stack(
            [decisions(evaluate(run.model, encode_for(run.model, part)).logits).numpy() for run in own]
        )
        for kind, own in runs.items()
    }
    return Controls(decided, np.asarray(part.labels, dtype=np.int64), split)


def _scores(decided: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, float]:
    columns = {name: np.array([column.mean()]) for name, column in _columns(decided, labels).items()}
    return {measure: float(STATISTICS[measure](columns)[0]) for measure in MEASURES}


def _columns(decided: NDArray[np.int64], labels: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """What accuracy and F1 are statistics of: hits; and for each class its hits, and how often it is said."""
    columns = {"hit": (decided == labels).astype(np.float64)}
    for number in np.union1d(decided, labels):
        columns[f"hit_{number}"] = ((decided == number) & (labels == number)).astype(np.float64)
        columns[f"sum_{number}"] = (decided == number).astype(np.float64) + (labels == number)
    return columns


Means = Mapping[str, NDArray[np.float64]]
Statistic = Callable[[Means], NDArray[np.float64]]


def _accuracy(means: Means) -> NDArray[np.float64]:
    return means["hit"]


def _macro_f1(means: Means) -> NDArray[np.float64]:
    numbers = [name.removeprefix("sum_") for name in means if name.startswith("sum_")]
    each = [2 * means[f"hit_{number}"] / means[f"sum_{number}"] for number in numbers]
    return np.nanmean(each, axis=0)  # a rare class may be missing from a resample


STATISTICS: dict[str, Statistic] = {"accuracy": _accuracy, "macro_f1": _macro_f1}


def _difference(statistic: Statistic) -> Statistic:
    """The statistic of the columns as they are named, minus that of those whose names begin with other_."""

    def apart(means: Means) -> NDArray[np.float64]:
        other = {n.removeprefix("other_"): v for n, v in means.items() if n.startswith("other_")}
        return statistic({n: v for n, v in means.items() if not n.startswith("other_")}) - statistic(other)

    return apart
