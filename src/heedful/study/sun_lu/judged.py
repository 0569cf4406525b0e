"""Accuracies of runs that were judged on the same test texts: the error over texts, beside that over seeds.

`HITS` measures which texts a run decides rightly. Tables keep only the errors that come of them
(`error_over_texts`): hits would fill a table with all texts of all runs. Axes: S seeds, N texts.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from heedful.data.corpus import Corpus
from heedful.records import Finding, Interval
from heedful.records.crossed import crossed_interval
from heedful.study.controls import decided_by, error_of
from heedful.study.workbench import Measure
from heedful.training.run import Run

HITS = Measure("heedful.study.sun_lu.judged:hits")


def hits(run: Run, corpus: Corpus) -> pd.DataFrame:
    """A measure: what a training came to, and whether it decides each test text (N,) rightly, in one row."""
    right = decided_by(run, corpus, "test") == np.asarray(corpus.split("test").labels)
    return pd.DataFrame([{**run.result, "texts": len(right), "hits": right.tolist()}])


def error_over_texts(runs: pd.DataFrame, than: pd.DataFrame | None = None) -> float:
    """The standard error of these seeds' mean accuracy, or of its lead over other runs, text by text."""
    each = _mean_hits(runs)
    return error_of(each if than is None else each - _mean_hits(than))


def accuracy_effect(
    name: str, values: Sequence[float], *, measured: str, texts: int, error: float, alone: bool = False
) -> Finding:
    """The mean of one accuracy a seed (S,), or of a difference of two, in points: seeds crossed with texts.

    One seed alone decides nothing, unless `alone` asks for its interval over texts (see `records.crossed`).
    """
    span = crossed_interval(values, count=texts, error=error, alone=alone, within=(-1, 1))
    return Finding(
        name,
        100 * float(np.mean(values)),
        interval=Interval(100 * span.low, 100 * span.high, span.level, span.method),
        count=texts,
        seeds=len(values),
        measured=measured,
        unit="points",
    )


def _mean_hits(runs: pd.DataFrame) -> np.ndarray:
    each: np.ndarray = np.stack([np.asarray(own, dtype=np.float64) for own in runs["hits"]]).mean(0)
    return each
